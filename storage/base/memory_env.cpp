#include "storage/base/memory_env.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <utility>

namespace stoa {
namespace {

std::string ParentOf(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

// A file's bytes at one moment, where a real mapping would have them: at a page, 64 readable bytes behind.
class BytesCopy {
 public:
  explicit BytesCopy(std::string_view bytes)
      : size_(bytes.size()),
        copy_(static_cast<char*>(::operator new(bytes.size() + kReadableBehind, kAlignment))) {
    std::copy(bytes.begin(), bytes.end(), copy_);
    std::fill_n(copy_ + size_, kReadableBehind, '\0');
  }
  ~BytesCopy() { ::operator delete(copy_, kAlignment); }
  BytesCopy(const BytesCopy&) = delete;
  BytesCopy& operator=(const BytesCopy&) = delete;

  std::span<const char> bytes() const { return {copy_, size_}; }

 private:
  static constexpr std::align_val_t kAlignment{4096};
  static constexpr size_t kReadableBehind = 64;

  const size_t size_;
  char* const copy_;
};

class MemoryRandomAccessFile : public RandomAccessFile {
 public:
  MemoryRandomAccessFile(std::string path, std::string_view bytes) : path_(std::move(path)), copy_(bytes) {}

  const std::string& path() const override { return path_; }
  uint64_t size() const override { return copy_.bytes().size(); }
  Status Read(uint64_t offset, std::span<char> to) const override {
    if (offset > size() || to.size() > size() - offset) {
      return CorruptError("{}: {} bytes wanted at offset {}, the file has {}", path_, to.size(), offset,
                          size());
    }
    const auto from = copy_.bytes().subspan(offset, to.size());
    std::copy(from.begin(), from.end(), to.begin());
    return Status::Ok();
  }
  Status ReadBatch(std::span<const ReadRequest> requests) const override {
    for (const ReadRequest& request : requests) {
      RETURN_IF_ERROR(Read(request.offset, request.to));
    }
    return Status::Ok();
  }
  void DropBehind(uint64_t, uint64_t) const override {}

 private:
  const std::string path_;
  const BytesCopy copy_;
};

class MemoryMappedFile : public MappedFile {
 public:
  MemoryMappedFile(std::string path, std::string_view bytes) : path_(std::move(path)), copy_(bytes) {}

  const std::string& path() const override { return path_; }
  std::span<const char> bytes() const override { return copy_.bytes(); }
  Status CheckReadable() const override { return Status::Ok(); }
  void Advise(ByteRange, AccessPattern) const override {}
  bool WillNeed(std::span<const ByteRange>) const override { return false; }
  void DropBehind(ByteRange) const override {}
  uint64_t ResidentBytes() const override { return copy_.bytes().size(); }

 private:
  const std::string path_;
  const BytesCopy copy_;
};

bool IsBelow(const std::string& path, const std::string& folder) { return path.starts_with(folder + "/"); }

}  // namespace

class MemoryWritableFile : public WritableFile {
 public:
  MemoryWritableFile(MemoryEnv& env, MemoryEnv::Bytes bytes) : env_(env), bytes_(std::move(bytes)) {}

  Status Append(std::string_view bytes) override {
    MutexLock lock(env_.mutex_);
    bytes_->append(bytes);
    return Status::Ok();
  }
  Status Sync() override { return Status::Ok(); }
  Status Truncate(uint64_t size) override {
    MutexLock lock(env_.mutex_);
    bytes_->resize(size);
    return Status::Ok();
  }
  Status Close() override { return Status::Ok(); }

 private:
  MemoryEnv& env_;
  const MemoryEnv::Bytes bytes_;
};

class MemoryFolderLock : public FolderLock {
 public:
  MemoryFolderLock(MemoryEnv& env, std::string path) : env_(env), path_(std::move(path)) {}
  ~MemoryFolderLock() override {
    MutexLock lock(env_.mutex_);
    env_.locked_.erase(path_);
  }

