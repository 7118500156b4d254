#include "storage/chunk/docstore.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "storage/chunk/docstore_codec.h"
#include "storage/chunk/docstore_format.h"
#include "storage/chunk/docstore_reader.h"
#include "storage/chunk/stored_value.h"

namespace stoa::storage {

BlockStore::~BlockStore() {
  if (cache_ != nullptr) {
    cache_->Forget(cache_number_);
  }
}

Result<std::shared_ptr<const BlockStore>> BlockStore::Open(Env& env, const std::string& path, ChunkId chunk,
                                                           std::shared_ptr<DocstoreCache> cache) {
  auto store = std::make_shared<BlockStore>();
  ASSIGN_OR_RETURN(store->file_, OpenSectionFile::Open(env, path, kDocstoreKind, AccessMode::kFile));
  if (store->file_->owner() != chunk.value) {
    return CorruptError("{}: belongs to chunk {}, not {}", path, store->file_->owner(), chunk.value);
  }
  ASSIGN_OR_RETURN(store->blocks_, store->file_->Section(kDocstoreBlockSection, 0));
  RETURN_IF_ERROR(store->ReadDirectory());
  if (cache != nullptr) {
    store->cache_number_ = cache->NewFile();
    store->cache_ = std::move(cache);
  }
  return std::shared_ptr<const BlockStore>(std::move(store));
}

Status BlockStore::ReadDirectory() {
  ReadBuffer buffer;
  ASSIGN_OR_RETURN(const SectionBytes info_section, file_->Section(kDocstoreInfoSection, 0));
  ASSIGN_OR_RETURN(const std::string_view info_bytes, info_section.Read(0, info_section.length(), buffer));
  auto info = DocstoreInfo::Decode(info_bytes);
  if (!info.ok()) {
    return info.status().WithContext(file_->path());
  }
  info_ = std::move(*info);
  ASSIGN_OR_RETURN(const SectionBytes section, file_->Section(kDocstoreDirectorySection, 0));
  ASSIGN_OR_RETURN(const std::string_view bytes, section.Read(0, section.length(), buffer));
  auto directory = DocstoreDirectory::Decode(bytes, info_, blocks_.length());
  if (!directory.ok()) {
    return directory.status().WithContext(file_->path());
  }
  directory_ = std::move(*directory);
  return Status::Ok();
}

const DocstoreColumn* BlockStore::Find(ColumnId column) const {
  const auto found = std::find_if(info_.columns.begin(), info_.columns.end(),
                                  [&](const DocstoreColumn& other) { return other.id == column; });
  return found == info_.columns.end() ? nullptr : &*found;
}

Status BlockStore::Load(std::span<BlockUse> uses) const {
  std::vector<BlockUse*> missing;
  std::vector<ByteRange> ranges;
  for (BlockUse& use : uses) {
    if (use.bytes == nullptr && cache_ != nullptr) {
      use.bytes = cache_->Find(cache_number_, use.block);
    }
    if (use.bytes == nullptr) {
      missing.push_back(&use);
      ranges.push_back({directory_.entries[use.block].offset, directory_.StoredSize(use.block)});
    }
  }
  if (missing.empty()) {
    return Status::Ok();
  }
  ReadBuffer buffer;
  std::vector<std::string_view> stored(missing.size());
  RETURN_IF_ERROR(blocks_.ReadBatch(ranges, stored, buffer));
  for (size_t i = 0; i < missing.size(); ++i) {
    ASSIGN_OR_RETURN(missing[i]->bytes, Decompress(missing[i]->block, stored[i]));
    if (cache_ != nullptr) {
      cache_->Add(cache_number_, missing[i]->block, missing[i]->bytes);
    }
  }
  return Status::Ok();
}

Result<std::shared_ptr<const std::string>> BlockStore::Decompress(size_t block,
                                                                  std::string_view stored) const {
  auto bytes = DecompressBlock(info_.codec, stored, directory_.entries[block].raw_size);
  if (!bytes.ok()) {
    return BlockError(block, bytes.status());
  }
  return std::shared_ptr<const std::string>(std::make_shared<std::string>(std::move(*bytes)));
}

DocstoreBlockView BlockStore::View(const BlockUse& use) const {
  return {*use.bytes, directory_.RowsOf(use.block), info_.columns.size()};
}

Status BlockStore::BlockError(size_t block, const Status& status) const {
  return status.WithContext(
      fmt::format("{}: block {} (offset {})", file_->path(), block, directory_.entries[block].offset));
}

Status BlockStore::Check() const {
  RETURN_IF_ERROR(file_->CheckAll(/*drop_behind=*/true));
  ReadBuffer buffer;
  for (size_t block = 0; block < directory_.block_count(); ++block) {
    buffer.Clear();
    ASSIGN_OR_RETURN(const std::string_view stored,
                     blocks_.Read(directory_.entries[block].offset, directory_.StoredSize(block), buffer));
    BlockUse use{.block = block};
    ASSIGN_OR_RETURN(use.bytes, Decompress(block, stored));
    if (const Status status = CheckTexts(use); !status.ok()) {
      return BlockError(block, status);
    }
  }
  return Status::Ok();
}

Status BlockStore::CheckTexts(const BlockUse& use) const {
  const DocstoreBlockView view = View(use);
  RETURN_IF_ERROR(view.Check());
  for (uint32_t row = 0; row < directory_.RowsOf(use.block); ++row) {
    for (size_t column = 0; column < info_.columns.size(); ++column) {
      ASSIGN_OR_RETURN(const std::string_view text, view.TextAt(row, column));
      RETURN_IF_ERROR(CheckStoredValue(info_.columns[column].type, text));
    }
  }
  return Status::Ok();
}

namespace {

class DocstoreFile : public Docstore {
 public:
  explicit DocstoreFile(std::shared_ptr<const BlockStore> store) : store_(std::move(store)) {}

