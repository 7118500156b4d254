#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/result.h"
#include "storage/column/byte_blocks.h"

namespace stoa::storage {

// What the writer and the readers of text columns agree on. docs/format/spc-texts-sets-vectors.md, "Texts".
enum class TextForm : uint8_t { kPlain = 0, kDictionary = 1 };

struct TextInfo {
  TextForm form = TextForm::kPlain;
  bool hashes = false;
  uint32_t rows = 0;

  std::string Encode() const;
  static Result<TextInfo> Decode(std::string_view bytes);
};

inline uint64_t HashOfText(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

inline ByteBlocksSections TextSections(uint32_t key) {
  return {.directory = SpcSection::kTextOffsets, .blocks = SpcSection::kTextBytes, .key = key};
}

}  // namespace stoa::storage
