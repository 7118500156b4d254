#include <deque>
#include <utility>

#include "storage/base/fault_point.h"
#include "storage/base/log.h"
#include "storage/base/thread_pool.h"
#include "storage/chunk/chunk_header.h"
#include "storage/chunk/disk_chunk.h"
#include "storage/chunk/part_column_input.h"
#include "storage/chunk/vector_index_file.h"
#include "storage/chunk/vector_index_writer.h"

namespace stoa::storage {
namespace {

// Takes what is never written.
class NoFile : public WritableFile {
 public:
  Status Append(std::string_view) override { return InternalError("a chunk without blobs has some"); }
  Status Sync() override { return Status::Ok(); }
  Status Truncate(uint64_t) override { return Status::Ok(); }
  Status Close() override { return Status::Ok(); }
};

// Writes the files of one chunk one after the other.
class ChunkWriter {
 public:
  ChunkWriter(Env& env, const std::string& folder, const ChunkWriteInput& input)
      : env_(env),
        folder_(folder),
        input_(input),
        rows_(input.parts),
        cache_(input.parts),
        progress_(input.cancel, input.progress, &cache_) {}

  Status Write() {
    RETURN_IF_ERROR(CheckRows());
    MakeInputs();
    for (const std::string& suffix : ChunkSuffixes(*input_.definition)) {
      RETURN_IF_ERROR(WriteFile(suffix));
    }
    RETURN_IF_ERROR(WriteIndexes());
    RETURN_IF_ERROR(WriteHeader());
    RETURN_IF_ERROR(env_.SyncFolder(folder_));
    STOA_FAULT_POINT("chunk.after");
    return Status::Ok();
  }

 private:
  // The columns of one file.
  using Columns = std::vector<ColumnToWrite>;

  Status CheckRows() const {
    if (rows_.count() == 0) {
      return InvalidError("chunk {} would have no row", input_.id.value);
    }
    constexpr uint64_t kMostRows = UINT32_MAX - 1;
    if (rows_.count() > kMostRows) {
      return LimitError("a disk chunk holds up to {} rows, not {}", kMostRows, rows_.count());
    }
    return Status::Ok();
  }

  void MakeInputs() {
    for (const ColumnDefinition& column : input_.definition->columns) {
      const ColumnPlace place = PlaceOf(*input_.definition, column);
      if (place != ColumnPlace::kNowhere) {
        ColumnsOf(place).push_back({.definition = &column, .input = NewInput(column)});
      }
    }
    document_ids_ = NewInput(input_.definition->columns.front());
    const size_t indexes =
        input_.vector_indexes.format != nullptr ? VectorIndexColumns(*input_.definition).size() : 0;
    progress_.SetTotal(rows_.count() * (inputs_.size() + indexes));
  }

  ColumnInput* NewInput(const ColumnDefinition& column) {
    return &inputs_.emplace_back(rows_, column, &progress_);
  }

  Columns& ColumnsOf(ColumnPlace place) {
    return place == ColumnPlace::kColumnar ? columnar_ : place == ColumnPlace::kRowwise ? rowwise_ : texts_;
  }

  Status WriteFile(const std::string& suffix) {
    if (suffix == "spb") {
      return Status::Ok();  // together with .spa
    }
    if (suffix == "spa") {
      return WriteRowwise();
    }
    ASSIGN_OR_RETURN(const auto file, Begin(suffix));
    if (suffix == "spc") {
      RETURN_IF_ERROR(WriteColumnar(*file));
    } else if (suffix == "spds") {
      RETURN_IF_ERROR(Docstore::Write(texts_, input_.docstore, *file, input_.id));
      STOA_FAULT_POINT("chunk.write");
    } else {
      RETURN_IF_ERROR(DocumentIndex::Write(*document_ids_, *file, input_.id));
      STOA_FAULT_POINT("chunk.write");
    }
    return End(suffix, *file);
  }

  Status WriteColumnar(WritableFile& file) {
    SectionFileWriter sections(file, kColumnarFileKind, input_.id.value);
    for (const ColumnToWrite& column : columnar_) {
      RETURN_IF_ERROR(WriteFileColumn(*column.definition, *column.input, sections));
      STOA_FAULT_POINT("chunk.write");
    }
    return sections.Finish();
  }

