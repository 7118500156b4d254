#pragma once

#include <cstdint>
#include <vector>

namespace stoa {

struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

// Which pages of a file the page cache holds. Empty: nobody knows. The system calls every page cached when
// the process may neither own nor write the file.
struct CachedPages {
  uint64_t page_bytes = 4096;
  std::vector<bool> pages;
};

}  // namespace stoa
