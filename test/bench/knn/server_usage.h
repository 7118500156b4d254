#pragma once

#include <cstdint>

namespace stoa::bench {

// What a process has used since it started, by /proc.
struct ServerUsage {
  double cpu_seconds = 0;  // in steps of the kernel's clock tick, 10 ms mostly
  double major_faults = 0;
  double read_bytes = 0;  // from storage

  static ServerUsage Of(int pid);
  ServerUsage Since(const ServerUsage& start) const;
};

}  // namespace stoa::bench
