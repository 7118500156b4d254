#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "storage/chunk/lockstep_input.h"
#include "storage/chunk/rowwise_file.h"
#include "storage/chunk/rowwise_layout.h"
#include "storage/column/column_predicate.h"
#include "storage/format/section_file.h"

namespace stoa::storage {
namespace {

constexpr size_t kFlushBytes = 256u << 10;
constexpr SectionLayout kPaged{.page_size = kDefaultPage};

// Puts values one behind the other into the .spb. One thread at a time.
class BlobWriter {
 public:
  BlobWriter(WritableFile& file, ChunkId chunk) : file_(file, kBlobKind, chunk.value) {}

  Status Begin() { return file_.BeginSection(kBlobSection, 0, kPaged); }

  Result<BlobReference> Append(std::string_view value) {
    if (value.empty()) {
      return BlobReference{};
    }
    if (value.size() > std::numeric_limits<uint32_t>::max()) {
      return LimitError("a value has {} bytes, the limit is {}", value.size(),
                        std::numeric_limits<uint32_t>::max());
    }
    pending_.append((kBlobAlignment - end_ % kBlobAlignment) % kBlobAlignment, '\0');
    end_ = (end_ + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment;
    const BlobReference reference{.offset = end_, .length = static_cast<uint32_t>(value.size())};
    end_ += value.size();
    if (value.size() < kFlushBytes) {
      pending_.append(value);
      return pending_.size() < kFlushBytes ? Result<BlobReference>(reference) : Flushed(reference, {});
    }
    return Flushed(reference, value);
  }

  Status Finish() {
    RETURN_IF_ERROR(Flushed({}, {}).status());
    RETURN_IF_ERROR(file_.EndSection());
    return file_.Finish();
  }

 private:
  // Writes what is pending, then `value`.
  Result<BlobReference> Flushed(BlobReference reference, std::string_view value) {
    RETURN_IF_ERROR(file_.AppendToSection(pending_));
    pending_.clear();
    RETURN_IF_ERROR(file_.AppendToSection(value));
    return reference;
  }

  SectionFileWriter file_;
  std::string pending_;
  uint64_t end_ = 0;  // of the section, with what is pending
};

template <typename T>
void StoreInts(const LockstepInput::Run& run, uint32_t count, char* cell, uint32_t stride) {
  for (uint32_t i = 0; i < count; ++i, cell += stride) {
    const T value = static_cast<T>(run.values->ints[run.first + i]);
    std::memcpy(cell, &value, sizeof(value));
  }
}

void StoreFloats(const LockstepInput::Run& run, uint32_t count, char* cell, uint32_t stride) {
  for (uint32_t i = 0; i < count; ++i, cell += stride) {
    std::memcpy(cell, &run.values->floats[run.first + i], sizeof(float));
  }
}

Status StoreBytes(const LockstepInput::Run& run, uint32_t row, BlobWriter& blobs, char* cell) {
  ASSIGN_OR_RETURN(const BlobReference reference, blobs.Append(run.values->BytesAt(run.first + row)));
  reference.Store(cell);
  return Status::Ok();
}

// Turns runs of columns into rows. One thread at a time.
class RowBuilder {
 public:
  RowBuilder(const RowwiseLayout& layout, std::vector<size_t> inputs)
      : layout_(layout), inputs_(std::move(inputs)) {}

  // The values of one row lie together in the .spb: columns of bytes are taken row by row.
  Result<std::string_view> Build(std::span<const LockstepInput::Run> runs, uint32_t count,
                                 BlobWriter& blobs) {
    rows_.assign(uint64_t{count} * layout_.stride, '\0');
    for (size_t i = 0; i < layout_.columns.size(); ++i) {
      StoreNumbers(layout_.columns[i], runs[inputs_[i]], count);
    }
    for (uint32_t row = 0; row < count; ++row) {
      char* const bytes = rows_.data() + uint64_t{row} * layout_.stride;
      for (size_t i = 0; i < layout_.columns.size(); ++i) {
        const RowwiseColumn& column = layout_.columns[i];
        if (LaneOf(column.type) == Lane::kBytes) {
          RETURN_IF_ERROR(StoreBytes(runs[inputs_[i]], row, blobs, bytes + column.offset));
        }
      }
    }
    return std::string_view(rows_);
  }

 private:
  void StoreNumbers(const RowwiseColumn& column, const LockstepInput::Run& run, uint32_t count) {
    char* const cell = rows_.data() + column.offset;
    if (LaneOf(column.type) == Lane::kFloat) {
      StoreFloats(run, count, cell, layout_.stride);
    } else if (LaneOf(column.type) == Lane::kInt && CellSizeOf(column.type) == sizeof(uint64_t)) {
      StoreInts<int64_t>(run, count, cell, layout_.stride);
    } else if (LaneOf(column.type) == Lane::kInt) {
      StoreInts<uint32_t>(run, count, cell, layout_.stride);
    }
  }

  const RowwiseLayout& layout_;
  std::vector<size_t> inputs_;  // which input each column of the layout is
  std::string rows_;
};

// For each column of the layout its place in `columns`.
std::vector<size_t> InputsOf(const RowwiseLayout& layout, std::span<const ColumnToWrite> columns) {
  std::vector<size_t> inputs;
  for (const RowwiseColumn& column : layout.columns) {
    size_t input = 0;
    while (columns[input].definition->id != column.id) {
      ++input;
    }
    inputs.push_back(input);
  }
  return inputs;
}

Status WriteRows(LockstepInput& lockstep, RowBuilder& rows, SectionFileWriter& file, BlobWriter& blobs) {
  RETURN_IF_ERROR(file.BeginSection(kRowwiseRowsSection, 0, kPaged));
  while (true) {
    ASSIGN_OR_RETURN(const uint32_t count, lockstep.Next(kBlockRows));
    if (count == 0) {
      return file.EndSection();
    }
    ASSIGN_OR_RETURN(const std::string_view bytes, rows.Build(lockstep.runs(), count, blobs));
    RETURN_IF_ERROR(file.AppendToSection(bytes));
  }
}

}  // namespace

Status RowwiseFile::Write(std::span<const ColumnToWrite> columns, WritableFile& rows, WritableFile& blobs,
                          ChunkId chunk) {
  ASSIGN_OR_RETURN(LockstepInput lockstep, LockstepInput::Start(columns));
  std::vector<const ColumnDefinition*> definitions;
  for (const ColumnToWrite& column : columns) {
    definitions.push_back(column.definition);
  }
  const RowwiseLayout layout = RowwiseLayout::Plan(definitions, lockstep.row_count());
  RowBuilder builder(layout, InputsOf(layout, columns));
  SectionFileWriter file(rows, kRowwiseKind, chunk.value);
  BlobWriter blob_file(blobs, chunk);
  RETURN_IF_ERROR(file.AddSection(kRowwiseLayoutSection, 0, layout.Encode()));
  if (layout.HasBlobs()) {
    RETURN_IF_ERROR(blob_file.Begin());
  }
  RETURN_IF_ERROR(WriteRows(lockstep, builder, file, blob_file));
  if (layout.HasBlobs()) {
    RETURN_IF_ERROR(blob_file.Finish());
  }
  return file.Finish();
}

}  // namespace stoa::storage
