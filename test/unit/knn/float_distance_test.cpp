#include "knn/kernels/float_distance.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "knn/every_target.h"

namespace stoa::knn {
namespace {

constexpr size_t kMostVectors = 32;
constexpr size_t kCounts[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 32};

std::vector<size_t> Dims() {
  std::vector<size_t> dims;
  for (size_t i = 1; i <= 200; ++i) {
    dims.push_back(i);
  }
  for (const size_t middle : {256, 384, 768, 1024, 1536}) {
    dims.insert(dims.end(), {middle - 1, middle, middle + 1});
  }
  dims.insert(dims.end(), {3072, 4096});
  return dims;
}

// An array in a block of the heap that ends where it ends, so that a read behind it is noticed; its beginning
// is `shift` elements behind the block's.
template <typename T>
struct Exact {
  Exact(size_t count, size_t shift) : block(new T[count + shift]), first(block.get() + shift) {}
  std::unique_ptr<T[]> block;
  T* first;
};

float Rounded(float value) { return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xffff0000u); }

// A query and vectors of one size, as floats and, rounded, in bfloat16, and the sums that are expected.
struct Input {
  Input(std::mt19937& random, size_t dims) : query(dims, random() % 4) {
    std::normal_distribution<float> value;
    for (size_t j = 0; j < dims; ++j) {
      query.first[j] = value(random);
    }
    for (size_t i = 0; i < kMostVectors; ++i) {
      floats.emplace_back(dims, random() % 16);
      shorts.emplace_back(dims, random() % 32);
      std::vector<float> rounded(dims);
      for (size_t j = 0; j < dims; ++j) {
        floats[i].first[j] = value(random);
        rounded[j] = Rounded(floats[i].first[j]);
        shorts[i].first[j] = static_cast<uint16_t>(std::bit_cast<uint32_t>(rounded[j]) >> 16);
      }
      float_pointers.push_back(floats[i].first);
      short_pointers.push_back(shorts[i].first);
      squared.push_back(PlainSquaredDistance(query.first, floats[i].first, dims));
      dot.push_back(PlainDotProduct(query.first, floats[i].first, dims));
      squared_rounded.push_back(PlainSquaredDistance(query.first, rounded.data(), dims));
      dot_rounded.push_back(PlainDotProduct(query.first, rounded.data(), dims));
    }
  }

  Exact<float> query;
  std::vector<Exact<float>> floats;
  std::vector<Exact<uint16_t>> shorts;
  std::vector<const float*> float_pointers;
  std::vector<const uint16_t*> short_pointers;
  std::vector<double> squared;
  std::vector<double> dot;
  std::vector<double> squared_rounded;
  std::vector<double> dot_rounded;
};

// Terms are about 1 each, so rounding errors are well below this for sums of them in float.
size_t CountWrong(const float* sums, const std::vector<double>& expected, size_t count, size_t dims) {
  const double allowed = 4e-6 * (8 + static_cast<double>(dims));
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) {
    wrong += std::abs(static_cast<double>(sums[i]) - expected[i]) <= allowed ? 0 : 1;
  }
  return wrong;
}

template <typename Kernel, typename T>
void Check(Kernel kernel, const Input& input, const std::vector<const T*>& vectors, size_t dims,
           const std::vector<double>& expected) {
  for (const size_t count : kCounts) {
    INFO("vectors " << count);
    const std::unique_ptr<const T*[]> pointers(new const T*[count]);
    std::copy_n(vectors.begin(), count, pointers.get());
    const std::unique_ptr<float[]> sums(new float[count]);
    kernel(input.query.first, pointers.get(), count, dims, sums.get());
    REQUIRE(CountWrong(sums.get(), expected, count, dims) == 0);
  }
}

}  // namespace

TEST_CASE("float kernels agree with sums in double for every size on every instruction set", "[knn]") {
  std::mt19937 random(21);
  for (const size_t dims : Dims()) {
    INFO("dims " << dims);
    const Input input(random, dims);
    OnEveryTarget([&] {
      Check(SquaredDistances, input, input.float_pointers, dims, input.squared);
      Check(DotProducts, input, input.float_pointers, dims, input.dot);
      Check(SquaredDistancesBf16, input, input.short_pointers, dims, input.squared_rounded);
      Check(DotProductsBf16, input, input.short_pointers, dims, input.dot_rounded);
    });
  }
}

TEST_CASE("the distance of a vector to itself is zero", "[knn]") {
  std::mt19937 random(22);
  for (const size_t dims : {1, 15, 16, 33, 100, 784}) {
    const Input input(random, dims);
    OnEveryTarget([&] {
      float sums[kMostVectors];
      for (size_t i = 0; i < 5; ++i) {
        SquaredDistances(input.float_pointers[i], input.float_pointers.data(), kMostVectors, dims, sums);
        REQUIRE(sums[i] == 0);
      }
    });
  }
}

}  // namespace stoa::knn
