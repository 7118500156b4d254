#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "storage/base/ids.h"

namespace stoa::storage {

// A Bloom filter of document ids whose bits for one id all lie in one cache line: 64 bytes, eight words, one
// bit a word. 12 bits an id: about one in 200 absent ids passes. After Putze, Sanders, Singler, "Cache-,
// hash- and space-efficient Bloom filters" (2007). docs/format/spt.md.
inline constexpr uint64_t kFilterLine = 64;  // bytes

inline uint64_t FilterLines(uint64_t ids) {
  constexpr uint64_t kBitsPerId = 12;
  return (ids * kBitsPerId + kFilterLine * 8 - 1) / (kFilterLine * 8);
}

// The finaliser of MurmurHash3: every bit of the id moves every bit of the hash.
inline uint64_t FilterHash(DocId id) {
  uint64_t hash = id.value;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
  return hash ^ (hash >> 33);
}

// Byte offset of the id's line in a filter of `lines` lines, at most 2^32.
inline uint64_t FilterOffset(uint64_t hash, uint64_t lines) {
  return ((hash >> 32) * lines >> 32) * kFilterLine;
}

// The id's bit of word `word` of its line.
inline uint64_t FilterBit(uint64_t hash, uint32_t word) {
  const uint64_t spread = hash * 0x9e3779b97f4a7c15;  // the low half of `hash` chose no line
  return uint64_t{1} << ((spread >> (16 + 6 * word)) % 64);
}

// `line` is where FilterOffset() says.
inline void AddToFilter(uint64_t hash, char* line) {
  uint64_t words[8];
  std::memcpy(words, line, sizeof(words));
  for (uint32_t i = 0; i < 8; ++i) {
    words[i] |= FilterBit(hash, i);
  }
  std::memcpy(line, words, sizeof(words));
}

inline bool MayContain(uint64_t hash, const char* line) {
  uint64_t words[8];
  std::memcpy(words, line, sizeof(words));
  uint64_t missing = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    missing |= FilterBit(hash, i) & ~words[i];
  }
  return missing == 0;
}

}  // namespace stoa::storage
