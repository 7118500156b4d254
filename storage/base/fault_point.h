#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace stoa {

// What an armed fault point asks for at one pass.
enum class FaultAction : uint8_t {
  kNone,
  kKill,  // SIGKILL to the own process
  kFail,  // an input/output error
  kFull,  // no space left on the device
};

// `random` is a number that depends only on seed, name and pass, e.g. for the length of a torn write.
struct Fault {
  FaultAction action = FaultAction::kNone;
  uint64_t random = 0;
};

// Named places where a crash test stops the process or makes a step fail. They are in every build and do
// nothing until armed by the start-up switch --fault-points (one relaxed load a pass). Safe to share, but
// Arm() only while no other thread passes a point. The table of names is in fault_point.cpp.
class FaultPoints {
 public:
  // "binlog.sync=kill@3,ram.rename=fail": at its 3rd pass binlog.sync kills the process (SIGKILL), every pass
  // of ram.rename returns kIo. Unknown names are an error that lists the known ones.
  //   spec   = item *("," item)
  //   item   = name "=" action [when] / "seed=" number / "report=" path
  //   action = "kill" / "fail" / "full"        (full: as fail, the reason is a full disk)
  //   when   = "@" pass / "%" percent          (the nth pass only; a seeded share of all passes)
  // A name may come several times: the first item that applies acts. `report` names a file to which each
  // injected fault is appended, before it acts, as a line "name action pass"; so kill -9 does not lose it.
  // Forgets what was armed and counted before; an empty spec disarms.
  static Status Arm(std::string_view spec);
  static bool armed() { return armed_.load(std::memory_order_relaxed); }
  // Called by STOA_FAULT_POINT once armed; counts the pass and acts.
  static Status Pass(const char* name);
  // Counts the pass (and the fault), but leaves acting to the caller: see Act().
  static Fault Next(const char* name);
  // kKill does not return; kFail and kFull give kIo with `what` and the reason, kNone gives ok.
  static Status Act(FaultAction action, std::string_view what);
  // How often an armed action happened, for the tests' ledger: lines "name count".
  static std::string Report();

 private:
  static std::atomic<bool> armed_;
};

}  // namespace stoa

// In a function that returns Status or Result.
#define STOA_FAULT_POINT(name)                          \
  do {                                                  \
    if (::stoa::FaultPoints::armed()) {                 \
      RETURN_IF_ERROR(::stoa::FaultPoints::Pass(name)); \
    }                                                   \
  } while (false)
