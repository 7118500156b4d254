#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "storage/base/result.h"

namespace stoa::daemon {

// The file that holds the process id of the running server. The server keeps a lock on it, so that a file
// left by a dead process (or whose number is in use by another program now) is never taken for a running
// server.
class PidFile {
 public:
  // Makes the file, locks it and writes the own process id. kExists names the process that holds it.
  static Result<std::unique_ptr<PidFile>> Create(const std::string& path);
  ~PidFile();  // removes the file when this process still owns it
  PidFile(const PidFile&) = delete;
  PidFile& operator=(const PidFile&) = delete;

 private:
  PidFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_;
};

// The process id of the running server that holds `path`; nullopt when there is no file or nobody holds it.
std::optional<pid_t> ReadRunningPid(const std::string& path);

}  // namespace stoa::daemon
