#include "storage/base/posix_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

namespace stoa {

namespace {

// Which limit an error comes from: what the system says of it does not help whoever has to raise it.
std::string LimitOf(int error) {
  rlimit limit{};
  switch (error) {
    case EMFILE:
      return ::getrlimit(RLIMIT_NOFILE, &limit) == 0
                 ? fmt::format(" (limit of the process, ulimit -n: {})", limit.rlim_cur)
                 : std::string();
    case ENFILE:
      return " (limit of the system: fs.file-max)";
    case ENOMEM:
      return " (limits: vm.max_map_count, address space of the process)";
    default:
      return {};
  }
}

}  // namespace

Status PosixError(const std::string& path, const char* action, int error) {
  const StatusCode code = error == ENOENT ? StatusCode::kNotFound : StatusCode::kIo;
  return {code, fmt::format("{}: cannot {}: {}{}", path, action, std::strerror(error), LimitOf(error))};
}

Result<Descriptor> Descriptor::Open(const std::string& path, int flags) {
  int number;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  } while (number < 0 && errno == EINTR);
  if (number < 0) {
    return PosixError(path, "open", errno);
  }
  return Descriptor(number);
}

int Descriptor::Close() {
  const int number = std::exchange(number_, -1);
  return number >= 0 && ::close(number) != 0 && errno != EINTR ? errno : 0;
}

Result<size_t> ReadFully(const std::string& path, int descriptor, uint64_t offset, std::span<char> to) {
  constexpr uint64_t kMaxOffset = std::numeric_limits<off_t>::max();
  if (offset > kMaxOffset || to.size() > kMaxOffset - offset) {
    return FileEndsEarly(path, offset, to.size());
  }
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t count =
        ::pread(descriptor, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (count < 0) {
      if (errno == EINTR) {
        continue;
      }
      return PosixError(path, fmt::format("read at offset {}", offset + done).c_str(), errno);
    }
    if (count == 0) {
      break;
    }
    done += static_cast<size_t>(count);
  }
  return done;
}

Status FileEndsEarly(const std::string& path, uint64_t offset, uint64_t wanted) {
  return CorruptError("{}: {} bytes wanted at offset {}, the file ends before", path, wanted, offset);
}

Result<uint64_t> SizeOf(const std::string& path, int descriptor) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) {
    return PosixError(path, "stat", errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return IoError("{}: cannot read: not a regular file", path);
  }
  return static_cast<uint64_t>(info.st_size);
}

}  // namespace stoa
