#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>

#include "daemon/command_line.h"
#include "daemon/detach.h"
#include "daemon/engine.h"
#include "daemon/launch_plan.h"
#include "daemon/log_files.h"
#include "daemon/notify.h"
#include "daemon/pid_file.h"
#include "daemon/server_control.h"
#include "daemon/table_check_report.h"
#include "daemon/version.h"
#include "storage/base/env.h"
#include "storage/base/fault_point.h"
#include "storage/base/faulty_env.h"
#include "storage/base/log.h"

// Arguments, signals, start and stop order; nothing else.

namespace stoa::daemon {

namespace {

sigset_t HandledSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    sigaddset(&signals, signal);
  }
  return signals;
}

// As many descriptors as the process may have: each connection takes one, and so do chunks that are not
// mapped. The usual soft limit, 1,024, is for programs that use select().
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
  }
}

// Before any thread is started, so that all threads leave these signals to WaitForStop().
void BlockSignals() {
  const sigset_t signals = HandledSignals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

// Returns when TERM or INT comes.
void WaitForStop(Engine& engine) {
  const sigset_t signals = HandledSignals();
  for (;;) {
    const int signal = sigwaitinfo(&signals, nullptr);
    if (signal == SIGTERM || signal == SIGINT) {
      LogInfo("signal {}: stopping", signal);
      return;
    }
    if (signal == SIGHUP) {
      engine.LogTables();
    } else if (signal == SIGUSR1) {
      if (const Status status = engine.FlushLogs(); !status.ok()) {
        LogError("logs cannot be reopened: {}", status.text());
      }
    }
  }
}

void EndAtOnce(int) { _exit(kExitFailed); }

// From now on a second TERM or INT, or shutdown_timeout, ends the process: as safe as kill -9, only not
// clean.
void AllowFastExit(int64_t timeout_micros) {
  signal(SIGTERM, EndAtOnce);
  signal(SIGINT, EndAtOnce);
  signal(SIGALRM, EndAtOnce);
  const sigset_t signals = HandledSignals();
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  if (timeout_micros > 0) {
    alarm(static_cast<unsigned>((timeout_micros + 999'999) / 1'000'000));
  }
}

// The server from its first to its last line of log.
Status Serve(const CommandLine& command_line, const LaunchPlan& plan, Detacher& detacher) {
  RETURN_IF_ERROR(PrepareFolders(plan));
  std::unique_ptr<PidFile> pid_file;
  if (!plan.pid_file.empty()) {
    ASSIGN_OR_RETURN(pid_file, PidFile::Create(plan.pid_file));
  }
  const bool echo = command_line.foreground;
  ASSIGN_OR_RETURN(const std::unique_ptr<LogFiles> logs,
                   LogFiles::Open({.path = plan.log, .echo_to_stdout = echo}));
  LogInfo("searchd {} (process {}), config {}, data {}", kProductVersion, getpid(),
          plan.config_file.empty() ? "built-in" : plan.config_file, plan.data_dir);
  for (const std::string& warning : plan.warnings) {
    LogWarning("{}", warning);
  }
  FaultyEnv faulty(Env::Posix());
  Env& env = FaultPoints::armed() ? static_cast<Env&>(faulty) : Env::Posix();
  auto started = Engine::Start(plan, command_line.ignore_damaged_transactions, env, *logs);
  if (!started.ok()) {
    LogError("FATAL: {}", started.status().text());
    return started.status();
  }
  const std::unique_ptr<Engine> engine = std::move(started).value();
  LogInfo("accepting connections");
  detacher.ReportReady();
  NotifyServiceManager("READY=1");
  WaitForStop(*engine);
  NotifyServiceManager("STOPPING=1");
  AllowFastExit(plan.values.Integer("shutdown_timeout"));
  const Status stopped = engine->Stop();
  LogInfo("{}", stopped.ok() ? "stopped" : "stopped with an error: " + stopped.text());
  return stopped;
}

int Start(const CommandLine& command_line, const LaunchPlan& plan) {
  Detacher detacher;
  Status status = FaultPoints::Arm(command_line.fault_points);
  const bool detach = !command_line.foreground && !HasServiceManager();
  if (status.ok()) {
    if (detach && !detacher.Detach(plan.log.starts_with("/dev/std"))) {
      status = IoError("the system refuses another process");
    } else {
      BlockSignals();
      status = Serve(command_line, plan, detacher);
    }
  }
  if (!status.ok()) {
    detacher.ReportFailure(status.text());
    return kExitFailed;
  }
  return kExitOk;
}

int Main(int argc, char** argv) {
  const ParsedCommandLine parsed = ParseCommandLine(argc, argv);
  if (parsed.exit_code) {
    return *parsed.exit_code;
  }
  const CommandLine& command_line = parsed.command_line;
  const Result<LaunchPlan> plan = MakeLaunchPlan(command_line);
  if (!plan.ok()) {
    std::fprintf(stderr, "searchd: FATAL: %s\n", plan.status().text().c_str());
    return kExitFailed;
  }
  RaiseDescriptorLimit();
  switch (command_line.action) {
    case Action::kCheck:
      for (const std::string& warning : plan->warnings) {
        std::fprintf(stderr, "searchd: WARNING: %s\n", warning.c_str());
      }
      std::puts("OK");
      return kExitOk;
    case Action::kCheckTable:
      return PrintTableCheck(plan->data_dir, command_line.table);
    case Action::kStop:
      return StopRunningServer(*plan, false);
    case Action::kStopWait:
      return StopRunningServer(*plan, true);
    case Action::kStatus:
      return PrintServerStatus(*plan);
    case Action::kServe:
      break;
  }
  return Start(command_line, *plan);
}

}  // namespace

}  // namespace stoa::daemon

int main(int argc, char** argv) {
  try {
    return stoa::daemon::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "searchd: FATAL: %s\n", error.what());
    return stoa::daemon::kExitFailed;
  }
}
