#include "storage/chunk/arena.h"

#include <algorithm>
#include <cstring>

namespace stoa::storage {
namespace {

constexpr size_t kFirstBlock = 1024;
constexpr size_t kLargestBlock = 1u << 20;

}  // namespace

char* Arena::Allocate(size_t bytes) {
  bytes = (bytes + 7) & ~size_t{7};
  used_ += bytes;
  if (bytes <= left_) {
    char* result = next_;
    next_ += bytes;
    left_ -= bytes;
    return result;
  }
  // Blocks double, so that a small segment stays small; a large value gets a block of its own.
  const size_t block = std::clamp(allocated_, kFirstBlock, kLargestBlock);
  const bool alone = bytes > block / 2;
  blocks_.push_back(std::make_unique_for_overwrite<char[]>(alone ? bytes : block));
  allocated_ += alone ? bytes : block;
  char* result = blocks_.back().get();
  if (!alone) {
    next_ = result + bytes;
    left_ = block - bytes;
  }
  return result;
}

std::string_view Arena::Copy(std::string_view value) {
  if (value.empty()) {
    return {};
  }
  char* target = Allocate(value.size());
  std::memcpy(target, value.data(), value.size());
  return {target, value.size()};
}

}  // namespace stoa::storage
