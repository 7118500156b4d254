#include "storage/base/faulty_env.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "storage/base/fault_point.h"

namespace stoa {
namespace {

Status PassPoint(const char* name, const std::string& path, const char* action) {
  const Fault fault = FaultPoints::Next(name);
  return fault.action == FaultAction::kNone
             ? Status::Ok()
             : FaultPoints::Act(fault.action,
                                fmt::format("{}: cannot {} (fault point {})", path, action, name));
}

Status PassRead(const std::string& path) { return PassPoint("env.read", path, "read"); }

class FaultyRandomAccessFile : public RandomAccessFile {
 public:
  explicit FaultyRandomAccessFile(std::shared_ptr<const RandomAccessFile> file) : file_(std::move(file)) {}

  const std::string& path() const override { return file_->path(); }
  uint64_t size() const override { return file_->size(); }
  Status Read(uint64_t offset, std::span<char> to) const override {
    RETURN_IF_ERROR(PassRead(path()));
    return file_->Read(offset, to);
  }
  Status ReadBatch(std::span<const ReadRequest> requests) const override {
    RETURN_IF_ERROR(PassRead(path()));
    return file_->ReadBatch(requests);
  }
  void DropBehind(uint64_t offset, uint64_t length) const override { file_->DropBehind(offset, length); }
  void WillNeed(uint64_t offset, uint64_t length) const override { file_->WillNeed(offset, length); }
  CachedPages Cached() const override { return file_->Cached(); }

 private:
  const std::shared_ptr<const RandomAccessFile> file_;
};

class FaultyMappedFile : public MappedFile {
 public:
  explicit FaultyMappedFile(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  const std::string& path() const override { return file_->path(); }
  std::span<const char> bytes() const override { return file_->bytes(); }
  Status CheckReadable() const override {
    RETURN_IF_ERROR(PassRead(path()));
    return file_->CheckReadable();
  }
  bool has_failed() const override { return file_->has_failed(); }
  void Advise(ByteRange range, AccessPattern pattern) const override { file_->Advise(range, pattern); }
  bool WillNeed(std::span<const ByteRange> ranges) const override { return file_->WillNeed(ranges); }
  void MapIn(ByteRange range) const override { file_->MapIn(range); }
  void DropBehind(ByteRange range) const override { file_->DropBehind(range); }
  uint64_t ResidentBytes() const override { return file_->ResidentBytes(); }
  CachedPages Cached() const override { return file_->Cached(); }
  void GiveUp(std::span<const ByteRange> ranges) const override { file_->GiveUp(ranges); }

 private:
  const std::shared_ptr<const MappedFile> file_;
};

}  // namespace

Result<std::string> FaultyEnv::ReadFile(const std::string& path) {
  RETURN_IF_ERROR(PassRead(path));
  return base_.ReadFile(path);
}

Result<std::string> FaultyEnv::ReadRange(const std::string& path, uint64_t offset, size_t length) {
  RETURN_IF_ERROR(PassRead(path));
  return base_.ReadRange(path, offset, length);
}

Result<std::shared_ptr<const RandomAccessFile>> FaultyEnv::OpenForRead(const std::string& path) {
  RETURN_IF_ERROR(PassRead(path));
  ASSIGN_OR_RETURN(auto file, base_.OpenForRead(path));
  return std::shared_ptr<const RandomAccessFile>(std::make_shared<FaultyRandomAccessFile>(std::move(file)));
}

Result<std::shared_ptr<const MappedFile>> FaultyEnv::Map(const std::string& path) {
  RETURN_IF_ERROR(PassRead(path));
  ASSIGN_OR_RETURN(auto file, base_.Map(path));
  return std::shared_ptr<const MappedFile>(std::make_shared<FaultyMappedFile>(std::move(file)));
}

class FaultyWritableFile : public WritableFile {
 public:
  FaultyWritableFile(FaultyEnv& env, std::string path, std::unique_ptr<WritableFile> file)
      : env_(env), path_(std::move(path)), file_(std::move(file)) {}

  Status Append(std::string_view bytes) override {
    RETURN_IF_ERROR(PassPoint("env.append", path_, "write"));
    const Fault torn = FaultPoints::Next("env.append.torn");
    if (torn.action != FaultAction::kNone) {
      RETURN_IF_ERROR(AppendWhole(bytes.substr(0, bytes.empty() ? 0 : torn.random % bytes.size())));
      return FaultPoints::Act(torn.action, path_ + ": cannot write (fault point env.append.torn)");
    }
    return AppendWhole(bytes);
  }

  Status Sync() override {
    Status status = PassPoint("env.sync", path_, "sync");
    if (status.ok()) {
      status = file_->Sync();
    }
    env_.NoteSynced(path_, status.ok());
    return status;
  }

  void PaceWriteOut(bool drop_behind) override { file_->PaceWriteOut(drop_behind); }

  Status Truncate(uint64_t size) override {
    RETURN_IF_ERROR(file_->Truncate(size));
    env_.NoteTruncated(path_, size);
    return Status::Ok();
  }

