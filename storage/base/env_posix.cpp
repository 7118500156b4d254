#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "storage/base/env.h"
#include "storage/base/posix_descriptor.h"

namespace stoa {
namespace {

constexpr uint64_t kWriteOutBytes = 4u << 20;

std::string ParentOf(const std::string& path) {
  std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

class PosixWritableFile : public WritableFile {
 public:
  PosixWritableFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  Status Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_.get(), bytes.data(), bytes.size());
      if (count < 0) {
        if (errno == EINTR) {
          continue;
        }
        return PosixError(path_, "write", errno);
      }
      bytes.remove_prefix(static_cast<size_t>(count));
      written_ += static_cast<uint64_t>(count);
    }
    return paced_ ? WriteOut() : Status::Ok();
  }

  Status Sync() override {
    if (::fdatasync(descriptor_.get()) != 0) {
      return PosixError(path_, "sync", errno);
    }
    if (drop_behind_) {
      DropBehind(0);  // all that is left of it
    }
    return Status::Ok();
  }

  void PaceWriteOut(bool drop_behind) override {
    paced_ = true;
    drop_behind_ = drop_behind;
  }

  Status Truncate(uint64_t size) override {
    paced_ = false;
    // Opened with O_APPEND: the next write goes to the new end.
    return ::ftruncate(descriptor_.get(), static_cast<off_t>(size)) == 0
               ? Status::Ok()
               : PosixError(path_, "truncate", errno);
  }

  Status Close() override {
    const int error = descriptor_.Close();
    return error == 0 ? Status::Ok() : PosixError(path_, "close", error);
  }

 private:
  // One window is on its way to the disk while the next one fills.
  Status WriteOut() {
    while (written_ - begun_ >= kWriteOutBytes) {
      RETURN_IF_ERROR(Range(begun_, SYNC_FILE_RANGE_WRITE));
      if (begun_ > 0) {
        // Its errors are not told again by fdatasync().
        RETURN_IF_ERROR(Range(begun_ - kWriteOutBytes, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                                                           SYNC_FILE_RANGE_WAIT_AFTER));
        if (drop_behind_) {
          DropBehind(begun_);
        }
      }
      begun_ += kWriteOutBytes;
    }
    return Status::Ok();
  }

  Status Range(uint64_t offset, unsigned flags) {
    if (::sync_file_range(descriptor_.get(), static_cast<off_t>(offset), static_cast<off_t>(kWriteOutBytes),
                          flags) == 0) {
      return Status::Ok();
    }
    const int error = errno;
    if (error == EIO || error == ENOSPC || error == EDQUOT) {
      return PosixError(path_, "write out", error);
    }
    return Status::Ok();  // the file system has no such thing; Sync() does it all
  }

  // From the start up to `end`, 0: of the file.
  void DropBehind(uint64_t end) {
    static_cast<void>(::posix_fadvise(descriptor_.get(), 0, static_cast<off_t>(end), POSIX_FADV_DONTNEED));
  }

  const std::string path_;
  Descriptor descriptor_;
  bool paced_ = false;
  bool drop_behind_ = false;
  uint64_t written_ = 0;  // since it was opened; only a new file is paced
  uint64_t begun_ = 0;    // on its way to the disk
};

class PosixFolderLock : public FolderLock {
 public:
  explicit PosixFolderLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

 private:
  Descriptor descriptor_;  // closing it lets the lock go
};

class PosixEnv : public Env {
 public:
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    return OpenForWriting(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
  }

  Result<std::unique_ptr<WritableFile>> OpenForAppend(const std::string& path) override {
    return OpenForWriting(path, O_WRONLY | O_CREAT | O_APPEND);
  }

  Result<std::string> ReadFile(const std::string& path) override {
    ASSIGN_OR_RETURN(const Descriptor descriptor, Descriptor::Open(path, O_RDONLY));
    ASSIGN_OR_RETURN(const uint64_t size, SizeOf(path, descriptor.get()));
    std::string bytes(size, '\0');
    ASSIGN_OR_RETURN(const size_t count, ReadFully(path, descriptor.get(), 0, bytes));
    bytes.resize(count);
    return bytes;
  }

