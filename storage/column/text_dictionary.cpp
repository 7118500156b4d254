#include "storage/column/text_dictionary.h"

#include <algorithm>

namespace stoa::storage {
namespace {

constexpr uint64_t kMaxBytesInMemory = 8u << 20;  // with the ends

}  // namespace

TextDictionary::TextDictionary(ByteBlocks texts) : texts_(std::move(texts)) {}

bool TextDictionary::small() const { return texts_.stored_bytes() <= kMaxBytesInMemory; }

Result<const TextDictionary::Loaded*> TextDictionary::Load() const {
  if (const Loaded* loaded = loaded_.load(std::memory_order_acquire); loaded != nullptr || !small()) {
    return loaded;
  }
  auto made = std::make_unique<Loaded>();
  const bool mapped = texts_.mapped();
  if (!mapped) {
    made->bytes.reserve(texts_.stored_bytes());  // never grows: the views stay valid
  }
  made->texts.reserve(texts_.size());
  RETURN_IF_ERROR(texts_.Visit([&](uint32_t first, std::span<const std::string_view> texts) {
    if (mapped) {
      made->texts.insert(made->texts.end(), texts.begin(), texts.end());
      return Status::Ok();
    }
    for (const std::string_view text : texts) {
      const size_t start = made->bytes.size();
      made->bytes.append(text);
      made->texts.push_back(std::string_view(made->bytes).substr(start));
    }
    return made->bytes.size() <= texts_.stored_bytes() ? Status::Ok() : texts_.Corrupt(first, "overlap");
  }));
  MutexLock lock(mutex_);
  if (owner_ != nullptr) {
    return owner_.get();  // another thread was faster
  }
  owner_ = std::move(made);
  loaded_.store(owner_.get(), std::memory_order_release);
  return owner_.get();
}

Status TextDictionary::Read(std::span<const uint32_t> codes, std::span<std::string_view> texts,
                            ReadBuffer& buffer) const {
  for (const uint32_t code : codes) {
    if (code >= size()) {
      return InternalError("code {} of a dictionary of {} texts", code, size());
    }
  }
  ASSIGN_OR_RETURN(const Loaded* loaded, Load());
  if (loaded != nullptr) {
    for (size_t i = 0; i < codes.size(); ++i) {
      texts[i] = loaded->texts[codes[i]];
    }
    return Status::Ok();
  }
  std::vector<RowId> items;  // each code once
  items.reserve(codes.size());
  for (const uint32_t code : codes) {
    items.emplace_back(code);
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  std::vector<std::string_view> values(items.size());
  RETURN_IF_ERROR(texts_.Read(items, values, buffer));
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto at = std::lower_bound(items.begin(), items.end(), RowId(codes[i]));
    texts[i] = values[static_cast<size_t>(at - items.begin())];
  }
  return Status::Ok();
}

// The first code from `first` on whose text is not below `text`, and that text.
Result<uint32_t> TextDictionary::LowerBound(const std::string& text, uint32_t first,
                                            std::string& found) const {
  uint32_t last = size();
  ReadBuffer buffer;
  while (first < last) {
    const uint32_t middle = first + (last - first) / 2;
    std::string_view value;
    buffer.Clear();
    RETURN_IF_ERROR(Read({&middle, 1}, {&value, 1}, buffer));
    if (value < text) {
      first = middle + 1;
    } else {
      last = middle;
      found = value;
    }
  }
  return first;
}

Result<std::vector<int64_t>> TextDictionary::Find(std::span<const std::string> texts) const {
  std::vector<int64_t> codes;
  uint32_t first = 0;
  for (const std::string& text : texts) {
    std::string found;
    const uint32_t start = first;
    ASSIGN_OR_RETURN(first, LowerBound(text, start, found));
    if (first < size() && found == text) {
      codes.push_back(first);
      ++first;
    }
  }
  return codes;
}

uint64_t TextDictionary::ram_bytes() const {
  const Loaded* loaded = loaded_.load(std::memory_order_acquire);
  return texts_.ram_bytes() +
         (loaded == nullptr ? 0
                            : loaded->bytes.capacity() + loaded->texts.capacity() * sizeof(std::string_view));
}

Status TextDictionary::Check() const {
  std::string last;
  return texts_.Visit([&](uint32_t first, std::span<const std::string_view> texts) {
    for (size_t i = 0; i < texts.size(); ++i) {
      const uint32_t code = static_cast<uint32_t>(first + i);
      if (code > 0 && texts[i] <= last) {
        return texts_.Corrupt(code, "it is not above the one before");
      }
      last = texts[i];
    }
    return Status::Ok();
  });
}

}  // namespace stoa::storage