 private:
  MemoryEnv& env_;
  const std::string path_;
};

Result<std::unique_ptr<WritableFile>> MemoryEnv::Open(const std::string& path, bool truncate) {
  MutexLock lock(mutex_);
  if (const std::string parent = ParentOf(path);
      !parent.empty() && parent != "/" && !folders_.contains(parent)) {
    return NotFoundError("{}: cannot open: no such folder", path);
  }
  Bytes& bytes = files_[path];
  if (bytes == nullptr) {
    bytes = std::make_shared<std::string>();
  } else if (truncate) {
    bytes->clear();
  }
  return std::unique_ptr<WritableFile>(std::make_unique<MemoryWritableFile>(*this, bytes));
}

Result<MemoryEnv::Bytes> MemoryEnv::Find(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) {
    return NotFoundError("{}: no such file", path);
  }
  return found->second;
}

Result<std::unique_ptr<WritableFile>> MemoryEnv::Create(const std::string& path) { return Open(path, true); }

Result<std::unique_ptr<WritableFile>> MemoryEnv::OpenForAppend(const std::string& path) {
  return Open(path, false);
}

Result<std::string> MemoryEnv::ReadFile(const std::string& path) {
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const Bytes bytes, Find(path));
  return *bytes;
}

Result<std::string> MemoryEnv::ReadRange(const std::string& path, uint64_t offset, size_t length) {
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const Bytes bytes, Find(path));
  if (offset > bytes->size() || length > bytes->size() - offset) {
    return CorruptError("{}: {} bytes wanted at offset {}, the file has {}", path, length, offset,
                        bytes->size());
  }
  return bytes->substr(offset, length);
}

Result<std::shared_ptr<const RandomAccessFile>> MemoryEnv::OpenForRead(const std::string& path) {
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const Bytes bytes, Find(path));
  return std::shared_ptr<const RandomAccessFile>(std::make_shared<MemoryRandomAccessFile>(path, *bytes));
}

Result<std::shared_ptr<const MappedFile>> MemoryEnv::Map(const std::string& path) {
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const Bytes bytes, Find(path));
  return std::shared_ptr<const MappedFile>(std::make_shared<MemoryMappedFile>(path, *bytes));
}

Result<uint64_t> MemoryEnv::FreeBytes(const std::string& path) {
  MutexLock lock(mutex_);
  if (!folders_.contains(path)) {
    return NotFoundError("{}: no such folder", path);
  }
  return uint64_t{1} << 40;
}

Result<uint64_t> MemoryEnv::FileSize(const std::string& path) {
  MutexLock lock(mutex_);
  ASSIGN_OR_RETURN(const Bytes bytes, Find(path));
  return static_cast<uint64_t>(bytes->size());
}

bool MemoryEnv::Exists(const std::string& path) {
  MutexLock lock(mutex_);
  return files_.contains(path) || folders_.contains(path);
}

Status MemoryEnv::Rename(const std::string& from, const std::string& to) {
  MutexLock lock(mutex_);
  if (folders_.contains(from)) {
    return UnsupportedError("{}: cannot rename to {}: folders are not renamed in memory", from, to);
  }
  ASSIGN_OR_RETURN(const Bytes bytes, Find(from));
  files_.erase(from);
  files_[to] = bytes;
  return Status::Ok();
}

Status MemoryEnv::Remove(const std::string& path) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(Find(path).status());
  files_.erase(path);
  return Status::Ok();
}

Status MemoryEnv::RemoveTree(const std::string& path) {
  MutexLock lock(mutex_);
  std::erase_if(files_, [&](const auto& file) { return file.first == path || IsBelow(file.first, path); });
  std::erase_if(folders_, [&](const auto& folder) { return folder == path || IsBelow(folder, path); });
  return Status::Ok();
}

Status MemoryEnv::MakeFolder(const std::string& path) {
  MutexLock lock(mutex_);
  for (std::string folder = path; !folder.empty() && folder != "/"; folder = ParentOf(folder)) {
    if (files_.contains(folder)) {
      return IoError("{}: cannot make folder: a file has that name", folder);
    }
    folders_.insert(folder);
  }
  return Status::Ok();
}

Status MemoryEnv::SyncFolder(const std::string& path) {
  MutexLock lock(mutex_);
  return folders_.contains(path) ? Status::Ok() : NotFoundError("{}: no such folder", path);
}

Result<std::vector<std::string>> MemoryEnv::List(const std::string& path) {
  MutexLock lock(mutex_);
  if (!folders_.contains(path)) {
    return NotFoundError("{}: no such folder", path);
  }
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    if (ParentOf(name) == path) {
      names.insert(name.substr(path.size() + 1));
    }
  };
  for (const auto& [name, bytes] : files_) {
    add(name);
  }
  for (const std::string& name : folders_) {
    add(name);
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::unique_ptr<FolderLock>> MemoryEnv::Lock(const std::string& path) {
  MutexLock lock(mutex_);
  if (!locked_.insert(path).second) {
    return IoError("{}: folder is in use", path);
  }
  return std::unique_ptr<FolderLock>(std::make_unique<MemoryFolderLock>(*this, path));
}

}  // namespace stoa
