#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stoa::daemon {

// Exit codes of searchd; --help lists them.
constexpr int kExitOk = 0;
constexpr int kExitFailed =
    1;  // could not start, a bad config (--check), a damaged table (--check-table), no server to stop or ask
constexpr int kExitUsage = 2;    // bad command line; --stopwait: the server did not stop in time
constexpr int kExitUnclean = 3;  // --stopwait: the server ended without a clean stop

enum class Action : uint8_t { kServe, kCheck, kCheckTable, kStop, kStopWait, kStatus };

// The arguments of searchd.
struct CommandLine {
  Action action = Action::kServe;
  std::string config_file;          // empty: the built-in defaults
  std::string table;                // kCheckTable
  std::string pid_file;             // empty: as the config says
  std::vector<std::string> listen;  // instead of the config's
  std::optional<uint16_t> port;     // instead of the config's: 127.0.0.1, mysql
  bool foreground = false;          // --nodetach, --console
  bool console = false;
  bool ignore_damaged_transactions = false;
  std::string fault_points;
};

// What the arguments ask for, or the exit code when there is nothing left to do (--help, --version, a
// mistake; the text is printed then).
struct ParsedCommandLine {
  CommandLine command_line;
  std::optional<int> exit_code;
};
ParsedCommandLine ParseCommandLine(int argc, char** argv);

}  // namespace stoa::daemon
