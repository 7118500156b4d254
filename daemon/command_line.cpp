#include "daemon/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "config/settings.h"
#include "daemon/version.h"

namespace stoa::daemon {

namespace {

constexpr const char* kFooter =
    "Exit codes:\n"
    "  0  done; the server is running (or, in the foreground, was stopped)\n"
    "  1  the server could not start; --check: the config has errors; --check-table: the table is damaged "
    "or not there; --stop, --stopwait, --status: no "
    "server runs\n"
    "  2  wrong arguments; --stopwait: the server could not be signalled or did not stop within "
    "shutdown_timeout\n"
    "  3  --stopwait: the server ended, but without a clean stop\n\n"
    "Signals: TERM and INT stop (a second one at once, without writing tables), HUP logs the list of tables, "
    "USR1\n"
    "reopens the logs. Without --config the built-in one is used: data in ./data, MySQL on 127.0.0.1:9306.";

// Where CLI11 leaves what it found.
struct Switches {
  bool check = false;
  std::optional<std::string> check_table;
  bool stop = false;
  bool stop_wait = false;
  bool status = false;
  bool version = false;
  bool help_settings = false;
  bool markdown = false;
  bool nodetach = false;
  std::string replay_flags;
};

void AddActions(CLI::App& app, Switches& switches) {
  CLI::Option_group* actions = app.add_option_group("Actions", "at most one");
  actions->add_flag("--check", switches.check, "Read the config, say what is wrong, and end");
  actions
      ->add_option("--check-table", switches.check_table,
                   "Read all files of a table, say what is wrong, and end")
      ->option_text("NAME");
  actions->add_flag("--stop", switches.stop, "Stop the running server of this config");
  actions->add_flag("--stopwait", switches.stop_wait, "Stop it and wait until it has ended");
  actions->add_flag("--status", switches.status, "Print the counters of the running server");
  actions->add_flag("-v,--version", switches.version, "Print the version");
  actions->add_flag("--help-settings", switches.help_settings, "Print every setting of the config");
  actions->add_flag("--help-settings-markdown", switches.markdown)->group("");
  actions->require_option(0, 1);
}

void AddOptions(CLI::App& app, CommandLine& line, Switches& switches) {
  app.add_option("-c,--config", line.config_file, "Config file")->option_text("FILE");
  app.add_option("--pidfile", line.pid_file, "Use this pid file instead of the config's")
      ->option_text("FILE");
  app.add_option("-p,--port", line.port, "Listen only on this port of 127.0.0.1, MySQL protocol")
      ->option_text("PORT")
      ->check(CLI::Range(1, 65535));
  app.add_option("-l,--listen", line.listen, "Listen here instead of where the config says; may repeat")
      ->option_text("ADDRESS")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--nodetach", switches.nodetach, "Stay in the foreground");
  app.add_flag("--console", line.console, "Stay in the foreground and log to standard output too");
  app.add_option("--replay-flags", switches.replay_flags,
                 "What to do with damage in the log: ignore-trx-errors or ignore-all-errors skip it")
      ->option_text("FLAGS");
  app.add_option("--fault-points", line.fault_points, "Make named steps fail or kill the process")
      ->option_text("SPEC")
      ->group("Testing");
}

// The flags of Manticore; the first two have nothing to switch here.
bool ParseReplayFlags(const std::string& flags, bool& ignore) {
  std::string word;
  for (char c : flags + ",") {
    if (c != ',' && c != '|') {
      word += c;
      continue;
    }
    if (word == "ignore-trx-errors" || word == "ignore-all-errors") {
      ignore = true;
    } else if (!word.empty() && word != "accept-desc-timestamp" && word != "ignore-open-errors") {
      std::fprintf(stderr, "searchd: unknown replay flag '%s'\n", word.c_str());
      return false;
    }
    word.clear();
  }
  return true;
}

std::optional<int> PrintWhatIsAsked(const Switches& switches) {
  if (switches.version) {
    std::printf("searchd (Stoa) %s\n", kProductVersion);
    return kExitOk;
  }
  if (switches.help_settings || switches.markdown) {
    std::fputs((switches.markdown ? config::SettingsMarkdown() : config::SettingsHelp()).c_str(), stdout);
    return kExitOk;
  }
  return std::nullopt;
}

Action ChosenAction(const Switches& switches) {
  return switches.check         ? Action::kCheck
         : switches.check_table ? Action::kCheckTable
         : switches.stop        ? Action::kStop
         : switches.stop_wait   ? Action::kStopWait
         : switches.status      ? Action::kStatus
                                : Action::kServe;
}

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, char** argv) {
  ParsedCommandLine parsed;
  CommandLine& line = parsed.command_line;
  Switches switches;
  CLI::App app("Stoa: a search server that speaks the MySQL protocol.", "searchd");
  app.footer(kFooter);
  AddActions(app, switches);
  AddOptions(app, line, switches);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? kExitOk : kExitUsage;
    return parsed;
  }
  parsed.exit_code = PrintWhatIsAsked(switches);
  line.action = ChosenAction(switches);
  line.table = switches.check_table.value_or("");
  if (switches.check_table == "") {
    std::fputs("searchd: --check-table needs the name of a table\n", stderr);
    parsed.exit_code = kExitUsage;
  }
  line.foreground = switches.nodetach || line.console;
  if (!ParseReplayFlags(switches.replay_flags, line.ignore_damaged_transactions)) {
    parsed.exit_code = kExitUsage;
  }
  return parsed;
}

}  // namespace stoa::daemon
