#include "daemon/launch_plan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "config/config_file.h"
#include "daemon/version.h"
#include "sql/statements/date_text.h"
#include "storage/base/env.h"
#include "storage/base/memory_limit.h"

namespace stoa::daemon {

namespace {

bool IsDevice(const std::string& path) { return path == "syslog" || path.starts_with("/dev/"); }

std::string CurrentFolder() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::current_path(error);
  return error ? std::string(".") : path.string();
}

std::string Absolute(const std::string& folder, const std::string& path) {
  if (path.empty() || IsDevice(path)) {
    return path;
  }
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::string ParentFolder(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

Status ReadConfig(const std::string& path, LaunchPlan& plan) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return IoError("config {}: {}", path, error ? error.message() : "not a file");
  }
  ASSIGN_OR_RETURN(const std::string text, Env::Posix().ReadFile(path));
  ASSIGN_OR_RETURN(config::ConfigResult result, config::ParseConfig(text, path));
  plan.values = std::move(result.values);
  plan.warnings = std::move(result.warnings);
  plan.config_file = path;
  return Status::Ok();
}

Status FillMachineDefaults(config::SettingValues& values) {
  const unsigned cpus = std::max(1U, std::thread::hardware_concurrency());
  RETURN_IF_ERROR(values.SetDefault("threads", std::to_string(cpus)));
  const int64_t threads = values.Integer("threads");
  RETURN_IF_ERROR(values.SetDefault("optimize_cutoff", std::to_string(int64_t{cpus} * 2)));
  const int64_t merges = std::clamp<int64_t>(threads / 2, 1, 2);
  RETURN_IF_ERROR(values.SetDefault("parallel_chunk_merges", std::to_string(merges)));
  RETURN_IF_ERROR(values.SetDefault("knn_parallel_build", std::to_string(cpus)));
  RETURN_IF_ERROR(values.SetDefault("knn_mem_limit", std::to_string(UsableMemory() / 2)));
  RETURN_IF_ERROR(values.SetDefault("server_id", "0"));
  RETURN_IF_ERROR(values.SetDefault("mysql_version_string", kMysqlVersion));
  if (values.IsSet("sphinxql_timeout") && !values.IsSet("wait_timeout")) {
    RETURN_IF_ERROR(values.SetDefault("wait_timeout", values.Shown("sphinxql_timeout")));
  }
  return Status::Ok();
}

// Every path setting absolute: the process may change its folder when it detaches.
Status ResolvePaths(const std::string& folder, LaunchPlan& plan) {
  config::SettingValues& values = plan.values;
  for (const config::Setting& setting : config::AllSettings()) {
    if (setting.type == config::SettingType::kPath && values.IsSet(setting.name)) {
      RETURN_IF_ERROR(values.Set(setting.name, Absolute(folder, values.Text(setting.name))));
    }
  }
  if (values.Text("data_dir").empty()) {
    RETURN_IF_ERROR(values.Set("data_dir", Absolute(folder, "data")));
  }
  plan.data_dir = values.Text("data_dir");
  RETURN_IF_ERROR(values.SetDefault("binlog_path", Absolute(plan.data_dir, "binlog")));
  RETURN_IF_ERROR(values.SetDefault("log", Absolute(plan.data_dir, "searchd.log")));
  RETURN_IF_ERROR(values.SetDefault("pid_file", Absolute(plan.data_dir, "searchd.pid")));
  plan.binlog_path = values.Text("binlog_path");
  plan.log = values.Text("log").empty() ? Absolute(plan.data_dir, "searchd.log") : values.Text("log");
  plan.query_log = values.Text("query_log");
  plan.pid_file = values.Text("pid_file");
  return Status::Ok();
}

Status ChooseListeners(const CommandLine& command_line, LaunchPlan& plan) {
  std::vector<std::string> lines = command_line.listen;
  if (command_line.port) {
    lines.push_back(fmt::format("127.0.0.1:{}:mysql", *command_line.port));
  }
  if (lines.empty()) {
    lines = plan.values.List("listen");
  }
  if (lines.empty()) {
    lines = {"127.0.0.1:9306:mysql", "127.0.0.1:9308:http"};
  }
  ASSIGN_OR_RETURN(plan.listeners, ParseListenAddresses(lines));
  RETURN_IF_ERROR(plan.values.Set("listen", ""));
  for (const std::string& line : lines) {
    RETURN_IF_ERROR(plan.values.Append("listen", line));
  }
  return Status::Ok();
}

Status CheckTls(const config::SettingValues& values) {
  if (values.Text("ssl_cert").empty() != values.Text("ssl_key").empty()) {
    return InvalidError("ssl_cert and ssl_key must be given together");
  }
  return Status::Ok();
}

Status CheckFolder(const char* what, const std::string& path) {
  RETURN_IF_ERROR(Env::Posix().MakeFolder(path).WithContext(what));
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return IoError("{} {}: {}", what, path, std::strerror(errno));
  }
  if (!S_ISDIR(info.st_mode)) {
    return IoError("{} {}: not a folder", what, path);
  }
  if (faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
    return IoError("{} {}: not writable: {}", what, path, std::strerror(errno));
  }
  return Status::Ok();
}

// The file can be written, or made in its folder.
Status CheckFile(const char* what, const std::string& path) {
  if (path.empty() || IsDevice(path)) {
    return Status::Ok();
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return CheckFolder(what, ParentFolder(path));
  }
  if (S_ISDIR(info.st_mode)) {
    return IoError("{} {}: is a folder", what, path);
  }
  if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
    return IoError("{} {}: not writable: {}", what, path, std::strerror(errno));
  }
  return Status::Ok();
}

}  // namespace

Status CheckTimeZone(std::string_view name) {
  if (!name.empty() && !sql::TimeZone::Find(name).ok()) {
    return InvalidError("bad value '{}' for 'timezone': allowed are IANA names such as Europe/Berlin", name);
  }
  return Status::Ok();
}

Result<LaunchPlan> MakeLaunchPlan(const CommandLine& command_line) {
  LaunchPlan plan;
  std::string folder = CurrentFolder();
  if (!command_line.config_file.empty()) {
    const std::string file = Absolute(folder, command_line.config_file);
    RETURN_IF_ERROR(ReadConfig(file, plan));
    folder = ParentFolder(file);
  }
  RETURN_IF_ERROR(ResolvePaths(folder, plan));
  if (!command_line.pid_file.empty()) {
    plan.pid_file = Absolute(CurrentFolder(), command_line.pid_file);
  }
  RETURN_IF_ERROR(FillMachineDefaults(plan.values));
  RETURN_IF_ERROR(CheckTls(plan.values).WithContext(plan.config_file));
  RETURN_IF_ERROR(CheckTimeZone(plan.values.Text("timezone")).WithContext(plan.config_file));
  RETURN_IF_ERROR(ChooseListeners(command_line, plan));
  return plan;
}

Status PrepareFolders(const LaunchPlan& plan) {
  RETURN_IF_ERROR(CheckFolder("data folder", plan.data_dir));
  RETURN_IF_ERROR(CheckFile("log", plan.log));
  RETURN_IF_ERROR(CheckFile("query log", plan.query_log));
  RETURN_IF_ERROR(CheckFile("pid file", plan.pid_file));
  if (!plan.binlog_path.empty()) {
    RETURN_IF_ERROR(CheckFolder("binlog folder", plan.binlog_path));
  }
  return Status::Ok();
}

}  // namespace stoa::daemon
