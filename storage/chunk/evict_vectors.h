#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/table/table_snapshot.h"

namespace stoa::storage {

// What is left in memory of the part of a file that holds vectors.
struct EvictedFile {
  std::string path;
  uint64_t bytes = 0;           // of the pages with vectors (.spb: all values of variable length)
  uint64_t resident_pages = 0;  // mincore, after the eviction
};

// For measuring with a cold disk: drops the vectors of the disk chunks from the server's mappings and from
// the page cache. Answers do not change. Pages that another process maps, or that are not on the disk yet,
// stay.
std::vector<EvictedFile> EvictVectors(const TableSnapshot& snapshot);

}  // namespace stoa::storage
