#include "storage/chunk/disk_chunk.h"

#include <algorithm>
#include <map>
#include <utility>

#include "storage/base/log.h"
#include "storage/base/mutex.h"
#include "storage/chunk/chunk_header.h"
#include "storage/chunk/default_column.h"
#include "storage/chunk/delete_map.h"
#include "storage/chunk/part_column_input.h"
#include "storage/chunk/vector_index_file.h"

namespace stoa::storage {
namespace {

// What is stored as `stored` can be read as `asked`: the same, or an integer in a wider type.
bool CanReadAs(ColumnType stored, ColumnType asked) {
  if (stored == asked) {
    return true;
  }
  return LaneOf(stored) == Lane::kInt && stored != ColumnType::kId && stored != ColumnType::kBigint &&
         asked == ColumnType::kBigint;
}

// The entry of the .spknn, which is opened apart from the other files.
std::optional<ChunkHeaderFile::File> TakeVectorIndexFile(ChunkHeaderFile& header) {
  if (header.files.empty() || header.files.back().suffix != kVectorIndexSuffix) {
    return std::nullopt;
  }
  ChunkHeaderFile::File file = std::move(header.files.back());
  header.files.pop_back();
  return file;
}

// Every row of a chunk as it was written: no deletes, no patches.
class WrittenRows : public TablePart {
 public:
  explicit WrittenRows(std::shared_ptr<const DiskChunk> chunk) : chunk_(std::move(chunk)) {}

  uint32_t row_count() const override { return chunk_->row_count(); }
  const DeleteMap& deleted() const override { return deleted_; }
  Result<std::optional<RowId>> FindDocument(DocId id) const override { return chunk_->documents().Find(id); }
  Result<std::unique_ptr<ColumnReader>> Column(const ColumnDefinition& column) const override {
    return chunk_->NewReader(chunk_, column);
  }
  bool is_disk_chunk() const override { return true; }
  uint64_t ram_bytes() const override { return chunk_->ram_bytes(); }

 private:
  std::shared_ptr<const DiskChunk> chunk_;
  DeleteMap deleted_;
};

// The one implementation.
class LocalDiskChunk : public DiskChunk, public std::enable_shared_from_this<LocalDiskChunk> {
 public:
  LocalDiskChunk(Env& env, std::string folder, Options options, ChunkHeaderFile header)
      : env_(env),
        folder_(std::move(folder)),
        options_(std::move(options)),
        vector_file_(TakeVectorIndexFile(header)),
        header_(std::move(header)) {}

  Status OpenFiles() {
    RETURN_IF_ERROR(CheckChunkFiles(env_, folder_, header_));
    for (const ChunkHeaderFile::File& file : header_.files) {
      RETURN_IF_ERROR(OpenFile(file.suffix));
    }
    RETURN_IF_ERROR(CheckRowCounts());
    OpenVectorIndexes();
    return Status::Ok();
  }

  const ChunkHeader& header() const override { return header_.header; }
  const std::string& folder() const override { return folder_; }
  uint32_t row_count() const override { return header_.header.row_count; }
  const DocumentIndex& documents() const override { return *documents_; }
  AccessMode columnar_access() const override { return options_.columnar_access; }
  const VectorIndex* vector_index(ColumnId column) const override {
    return vector_indexes_ != nullptr ? vector_indexes_->Find(column) : nullptr;
  }