  Status Close() override { return file_->Close(); }

 private:
  Status AppendWhole(std::string_view bytes) {
    RETURN_IF_ERROR(file_->Append(bytes));
    env_.NoteAppended(path_, bytes.size());
    return Status::Ok();
  }

  FaultyEnv& env_;
  const std::string path_;
  const std::unique_ptr<WritableFile> file_;
};

Result<std::unique_ptr<WritableFile>> FaultyEnv::Create(const std::string& path) {
  RETURN_IF_ERROR(PassPoint("env.create", path, "open"));
  const bool existed = base_.Exists(path);
  ASSIGN_OR_RETURN(auto file, base_.Create(path));
  {
    MutexLock lock(mutex_);
    const auto known = files_.find(path);
    const bool entry_synced = known == files_.end() ? existed : known->second.entry_synced;
    files_[path] = FileState{.entry_synced = entry_synced};
  }
  return Wrap(path, std::move(file));
}

Result<std::unique_ptr<WritableFile>> FaultyEnv::OpenForAppend(const std::string& path) {
  RETURN_IF_ERROR(PassPoint("env.create", path, "open"));
  const bool existed = base_.Exists(path);
  ASSIGN_OR_RETURN(auto file, base_.OpenForAppend(path));
  ASSIGN_OR_RETURN(const uint64_t size, base_.FileSize(path));
  {
    // What was there before this Env saw the file counts as synced.
    MutexLock lock(mutex_);
    files_.try_emplace(path, FileState{.size = size, .synced = size, .entry_synced = existed});
  }
  return Wrap(path, std::move(file));
}

Result<std::unique_ptr<WritableFile>> FaultyEnv::Wrap(const std::string& path,
                                                      std::unique_ptr<WritableFile> file) {
  return std::unique_ptr<WritableFile>(std::make_unique<FaultyWritableFile>(*this, path, std::move(file)));
}

Status FaultyEnv::Rename(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(PassPoint("env.rename", from, "rename"));
  const bool existed = base_.Exists(to);
  RETURN_IF_ERROR(base_.Rename(from, to));
  MutexLock lock(mutex_);
  auto moved = files_.extract(from);
  files_.erase(to);
  if (!moved.empty()) {
    // Whether old or new content survives under an existing name is open; the new one is kept.
    moved.key() = to;
    moved.mapped().entry_synced = existed;
    files_.insert(std::move(moved));
  }
  return Status::Ok();
}

Status FaultyEnv::Remove(const std::string& path) {
  RETURN_IF_ERROR(base_.Remove(path));
  MutexLock lock(mutex_);
  files_.erase(path);
  return Status::Ok();
}

Status FaultyEnv::RemoveTree(const std::string& path) {
  RETURN_IF_ERROR(base_.RemoveTree(path));
  MutexLock lock(mutex_);
  std::erase_if(
      files_, [&](const auto& entry) { return entry.first == path || entry.first.starts_with(path + "/"); });
  return Status::Ok();
}

Status FaultyEnv::SyncFolder(const std::string& path) {
  RETURN_IF_ERROR(PassPoint("env.sync", path, "sync folder"));
  RETURN_IF_ERROR(base_.SyncFolder(path));
  MutexLock lock(mutex_);
  for (auto& [name, state] : files_) {
    if (std::filesystem::path(name).parent_path() == std::filesystem::path(path)) {
      state.entry_synced = true;
    }
  }
  return Status::Ok();
}

Status FaultyEnv::DropUnsynced() {
  std::map<std::string, FileState> files;
  {
    MutexLock lock(mutex_);
    files.swap(files_);
  }
  for (const auto& [path, state] : files) {
    if (!state.entry_synced) {
      RETURN_IF_ERROR(base_.Remove(path));
    } else if (state.synced < state.size) {
      ASSIGN_OR_RETURN(const auto file, base_.OpenForAppend(path));
      RETURN_IF_ERROR(file->Truncate(state.synced));
      RETURN_IF_ERROR(file->Close());
    }
  }
  return Status::Ok();
}

void FaultyEnv::NoteAppended(const std::string& path, uint64_t count) {
  MutexLock lock(mutex_);
  if (const auto found = files_.find(path); found != files_.end()) {
    found->second.size += count;
  }
}

void FaultyEnv::NoteSynced(const std::string& path, bool ok) {
  MutexLock lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) {
    return;
  }
  FileState& state = found->second;
  state.sync_failed = state.sync_failed || !ok;
  if (!state.sync_failed) {
    state.synced = state.size;
  }
}

void FaultyEnv::NoteTruncated(const std::string& path, uint64_t size) {
  MutexLock lock(mutex_);
  if (const auto found = files_.find(path); found != files_.end()) {
    FileState& state = found->second;
    state.size = size;
    state.synced = std::min(state.synced, size);
    state.sync_failed = state.sync_failed && state.size > state.synced;
  }
}

}  // namespace stoa
