#include "knn/kernels/code_distance.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "knn/every_target.h"

namespace stoa::knn {
namespace {

constexpr size_t kMostCodes = 32;
constexpr size_t kCounts[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 32};

// Codes of one size, each in a block of the heap that ends where the code ends, so that a read behind it is
// noticed; they begin anywhere.
struct Codes {
  Codes(std::mt19937& random, size_t bytes) {
    for (size_t i = 0; i < kMostCodes; ++i) {
      const size_t shift = random() % 64;
      blocks.emplace_back(new uint8_t[bytes + shift]);
      uint8_t* code = blocks[i].get() + shift;
      std::generate_n(code, bytes, [&] { return static_cast<uint8_t>(random()); });
      at.push_back(code);
    }
  }
  std::vector<std::unique_ptr<uint8_t[]>> blocks;
  std::vector<const uint8_t*> at;
};

template <typename Kernel, typename Plain, typename Query>
void Check(Kernel kernel, Plain plain, const Query* query, const Codes& codes, size_t dims) {
  std::vector<int32_t> expected;
  for (const uint8_t* code : codes.at) {
    expected.push_back(plain(query, code, dims));
  }
  OnEveryTarget([&] {
    for (const size_t count : kCounts) {
      INFO("codes " << count);
      const std::unique_ptr<const uint8_t*[]> pointers(new const uint8_t*[count]);
      std::copy_n(codes.at.begin(), count, pointers.get());
      const std::unique_ptr<int32_t[]> sums(new int32_t[count]);
      kernel(query, pointers.get(), count, dims, sums.get());
      REQUIRE(std::equal(sums.get(), sums.get() + count, expected.begin()));
    }
  });
}

std::unique_ptr<int8_t[]> SignedQuery(std::mt19937& random, size_t dims) {
  std::unique_ptr<int8_t[]> query(new int8_t[dims]);
  std::generate_n(query.get(), dims,
                  [&] { return static_cast<int8_t>(static_cast<int>(random() % 255) - 127); });
  return query;
}

std::unique_ptr<uint64_t[]> BitQuery(std::mt19937& random, size_t words) {
  std::unique_ptr<uint64_t[]> query(new uint64_t[words]);
  std::generate_n(query.get(), words, [&] { return uint64_t{random()} << 32 | random(); });
  return query;
}

}  // namespace

TEST_CASE("sums over codes of 8 bits are exact for every size on every instruction set", "[knn]") {
  std::mt19937 random(31);
  for (size_t dims = 64; dims <= 4096; dims += 64) {
    INFO("dims " << dims);
    Check(DotCodes8, PlainDotCodes8, SignedQuery(random, dims).get(), Codes(random, dims), dims);
  }
}

TEST_CASE("sums over codes of 4 bits are exact for every size on every instruction set", "[knn]") {
  std::mt19937 random(32);
  for (size_t dims = 64; dims <= 4096; dims += 64) {
    INFO("dims " << dims);
    Check(DotCodes4, PlainDotCodes4, SignedQuery(random, dims).get(), Codes(random, dims / 2), dims);
  }
}

TEST_CASE("sums over codes of 1 bit are exact for every size on every instruction set", "[knn]") {
  std::mt19937 random(33);
  for (size_t dims = 64; dims <= 4096; dims += 64) {
    INFO("dims " << dims);
    const Codes codes(random, dims / 8);
    Check(DotCodes1, PlainDotCodes1, BitQuery(random, dims / 64 * 4).get(), codes, dims);
    Check(HammingDistances, PlainHammingDistance, BitQuery(random, dims / 64).get(), codes, dims);
  }
}

TEST_CASE("the largest sums over codes of 8 and 4 bits do not overflow", "[knn]") {
  constexpr size_t kDims = 65'536;
  std::mt19937 random(34);
  Codes codes(random, kDims);
  for (const auto& block : codes.blocks) {
    std::fill_n(block.get(), kDims, uint8_t{255});
  }
  for (size_t i = 0; i < kMostCodes; ++i) {
    codes.at[i] = codes.blocks[i].get();
  }
  for (const int8_t extreme : {int8_t{127}, int8_t{-127}}) {
    const std::vector<int8_t> query(kDims, extreme);
    REQUIRE(PlainDotCodes8(query.data(), codes.at[0], kDims) == extreme * 255 * 65'536);
    Check(DotCodes8, PlainDotCodes8, query.data(), codes, kDims);
    Check(DotCodes4, PlainDotCodes4, query.data(), codes, kDims);
  }
}

TEST_CASE("the plain forms follow the layout of codes", "[knn]") {
  std::vector<int8_t> query(128, 0);
  std::vector<uint8_t> code(64, 0);
  query[33] = 3;
  query[64] = -5;
  code[1] = 0x7f;   // component 1 is 15, component 33 is 7
  code[32] = 0x92;  // component 64 is 2, component 96 is 9
  REQUIRE(PlainDotCodes4(query.data(), code.data(), 128) == 3 * 7 - 5 * 2);

  const std::vector<uint64_t> planes = {1, 1, 0, 1, 1, 0, 0, 1};
  const std::vector<uint8_t> bits = {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
  REQUIRE(PlainDotCodes1(planes.data(), bits.data(), 128) == (1 + 4) + (1 + 2 + 8));
  REQUIRE(PlainHammingDistance(planes.data() + 4, bits.data(), 128) == 1);
}

}  // namespace stoa::knn
