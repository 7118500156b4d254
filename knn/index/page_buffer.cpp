#include "knn/index/page_buffer.h"

#include <sys/mman.h>

#include <cstdlib>

namespace stoa::knn {

namespace {

constexpr size_t kHugePage = 2u << 20;

}  // namespace

PageBuffer::PageBuffer(size_t bytes) : bytes_((bytes + 1 + kHugePage - 1) / kHugePage * kHugePage) {
  // A mapping that is a huge page too long holds an aligned one; the ends are given back.
  void* all = mmap(nullptr, bytes_ + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) {
    bytes_ = 0;
    return;
  }
  auto* begin = static_cast<uint8_t*>(all);
  const size_t front = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (front > 0) {
    munmap(begin, front);
  }
  data_ = begin + front;
  if (front < kHugePage) {
    munmap(data_ + bytes_, kHugePage - front);
  }
  madvise(data_, bytes_, MADV_HUGEPAGE);  // a wish; small pages serve as well
}

PageBuffer::~PageBuffer() {
  if (data_ != nullptr) {
    munmap(data_, bytes_);
  }
}

}  // namespace stoa::knn
