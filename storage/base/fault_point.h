#pragma once

#include <atomic>
#include <string_view>

#include "storage/base/status.h"

namespace stoa {

// Named places where a crash test stops the process or makes a step fail. They are in every build and do nothing
// until armed by the start-up switch --fault-points (one relaxed load a pass).
class FaultPoints {
 public:
  // "binlog.sync=kill@3,ram.rename=fail": at its 3rd pass binlog.sync kills the process (SIGKILL), every pass of
  // ram.rename returns kIo. Unknown names are an error that lists the known ones.
  static Status Arm(std::string_view spec);
  static bool armed() { return armed_.load(std::memory_order_relaxed); }
  // Called by STOA_FAULT_POINT once armed; counts the pass and acts.
  static Status Pass(const char* name);
  // How often an armed action happened, for the tests' ledger: lines "name count".
  static std::string Report();

 private:
  static std::atomic<bool> armed_;
};

}  // namespace stoa

// In a function that returns Status or Result.
#define STOA_FAULT_POINT(name)                                          \
  do {                                                                  \
    if (::stoa::FaultPoints::armed()) {                                 \
      RETURN_IF_ERROR(::stoa::FaultPoints::Pass(name));                 \
    }                                                                   \
  } while (false)
