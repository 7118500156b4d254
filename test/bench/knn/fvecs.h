#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stoa::bench {

// A set of vectors in memory.
struct VectorSet {
  std::vector<float> floats;
  size_t dims = 0;
  size_t size() const { return dims == 0 ? 0 : floats.size() / dims; }
  const float* at(size_t index) const { return floats.data() + index * dims; }
};

// Vectors `first` to at most `first + most` of a file of `int32 dims, float32 values[dims]`. Ends the program
// when there is no such file or it is damaged.
VectorSet ReadFvecs(const std::string& path, size_t most, size_t first = 0);

// How many vectors the file has; 0: no such file.
size_t CountFvecs(const std::string& path);

}  // namespace stoa::bench
