#pragma once

#include <map>
#include <memory>
#include <string>

#include "storage/base/env.h"
#include "storage/base/mutex.h"

namespace stoa {

// An Env that misbehaves where FaultPoints says so, in front of another one. searchd uses it when armed; so
// do tests. Its points (see FaultPoints::Arm for what may be asked of each):
//   env.append       Append() writes nothing
//   env.append.torn  Append() writes only the first part, whose length is random
//   env.sync         Sync() and SyncFolder() sync nothing
//   env.rename       Rename() does nothing
//   env.create       Create() and OpenForAppend() do nothing
//   env.read         opening, mapping and every read fail, and a mapping's CheckReadable()
//
// It also remembers what is not synced yet, so that a test can lose it as a power cut would. As on Linux,
// what a failed Sync() did not write stays lost even if a later Sync() succeeds. Safe to share between
// threads; `base` must outlive it.
class FaultyEnv : public Env {
 public:
  explicit FaultyEnv(Env& base) : base_(base) {}

  // Cuts every file written through this Env to its last synced size, and removes new ones whose folder was
  // never synced. Files still open for writing must not be used afterwards.
  Status DropUnsynced();

  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> OpenForAppend(const std::string& path) override;
  Result<std::string> ReadFile(const std::string& path) override;
  Result<std::string> ReadRange(const std::string& path, uint64_t offset, size_t length) override;
  Result<std::shared_ptr<const RandomAccessFile>> OpenForRead(const std::string& path) override;
  Result<std::shared_ptr<const MappedFile>> Map(const std::string& path) override;
  Result<uint64_t> FreeBytes(const std::string& path) override { return base_.FreeBytes(path); }
  Result<uint64_t> FileSize(const std::string& path) override { return base_.FileSize(path); }
  bool Exists(const std::string& path) override { return base_.Exists(path); }
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status RemoveTree(const std::string& path) override;
  Status MakeFolder(const std::string& path) override { return base_.MakeFolder(path); }
  Status SyncFolder(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& path) override { return base_.List(path); }
  Result<std::unique_ptr<FolderLock>> Lock(const std::string& path) override { return base_.Lock(path); }

 private:
  friend class FaultyWritableFile;

  struct FileState {
    uint64_t size = 0;
    uint64_t synced = 0;        // this many bytes survive
    bool sync_failed = false;   // bytes between `synced` and `size` are lost for good
    bool entry_synced = false;  // the name itself survives
  };

  Result<std::unique_ptr<WritableFile>> Wrap(const std::string& path, std::unique_ptr<WritableFile> file);
  void NoteAppended(const std::string& path, uint64_t count) EXCLUDES(mutex_);
  void NoteSynced(const std::string& path, bool ok) EXCLUDES(mutex_);
  void NoteTruncated(const std::string& path, uint64_t size) EXCLUDES(mutex_);

  Env& base_;
  Mutex mutex_;
  std::map<std::string, FileState> files_ GUARDED_BY(mutex_);
};

}  // namespace stoa
