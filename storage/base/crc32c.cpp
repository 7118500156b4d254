#include "storage/base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#include "storage/base/check.h"
#include "storage/base/crc32c_kernels.h"

namespace stoa {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, bits reversed
constexpr size_t kSlices = 8;
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

// tables[k][b] is the effect of byte b followed by k zero bytes ("slicing by 8").
constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    }
    tables[0][byte] = crc;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint64_t Load8(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

uint8_t ByteOf(uint64_t word, unsigned index) { return static_cast<uint8_t>(word >> (8 * index)); }

}  // namespace

uint32_t Crc32cTable(std::string_view bytes, uint32_t seed) {
  uint32_t crc = ~seed;
  const char* next = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, next += 8) {
    const uint64_t word = Load8(next) ^ crc;
    crc = 0;
    for (unsigned i = 0; i < 8; ++i) {
      crc ^= kTables[7 - i][ByteOf(word, i)];
    }
  }
  for (; left > 0; --left, ++next) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(*next)) & 0xff];
  }
  return ~crc;
}

#if defined(__x86_64__)

bool HasCrc32cInstruction() { return __builtin_cpu_supports("sse4.2") != 0; }

__attribute__((target("sse4.2"))) uint32_t Crc32cInstruction(std::string_view bytes, uint32_t seed) {
  uint64_t crc = ~seed;
  const char* next = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, next += 8) {
    crc = _mm_crc32_u64(crc, Load8(next));
  }
  uint32_t tail = static_cast<uint32_t>(crc);
  for (; left > 0; --left, ++next) {
    tail = _mm_crc32_u8(tail, static_cast<uint8_t>(*next));
  }
  return ~tail;
}

#else

bool HasCrc32cInstruction() { return false; }

uint32_t Crc32cInstruction(std::string_view bytes, uint32_t seed) {
  STOA_CHECK(HasCrc32cInstruction());
  return Crc32cTable(bytes, seed);
}

#endif

uint32_t Crc32c(std::string_view bytes, uint32_t seed) {
  static const bool has_instruction = HasCrc32cInstruction();
  return has_instruction ? Crc32cInstruction(bytes, seed) : Crc32cTable(bytes, seed);
}

}  // namespace stoa
