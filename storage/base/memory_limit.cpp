#include "storage/base/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

namespace stoa {
namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

// "max", or no such file: none.
uint64_t NumberIn(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : kNone;
}

// The lowest limit of a group and those above it. A group whose folder cannot be seen, as in a container, has
// the limit of the folder that can.
uint64_t LowestUpwards(const std::string& mount, std::string group, const char* name) {
  uint64_t limit = kNone;
  while (true) {
    limit = std::min(limit, NumberIn(mount + group + "/" + name));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) {
      return limit;
    }
    group.resize(slash);
  }
}

}  // namespace

uint64_t MemoryLimitOfGroup(const std::string& groups_file, const std::string& mount) {
  std::ifstream file(groups_file);
  std::string line;  // "4:memory:/group" or "0::/group"
  uint64_t limit = kNone;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers == ",,") {
      limit = std::min(limit, LowestUpwards(mount, line.substr(second + 1), "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      limit =
          std::min(limit, LowestUpwards(mount + "/memory", line.substr(second + 1), "memory.limit_in_bytes"));
    }
  }
  return limit;
}

uint64_t MemoryLimitOfGroup() { return MemoryLimitOfGroup("/proc/self/cgroup", "/sys/fs/cgroup"); }

uint64_t UsableMemory() {
  constexpr uint64_t kSupposed = uint64_t{1} << 30;  // when the machine does not tell
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  const uint64_t machine = pages > 0 && page_bytes > 0
                               ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes)
                               : kSupposed;
  return std::min(machine, MemoryLimitOfGroup());
}

}  // namespace stoa
