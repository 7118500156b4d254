#include "storage/column/presence_map.h"

#include <bit>
#include <cstring>

namespace stoa::storage {
namespace {

constexpr uint32_t kWordsOfRank = 8;

}  // namespace

Result<PresenceMap> PresenceMap::Decode(std::string_view bytes, uint32_t rows) {
  PresenceMap map(rows);
  const size_t words = (uint64_t{rows} + 63) / 64;
  if (bytes.size() != words * sizeof(uint64_t)) {
    return CorruptError("{} bytes of presence for {} rows", bytes.size(), rows);
  }
  map.words_.resize(words);
  if (!bytes.empty()) {
    std::memcpy(map.words_.data(), bytes.data(), bytes.size());
  }
  if (rows % 64 != 0 && (map.words_.back() >> (rows % 64)) != 0) {
    return CorruptError("presence of rows behind the last one, {}", rows);
  }
  map.present_ = 0;
  for (size_t word = 0; word < words; ++word) {
    if (word % kWordsOfRank == 0) {
      map.ranks_.push_back(map.present_);
    }
    map.present_ += static_cast<uint32_t>(std::popcount(map.words_[word]));
  }
  return map;
}

uint32_t PresenceMap::Rank(RowId row) const {
  if (words_.empty()) {
    return row.value;
  }
  const uint32_t last = row.value / 64;
  uint32_t rank = ranks_[last / kWordsOfRank];
  for (uint32_t word = last / kWordsOfRank * kWordsOfRank; word < last; ++word) {
    rank += static_cast<uint32_t>(std::popcount(words_[word]));
  }
  const uint64_t before = words_[last] & ((uint64_t{1} << (row.value % 64)) - 1);
  return rank + static_cast<uint32_t>(std::popcount(before));
}

void PresenceWriter::Append(bool present) {
  if (rows_ % 64 == 0) {
    words_.push_back(0);
  }
  words_.back() |= uint64_t{present} << (rows_ % 64);
  ++rows_;
  present_ += present ? 1 : 0;
}

std::string PresenceWriter::Encode() const {
  std::string bytes(words_.size() * sizeof(uint64_t), '\0');
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), words_.data(), bytes.size());
  }
  return bytes;
}

}  // namespace stoa::storage
