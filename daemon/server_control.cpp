#include "daemon/server_control.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "daemon/pid_file.h"
#include "daemon/status_client.h"

namespace stoa::daemon {

namespace {

std::optional<pid_t> FindServer(const LaunchPlan& plan) {
  const std::optional<pid_t> pid = ReadRunningPid(plan.pid_file);
  if (!pid) {
    std::fprintf(stderr, "searchd: no server is running: nobody holds the pid file %s\n",
                 plan.pid_file.c_str());
  }
  return pid;
}

bool IsAlive(pid_t pid) { return kill(pid, 0) == 0 || errno == EPERM; }

int WaitForEnd(const LaunchPlan& plan, pid_t pid) {
  constexpr std::chrono::milliseconds kStep{20};
  constexpr std::chrono::seconds kMargin{5};
  const auto patience = std::chrono::microseconds(plan.values.Integer("shutdown_timeout")) + kMargin;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (IsAlive(pid) && ReadRunningPid(plan.pid_file) == pid) {
    if (std::chrono::steady_clock::now() > deadline) {
      std::fprintf(stderr, "searchd: process %d has not stopped within shutdown_timeout\n", pid);
      return kExitUsage;
    }
    std::this_thread::sleep_for(kStep);
  }
  if (access(plan.pid_file.c_str(), F_OK) == 0 && !ReadRunningPid(plan.pid_file)) {
    std::fprintf(stderr, "searchd: process %d ended without a clean stop\n", pid);
    return kExitUnclean;
  }
  return kExitOk;
}

}  // namespace

int StopRunningServer(const LaunchPlan& plan, bool wait) {
  const std::optional<pid_t> pid = FindServer(plan);
  if (!pid) {
    return kExitFailed;
  }
  if (kill(*pid, SIGTERM) != 0) {
    std::fprintf(stderr, "searchd: cannot stop process %d: %s\n", *pid, std::strerror(errno));
    return wait ? kExitUsage : kExitFailed;
  }
  std::printf("searchd: asked process %d to stop\n", *pid);
  return wait ? WaitForEnd(plan, *pid) : kExitOk;
}

int PrintServerStatus(const LaunchPlan& plan) {
  const std::optional<pid_t> pid = FindServer(plan);
  if (!pid) {
    return kExitFailed;
  }
  std::printf("pid: %d\n", *pid);
  for (const ListenAddress& address : plan.listeners) {
    if (address.protocol != ListenProtocol::kMysql) {
      continue;
    }
    const auto rows = AskStatus(address);
    if (!rows.ok()) {
      std::fprintf(stderr, "searchd: %s\n", rows.status().text().c_str());
      return kExitFailed;
    }
    for (const sql::NamedValue& row : *rows) {
      std::printf("%s: %s\n", row.name.c_str(), row.value.c_str());
    }
    break;
  }
  return kExitOk;
}

}  // namespace stoa::daemon
