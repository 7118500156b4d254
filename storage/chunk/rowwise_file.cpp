#include "storage/chunk/rowwise_file.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "storage/chunk/rowwise_layout.h"
#include "storage/chunk/rowwise_reader.h"
#include "storage/chunk/stored_value.h"

namespace stoa::storage {
namespace {

Result<std::shared_ptr<const OpenSectionFile>> OpenFile(Env& env, const std::string& path,
                                                        const SectionFileKind& kind, ChunkId chunk) {
  ASSIGN_OR_RETURN(auto file, OpenSectionFile::Open(env, path, kind, AccessMode::kMmap));
  if (file->owner() != chunk.value) {
    return CorruptError("{}: belongs to chunk {}, not {}", path, file->owner(), chunk.value);
  }
  return file;
}

Result<RowwiseLayout> ReadLayout(const OpenSectionFile& file) {
  ASSIGN_OR_RETURN(const SectionBytes section, file.Section(kRowwiseLayoutSection, 0));
  ReadBuffer buffer;
  ASSIGN_OR_RETURN(const std::string_view bytes, section.Read(0, section.length(), buffer));
  auto layout = RowwiseLayout::Decode(bytes);
  return layout.ok()
             ? std::move(layout)
             : Result<RowwiseLayout>(layout.status().WithContext(file.path() + ": layout of the rows"));
}

uint64_t PageSizeOf(const OpenSectionFile& file, uint32_t kind) {
  const auto entry = std::find_if(file.sections().begin(), file.sections().end(),
                                  [&](const SectionEntry& section) { return section.kind == kind; });
  return entry == file.sections().end() || entry->page_size == kWholeSection ? uint64_t{1} << 62
                                                                             : uint64_t{entry->page_size};
}

class MappedRowwiseFile : public RowwiseFile {
 public:
  static Result<std::shared_ptr<const RowwiseFile>> Open(Env& env, const std::string& rows_path,
                                                         const std::string& blobs_path, ChunkId chunk);

  uint32_t row_count() const override { return sections_.layout.row_count; }
  bool Has(ColumnId column) const override { return sections_.layout.Find(column) != nullptr; }
  Result<std::unique_ptr<ColumnReader>> NewReader(std::shared_ptr<const RowwiseFile> self, ColumnId column,
                                                  ColumnType type) const override;
  const OpenSectionFile& rows_file() const override { return *rows_; }
  const OpenSectionFile* blobs_file() const override { return blobs_.get(); }
  Status Check() const override;

 private:
  Status OpenRows(Env& env, const std::string& path, ChunkId chunk);
  Status OpenBlobs(Env& env, const std::string& path, ChunkId chunk);
  Status CheckBlobs(const RowwiseColumn& column) const;

  std::shared_ptr<const OpenSectionFile> rows_;
  std::shared_ptr<const OpenSectionFile> blobs_;
  RowwiseSections sections_;
};

Result<std::shared_ptr<const RowwiseFile>> MappedRowwiseFile::Open(Env& env, const std::string& rows_path,
                                                                   const std::string& blobs_path,
                                                                   ChunkId chunk) {
  auto file = std::make_shared<MappedRowwiseFile>();
  RETURN_IF_ERROR(file->OpenRows(env, rows_path, chunk));
  if (!blobs_path.empty()) {
    RETURN_IF_ERROR(file->OpenBlobs(env, blobs_path, chunk));
  } else if (file->sections_.layout.HasBlobs()) {
    return CorruptError("{}: has values of variable length, but the chunk has no file of them", rows_path);
  }
  return std::shared_ptr<const RowwiseFile>(std::move(file));
}

Status MappedRowwiseFile::OpenRows(Env& env, const std::string& path, ChunkId chunk) {
  ASSIGN_OR_RETURN(rows_, OpenFile(env, path, kRowwiseKind, chunk));
  ASSIGN_OR_RETURN(sections_.layout, ReadLayout(*rows_));
  ASSIGN_OR_RETURN(sections_.rows, rows_->Section(kRowwiseRowsSection, 0));
  sections_.rows_page = PageSizeOf(*rows_, kRowwiseRowsSection);
  const RowwiseLayout& layout = sections_.layout;
  if (sections_.rows.length() != uint64_t{layout.row_count} * layout.stride) {
    return CorruptError("{}: {} rows of {} bytes in a section of {}", path, layout.row_count, layout.stride,
                        sections_.rows.length());
  }
  return Status::Ok();
}

Status MappedRowwiseFile::OpenBlobs(Env& env, const std::string& path, ChunkId chunk) {
  ASSIGN_OR_RETURN(blobs_, OpenFile(env, path, kBlobKind, chunk));
  ASSIGN_OR_RETURN(sections_.blobs, blobs_->Section(kBlobSection, 0));
  return Status::Ok();
}

Result<std::unique_ptr<ColumnReader>> MappedRowwiseFile::NewReader(std::shared_ptr<const RowwiseFile> self,
                                                                   ColumnId column, ColumnType type) const {
  const RowwiseColumn* found = sections_.layout.Find(column);
  if (found == nullptr) {
    return NotFoundError("{}: no column {}", rows_->path(), column.value);
  }
  if (!CanReadAs(found->type, type)) {
    return CorruptError("{}: column {} is of type {}, not {}", rows_->path(), column.value,
                        static_cast<int>(found->type), static_cast<int>(type));
  }
  return std::unique_ptr<ColumnReader>(
      std::make_unique<RowwiseReader>(std::move(self), sections_, *found, type));
}

Status MappedRowwiseFile::Check() const {
  RETURN_IF_ERROR(rows_->CheckAll(/*drop_behind=*/true));
  if (blobs_ != nullptr) {
    RETURN_IF_ERROR(blobs_->CheckAll(/*drop_behind=*/true));
  }
  for (const RowwiseColumn& column : sections_.layout.columns) {
    if (LaneOf(column.type) == Lane::kBytes) {
      RETURN_IF_ERROR(CheckBlobs(column));
    }
  }
  return Status::Ok();
}

Status MappedRowwiseFile::CheckBlobs(const RowwiseColumn& column) const {
  RowwiseReader reader(nullptr, sections_, column, column.type);
  std::vector<RowId> rows(std::min(kBlockRows, row_count()));
  std::vector<std::string_view> values(rows.size());
  ReadBuffer buffer;
  for (uint32_t first = 0; first < row_count();) {
    const uint32_t count = std::min(kBlockRows, row_count() - first);
    for (uint32_t i = 0; i < count; ++i) {
      rows[i] = RowId(first + i);
    }
    RETURN_IF_ERROR(reader.ReadBytes(std::span(rows).first(count), values, buffer));
    for (uint32_t i = 0; i < count; ++i) {
      if (const Status status = CheckStoredValue(column.type, values[i]); !status.ok()) {
        return status.WithContext(
            fmt::format("{}: row {}, column {}", blobs_->path(), first + i, column.id.value));
      }
    }
    first += count;
  }
  return Status::Ok();
}

}  // namespace

Result<std::shared_ptr<const RowwiseFile>> RowwiseFile::Open(Env& env, const std::string& rows_path,
                                                             const std::string& blobs_path, ChunkId chunk) {
  return MappedRowwiseFile::Open(env, rows_path, blobs_path, chunk);
}

}  // namespace stoa::storage
