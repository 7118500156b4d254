#include "storage/chunk/docstore_reader.h"

#include <algorithm>
#include <cstring>

#include "storage/chunk/stored_value.h"

namespace stoa::storage {
namespace {

// Blocks of a batch that are in memory at a time, in bytes before compression; a larger block is alone.
constexpr uint64_t kGroupBytes = 8u << 20;
constexpr uint64_t kKeptBytes = 1u << 20;  // a larger block is not kept by the reader

uint64_t AlignUp(uint64_t size, uint64_t alignment) { return (size + alignment - 1) / alignment * alignment; }

// Moves the values to `buffer`.
void CopyTo(ReadBuffer& buffer, std::span<std::string_view> values, uint64_t alignment) {
  uint64_t size = 0;
  for (const std::string_view value : values) {
    size = AlignUp(size, alignment) + value.size();
  }
  if (size == 0) {
    std::fill(values.begin(), values.end(), std::string_view());
    return;
  }
  char* const to = buffer.Allocate(size);
  uint64_t end = 0;
  for (std::string_view& value : values) {
    end = AlignUp(end, alignment);
    if (!value.empty()) {
      std::memcpy(to + end, value.data(), value.size());
    }
    value = std::string_view(to + end, value.size());
    end += value.size();
  }
}

}  // namespace

Status DocstoreReader::ReadInts(std::span<const RowId>, std::span<int64_t>) {
  return InternalError("stored texts read through the wrong lane");
}

Status DocstoreReader::ReadFloats(std::span<const RowId>, std::span<float>) {
  return InternalError("stored texts read through the wrong lane");
}

Status DocstoreReader::ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                                 ReadBuffer& buffer) {
  if (!rows.empty() && rows.back().value >= store_->info().row_count) {
    return InternalError("{}: row {} of {}", store_->file().path(), rows.back().value,
                         store_->info().row_count);
  }
  while (!rows.empty()) {
    const size_t count = PlanGroup(rows);
    RETURN_IF_ERROR(store_->Load(uses_));
    RETURN_IF_ERROR(FindTexts(rows.first(count), values.first(count)));
    CopyTo(buffer, values.first(count), AlignmentOf(type_));
    KeepLast();
    rows = rows.subspan(count);
    values = values.subspan(count);
  }
  return Status::Ok();
}

size_t DocstoreReader::PlanGroup(std::span<const RowId> rows) {
  const DocstoreDirectory& directory = store_->directory();
  uses_.clear();
  uint64_t bytes = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t block = directory.BlockOf(rows[i], uses_.empty() ? 0 : uses_.back().block);
    if (uses_.empty() || uses_.back().block != block) {
      const uint64_t size = directory.entries[block].raw_size;
      if (!uses_.empty() && bytes + size > kGroupBytes) {
        return i;
      }
      bytes += size;
      uses_.push_back({.block = block, .bytes = last_.block == block ? last_.bytes : nullptr});
    }
    uses_.back().rows_end = i + 1;
  }
  return rows.size();
}

Status DocstoreReader::FindTexts(std::span<const RowId> rows, std::span<std::string_view> values) const {
  size_t row = 0;
  for (const BlockUse& use : uses_) {
    const DocstoreBlockView view = store_->View(use);
    const uint32_t first = store_->directory().entries[use.block].first_row;
    for (; row < use.rows_end; ++row) {
      const auto text = view.TextAt(rows[row].value - first, column_);
      if (!text.ok()) {
        return store_->BlockError(use.block, text.status());
      }
      if (!IsLengthOf(type_, text->size())) {
        return store_->BlockError(
            use.block, CorruptError("row {} has a value of {} bytes", rows[row].value, text->size()));
      }
      values[row] = *text;
    }
  }
  return Status::Ok();
}

void DocstoreReader::KeepLast() {
  last_ = std::move(uses_.back());
  if (last_.bytes->size() > kKeptBytes) {
    last_.bytes = nullptr;
  }
  uses_.clear();
}

}  // namespace stoa::storage