  Result<std::unique_ptr<ColumnReader>> NewReader(std::shared_ptr<const DiskChunk> /*self*/,
                                                  const ColumnDefinition& column) const override {
    const TableDefinition& definition = header_.header.definition;
    const int index = definition.IndexOf(column.id);
    if (index < 0) {
      return std::unique_ptr<ColumnReader>(std::make_unique<DefaultColumnReader>(column.type));
    }
    const ColumnDefinition& stored = definition.columns[static_cast<size_t>(index)];
    if (!CanReadAs(stored.type, column.type)) {
      return InternalError("{}: column {} '{}' is {}, and cannot be read as {}", PathOf("sph"),
                           column.id.value, column.name, DescribeType(stored), DescribeType(column));
    }
    switch (PlaceOf(definition, stored)) {
      case ColumnPlace::kColumnar: {
        ASSIGN_OR_RETURN(const std::shared_ptr<const FileColumn> file_column, OpenColumn(stored));
        return file_column->NewReader(file_column, column.type);
      }
      case ColumnPlace::kRowwise:
        return MissingIsCorrupt(rowwise_->NewReader(rowwise_, column.id, column.type), "spa", stored);
      case ColumnPlace::kDocstore:
        return MissingIsCorrupt(docstore_->NewReader(docstore_, column.id, column.type), "spds", stored);
      case ColumnPlace::kNowhere:
        break;
    }
    return std::unique_ptr<ColumnReader>(std::make_unique<DefaultColumnReader>(column.type));
  }

  uint64_t disk_bytes() const override {
    uint64_t bytes = header_bytes_;
    for (const ChunkHeaderFile::File& file : header_.files) {
      bytes += file.bytes;
    }
    return bytes;
  }

  uint64_t ram_bytes() const override {
    uint64_t bytes = sizeof(*this) + documents_->ram_bytes();
    MutexLock lock(mutex_);
    for (const auto& [id, column] : columns_) {
      bytes += column->ram_bytes();
    }
    bytes += vector_indexes_ != nullptr ? vector_indexes_->ram_bytes() : 0;
    return bytes;
  }

  uint64_t text_bytes() const override { return docstore_ != nullptr ? docstore_->text_bytes() : 0; }

  bool has_failed() const override {
    return std::any_of(header_.files.begin(), header_.files.end(), [this](const ChunkHeaderFile::File& file) {
      return SectionFileOf(file.suffix).has_failed();
    });
  }

  std::vector<ChunkFileInfo> Files() const override {
    std::vector<ChunkFileInfo> files{
        {.name = ChunkFileName(header_.header.id, "sph"), .bytes = header_bytes_}};
    for (const ChunkHeaderFile::File& entry : header_.files) {
      ChunkFileInfo info{.name = ChunkFileName(header_.header.id, entry.suffix), .bytes = entry.bytes};
      if (const OpenSectionFile& file = SectionFileOf(entry.suffix); file.mode() == AccessMode::kMmap) {
        info.mapped_bytes = file.size();
        info.resident_bytes = file.ResidentBytes();
      }
      files.push_back(std::move(info));
    }
    return files;
  }

  void VisitFiles(
      const std::function<void(const std::string&, const OpenSectionFile&)>& visit) const override {
    for (const ChunkHeaderFile::File& entry : header_.files) {
      visit(entry.suffix, SectionFileOf(entry.suffix));
    }
  }

  Status Check() const override {
    const Result<ChunkHeaderFile> header = ReadChunkHeader(env_, folder_, header_.header.id);
    if (header.ok()) {
      RETURN_IF_ERROR(CheckChunkFiles(env_, folder_, *header));
    } else if (header.status().code() != StatusCode::kNotFound) {  // else it was merged away meanwhile
      return header.status();
    }
    for (const ChunkHeaderFile::File& file : header_.files) {
      RETURN_IF_ERROR(SectionFileOf(file.suffix).CheckAll(true));
    }
    for (const ColumnDefinition& column : header_.header.definition.columns) {
      if (PlaceOf(header_.header.definition, column) == ColumnPlace::kColumnar) {
        ASSIGN_OR_RETURN(const std::shared_ptr<const FileColumn> file_column, OpenColumn(column));
        RETURN_IF_ERROR(file_column->Check());
      }
    }
    if (rowwise_ != nullptr) {
      RETURN_IF_ERROR(rowwise_->Check());
    }
    if (docstore_ != nullptr) {
      RETURN_IF_ERROR(docstore_->Check());
    }
    RETURN_IF_ERROR(CheckVectorIndexes());
    return CheckDocuments();
  }

