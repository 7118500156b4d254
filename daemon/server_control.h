#pragma once

#include "daemon/launch_plan.h"

namespace stoa::daemon {

// --stop and --stopwait: asks the server that holds the plan's pid file to stop. Returns an exit code
// (command_line.h).
int StopRunningServer(const LaunchPlan& plan, bool wait);

// --status: prints the process id and what SHOW STATUS answers. Returns an exit code.
int PrintServerStatus(const LaunchPlan& plan);

}  // namespace stoa::daemon
