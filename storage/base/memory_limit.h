#pragma once

#include <cstdint>
#include <string>

namespace stoa {

// What this process and what runs beside it in its memory group (cgroup v1 or v2) may use, the limits of the
// groups around it included; UINT64_MAX when there is none that can be seen. Reads a few files.
uint64_t MemoryLimitOfGroup();
// The same for any /proc/self/cgroup and /sys/fs/cgroup.
uint64_t MemoryLimitOfGroup(const std::string& groups_file, const std::string& mount);

// What this process may use: the machine's memory, or its group's limit when that is less.
uint64_t UsableMemory();

}  // namespace stoa
