#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/base/ids.h"

namespace stoa::storage {

// Rows of one part that were deleted or replaced. Immutable; maps that follow each other share the pages that
// did not change, so that a delete in a large chunk costs one page.
class DeleteMap {
 public:
  static constexpr uint32_t kPageRows = 32768;
  using Page = std::array<uint64_t, kPageRows / 64>;

  DeleteMap() = default;

  bool Contains(RowId row) const {
    const uint64_t* words = PageWords(row.value / kPageRows);
    return words != nullptr && ((words[row.value % kPageRows / 64] >> (row.value % 64)) & 1) != 0;
  }
  uint32_t count() const { return count_; }
  // Of rows 64 × index … 64 × index + 63; bit 0 is the first.
  uint64_t Word(uint32_t index) const {
    const uint64_t* words = PageWords(index / (kPageRows / 64));
    return words != nullptr ? words[index % (kPageRows / 64)] : 0;
  }
  // Pages from this one on hold no row.
  uint32_t page_count() const { return static_cast<uint32_t>(pages_.size()); }
  // The words of a page, nullptr when none of its rows is deleted. Equal addresses of two maps: the maps say
  // the same of the page.
  const uint64_t* PageWords(uint32_t page) const {
    return page < pages_.size() && pages_[page] != nullptr ? pages_[page]->data() : nullptr;
  }
  uint64_t ram_bytes() const;

 private:
  friend class DeleteMapEdit;

  std::vector<std::shared_ptr<const Page>> pages_;  // nullptr, or missing at the end: none deleted
  uint32_t count_ = 0;
};

// Makes the next map. One thread at a time.
class DeleteMapEdit {
 public:
  explicit DeleteMapEdit(std::shared_ptr<const DeleteMap> base);

  bool Contains(RowId row) const;
  bool Add(RowId row);  // false when it was there already
  // The rows whose bits are set, of 64 × index … 64 × index + 63.
  void AddWord(uint32_t index, uint64_t bits);
  void AddRange(uint32_t first, uint32_t end);
  uint32_t count() const { return next_.count_; }
  bool changed() const { return changed_; }
  std::shared_ptr<const DeleteMap> Finish();  // the base when nothing changed

 private:
  DeleteMap::Page& Own(uint32_t page);

  std::shared_ptr<const DeleteMap> base_;
  DeleteMap next_;
  std::vector<DeleteMap::Page*> own_;  // pages this edit may write, parallel to next_.pages_
  bool changed_ = false;
};

}  // namespace stoa::storage
