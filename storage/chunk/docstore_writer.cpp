#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "storage/chunk/docstore.h"
#include "storage/chunk/docstore_codec.h"
#include "storage/chunk/docstore_format.h"
#include "storage/chunk/lockstep_input.h"
#include "storage/column/column_predicate.h"
#include "storage/format/section_file.h"

namespace stoa::storage {
namespace {

constexpr uint32_t kLargestBlockSize = 256u << 20;

// Collects rows into blocks and writes them. One thread at a time.
class BlockWriter {
 public:
  BlockWriter(SectionFileWriter& file, const DocstoreOptions& options)
      : file_(file),
        compressor_(options),
        block_size_(std::clamp<uint64_t>(options.block_size, 1, kLargestBlockSize)) {}

  BlockCodec codec() const { return compressor_.codec(); }

  Status AddRow(std::span<const LockstepInput::Run> runs, uint32_t row) {
    uint64_t bytes = runs.size() * sizeof(uint32_t);
    for (const LockstepInput::Run& run : runs) {
      bytes += run.values->BytesAt(run.first + row).size();
    }
    if (bytes > kMaxBlockBytes) {
      return LimitError("the stored texts of a row have {} bytes, the limit is {}", bytes, kMaxBlockBytes);
    }
    if (rows_ > first_row_ && RawSize() + bytes > block_size_) {
      RETURN_IF_ERROR(Flush());
    }
    for (const LockstepInput::Run& run : runs) {
      texts_.append(run.values->BytesAt(run.first + row));
      ends_.push_back(static_cast<uint32_t>(texts_.size()));
    }
    ++rows_;
    return Status::Ok();
  }

  // The last block; returns the directory.
  Result<DocstoreDirectory> Finish() {
    if (rows_ > first_row_) {
      RETURN_IF_ERROR(Flush());
    }
    directory_.entries.push_back({.first_row = rows_, .offset = file_.section_length()});
    return std::move(directory_);
  }

 private:
  uint64_t RawSize() const { return ends_.size() * sizeof(uint32_t) + texts_.size(); }

  Status Flush() {
    raw_.resize(ends_.size() * sizeof(uint32_t));
    std::memcpy(raw_.data(), ends_.data(), raw_.size());
    raw_.append(texts_);
    ASSIGN_OR_RETURN(const std::string_view stored, compressor_.Compress(raw_));
    directory_.entries.push_back({.first_row = first_row_,
                                  .raw_size = static_cast<uint32_t>(raw_.size()),
                                  .offset = file_.section_length()});
    RETURN_IF_ERROR(file_.AppendToSection(stored));
    ends_.clear();
    texts_.clear();
    first_row_ = rows_;
    return Status::Ok();
  }

  SectionFileWriter& file_;
  BlockCompressor compressor_;
  uint64_t block_size_;
  uint32_t first_row_ = 0;  // of the block
  uint32_t rows_ = 0;       // taken so far
  std::vector<uint32_t> ends_;
  std::string texts_;
  std::string raw_;
  DocstoreDirectory directory_;
};

Status WriteBlocks(LockstepInput& lockstep, BlockWriter& blocks) {
  while (true) {
    ASSIGN_OR_RETURN(const uint32_t count, lockstep.Next(kBlockRows));
    if (count == 0) {
      return Status::Ok();
    }
    for (uint32_t row = 0; row < count; ++row) {
      RETURN_IF_ERROR(blocks.AddRow(lockstep.runs(), row));
    }
  }
}

Result<DocstoreInfo> InfoOf(std::span<const ColumnToWrite> columns, uint32_t row_count, BlockCodec codec) {
  DocstoreInfo info{.row_count = row_count, .codec = codec};
  for (const ColumnToWrite& column : columns) {
    if (LaneOf(column.definition->type) != Lane::kBytes) {
      return InternalError("column '{}' is no text to store", column.definition->name);
    }
    info.columns.push_back({.id = column.definition->id, .type = column.definition->type});
  }
  return info;
}

}  // namespace

Status Docstore::Write(std::span<const ColumnToWrite> columns, const DocstoreOptions& options,
                       WritableFile& file, ChunkId chunk) {
  ASSIGN_OR_RETURN(LockstepInput lockstep, LockstepInput::Start(columns));
  SectionFileWriter writer(file, kDocstoreKind, chunk.value);
  BlockWriter blocks(writer, options);
  ASSIGN_OR_RETURN(const DocstoreInfo info, InfoOf(columns, lockstep.row_count(), blocks.codec()));
  RETURN_IF_ERROR(writer.AddSection(kDocstoreInfoSection, 0, info.Encode()));
  RETURN_IF_ERROR(writer.BeginSection(kDocstoreBlockSection, 0, {.page_size = kDocstorePage}));
  RETURN_IF_ERROR(WriteBlocks(lockstep, blocks));
  ASSIGN_OR_RETURN(const DocstoreDirectory directory, blocks.Finish());
  RETURN_IF_ERROR(writer.EndSection());
  RETURN_IF_ERROR(writer.AddSection(kDocstoreDirectorySection, 0, directory.Encode()));
  return writer.Finish();
}

}  // namespace stoa::storage
