#include "sql/session/system_variables.h"
#include "sql/statements/show_rows.h"

// What the server tells of itself: SHOW VARIABLES, STATUS, SETTINGS, VERSION, PROCESSLIST, THREADS, QUERIES,
// ….
namespace stoa::sql {
namespace {

constexpr size_t kShortStatement = 100;  // SHOW PROCESSLIST without FULL

ShowRows FromNamed(std::string_view name, std::vector<NamedValue> values) {
  ShowRows answer;
  answer.names = {std::string(name), "Value"};
  for (NamedValue& value : values) {
    answer.Add({Value::String(std::move(value.name)), Value::String(std::move(value.value))});
  }
  return answer;
}

std::string_view Cut(std::string_view text, size_t length) {
  while (length > 0 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) {
    --length;
  }
  return text.substr(0, length);
}

int64_t SecondsIn(const ProcessInfo& process, int64_t now) {
  return std::max<int64_t>(0, (now - process.state_micros) / 1'000'000);
}

int64_t SecondsIn(const storage::MaintenanceJob& job, int64_t now) {
  return std::max<int64_t>(0, now / 1'000'000 - job.started);
}

ShowRows ProcessList(bool full, StatementContext& context) {
  ShowRows answer({"Id", "User", "Host", "db", "Command", "Time", "State", "Info"});
  const int64_t now = context.session.environment.clock->UnixMicros();
  for (const ProcessInfo& process : context.server().Processes()) {
    const bool runs = !process.statement.empty();
    const std::string_view info =
        full ? std::string_view(process.statement) : Cut(process.statement, kShortStatement);
    answer.Add({Value::String(std::to_string(process.id)), Value::String(process.user),
                Value::String(process.host), Value::String("Manticore"), Value::String(process.command),
                Value::String(std::to_string(SecondsIn(process, now))),
                Value::String(runs ? "executing" : ""),
                runs ? Value::String(std::string(info)) : Value::Null()});
  }
  // Like MySQL's own threads: nothing that KILL could name.
  for (const storage::MaintenanceJob& job : context.catalog().Jobs()) {
    answer.Add({"0", "system user", "", "Manticore", "Daemon", std::to_string(SecondsIn(job, now)),
                "maintenance", JobText(job)});
  }
  return answer;
}

ShowRows Threads(StatementContext& context) {
  ShowRows answer({"TID", "Name", "Proto", "State", "Connection from", "ConnID", "This/prev job time",
                   "CPU activity", "Jobs done", "Thread status", "Info"});
  const int64_t now = context.session.environment.clock->UnixMicros();
  for (const ProcessInfo& process : context.server().Processes()) {
    const std::string id = std::to_string(process.id);
    answer.Add({id, "work_" + id, process.protocol, process.command == "Sleep" ? "net_idle" : "query",
                process.host, id, fmt::format("{}s", SecondsIn(process, now)), "N/A", "N/A",
                process.statement.empty() ? "Waiting" : "In query", process.statement});
  }
  for (const storage::MaintenanceJob& job : context.catalog().Jobs()) {
    const std::string id = std::to_string(job.id);
    answer.Add({id, "job_" + id, "-", "maintenance", "-", "0", fmt::format("{}s", SecondsIn(job, now)), "N/A",
                "N/A", "In job", JobText(job)});
  }
  return answer;
}

ShowRows Queries(StatementContext& context) {
  ShowRows answer({"id", "query", "time", "protocol", "host"});
  answer.like_column = 1;
  const int64_t now = context.session.environment.clock->UnixMicros();
  for (const ProcessInfo& process : context.server().Processes()) {
    if (!process.statement.empty()) {
      answer.Add({std::to_string(process.id), process.statement, fmt::format("{}s", SecondsIn(process, now)),
                  process.protocol, process.host});
    }
  }
  return answer;
}

ShowRows Status(StatementContext& context) {
  std::vector<NamedValue> counters = context.server().StatusCounters();
  counters.push_back({"ssl_cipher", ""});  // clients ask for it after login
  counters.push_back({"ssl_version", ""});
  return FromNamed("Counter", std::move(counters));
}

ShowRows Locks(StatementContext& context) {
  ShowRows answer({"Type", "Name", "Lock Type", "Additional Info"});
  answer.like_column = 1;
  for (const auto& table : context.catalog().List()) {
    if (table->read_locked()) {
      const auto definition = table->definition();
      answer.Add({TableKindName(definition->kind), definition->name, "read", ""});
    }
    if (context.catalog().Statistics(*table).frozen) {
      const auto definition = table->definition();
      answer.Add({TableKindName(definition->kind), definition->name, "freeze", ""});
    }
  }
  return answer;
}

ShowRows Grants(StatementContext& context) {
  const std::string user = context.session.user.empty() ? "root" : context.session.user;
  ShowRows answer;
  answer.names = {fmt::format("Grants for {}@%", user)};
  answer.Add({fmt::format("GRANT ALL PRIVILEGES ON *.* TO `{}`@`%`", user)});
  return answer;
}

}  // namespace

std::string JobText(const storage::MaintenanceJob& job) {
  std::string text = fmt::format("{} of table {}", job.what, job.table);
  if (job.total > 0) {
    const uint64_t done = std::min(job.done, job.total);
    text += fmt::format(": {:.1f}%", 100.0 * static_cast<double>(done) / static_cast<double>(job.total));
  }
  return text;
}

Result<ShowRows> ShowServer(const ShowStatement& show, StatementContext& context) {
  if (show.what == "variables") {
    return FromNamed("Variable_name", ListSystemVariables(context.session, show.scope));
  }
  if (show.what == "status") {
    return Status(context);
  }
  if (show.what == "settings") {
    return FromNamed("Setting_name", context.server().Settings());
  }
  if (show.what == "version") {
    ShowRows answer({"Component", "Version"});
    answer.Add({"Daemon", context.server().VersionString()});
    return answer;
  }
  if (show.what == "threads") {
    return Threads(context);
  }
  if (show.what == "queries") {
    return Queries(context);
  }
  if (show.what == "locks") {
    return Locks(context);
  }
  if (show.what == "grants") {
    return Grants(context);
  }
  if (show.what == "agent status") {
    return ShowRows({"Key", "Value"});  // no remote agents
  }
  return ProcessList(show.what == "full processlist", context);
}

}  // namespace stoa::sql
