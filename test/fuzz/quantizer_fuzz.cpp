#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "knn/quantize/quantizer.h"

namespace {

using namespace stoa::knn;  // NOLINT(google-build-using-namespace): a program of one file

constexpr size_t kVectors = 3;

// What is read is written again as it was, and codes any vectors without a NaN among the estimates.
void Use(std::string_view bytes, std::string_view values) {
  const auto quantizer = Quantizer::Decode(bytes);
  if (!quantizer.ok()) {
    return;
  }
  if ((*quantizer)->Encode() != bytes) {
    std::abort();
  }
  const uint32_t dims = (*quantizer)->options().dims;
  const size_t stride = (*quantizer)->code_bytes();
  std::vector<float> floats(kVectors * dims, 1.0F);
  if (!values.empty()) {
    std::memcpy(floats.data(), values.data(), std::min(values.size(), floats.size() * sizeof(float)));
  }
  std::vector<const float*> vectors;
  std::vector<uint8_t> codes(kVectors * stride);
  std::vector<const uint8_t*> pointers;
  for (size_t i = 0; i < kVectors; ++i) {
    vectors.push_back(floats.data() + i * dims);
    pointers.push_back(codes.data() + i * stride);
  }
  (*quantizer)->EncodeVectors(vectors, codes.data(), stride);
  const auto scorer = (*quantizer)->NewScorer();
  float distances[kVectors];
  float errors[kVectors];
  for (size_t i = 0; i < 2 * kVectors; ++i) {
    if (i < kVectors) {
      scorer->SetQuery(vectors[i]);
    } else {
      scorer->SetQueryCode(pointers[i - kVectors]);
    }
    scorer->ScoreWithErrors(pointers.data(), kVectors, distances, errors);
    for (size_t j = 0; j < kVectors; ++j) {
      if (std::isnan(distances[j]) || std::isnan(errors[j])) {
        std::abort();
      }
    }
  }
}

// Bytes that pass the first checks: options from the first bytes of the input, then the centre.
std::vector<char> Framed(const uint8_t* data, size_t size) {
  const uint32_t dims = 1 + (data[0] | (data[1] & 1U) << 8);
  std::vector<char> bytes(20 + dims * sizeof(float));
  const uint32_t format = 1;
  const uint16_t kind = data[2] % 5;
  const uint16_t metric = data[3] % 3;
  std::memcpy(bytes.data(), &format, 4);
  std::memcpy(bytes.data() + 4, &kind, 2);
  std::memcpy(bytes.data() + 6, &metric, 2);
  std::memcpy(bytes.data() + 8, &dims, 4);
  std::memcpy(bytes.data() + 12, data, 4);
  std::memcpy(bytes.data() + 20, data + 4, std::min(size - 4, bytes.size() - 20));
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 5) {
    return 0;
  }
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 4 == 0) {
    Use(input, input);
  } else if (size > 8) {
    const std::vector<char> bytes = Framed(data + 1, size - 1);
    const size_t centre = std::min(input.size(), bytes.size() - 16);
    Use({bytes.data(), bytes.size()}, input.substr(centre));
  }
  return 0;
}