 private:
  std::string PathOf(std::string_view suffix) const {
    return folder_ + "/" + ChunkFileName(header_.header.id, suffix);
  }

  bool HasFile(std::string_view suffix) const {
    for (const ChunkHeaderFile::File& file : header_.files) {
      if (file.suffix == suffix) {
        return true;
      }
    }
    return false;
  }

  Status OpenFile(std::string_view suffix) {
    const std::string path = PathOf(suffix);
    const ChunkId id = header_.header.id;
    if (suffix == "spc") {
      ASSIGN_OR_RETURN(columnar_, OpenSectionFile::Open(env_, path, kColumnarFileKind,
                                                        options_.columnar_access, ColumnarPageCache()));
      return columnar_->owner() == id.value
                 ? Status::Ok()
                 : CorruptError("{}: belongs to chunk {}", path, columnar_->owner());
    }
    if (suffix == "spa") {
      const std::string blobs = HasFile("spb") ? PathOf("spb") : std::string();
      ASSIGN_OR_RETURN(rowwise_, RowwiseFile::Open(env_, path, blobs, id));
    } else if (suffix == "spds") {
      ASSIGN_OR_RETURN(docstore_, Docstore::Open(env_, path, id, options_.docstore_cache));
    } else if (suffix == "spt") {
      ASSIGN_OR_RETURN(documents_, DocumentIndex::Open(env_, path, id));
    }
    return Status::Ok();
  }

  // The table can be read without them, so nothing here is an error.
  void OpenVectorIndexes() {
    const std::shared_ptr<const DiskChunk> reopened = std::move(options_.reopened);
    if (options_.vector_index_format == nullptr || VectorIndexColumns(header_.header.definition).empty()) {
      return;
    }
    if (reopened != nullptr && reopened->header().id == header_.header.id) {
      vector_indexes_ = static_cast<const LocalDiskChunk&>(*reopened).vector_indexes_;
    } else {
      TryOpenVectorIndexes();
    }
    if (vector_indexes_ != nullptr) {
      header_.files.push_back(*vector_file_);
    }
  }

  void TryOpenVectorIndexes() {
    if (!vector_file_.has_value()) {
      LogWarning("{}: there is no such file; vectors of the chunk are compared one by one until it is merged",
                 PathOf(kVectorIndexSuffix));
      return;
    }
    Result<std::shared_ptr<const VectorIndexFile>> opened = OpenVectorIndexFile();
    if (!opened.ok()) {
      LogWarning("vectors of a chunk are compared one by one until it is merged: {}", opened.status().text());
      return;
    }
    vector_indexes_ = std::move(*opened);
  }

  Result<std::shared_ptr<const VectorIndexFile>> OpenVectorIndexFile() const {
    RETURN_IF_ERROR(CheckChunkFiles(env_, folder_, {header_.header, {*vector_file_}}));
    return VectorIndexFile::Open(env_, folder_, header_.header, *options_.vector_index_format);
  }

  // A file of another version is no damage: it is made again.
  Status CheckVectorIndexes() const {
    if (options_.vector_index_format == nullptr || !vector_file_.has_value()) {
      return Status::Ok();
    }
    if (vector_indexes_ != nullptr) {
      return vector_indexes_->Check();
    }
    Status status = OpenVectorIndexFile().status();
    return status.code() == StatusCode::kUnsupported ? Status::Ok() : status;
  }

  Status CheckRowCount(std::string_view suffix, uint32_t found) const {
    return found == row_count()
               ? Status::Ok()
               : CorruptError("{}: {} rows, but the chunk has {}", PathOf(suffix), found, row_count());
  }

  Status CheckRowCounts() {
    ASSIGN_OR_RETURN(header_bytes_, env_.FileSize(PathOf("sph")));
    if (rowwise_ != nullptr) {
      RETURN_IF_ERROR(CheckRowCount("spa", rowwise_->row_count()));
    }
    if (docstore_ != nullptr) {
      RETURN_IF_ERROR(CheckRowCount("spds", docstore_->row_count()));
    }
    return CheckRowCount("spt", documents_->row_count());
  }