  Result<std::string> ReadRange(const std::string& path, uint64_t offset, size_t length) override {
    ASSIGN_OR_RETURN(const Descriptor descriptor, Descriptor::Open(path, O_RDONLY));
    ASSIGN_OR_RETURN(const uint64_t size, SizeOf(path, descriptor.get()));
    if (offset > size || length > size - offset) {
      return CorruptError("{}: {} bytes wanted at offset {}, the file has {}", path, length, offset, size);
    }
    std::string bytes(length, '\0');
    ASSIGN_OR_RETURN(const size_t count, ReadFully(path, descriptor.get(), offset, bytes));
    if (count < length) {
      return CorruptError("{}: {} bytes wanted at offset {}, {} there", path, length, offset, count);
    }
    return bytes;
  }

  Result<std::shared_ptr<const RandomAccessFile>> OpenForRead(const std::string& path) override {
    return OpenPosixRandomAccess(path);
  }

  Result<std::shared_ptr<const MappedFile>> Map(const std::string& path) override {
    return MapPosixFile(path);
  }

  Result<uint64_t> FileSize(const std::string& path) override {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
      return PosixError(path, "stat", errno);
    }
    return static_cast<uint64_t>(info.st_size);
  }

  bool Exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }

  Result<uint64_t> FreeBytes(const std::string& path) override {
    struct statvfs info {};
    if (::statvfs(path.c_str(), &info) != 0) {
      return PosixError(path, "ask for free space", errno);
    }
    return uint64_t{info.f_bavail} * uint64_t{info.f_frsize};
  }

  Status Rename(const std::string& from, const std::string& to) override {
    const std::string action = "rename to " + to;
    return ::rename(from.c_str(), to.c_str()) == 0 ? Status::Ok() : PosixError(from, action.c_str(), errno);
  }

  Status Remove(const std::string& path) override {
    return ::unlink(path.c_str()) == 0 ? Status::Ok() : PosixError(path, "remove", errno);
  }

  Status RemoveTree(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    return error ? PosixError(path, "remove with all it holds", error.value()) : Status::Ok();
  }

  Status MakeFolder(const std::string& path) override {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      return Status::Ok();
    }
    const std::string parent = ParentOf(path);
    if (parent != path && !Exists(parent)) {
      RETURN_IF_ERROR(MakeFolder(parent));
    }
    if (::mkdir(path.c_str(), 0755) != 0) {
      const int error = errno;
      // Another thread may have made it meanwhile.
      if (error == EEXIST && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
        return Status::Ok();
      }
      return PosixError(path, "make folder", error);
    }
    return SyncFolder(parent);
  }

  Status SyncFolder(const std::string& path) override {
    ASSIGN_OR_RETURN(const Descriptor descriptor, Descriptor::Open(path, O_RDONLY | O_DIRECTORY));
    return ::fsync(descriptor.get()) == 0 ? Status::Ok() : PosixError(path, "sync folder", errno);
  }

  Result<std::vector<std::string>> List(const std::string& path) override {
    std::error_code error;
    std::vector<std::string> names;
    std::filesystem::directory_iterator entry(path, error);
    while (!error && entry != std::filesystem::directory_iterator()) {
      names.push_back(entry->path().filename().string());
      entry.increment(error);
    }
    if (error) {
      return PosixError(path, "list folder", error.value());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<std::unique_ptr<FolderLock>> Lock(const std::string& path) override {
    const std::string file = path + "/.lock";
    ASSIGN_OR_RETURN(Descriptor descriptor, Descriptor::Open(file, O_RDWR | O_CREAT));
    if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) {
        return IoError("{}: folder is in use by another process ({} is locked)", path, file);
      }
      return PosixError(file, "lock", errno);
    }
    return std::unique_ptr<FolderLock>(std::make_unique<PosixFolderLock>(std::move(descriptor)));
  }

 private:
  static Result<std::unique_ptr<WritableFile>> OpenForWriting(const std::string& path, int flags) {
    ASSIGN_OR_RETURN(Descriptor descriptor, Descriptor::Open(path, flags));
    return std::unique_ptr<WritableFile>(std::make_unique<PosixWritableFile>(path, std::move(descriptor)));
  }
};

}  // namespace

Env& Env::Posix() {
  static PosixEnv* const env = new PosixEnv;  // never destroyed: threads may still use it at exit
  return *env;
}

}  // namespace stoa
