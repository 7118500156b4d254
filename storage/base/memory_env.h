#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "storage/base/env.h"
#include "storage/base/mutex.h"

namespace stoa {

// A file system in memory, for unit tests and fuzzers. Paths are compared as text: no "..", no links. An open
// file that is removed or replaced keeps its own bytes, as on a real one. Safe to share between threads.
class MemoryEnv : public Env {
 public:
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> OpenForAppend(const std::string& path) override;
  Result<std::string> ReadFile(const std::string& path) override;
  Result<std::string> ReadRange(const std::string& path, uint64_t offset, size_t length) override;
  // A copy of the bytes as they are now: what is appended later is not seen, and Map() does not fail later.
  Result<std::shared_ptr<const RandomAccessFile>> OpenForRead(const std::string& path) override;
  Result<std::shared_ptr<const MappedFile>> Map(const std::string& path) override;
  Result<uint64_t> FreeBytes(const std::string& path) override;
  Result<uint64_t> FileSize(const std::string& path) override;
  bool Exists(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status RemoveTree(const std::string& path) override;
  Status MakeFolder(const std::string& path) override;
  Status SyncFolder(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& path) override;
  Result<std::unique_ptr<FolderLock>> Lock(const std::string& path) override;

 private:
  friend class MemoryWritableFile;
  friend class MemoryFolderLock;
  using Bytes = std::shared_ptr<std::string>;

  Result<std::unique_ptr<WritableFile>> Open(const std::string& path, bool truncate);
  Result<Bytes> Find(const std::string& path) REQUIRES(mutex_);

  Mutex mutex_;
  std::map<std::string, Bytes> files_ GUARDED_BY(mutex_);
  std::set<std::string> folders_ GUARDED_BY(mutex_);
  std::set<std::string> locked_ GUARDED_BY(mutex_);
};

}  // namespace stoa
