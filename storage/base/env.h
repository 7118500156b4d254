#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/mapped_file.h"
#include "storage/base/random_access_file.h"
#include "storage/base/result.h"

namespace stoa {

// A file open for appending. One thread at a time. After a failed Sync() the durable content is unknown: the
// caller must not trust anything appended since the last successful Sync().
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Status Append(std::string_view bytes) = 0;
  virtual Status Sync() = 0;  // fdatasync
  // For a large file: what is appended goes to the disk while it is written, a few megabytes behind, so that
  // Sync() finds little to do and no other file's Sync() stands behind it. With `drop_behind` what is on the
  // disk leaves the page cache. Append() then waits for the disk and has its errors.
  virtual void PaceWriteOut(bool /*drop_behind*/) {}
  virtual Status Truncate(uint64_t size) = 0;  // and continue appending there
  virtual Status Close() = 0;                  // no implicit Sync()
};

// A lock on a folder, held until destroyed or until the process dies; its file ".lock" stays.
class FolderLock {
 public:
  virtual ~FolderLock() = default;
};

// The one seam to the file system, so that tests can drop unsynced bytes and fail writes (FaultyEnv).
// Safe to share between threads. Every error names path and reason: kNotFound when the named thing is not
// there, else kIo.
class Env {
 public:
  virtual ~Env() = default;

  virtual Result<std::unique_ptr<WritableFile>> Create(const std::string& path) = 0;  // truncates
  virtual Result<std::unique_ptr<WritableFile>> OpenForAppend(const std::string& path) = 0;
  virtual Result<std::string> ReadFile(const std::string& path) = 0;
  // Exactly `length` bytes; kCorrupt when the file ends before.
  virtual Result<std::string> ReadRange(const std::string& path, uint64_t offset, size_t length) = 0;
  virtual Result<std::shared_ptr<const RandomAccessFile>> OpenForRead(const std::string& path) = 0;
  virtual Result<std::shared_ptr<const MappedFile>> Map(const std::string& path) = 0;
  virtual Result<uint64_t> FileSize(const std::string& path) = 0;
  virtual bool Exists(const std::string& path) = 0;
  virtual Result<uint64_t> FreeBytes(const std::string& path) = 0;  // for a new file in this folder
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;
  virtual Status RemoveTree(const std::string& path) = 0;  // missing is ok
  // And its parents; existing is ok. The parent of every folder made is synced.
  virtual Status MakeFolder(const std::string& path) = 0;
  virtual Status SyncFolder(const std::string& path) = 0;
  virtual Result<std::vector<std::string>> List(
      const std::string& path) = 0;  // names, sorted, without . and ..
  // Does not wait: an error when the folder is locked already, by this or another process.
  virtual Result<std::unique_ptr<FolderLock>> Lock(const std::string& path) = 0;

  // The real file system; lives for ever.
  static Env& Posix();
};

// Writes `bytes` to a temporary name beside `path`, syncs, renames over `path` and syncs the folder.
Status WriteFileAtomically(Env& env, const std::string& path, std::string_view bytes);

}  // namespace stoa
