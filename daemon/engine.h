#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "daemon/launch_plan.h"
#include "daemon/log_files.h"
#include "daemon/query_log.h"
#include "daemon/server.h"
#include "knn/index/index_memory.h"
#include "sql/server_view.h"
#include "storage/base/env.h"
#include "storage/base/mutex.h"
#include "storage/table/catalog.h"

namespace stoa::daemon {

// Owns everything that lives as long as the server: sockets and threads (Server), tables (Catalog), query
// log, settings in force. Start order: sockets are bound, tables are loaded, connections are accepted; stop
// order is the reverse. As ServerView it is safe to share; Start() and Stop() are for one thread.
class Engine : public sql::ServerView {
 public:
  // `env` and `logs` outlive the engine.
  static Result<std::unique_ptr<Engine>> Start(const LaunchPlan& plan, bool ignore_damaged_transactions,
                                               Env& env, LogFiles& logs);
  ~Engine() override;  // without Stop(): as after a crash
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Refuses new connections, lets running statements end for a moment, writes the tables. Repeatable.
  Status Stop();
  // Logs the tables (HUP).
  void LogTables() const;

  std::string VersionString() const override;
  std::vector<sql::NamedValue> Settings() const override;
  Result<std::string> Setting(std::string_view name) const override;
  Status SetSetting(std::string_view name, std::string_view value) override;
  std::vector<sql::NamedValue> StatusCounters() const override;
  std::string StatusLine() const override;
  std::vector<sql::ProcessInfo> Processes() const override;
  Status Kill(uint64_t connection_id, bool query_only) override;
  Status FlushLogs() override;

 private:
  Engine(const LaunchPlan& plan, LogFiles& logs);
  // Carries a changed setting to the part that works with it.
  void Apply(std::string_view name, const config::SettingValues& values);

  LogFiles& logs_;
  const std::string config_file_;
  const std::string version_;
  mutable Mutex mutex_;
  config::SettingValues values_ GUARDED_BY(mutex_);
  std::unique_ptr<QueryLog> query_log_;
  const std::shared_ptr<knn::IndexMemory> index_memory_;
  std::unique_ptr<storage::Catalog> catalog_;
  std::unique_ptr<Server> server_;
  bool stopped_ = false;
};

}  // namespace stoa::daemon
