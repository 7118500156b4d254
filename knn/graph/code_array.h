#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::knn {

// `count` codes of one quantiser, code i at data + i × stride.
struct CodeArray {
  const uint8_t* data = nullptr;
  size_t stride = 0;
  uint32_t count = 0;

  const uint8_t* operator[](uint32_t index) const { return data + index * stride; }
};

}  // namespace stoa::knn
