#include "storage/column/number_block.h"

#include <hwy/targets.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "storage/column/number_encoder.h"
#include "storage/column/number_kernels_reference.h"
#include "storage/column/number_select.h"

namespace stoa::storage {
namespace {

using Keys = std::vector<uint64_t>;

// Runs `test` with every instruction set that this machine and this build have.
template <typename Test>
void OnAllTargets(const Test& test) {
  for (int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    INFO("instruction set " << NumberKernelTarget());
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

uint64_t MostOf(unsigned width) { return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

Keys RandomKeys(std::mt19937_64& random, size_t count, unsigned width, uint64_t base) {
  Keys keys(count);
  for (uint64_t& key : keys) {
    key = base + (random() & MostOf(width));
  }
  return keys;
}

std::string Padded(std::string payload) { return payload + std::string(kPackedSlack, '\xff'); }

// Everything that a block can be asked agrees with its keys.
void CheckBlock(const NumberBlock& block, const std::string& bytes, const Keys& keys,
                std::mt19937_64& random) {
  const auto rows = static_cast<uint32_t>(keys.size());
  REQUIRE(bytes.size() == PartsOf(block, rows).size);
  REQUIRE(ValidateBlock(block, rows).ok());
  const std::string payload = Padded(bytes);
  const Status checked = CheckPayload(block, payload.data(), rows);
  INFO(checked.text());
  REQUIRE(checked.ok());
  uint64_t decoded[kKeyRoom];
  DecodeKeys(block, payload.data(), rows, 77, decoded);
  size_t wrong = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    wrong += decoded[row] == keys[row] + 77 ? 0 : 1;
    wrong += KeyAt(block, payload.data(), rows, row) == keys[row] ? 0 : 1;
  }
  REQUIRE(wrong == 0);
  for (int i = 0; i < 4; ++i) {
    KeyRange range{keys[random() % rows], keys[random() % rows]};
    if (range.low > range.high) {
      std::swap(range.low, range.high);
    }
    BlockBits passing{};
    SelectRange(block, payload.data(), rows, range, passing);
    for (uint32_t row = 0; row < rows; ++row) {
      const bool expected = keys[row] >= range.low && keys[row] <= range.high;
      wrong += (passing[row / 64] >> (row % 64) & 1) == (expected ? 1u : 0u) ? 0 : 1;
    }
  }
  REQUIRE(wrong == 0);
}

void CheckSet(const NumberBlock& block, const std::string& bytes, const Keys& keys, size_t members,
              std::mt19937_64& random) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < members; ++i) {
    const uint64_t near = keys[random() % keys.size()] + (random() % 4 == 0 ? 1 : 0);
    values.push_back(static_cast<int64_t>(near ^ uint64_t{1} << 63));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const KeySet set = KeySet(values, uint64_t{1} << 63).Within(block.minimum, block.maximum);
  BlockBits passing{};
  SelectSet(block, Padded(bytes).data(), static_cast<uint32_t>(keys.size()), set, passing);
  size_t wrong = 0;
  for (size_t row = 0; row < keys.size(); ++row) {
    const auto value = static_cast<int64_t>(keys[row] ^ uint64_t{1} << 63);
    const bool expected = std::binary_search(values.begin(), values.end(), value);
    wrong += (passing[row / 64] >> (row % 64) & 1) == (expected ? 1u : 0u) ? 0 : 1;
  }
  REQUIRE(wrong == 0);
}

constexpr BlockEncoding kAllEncodings[] = {BlockEncoding::kConstant, BlockEncoding::kPacked,
                                           BlockEncoding::kTable,    BlockEncoding::kRuns,
                                           BlockEncoding::kPatched,  BlockEncoding::kLinear};

void CheckAllEncodings(const Keys& keys, std::mt19937_64& random) {
  for (const BlockEncoding encoding : kAllEncodings) {
    std::string payload;
    const auto block = EncodeKeysAs(encoding, keys, payload);
    if (!block.has_value()) {
      continue;
    }
    INFO("encoding " << static_cast<int>(encoding));
    CheckBlock(*block, payload, keys, random);
    for (const size_t members : {1, 3, 40, 3000}) {
      CheckSet(*block, payload, keys, members, random);
    }
  }
  std::string payload;
  const NumberBlock block = EncodeKeys(keys, payload);
  CheckBlock(block, payload, keys, random);
}

}  // namespace

TEST_CASE("every width round-trips in every encoding on every instruction set", "[storage]") {
  OnAllTargets([] {
    std::mt19937_64 random(11);
    for (unsigned width = 0; width <= 64; ++width) {
      INFO("width " << width);
      for (const size_t count : {size_t{1}, size_t{2}, size_t{65}, size_t{1000}, size_t{1024}}) {
        INFO("rows " << count);
        CheckAllEncodings(RandomKeys(random, count, width, random()), random);
      }
    }
  });
}

TEST_CASE("blocks of runs, few values, outliers and lines round-trip", "[storage]") {
  OnAllTargets([] {
    std::mt19937_64 random(12);
    for (const size_t count : {size_t{3}, size_t{64}, size_t{129}, size_t{1023}, size_t{1024}}) {
      for (const uint64_t often : {2, 5, 40, 300}) {
        INFO("rows " << count << ", often " << often);
        Keys runs(count);
        Keys outliers(count);
        Keys rising(count);
        Keys falling(count);
        for (size_t i = 0; i < count; ++i) {
          runs[i] = i > 0 && random() % often != 0 ? runs[i - 1] : random() % 1000;
          outliers[i] = random() % often == 0 ? random() : 500 + random() % 3;
          rising[i] = (i > 0 ? rising[i - 1] : random()) + random() % often;
          falling[i] = (i > 0 ? falling[i - 1] : random()) - random() % (often << 20);
        }
        for (const Keys& keys : {runs, outliers, rising, falling}) {
          CheckAllEncodings(keys, random);
        }
      }
    }
  });
}

TEST_CASE("the smallest and the largest keys share a block", "[storage]") {
  std::mt19937_64 random(13);
  CheckAllEncodings({0, ~uint64_t{0}}, random);
  CheckAllEncodings({~uint64_t{0}, 0, uint64_t{1} << 63, (uint64_t{1} << 63) - 1}, random);
  CheckAllEncodings(Keys(1024, ~uint64_t{0}), random);
  Keys mostly(1024, ~uint64_t{0});
  mostly[512] = 0;
  CheckAllEncodings(mostly, random);
}

TEST_CASE("encodings are chosen by size", "[storage]") {
  Keys ids(1024);
  Keys runs(1024);
  Keys sparse(1024, 5);
  Keys few(1024);
  std::mt19937_64 random(14);
  for (size_t i = 0; i < 1024; ++i) {
    ids[i] = 1'000'000'007 + 3 * i;
    runs[i] = i / 64 * 7919 % 1000;
    few[i] = random() % 4 * 1'000'000'000;
  }
  sparse[17] = 90'000;
  const auto encoded = [](const Keys& keys) {
    std::string payload;
    const NumberBlock block = EncodeKeys(keys, payload);
    return std::pair(block.encoding, payload.size());
  };
  REQUIRE(encoded(Keys(1024, 9)) == std::pair(BlockEncoding::kConstant, size_t{0}));
  REQUIRE(encoded(ids) == std::pair(BlockEncoding::kLinear, size_t{0}));
  REQUIRE(encoded(runs) == std::pair(BlockEncoding::kRuns, size_t{40}));
  REQUIRE(encoded(sparse) == std::pair(BlockEncoding::kPatched, size_t{8}));
  REQUIRE(encoded(few) == std::pair(BlockEncoding::kTable, size_t{272}));
}

TEST_CASE("floats keep every bit", "[storage]") {
  const float inf = std::numeric_limits<float>::infinity();
  std::mt19937_64 random(15);
  std::vector<std::vector<float>> columns(6, std::vector<float>(1024));
  for (size_t i = 0; i < 1024; ++i) {
    columns[0][i] = std::bit_cast<float>(static_cast<uint32_t>(random()));
    columns[1][i] =
        static_cast<float>(static_cast<double>(static_cast<int64_t>(random() % 20000) - 5000) / 100);
    columns[2][i] = static_cast<float>(random() % 3) / 3;
    columns[3][i] = static_cast<float>(40.7 + static_cast<double>(random() % 100000) / 1e6);
    columns[4][i] = i % 2 == 0 ? 0.0f : -0.0f;
    columns[5][i] = static_cast<float>(random() % 100) / 10;
  }
  columns[5][3] = inf;
  columns[5][4] = -inf;
  columns[5][5] = std::numeric_limits<float>::quiet_NaN();
  columns[5][6] = std::bit_cast<float>(0xffc12345u);
  columns[5][7] = std::numeric_limits<float>::denorm_min();
  OnAllTargets([&] {
    for (const auto& values : columns) {
      std::string payload;
      const NumberBlock block = EncodeFloats(values, payload);
      payload = Padded(payload);
      uint64_t keys[kKeyRoom];
      float decoded[kKeyRoom];
      DecodeKeys(block, payload.data(), 1024, 0, keys);
      if (block.decimal == 0) {
        OrderedToFloats(keys, 1024, decoded);
      } else {
        DecimalsToFloats(keys, 1024, block.decimal - 1u, decoded);
      }
      REQUIRE(std::memcmp(decoded, values.data(), sizeof(float) * 1024) == 0);
    }
  });
  std::string payload;
  REQUIRE(EncodeFloats(columns[1], payload).decimal == 3);
  REQUIRE(EncodeFloats(columns[4], payload).decimal == 0);
}

TEST_CASE("damaged payloads are read within their bounds", "[storage]") {
  std::mt19937_64 random(16);
  const Keys keys = RandomKeys(random, 1024, 9, 5);
  for (const BlockEncoding encoding : kAllEncodings) {
    std::string payload;
    const auto block = EncodeKeysAs(encoding, keys, payload);
    if (!block.has_value()) {
      continue;
    }
    for (int i = 0; i < 50; ++i) {
      for (char& byte : payload) {
        byte = static_cast<char>(random());
      }
      // An allocation of its own, so that sanitizers see what is read behind it.
      const std::string bytes = Padded(payload);
      uint64_t decoded[kKeyRoom];
      BlockBits passing{};
      DecodeKeys(*block, bytes.data(), 1024, 0, decoded);
      SelectRange(*block, bytes.data(), 1024, {7, 100}, passing);
      for (uint32_t row = 0; row < 1024; row += 31) {
        (void)KeyAt(*block, bytes.data(), 1024, row);
      }
    }
    REQUIRE((encoding == BlockEncoding::kLinear || encoding == BlockEncoding::kPacked ||
             !CheckPayload(*block, Padded(payload).data(), 1024).ok()));
  }
}

}  // namespace stoa::storage
