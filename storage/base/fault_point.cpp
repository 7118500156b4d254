#include "storage/base/fault_point.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <map>
#include <vector>

#include "storage/base/log.h"
#include "storage/base/mutex.h"
#include "storage/base/result.h"

namespace stoa {
namespace {

// Every name that STOA_FAULT_POINT or FaultPoints::Next() is used with, sorted.
// clang-format off
constexpr std::string_view kNames[] = {
    "binlog.append",
    "binlog.forget",
    "binlog.rotate",
    "binlog.sync",
    "binlog.sync.after",
    "binlog.write",
    "binlog.write.after",
    "chunk.after",
    "chunk.publish",
    "chunk.rename",
    "chunk.write",
    "commit.append",
    "commit.apply",
    "commit.publish",
    "copy.file",
    "drop.files",
    "env.append",
    "env.append.torn",
    "env.create",
    "env.read",
    "env.rename",
    "env.sync",
    "flush.seal",
    "manifest.rename",
    "manifest.write",
    "ram.after",
    "ram.rename",
    "ram.write",
    "spknn.write",
    "spm.rename",
    "spm.write",
    "spu.rename",
    "spu.write",
};
// clang-format on

struct Rule {
  FaultAction action = FaultAction::kNone;
  uint64_t pass = 0;     // 0: not limited to one pass
  double percent = 100;  // of the passes, when pass == 0
};

struct Point {
  std::vector<Rule> rules;
  uint64_t passes = 0;
  uint64_t faults = 0;
};

struct Armed {
  std::map<std::string, Point, std::less<>> points;
  uint64_t seed = 1;
  std::string report_path;
};

// Process-wide by nature: the points are spread over all layers.
struct State {
  Mutex mutex;
  Armed armed GUARDED_BY(mutex);
};

State& GetState() {
  static State* const state = new State;  // never destroyed: threads may pass a point at exit
  return *state;
}

const char* ActionName(FaultAction action) {
  switch (action) {
    case FaultAction::kNone:
      return "none";
    case FaultAction::kKill:
      return "kill";
    case FaultAction::kFail:
      return "fail";
    case FaultAction::kFull:
      return "full";
  }
  return "unknown";
}

template <typename Number>
bool ParseNumber(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

Result<Rule> ParseRule(std::string_view text) {
  Rule rule;
  const size_t border = std::min(text.find_first_of("@%"), text.size());
  const std::string_view action = text.substr(0, border);
  for (const FaultAction known : {FaultAction::kKill, FaultAction::kFail, FaultAction::kFull}) {
    if (action == ActionName(known)) {
      rule.action = known;
    }
  }
  if (rule.action == FaultAction::kNone) {
    return InvalidError("fault points: unknown action '{}', known are kill, fail and full", action);
  }
  if (border == text.size()) {
    return rule;
  }
  const std::string_view number = text.substr(border + 1);
  if (text[border] == '@'
          ? !ParseNumber(number, rule.pass) || rule.pass == 0
          : !ParseNumber(number, rule.percent) || !(rule.percent >= 0 && rule.percent <= 100)) {
    return InvalidError("fault points: '{}' needs a pass from 1 after @ or a percentage up to 100 after %",
                        text);
  }
  return rule;
}

Status ParseItem(std::string_view item, Armed& armed) {
  const size_t equals = item.find('=');
  if (equals == std::string_view::npos) {
    return InvalidError("fault points: '{}' is not name=action", item);
  }
  const std::string_view name = item.substr(0, equals);
  const std::string_view value = item.substr(equals + 1);
  if (name == "report") {
    armed.report_path = value;
    return Status::Ok();
  }
  if (name == "seed") {
    return ParseNumber(value, armed.seed) ? Status::Ok() : InvalidError("fault points: bad seed '{}'", value);
  }
  if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
    return InvalidError("fault points: unknown name '{}', known are {}", name, fmt::join(kNames, ", "));
  }
  ASSIGN_OR_RETURN(const Rule rule, ParseRule(value));
  armed.points[std::string(name)].rules.push_back(rule);
  return Status::Ok();
}

// SplitMix64 over seed, name and pass: the same faults in every run, whatever the other points do.
uint64_t RandomAt(uint64_t seed, std::string_view name, uint64_t pass) {
  uint64_t value = seed * 0x9e3779b97f4a7c15 + pass;
  for (const char letter : name) {
    value = (value ^ static_cast<uint8_t>(letter)) * 0x100000001b3;
  }
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

bool Applies(const Rule& rule, uint64_t pass, uint64_t random) {
  if (rule.pass != 0) {
    return rule.pass == pass;
  }
  return rule.percent >= 100 || static_cast<double>(random >> 11) * 0x1p-53 * 100 < rule.percent;
}

void AppendToReport(const std::string& path, const std::string& line) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (!written) {
    LogWarning("{}: cannot report a fault: {}", path, std::strerror(errno));
  }
  if (file >= 0) {
    ::close(file);
  }
}

}  // namespace

std::atomic<bool> FaultPoints::armed_{false};

Status FaultPoints::Arm(std::string_view spec) {
  Armed armed;
  while (!spec.empty()) {
    const size_t comma = std::min(spec.find(','), spec.size());
    RETURN_IF_ERROR(ParseItem(spec.substr(0, comma), armed));
    spec.remove_prefix(std::min(comma + 1, spec.size()));
  }
  State& state = GetState();
  MutexLock lock(state.mutex);
  state.armed = std::move(armed);
  armed_.store(!state.armed.points.empty(), std::memory_order_relaxed);
  return Status::Ok();
}

Fault FaultPoints::Next(const char* name) {
  if (!armed()) {
    return {};
  }
  State& state = GetState();
  MutexLock lock(state.mutex);
  const auto found = state.armed.points.find(std::string_view(name));
  if (found == state.armed.points.end()) {
    return {};
  }
  Point& point = found->second;
  ++point.passes;
  Fault fault{.action = FaultAction::kNone, .random = RandomAt(state.armed.seed, name, point.passes)};
  const auto rule = std::find_if(point.rules.begin(), point.rules.end(), [&](const Rule& candidate) {
    return Applies(candidate, point.passes, fault.random);
  });
  if (rule == point.rules.end()) {
    return fault;
  }
  fault.action = rule->action;
  ++point.faults;
  if (!state.armed.report_path.empty()) {
    AppendToReport(state.armed.report_path,
                   fmt::format("{} {} {}\n", name, ActionName(fault.action), point.passes));
  }
  return fault;
}

Status FaultPoints::Act(FaultAction action, std::string_view what) {
  switch (action) {
    case FaultAction::kNone:
      return Status::Ok();
    case FaultAction::kFail:
      return IoError("{}: {}", what, std::strerror(EIO));
    case FaultAction::kFull:
      return IoError("{}: {}", what, std::strerror(ENOSPC));
    case FaultAction::kKill:
      break;
  }
  ::kill(::getpid(), SIGKILL);
  for (;;) {
    ::pause();
  }
}

Status FaultPoints::Pass(const char* name) {
  const Fault fault = Next(name);
  return fault.action == FaultAction::kNone ? Status::Ok()
                                            : Act(fault.action, fmt::format("fault point {}", name));
}

std::string FaultPoints::Report() {
  State& state = GetState();
  MutexLock lock(state.mutex);
  std::string report;
  for (const auto& [name, point] : state.armed.points) {
    report += fmt::format("{} {}\n", name, point.faults);
  }
  return report;
}

}  // namespace stoa
