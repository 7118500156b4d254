#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/base/result.h"
#include "storage/column/byte_blocks.h"
#include "storage/column/column_reader.h"

namespace stoa::storage {

// The distinct texts of a column, ascending byte for byte; a text's code is its place. Safe to share; lives
// as long as its column. When a small one is first used, the places of its texts are noted in memory (and the
// texts too, unless the file is mapped): they have stable addresses. A large one is read from the file, text
// by text.
class TextDictionary {
 public:
  explicit TextDictionary(ByteBlocks texts);

  uint32_t size() const { return texts_.size(); }
  // Codes below size(), in any order. Texts that have no stable address are in `buffer`.
  Status Read(std::span<const uint32_t> codes, std::span<std::string_view> texts, ReadBuffer& buffer) const;
  // The codes of those of `texts` (ascending) that are in the dictionary; ascending.
  Result<std::vector<int64_t>> Find(std::span<const std::string> texts) const;
  uint64_t ram_bytes() const;
  Status Check() const;

 private:
  struct Loaded {
    std::string bytes;  // file mode
    std::vector<std::string_view> texts;
  };
  bool small() const;
  // nullptr when it is too large.
  Result<const Loaded*> Load() const;
  Result<uint32_t> LowerBound(const std::string& text, uint32_t first, std::string& found) const;

  ByteBlocks texts_;
  mutable Mutex mutex_;
  mutable std::unique_ptr<const Loaded> owner_ GUARDED_BY(mutex_);
  mutable std::atomic<const Loaded*> loaded_ = nullptr;  // what owner_ holds
};

}  // namespace stoa::storage
