#include "storage/chunk/delete_map.h"

namespace stoa::storage {

uint64_t DeleteMap::ram_bytes() const {
  uint64_t bytes = pages_.capacity() * sizeof(pages_[0]);
  for (const auto& page : pages_) {
    bytes += page != nullptr ? sizeof(Page) : 0;
  }
  return bytes;
}

DeleteMapEdit::DeleteMapEdit(std::shared_ptr<const DeleteMap> base) : base_(std::move(base)), next_(*base_) {}

bool DeleteMapEdit::Contains(RowId row) const { return next_.Contains(row); }

bool DeleteMapEdit::Add(RowId row) {
  if (next_.Contains(row)) {
    return false;
  }
  const uint32_t index = row.value / DeleteMap::kPageRows;
  if (next_.pages_.size() <= index) {
    next_.pages_.resize(index + 1);
  }
  own_.resize(next_.pages_.size());
  if (own_[index] == nullptr) {
    auto page = next_.pages_[index] != nullptr ? std::make_shared<DeleteMap::Page>(*next_.pages_[index])
                                               : std::make_shared<DeleteMap::Page>();
    own_[index] = page.get();
    next_.pages_[index] = std::move(page);
  }
  (*own_[index])[row.value % DeleteMap::kPageRows / 64] |= uint64_t{1} << (row.value % 64);
  ++next_.count_;
  changed_ = true;
  return true;
}

std::shared_ptr<const DeleteMap> DeleteMapEdit::Finish() {
  return changed_ ? std::make_shared<const DeleteMap>(std::move(next_)) : base_;
}

}  // namespace stoa::storage
