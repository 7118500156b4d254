#include "storage/base/env.h"

#include <filesystem>

#include "storage/base/log.h"

namespace stoa {
namespace {

Status WriteAndSync(Env& env, const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto file, env.Create(path));
  RETURN_IF_ERROR(file->Append(bytes));
  RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

}  // namespace

Status WriteFileAtomically(Env& env, const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  Status status = WriteAndSync(env, temporary, bytes);
  if (status.ok()) {
    status = env.Rename(temporary, path);
  }
  if (!status.ok()) {
    if (const Status removed = env.Remove(temporary);
        !removed.ok() && removed.code() != StatusCode::kNotFound) {
      LogWarning("{}", removed.text());
    }
    return status;
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return env.SyncFolder(folder.empty() ? "." : folder);
}

}  // namespace stoa
