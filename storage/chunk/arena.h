#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace stoa::storage {

// Bytes that stay where they are until the arena goes. Values start at multiples of eight. One writer; what
// it returned may be read from any thread that learned of it through a published snapshot.
class Arena {
 public:
  // A copy of `value`; empty stays empty.
  std::string_view Copy(std::string_view value);
  size_t allocated() const { return allocated_; }  // bytes taken from the heap
  size_t used() const { return used_; }            // bytes handed out

 private:
  char* Allocate(size_t bytes);

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t allocated_ = 0;
  size_t used_ = 0;
};

}  // namespace stoa::storage
