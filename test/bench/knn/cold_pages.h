#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoa::bench {

// A file mapped under MADV_RANDOM, to be read one page fault after another. One thread.
class ColdFile {
 public:
  explicit ColdFile(const std::string& path);
  ~ColdFile();
  ColdFile(const ColdFile&) = delete;
  ColdFile& operator=(const ColdFile&) = delete;

  // Drops the file's pages from this mapping and from the page cache; how many are in memory afterwards.
  uint64_t Evict();
  // Reads a byte of each page of `count` vectors at random places; seconds.
  double TouchVectors(uint64_t count, uint64_t vector_bytes, uint64_t seed);

 private:
  int descriptor_;
  uint64_t size_;
  uint8_t* bytes_;
};

}  // namespace stoa::bench
