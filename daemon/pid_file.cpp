#include "daemon/pid_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace stoa::daemon {

namespace {

std::optional<pid_t> ReadPid(int fd) {
  std::array<char, 32> buffer{};
  const ssize_t length = pread(fd, buffer.data(), buffer.size(), 0);
  pid_t pid = 0;
  if (length <= 0) {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(buffer.data(), buffer.data() + length, pid);
  return error == std::errc() && pid > 0 ? std::optional<pid_t>(pid) : std::nullopt;
}

// The file that was opened is still the one with this name (the last owner may have removed it meanwhile).
bool IsSameFile(int fd, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return fstat(fd, &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

Status WritePid(int fd, const std::string& path) {
  const std::string text = std::to_string(getpid()) + "\n";
  if (ftruncate(fd, 0) != 0 || pwrite(fd, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return IoError("pid file {}: {}", path, std::strerror(errno));
  }
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<PidFile>> PidFile::Create(const std::string& path) {
  for (;;) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
      return IoError("pid file {}: {}", path, std::strerror(errno));
    }
    std::unique_ptr<PidFile> file(new PidFile(path, fd));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const Status status = errno == EWOULDBLOCK
                                ? ExistsError("pid file {}: another searchd is running (process {})", path,
                                              ReadPid(fd).value_or(0))
                                : IoError("pid file {}: {}", path, std::strerror(errno));
      close(std::exchange(file->fd_, -1));
      return status;
    }
    if (!IsSameFile(fd, path)) {
      close(std::exchange(file->fd_, -1));
      continue;
    }
    RETURN_IF_ERROR(WritePid(fd, path));
    return file;
  }
}

PidFile::~PidFile() {
  if (fd_ < 0) {
    return;
  }
  if (IsSameFile(fd_, path_)) {
    unlink(path_.c_str());
  }
  close(fd_);
}

std::optional<pid_t> ReadRunningPid(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return std::nullopt;
  }
  std::optional<pid_t> pid;
  if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    pid = ReadPid(fd);
  }
  close(fd);
  return pid;
}

}  // namespace stoa::daemon
