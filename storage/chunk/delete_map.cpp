#include "storage/chunk/delete_map.h"

#include <algorithm>

namespace stoa::storage {
namespace {

constexpr uint32_t kPageWords = DeleteMap::kPageRows / 64;

}  // namespace

uint64_t DeleteMap::ram_bytes() const {
  uint64_t bytes = pages_.capacity() * sizeof(pages_[0]);
  for (const auto& page : pages_) {
    bytes += page != nullptr ? sizeof(Page) : 0;
  }
  return bytes;
}

DeleteMapEdit::DeleteMapEdit(std::shared_ptr<const DeleteMap> base) : base_(std::move(base)), next_(*base_) {}

bool DeleteMapEdit::Contains(RowId row) const { return next_.Contains(row); }

// This edit's own copy of a page, made when there is none.
DeleteMap::Page& DeleteMapEdit::Own(uint32_t page) {
  if (next_.pages_.size() <= page) {
    next_.pages_.resize(page + 1);
  }
  own_.resize(next_.pages_.size());
  if (own_[page] == nullptr) {
    auto copy = next_.pages_[page] != nullptr ? std::make_shared<DeleteMap::Page>(*next_.pages_[page])
                                              : std::make_shared<DeleteMap::Page>();
    own_[page] = copy.get();
    next_.pages_[page] = std::move(copy);
  }
  return *own_[page];
}

bool DeleteMapEdit::Add(RowId row) {
  if (next_.Contains(row)) {
    return false;
  }
  AddWord(row.value / 64, uint64_t{1} << (row.value % 64));
  return true;
}

void DeleteMapEdit::AddWord(uint32_t index, uint64_t bits) {
  const uint64_t fresh = bits & ~next_.Word(index);
  if (fresh == 0) {
    return;
  }
  Own(index / kPageWords)[index % kPageWords] |= fresh;
  next_.count_ += static_cast<uint32_t>(std::popcount(fresh));
  changed_ = true;
}

void DeleteMapEdit::AddRange(uint32_t first, uint32_t end) {
  uint32_t row = first;
  while (row < end) {
    const uint32_t bit = row % 64;
    const uint32_t count = std::min(64 - bit, end - row);
    AddWord(row / 64, (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << bit);
    row += count;
  }
}

std::shared_ptr<const DeleteMap> DeleteMapEdit::Finish() {
  return changed_ ? std::make_shared<const DeleteMap>(std::move(next_)) : base_;
}

}  // namespace stoa::storage
