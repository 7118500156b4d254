#include "storage/base/crc32c.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "storage/base/crc32c_kernels.h"

namespace stoa {
namespace {

// RFC 3720, B.4, and the usual check value.
struct Known {
  std::string bytes;
  uint32_t crc;
};

std::string Counting(int first, int step) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) {
    bytes.push_back(static_cast<char>(first + i * step));
  }
  return bytes;
}

const Known kKnown[] = {
    {"", 0},
    {"123456789", 0xe3069283},
    {std::string(32, '\0'), 0x8a9136aa},
    {std::string(32, '\xff'), 0x62a8ab43},
    {Counting(0, 1), 0x46dd794e},
    {Counting(31, -1), 0x113fdb5c},
};

}  // namespace

TEST_CASE("crc32c gives the values of RFC 3720", "[base]") {
  for (const Known& known : kKnown) {
    CHECK(Crc32c(known.bytes) == known.crc);
    CHECK(Crc32cTable(known.bytes, 0) == known.crc);
  }
}

TEST_CASE("crc32c of a whole is the crc of its parts, in both ways, at every alignment", "[base]") {
  std::mt19937 random(7);
  std::string bytes(300, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(random());
  }
  for (size_t start = 0; start < 9; ++start) {
    const std::string_view whole = std::string_view(bytes).substr(start);
    const uint32_t expected = Crc32cTable(whole, 0);
    for (size_t cut = 0; cut <= whole.size(); cut += 7) {
      CHECK(Crc32c(whole.substr(cut), Crc32c(whole.substr(0, cut))) == expected);
      CHECK(Crc32cTable(whole.substr(cut), Crc32cTable(whole.substr(0, cut), 0)) == expected);
    }
    if (HasCrc32cInstruction()) {
      CHECK(Crc32cInstruction(whole, 99) == Crc32cTable(whole, 99));
    }
  }
}

}  // namespace stoa