  Status WriteRowwise() {
    bool has_blobs = false;
    for (const ColumnToWrite& column : rowwise_) {
      has_blobs |= LaneOf(column.definition->type) == Lane::kBytes;
    }
    ASSIGN_OR_RETURN(const auto rows, Begin("spa"));
    std::unique_ptr<WritableFile> blobs = std::make_unique<NoFile>();
    if (has_blobs) {
      ASSIGN_OR_RETURN(blobs, Begin("spb"));
    }
    RETURN_IF_ERROR(RowwiseFile::Write(rowwise_, *rows, *blobs, input_.id));
    STOA_FAULT_POINT("chunk.write");
    RETURN_IF_ERROR(End("spa", *rows));
    return has_blobs ? End("spb", *blobs) : Status::Ok();
  }

  // The rows can be searched without: only what stops the whole chunk is an error.
  Status WriteIndexes() {
    if (input_.vector_indexes.format == nullptr || VectorIndexColumns(*input_.definition).empty()) {
      return Status::Ok();
    }
    ASSIGN_OR_RETURN(const auto file, Begin(kVectorIndexSuffix));
    uint64_t reported = 0;
    const auto progress = [&](uint64_t done) {
      if (done > reported) {  // the build looks at the cancel token itself
        static_cast<void>(progress_.Advance(done - reported));
        reported = done;
      }
    };
    const Status built = WriteVectorIndexes(env_, folder_, input_, progress, *file);
    if (built.ok()) {
      return End(kVectorIndexSuffix, *file);
    }
    if (built.code() == StatusCode::kCancelled || built.code() == StatusCode::kIo ||
        built.code() == StatusCode::kCorrupt) {
      return built;
    }
    LogWarning("{}: not written, vectors of the chunk are compared one by one: {}",
               PathOf(kVectorIndexSuffix), built.text());
    RETURN_IF_ERROR(file->Close());
    return env_.Remove(PathOf(kVectorIndexSuffix) + ".tmp");
  }

  Status WriteHeader() {
    header_.header = {.id = input_.id,
                      .row_count = static_cast<uint32_t>(rows_.count()),
                      .definition = *input_.definition,
                      .created = input_.created,
                      .merged_from = input_.merged_from};
    ASSIGN_OR_RETURN(const auto file, Begin("sph"));
    RETURN_IF_ERROR(WriteChunkHeader(header_, *file));
    return End("sph", *file);
  }

  std::string PathOf(const std::string& suffix) const {
    return folder_ + "/" + ChunkFileName(input_.id, suffix);
  }

  Result<std::unique_ptr<WritableFile>> Begin(const std::string& suffix) {
    auto file = env_.Create(PathOf(suffix) + ".tmp");
    if (file.ok()) {
      (*file)->PaceWriteOut(!cache_.WasUsed(suffix));
    }
    return file;
  }

  Status End(const std::string& suffix, WritableFile& file) {
    RETURN_IF_ERROR(file.Sync());
    RETURN_IF_ERROR(file.Close());
    const std::string path = PathOf(suffix);
    ASSIGN_OR_RETURN(const uint64_t bytes, env_.FileSize(path + ".tmp"));
    header_.files.push_back({.suffix = suffix, .bytes = bytes});
    STOA_FAULT_POINT("chunk.rename");
    return env_.Rename(path + ".tmp", path);
  }

  Env& env_;
  const std::string& folder_;
  const ChunkWriteInput& input_;
  const PartRows rows_;
  InputCache cache_;
  InputProgress progress_;
  std::deque<PartColumnInput> inputs_;
  Columns columnar_;
  Columns rowwise_;
  Columns texts_;
  ColumnInput* document_ids_ = nullptr;
  ChunkHeaderFile header_;
};

}  // namespace

Status WriteChunk(Env& env, const std::string& folder, const ChunkWriteInput& input) {
  Status status = CatchAll([&] { return ChunkWriter(env, folder, input).Write(); });
  if (!status.ok()) {
    if (const Status removed = RemoveChunkFiles(env, folder, input.id); !removed.ok()) {
      LogWarning("{}", removed.text());
    }
  }
  return status;
}

}  // namespace stoa::storage
