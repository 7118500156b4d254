#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "daemon/command_line.h"
#include "daemon/listen_address.h"
#include "storage/base/result.h"

namespace stoa::daemon {

// What a server is started with: config and command line put together, every path absolute.
struct LaunchPlan {
  config::SettingValues
      values;  // with the defaults that depend on the machine and on the place of the config
  std::vector<std::string> warnings;
  std::string config_file;  // empty: built-in
  std::string data_dir;
  std::string binlog_path;  // empty: no binlog
  std::string log;
  std::string query_log;  // empty: none
  std::string pid_file;   // empty: none
  std::vector<ListenAddress> listeners;
};

// Reads the config and checks all that can be checked without touching anything. Relative paths count from
// the folder of the config file, or from the current folder without one.
Result<LaunchPlan> MakeLaunchPlan(const CommandLine& command_line);

// Makes the data folder if it is missing and checks that all that has to be written can be: kIo with path and
// reason.
Status PrepareFolders(const LaunchPlan& plan);

// kInvalid unless `name` is an IANA time zone.
Status CheckTimeZone(std::string_view name);

}  // namespace stoa::daemon
