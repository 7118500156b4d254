#include "storage/table/copy_files.h"

#include <algorithm>

#include "storage/base/fault_point.h"
#include "storage/table/ram_file.h"

namespace stoa::storage {
namespace {

constexpr uint64_t kCopyBytes = 1u << 20;

bool IsNamed(const std::string& name, const TableFiles& files) {
  if (files.ram_generation > 0 && name == RamFileName(files.ram_generation)) {
    return true;
  }
  const std::optional<ChunkId> chunk = ChunkOfFileName(name);
  return chunk.has_value() && !name.ends_with(".tmp") &&
         std::any_of(files.chunks.begin(), files.chunks.end(),
                     [&](const auto& other) { return other.named.id == *chunk; });
}

// Pages of the range that were not in the page cache before they were copied.
void DropCopied(const RandomAccessFile& file, const CachedPages& before, ByteRange range) {
  const uint64_t end =
      std::min<uint64_t>((range.offset + range.length) / before.page_bytes + 1, before.pages.size());
  for (uint64_t page = range.offset / before.page_bytes; page < end; ++page) {
    const uint64_t first = page;
    while (page < end && !before.pages[page]) {
      ++page;
    }
    file.DropBehind(first * before.page_bytes, (page - first) * before.page_bytes);
  }
}

Status CopyFile(Env& env, const RandomAccessFile& source, const std::string& to, const CancelToken* cancel) {
  STOA_FAULT_POINT("copy.file");
  const CachedPages before = source.Cached();
  ASSIGN_OR_RETURN(const auto target, env.Create(to));
  target->PaceWriteOut(/*drop_behind=*/true);
  std::string buffer;
  for (uint64_t done = 0; done < source.size(); done += buffer.size()) {
    if (cancel != nullptr) {
      RETURN_IF_ERROR(cancel->Check());
    }
    buffer.resize(std::min(kCopyBytes, source.size() - done));
    RETURN_IF_ERROR(source.Read(done, buffer));
    RETURN_IF_ERROR(target->Append(buffer));
    DropCopied(source, before, {done, buffer.size()});
  }
  RETURN_IF_ERROR(target->Sync());
  return target->Close();
}

}  // namespace

Result<std::vector<PinnedFile>> PinFiles(Env& env, const std::string& folder, const TableFiles& files) {
  std::vector<PinnedFile> pinned;
  if (!env.Exists(folder)) {
    return pinned;
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(folder));
  for (const std::string& name : names) {
    if (IsNamed(name, files)) {
      ASSIGN_OR_RETURN(auto file, env.OpenForRead(folder + "/" + name));
      pinned.push_back({.name = name, .file = std::move(file)});
    }
  }
  return pinned;
}

Status CopyFiles(Env& env, const std::vector<PinnedFile>& files, const std::string& folder,
                 const CancelToken* cancel) {
  RETURN_IF_ERROR(env.MakeFolder(folder));
  for (const PinnedFile& file : files) {
    RETURN_IF_ERROR(CopyFile(env, *file.file, folder + "/" + file.name, cancel));
  }
  return env.SyncFolder(folder);
}

}  // namespace stoa::storage
