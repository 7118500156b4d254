#include "storage/column/text_matcher.h"

#include <algorithm>

#include "storage/column/text_format.h"

namespace stoa::storage {

bool TextMatcher::Prepare(const BytesSet& texts) {
  if (prepared_ && texts.values == texts_.values) {
    return false;
  }
  texts_ = texts;
  hashes_.clear();
  for (const std::string& text : texts_.values) {
    hashes_.push_back(HashOfText(text));
  }
  std::sort(hashes_.begin(), hashes_.end());
  prepared_ = true;
  return true;
}

bool TextMatcher::MayHave(uint64_t hash) const {
  if (hashes_.size() == 1) {
    return hashes_.front() == hash;
  }
  return std::binary_search(hashes_.begin(), hashes_.end(), hash);
}

bool TextMatcher::Has(std::string_view text) const {
  return std::binary_search(texts_.values.begin(), texts_.values.end(), text, std::less<std::string_view>());
}

}  // namespace stoa::storage
