#include "storage/chunk/rowwise_reader.h"

#include <algorithm>
#include <cstring>

#include "storage/base/check.h"
#include "storage/chunk/stored_value.h"

namespace stoa::storage {
namespace {

// What lies closer together than this is asked for as one.
constexpr uint64_t kNear = 16u << 10;

// `first` is the cell of row 0.
template <typename T, typename Value>
void LoadCells(const char* first, uint64_t stride, std::span<const RowId> rows, std::span<Value> values) {
  for (size_t i = 0; i < rows.size(); ++i) {
    T value;
    std::memcpy(&value, first + rows[i].value * stride, sizeof(value));
    values[i] = value;
  }
}

// Adds to `ranges`, which is ordered by offset as far as the rows are.
void AddRange(std::vector<ByteRange>& ranges, uint64_t offset, uint64_t length) {
  if (!ranges.empty()) {
    ByteRange& last = ranges.back();
    if (offset >= last.offset && offset - last.offset <= last.length + kNear) {
      last.length = std::max(last.length, offset - last.offset + length);
      return;
    }
  }
  ranges.push_back({offset, length});
}

}  // namespace

Status RowwiseReader::ReadInts(std::span<const RowId> rows, std::span<int64_t> values) {
  RETURN_IF_ERROR(Touch(rows, Lane::kInt));
  if (CellSizeOf(column_.type) == sizeof(int64_t)) {
    LoadCells<int64_t>(CellOf(RowId(0)), sections_.layout.stride, rows, values);
  } else {
    LoadCells<uint32_t>(CellOf(RowId(0)), sections_.layout.stride, rows, values);
  }
  return sections_.rows.CheckReadable();
}

Status RowwiseReader::ReadFloats(std::span<const RowId> rows, std::span<float> values) {
  RETURN_IF_ERROR(Touch(rows, Lane::kFloat));
  LoadCells<float>(CellOf(RowId(0)), sections_.layout.stride, rows, values);
  return sections_.rows.CheckReadable();
}

Status RowwiseReader::ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                                ReadBuffer&) {
  RETURN_IF_ERROR(LoadReferences(rows));
  AskForBlobs();
  for (size_t i = 0; i < rows.size(); ++i) {
    const BlobReference& reference = references_[i];
    if (reference.length > 0) {
      RETURN_IF_ERROR(sections_.blobs.Verify(reference.offset, reference.length));
    }
    values[i] = std::string_view(sections_.blobs.address() + reference.offset, reference.length);
  }
  return sections_.blobs.CheckReadable();
}

Status RowwiseReader::Touch(std::span<const RowId> rows, Lane lane) {
  if (LaneOf(column_.type) != lane) {
    return InternalError("column {} read through the wrong lane", column_.id.value);
  }
  if (rows.empty()) {
    return Status::Ok();
  }
  STOA_DCHECK(std::is_sorted(rows.begin(), rows.end()));
  if (rows.back().value >= sections_.layout.row_count) {
    return InternalError("{}: row {} of {}", sections_.rows.path(), rows.back().value,
                         sections_.layout.row_count);
  }
  AskForRows(rows);
  const uint32_t size = CellSizeOf(column_.type);
  uint64_t checked = 0;  // rows ascend: pages up to here have been checked, from the last cell's on
  for (const RowId row : rows) {
    const uint64_t offset = uint64_t{row.value} * sections_.layout.stride + column_.offset;
    if (offset + size > checked) {
      RETURN_IF_ERROR(sections_.rows.Verify(offset, size));
      checked = ((offset + size - 1) / sections_.rows_page + 1) * sections_.rows_page;
    }
  }
  return Status::Ok();
}

void RowwiseReader::AskForRows(std::span<const RowId> rows) {
  const uint64_t stride = sections_.layout.stride;
  const uint64_t first = rows.front().value * stride;
  const uint64_t end = (uint64_t{rows.back().value} + 1) * stride;
  if (rows.size() == 1) {
    return;  // its first load asks as well
  }
  ranges_.clear();
  if (end - first <= rows.size() * kNear / 4) {
    ranges_.push_back({first, end - first});
  } else {
    for (const RowId row : rows) {
      AddRange(ranges_, row.value * stride, stride);
    }
  }
  sections_.rows.WillNeed(ranges_);
}

Status RowwiseReader::LoadReferences(std::span<const RowId> rows) {
  RETURN_IF_ERROR(Touch(rows, Lane::kBytes));
  references_.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    references_[i] = BlobReference::Load(CellOf(rows[i]));
  }
  RETURN_IF_ERROR(sections_.rows.CheckReadable());
  const uint64_t length = sections_.blobs.length();
  for (size_t i = 0; i < rows.size(); ++i) {
    const BlobReference& reference = references_[i];
    if (reference.offset > length || reference.length > length - reference.offset ||
        reference.offset % kBlobAlignment != 0 || !IsLengthOf(column_.type, reference.length)) {
      return CorruptError("{}: row {}, column {}: {} bytes at offset {} are no value of a section of {}",
                          sections_.rows.path(), rows[i].value, column_.id.value, reference.length,
                          reference.offset, length);
    }
  }
  return Status::Ok();
}

void RowwiseReader::AskForBlobs() {
  if (references_.size() <= 1) {
    return;
  }
  ranges_.clear();
  for (const BlobReference& reference : references_) {
    if (reference.length > 0) {
      AddRange(ranges_, reference.offset, reference.length);
    }
  }
  sections_.blobs.WillNeed(ranges_);
}

}  // namespace stoa::storage