  uint32_t row_count() const override { return store_->info().row_count; }
  uint64_t text_bytes() const override {
    const DocstoreDirectory& directory = store_->directory();
    uint64_t bytes = 0;
    for (const DocstoreBlock& block : directory.entries) {
      bytes += block.raw_size;
    }
    const uint64_t ends = uint64_t{row_count()} * store_->info().columns.size() * sizeof(uint32_t);
    return bytes - std::min(bytes, ends);
  }
  bool Has(ColumnId column) const override { return store_->Find(column) != nullptr; }
  Result<std::unique_ptr<ColumnReader>> NewReader(std::shared_ptr<const Docstore>, ColumnId column,
                                                  ColumnType type) const override {
    const DocstoreColumn* found = store_->Find(column);
    if (found == nullptr) {
      return NotFoundError("{}: no column {}", file().path(), column.value);
    }
    if (!CanReadAs(found->type, type)) {
      return CorruptError("{}: column {} is of type {}, not {}", file().path(), column.value,
                          static_cast<int>(found->type), static_cast<int>(type));
    }
    const auto index = static_cast<size_t>(found - store_->info().columns.data());
    return std::unique_ptr<ColumnReader>(std::make_unique<DocstoreReader>(store_, index, type));
  }
  const OpenSectionFile& file() const override { return store_->file(); }
  Status Check() const override { return store_->Check(); }

 private:
  std::shared_ptr<const BlockStore> store_;
};

}  // namespace

Result<std::shared_ptr<const Docstore>> Docstore::Open(Env& env, const std::string& path, ChunkId chunk,
                                                       std::shared_ptr<DocstoreCache> cache) {
  ASSIGN_OR_RETURN(auto store, BlockStore::Open(env, path, chunk, std::move(cache)));
  return std::shared_ptr<const Docstore>(std::make_shared<DocstoreFile>(std::move(store)));
}

}  // namespace stoa::storage
