#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace stoa::knn {

// Zeroed memory for large arrays that are read at random places: aligned to 2 MiB and, where the system
// allows it, in huge pages, so that an access seldom misses the translation cache.
class PageBuffer {
 public:
  PageBuffer() = default;
  // data() is nullptr when there is no memory.
  explicit PageBuffer(size_t bytes);
  PageBuffer(PageBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  PageBuffer& operator=(PageBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PageBuffer();

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;  // of the mapping
};

}  // namespace stoa::knn