  const OpenSectionFile& SectionFileOf(std::string_view suffix) const {
    if (suffix == "spc") {
      return *columnar_;
    }
    if (suffix == "spb" && rowwise_->blobs_file() != nullptr) {
      return *rowwise_->blobs_file();
    }
    if (suffix == "spds") {
      return docstore_->file();
    }
    if (suffix == kVectorIndexSuffix) {
      return vector_indexes_->file();
    }
    return suffix == "spt" ? documents_->file() : rowwise_->rows_file();
  }

  Result<std::unique_ptr<ColumnReader>> MissingIsCorrupt(Result<std::unique_ptr<ColumnReader>> reader,
                                                         std::string_view suffix,
                                                         const ColumnDefinition& column) const {
    if (!reader.ok() && reader.status().code() == StatusCode::kNotFound) {
      return CorruptError("{}: column {} '{}' is missing", PathOf(suffix), column.id.value, column.name);
    }
    return reader;
  }

  // Opened when it is first asked for. Two that ask at once may both read its directory; one is kept.
  Result<std::shared_ptr<const FileColumn>> OpenColumn(const ColumnDefinition& column) const {
    {
      MutexLock lock(mutex_);
      if (const auto found = columns_.find(column.id); found != columns_.end()) {
        return found->second;
      }
    }
    Result<std::shared_ptr<const FileColumn>> opened = OpenFileColumn(columnar_, column.id);
    if (!opened.ok()) {
      return opened.status().code() == StatusCode::kNotFound
                 ? CorruptError("{}: column {} '{}' is missing", PathOf("spc"), column.id.value, column.name)
                 : opened.status();
    }
    if ((*opened)->type() != column.type) {
      return CorruptError("{}: column {} '{}' has another type than in {}", PathOf("spc"), column.id.value,
                          column.name, ChunkFileName(header_.header.id, "sph"));
    }
    RETURN_IF_ERROR(CheckRowCount("spc", (*opened)->row_count())
                        .WithContext(fmt::format("column {} '{}'", column.id.value, column.name)));
    MutexLock lock(mutex_);
    return columns_.emplace(column.id, std::move(*opened)).first->second;
  }

  Status CheckDocuments() const {
    const std::shared_ptr<const TablePart> part = std::make_shared<WrittenRows>(shared_from_this());
    const PartRows rows(std::span(&part, 1));
    PartColumnInput ids(rows, header_.header.definition.columns.front(), nullptr);
    return documents_->Check(ids);
  }

  Env& env_;
  const std::string folder_;
  Options options_;
  const std::optional<ChunkHeaderFile::File> vector_file_;
  ChunkHeaderFile header_;  // of `files` those that are open
  uint64_t header_bytes_ = 0;
  std::shared_ptr<const OpenSectionFile> columnar_;
  std::shared_ptr<const RowwiseFile> rowwise_;
  std::shared_ptr<const Docstore> docstore_;
  std::shared_ptr<const DocumentIndex> documents_;
  std::shared_ptr<const VectorIndexFile> vector_indexes_;  // nullptr: none could be opened
  mutable Mutex mutex_;
  mutable std::map<ColumnId, std::shared_ptr<const FileColumn>> columns_ GUARDED_BY(mutex_);
};

}  // namespace

Result<std::shared_ptr<const DiskChunk>> DiskChunk::Open(Env& env, const std::string& folder, ChunkId id,
                                                         const Options& options) {
  ASSIGN_OR_RETURN(ChunkHeaderFile header, ReadChunkHeader(env, folder, id));
  Options complete = options;
  if (complete.docstore_cache == nullptr) {
    complete.docstore_cache = std::make_shared<DocstoreCache>(1u << 20);
  }
  auto chunk = std::make_shared<LocalDiskChunk>(env, folder, std::move(complete), std::move(header));
  RETURN_IF_ERROR(chunk->OpenFiles());
  return std::shared_ptr<const DiskChunk>(std::move(chunk));
}

}  // namespace stoa::storage
