#include "storage/chunk/vector_index_writer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "storage/base/fault_point.h"
#include "storage/chunk/chunk_header.h"
#include "storage/chunk/rowwise_file.h"
#include "storage/chunk/vector_index_file.h"
#include "storage/column/file_column.h"
#include "storage/format/open_section_file.h"

namespace stoa::storage {
namespace {

using NewReader = std::function<Result<std::unique_ptr<ColumnReader>>()>;

// The vectors of a chunk that has no header yet, in its files.
class WrittenVectors {
 public:
  WrittenVectors(Env& env, const std::string& folder, const ChunkWriteInput& input)
      : env_(env), folder_(folder), input_(input) {}

  Result<NewReader> ReadersOf(const ColumnDefinition& column) {
    return PlaceOf(*input_.definition, column) == ColumnPlace::kColumnar ? ColumnarReaders(column)
                                                                         : RowwiseReaders(column);
  }

 private:
  std::string PathOf(std::string_view suffix) const {
    return folder_ + "/" + ChunkFileName(input_.id, suffix);
  }

  Result<NewReader> ColumnarReaders(const ColumnDefinition& column) {
    if (columnar_ == nullptr) {
      ASSIGN_OR_RETURN(columnar_,
                       OpenSectionFile::Open(env_, PathOf("spc"), kColumnarFileKind, AccessMode::kMmap));
    }
    ASSIGN_OR_RETURN(const std::shared_ptr<const FileColumn> values, OpenFileColumn(columnar_, column.id));
    return NewReader([values, type = column.type] {
      return Result<std::unique_ptr<ColumnReader>>(values->NewReader(values, type));
    });
  }

  Result<NewReader> RowwiseReaders(const ColumnDefinition& column) {
    if (rowwise_ == nullptr) {
      ASSIGN_OR_RETURN(rowwise_, RowwiseFile::Open(env_, PathOf("spa"), PathOf("spb"), input_.id));
    }
    return NewReader([values = rowwise_, id = column.id, type = column.type] {
      return values->NewReader(values, id, type);
    });
  }

  Env& env_;
  const std::string& folder_;
  const ChunkWriteInput& input_;
  std::shared_ptr<const OpenSectionFile> columnar_;
  std::shared_ptr<const RowwiseFile> rowwise_;
};

uint32_t LiveRows(const ChunkWriteInput& input) {
  uint32_t rows = 0;
  for (const auto& part : input.parts) {
    rows += part->live_count();
  }
  return rows;
}

std::vector<VectorIndexSource> SourcesOf(const ChunkWriteInput& input, const ColumnDefinition& column) {
  std::vector<VectorIndexSource> sources;
  if (input.vector_indexes.anew) {
    return sources;
  }
  uint32_t first = 0;
  bool has_index = false;
  for (const auto& part : input.parts) {
    VectorIndexSource& source = sources.emplace_back();
    if (const VectorIndex* const index = part->vector_index(column); index != nullptr) {
      source.index = std::shared_ptr<const VectorIndex>(part, index);  // the part keeps it
      source.new_rows = NewRowsOf(*part, column.id, first);
      has_index = true;
    }
    first += part->live_count();
  }
  return has_index ? std::move(sources) : std::vector<VectorIndexSource>();
}

}  // namespace

std::vector<uint32_t> NewRowsOf(const TablePart& part, ColumnId column, uint32_t first) {
  std::vector<uint32_t> rows(part.row_count(), kNoRow);
  uint32_t next = first;
  for (uint32_t begin = 0; begin < part.row_count(); begin += 64) {
    const uint32_t left = part.row_count() - begin;
    const uint64_t exist = left >= 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    for (uint64_t live = exist & ~part.deleted().Word(begin / 64); live != 0; live &= live - 1) {
      rows[begin + static_cast<uint32_t>(std::countr_zero(live))] = next++;
    }
  }
  for (const RowId row : part.PatchedRows(column)) {
    rows[row.value] = kNoRow;
  }
  return rows;
}

Status WriteVectorIndexes(Env& env, const std::string& folder, const ChunkWriteInput& input,
                          const std::function<void(uint64_t done)>& progress, WritableFile& file) {
  const VectorIndexInput& options = input.vector_indexes;
  WrittenVectors vectors(env, folder, input);
  SectionFileWriter sections(file, options.format->kind(), input.id.value);
  uint64_t done_before = 0;
  for (const ColumnDefinition* column : VectorIndexColumns(*input.definition)) {
    VectorIndexBuild build;
    build.column = column;
    build.row_count = LiveRows(input);
    ASSIGN_OR_RETURN(build.new_reader, vectors.ReadersOf(*column));
    build.quantizer = options.quantizers != nullptr ? options.quantizers->Find(column->id) : nullptr;
    build.sources = SourcesOf(input, *column);
    build.threads = options.threads;
    build.cancel = input.cancel;
    const uint64_t rows = build.row_count;
    build.progress = [&progress, done_before, rows](uint64_t done, uint64_t of) {
      progress(done_before + (of > 0 ? std::min(done, of) * rows / of : 0));
    };
    RETURN_IF_ERROR(options.format->Build(build, sections));
    STOA_FAULT_POINT("spknn.write");
    done_before += rows;
    progress(done_before);
  }
  return sections.Finish();
}

}  // namespace stoa::storage
