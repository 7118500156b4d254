#include "daemon/engine.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "daemon/version.h"
#include "knn/index/hnsw_format.h"
#include "storage/base/clock.h"
#include "storage/base/log.h"
#include "storage/base/memory_limit.h"
#include "storage/format/page_cache.h"

namespace stoa::daemon {

namespace {

// How long running statements may go on after a stop was asked for.
constexpr std::chrono::milliseconds kStopPatience{3000};
constexpr size_t kMostWorkers = 1024;

std::chrono::seconds InSeconds(const config::SettingValues& values, std::string_view name) {
  return std::chrono::seconds((values.Integer(name) + 999'999) / 1'000'000);  // never zero for a short time
}

size_t Count(const config::SettingValues& values, std::string_view name) {
  return static_cast<size_t>(values.Integer(name));
}

ServerOptions MakeServerOptions(const LaunchPlan& plan) {
  const config::SettingValues& values = plan.values;
  ServerOptions options;
  options.listeners = plan.listeners;
  options.version = values.Text("mysql_version_string");
  options.worker_threads = Count(values, "threads");
  options.max_worker_threads = std::max(kMostWorkers, options.worker_threads);
  options.io_threads = Count(values, "net_workers");
  options.max_connections = Count(values, "max_connections");
  options.max_packet_size = static_cast<uint64_t>(values.Integer("max_packet_size"));
  options.network_timeout = InSeconds(values, "network_timeout");
  options.wait_timeout = InSeconds(values, "wait_timeout");
  options.interactive_timeout = InSeconds(values, "interactive_timeout");
  options.net_write_timeout = InSeconds(values, "net_write_timeout");
  options.ssl_cert = values.Text("ssl_cert");
  options.ssl_key = values.Text("ssl_key");
  options.ssl_ca = values.Text("ssl_ca");
  return options;
}

// What SET GLOBAL may change of the storage's options.
void ReadMaintenance(const config::SettingValues& values, storage::StorageOptions& options) {
  options.auto_optimize = static_cast<uint32_t>(values.Integer("auto_optimize"));
  options.optimize_cutoff = static_cast<uint32_t>(values.Integer("optimize_cutoff"));
  options.parallel_chunk_merges = static_cast<uint32_t>(values.Integer("parallel_chunk_merges"));
  if (options.parallel_chunk_merges == 0) {
    options.parallel_chunk_merges =
        static_cast<uint32_t>(std::clamp<int64_t>(values.Integer("threads") / 2, 1, 2));
  }
  options.merge_chunks_per_job = static_cast<uint32_t>(values.Integer("merge_chunks_per_job"));
  options.knn_parallel_build = static_cast<uint32_t>(values.Integer("knn_parallel_build"));
}

storage::StorageOptions MakeStorageOptions(const LaunchPlan& plan, bool ignore_damaged_transactions,
                                           std::shared_ptr<knn::IndexMemory> index_memory) {
  const config::SettingValues& values = plan.values;
  storage::StorageOptions options;
  options.data_dir = plan.data_dir;
  options.binlog_path = plan.binlog_path;
  options.binlog_enabled = !plan.binlog_path.empty();
  options.binlog_flush = static_cast<int>(values.Integer("binlog_flush"));
  options.binlog_max_log_size = static_cast<uint64_t>(values.Integer("binlog_max_log_size"));
  options.rt_flush_period_seconds = InSeconds(values, "rt_flush_period").count();
  options.server_id = static_cast<uint32_t>(values.Integer("server_id"));
  options.ignore_damaged_transactions = ignore_damaged_transactions;
  options.rt_mem_limit = static_cast<uint64_t>(values.Integer("rt_mem_limit"));
  options.access_columnar_attrs = values.Text("access_columnar_attrs") == "file" ? storage::AccessMode::kFile
                                                                                 : storage::AccessMode::kMmap;
  options.docstore_cache_size = static_cast<uint64_t>(values.Integer("docstore_cache_size"));
  options.vector_index_format = std::make_shared<const knn::HnswFormat>(std::move(index_memory));
  ReadMaintenance(values, options);
  return options;
}

// Before files are opened. Not more than a quarter of what the server may use: scans of many columns need
// the rest for what they ask of the disk ahead.
void MakePageCache(const config::SettingValues& values) {
  const uint64_t budget =
      std::min(static_cast<uint64_t>(values.Integer("columnar_cache_size")), MemoryLimitOfGroup() / 4);
  storage::SetColumnarPageCache(budget == 0 ? nullptr : std::make_shared<storage::PageCache>(budget));
}

uint32_t OctalMode(int64_t decimal) {
  return static_cast<uint32_t>(decimal / 100 % 10 * 64 + decimal / 10 % 10 * 8 + decimal % 10);
}

QueryLogOptions MakeQueryLogOptions(const LaunchPlan& plan) {
  const config::SettingValues& values = plan.values;
  return {.path = plan.query_log,
          .plain = values.Text("query_log_format") == "plain",
          .min_micros = values.Integer("query_log_min_msec"),
          .file_mode = OctalMode(values.Integer("query_log_mode")),
          .more_commands = values.Text("query_log_commands")};
}

bool IsMaintenance(std::string_view name) {
  return name == "auto_optimize" || name == "optimize_cutoff" || name == "parallel_chunk_merges" ||
         name == "merge_chunks_per_job" || name == "knn_parallel_build";
}

std::string Duration(uint64_t micros) {
  if (micros % 1'000'000 == 0) {
    return fmt::format("{}s", micros / 1'000'000);
  }
  return micros % 1000 == 0 ? fmt::format("{}ms", micros / 1000) : fmt::format("{}us", micros);
}

// "storage_wait_lt_1ms": waits of less than that and not less than the bound before it.
void AddWaits(std::string_view name, const storage::WaitHistogram& waits,
              std::vector<sql::NamedValue>& rows) {
  for (size_t i = 0; i < waits.counts.size(); ++i) {
    const std::string bound = i < storage::WaitHistogram::kBounds.size()
                                  ? "lt_" + Duration(storage::WaitHistogram::kBounds[i])
                                  : "ge_" + Duration(storage::WaitHistogram::kBounds.back());
    rows.push_back({fmt::format("{}_{}", name, bound), std::to_string(waits.counts[i])});
  }
  rows.push_back({fmt::format("{}_longest_us", name), std::to_string(waits.longest_microseconds)});
}

// Flushes or merges since the start, and how fast they wrote.
void AddWork(std::string_view name, std::string_view names, const storage::ChunkWork& work,
             std::vector<sql::NamedValue>& rows) {
  const double seconds = static_cast<double>(work.microseconds) / 1e6;
  const double megabytes = static_cast<double>(work.bytes) / 1e6;
  rows.push_back({fmt::format("storage_{}", names), std::to_string(work.finished)});
  rows.push_back({fmt::format("storage_{}_failed", names), std::to_string(work.failed)});
  rows.push_back({fmt::format("storage_{}_bytes", name), std::to_string(work.bytes)});
  rows.push_back({fmt::format("storage_{}_mb_per_second", name),
                  fmt::format("{:.1f}", seconds > 0 ? megabytes / seconds : 0.0)});
}

// Other names under which SET GLOBAL knows a setting.
std::string_view SettingOfAlias(std::string_view name) {
  if (name == "read_timeout" || name == "net_read_timeout") {
    return "network_timeout";
  }
  return name == "net_wait" ? "net_wait_tm" : name;
}

}  // namespace

Engine::Engine(const LaunchPlan& plan, LogFiles& logs)
    : logs_(logs),
      config_file_(plan.config_file),
      version_(plan.values.Text("mysql_version_string")),
      values_(plan.values),
      index_memory_(
          std::make_shared<knn::IndexMemory>(static_cast<uint64_t>(plan.values.Integer("knn_mem_limit")))) {}

Result<std::unique_ptr<Engine>> Engine::Start(const LaunchPlan& plan, bool ignore_damaged_transactions,
                                              Env& env, LogFiles& logs) {
  std::unique_ptr<Engine> engine(new Engine(plan, logs));
  ASSIGN_OR_RETURN(engine->query_log_, QueryLog::Open(MakeQueryLogOptions(plan)));
  ASSIGN_OR_RETURN(engine->server_, Server::Bind(MakeServerOptions(plan)));
  MakePageCache(plan.values);
  ASSIGN_OR_RETURN(
      engine->catalog_,
      storage::Catalog::Open(MakeStorageOptions(plan, ignore_damaged_transactions, engine->index_memory_),
                             env, Clock::System()));
  engine->server_->Run({.catalog = engine->catalog_.get(), .server = engine.get(), .clock = &Clock::System()},
                       engine->query_log_.get());
  return engine;
}

Engine::~Engine() {
  if (server_ != nullptr) {
    server_->Stop(std::chrono::milliseconds(0));
  }
}

Status Engine::Stop() {
  if (stopped_) {
    return Status::Ok();
  }
  stopped_ = true;
  server_->Stop(kStopPatience);
  return catalog_->Close();
}

void Engine::LogTables() const {
  const std::vector<std::shared_ptr<storage::Table>> tables = catalog_->List();
  std::string names;
  for (const std::shared_ptr<storage::Table>& table : tables) {
    names += (names.empty() ? "" : ", ") + table->Snapshot()->definition->name;
  }
  LogInfo("{} tables: {}", tables.size(), names);
}

std::string Engine::VersionString() const { return version_; }

std::vector<sql::NamedValue> Engine::Settings() const {
  std::vector<sql::NamedValue> rows = {{"configuration_file", config_file_},
                                       {"worker_pid", std::to_string(getpid())}};
  MutexLock lock(mutex_);
  for (const config::Setting& setting : config::AllSettings()) {
    if (setting.deprecated || setting.section == "session" || setting.name.ends_with('*')) {
      continue;
    }
    const std::string name = fmt::format("{}.{}", setting.section, setting.name);
    if (setting.type != config::SettingType::kList) {
      rows.push_back({name, values_.Shown(setting.name)});
      continue;
    }
    for (std::string& value : values_.List(setting.name)) {
      rows.push_back({name, std::move(value)});
    }
  }
  return rows;
}

Result<std::string> Engine::Setting(std::string_view name) const {
  const std::string_view known = SettingOfAlias(name);
  const config::Setting* setting = config::FindSetting(known);
  if (setting == nullptr || setting->deprecated) {
    return NotFoundError("unknown setting '{}'", name);
  }
  MutexLock lock(mutex_);
  return values_.Shown(known);
}

Status Engine::SetSetting(std::string_view name, std::string_view value) {
  const std::string_view known = SettingOfAlias(name);
  const config::Setting* setting = config::FindSetting(known);
  if (setting == nullptr || setting->deprecated) {
    return NotFoundError("unknown setting '{}'", name);
  }
  if (setting->needs_restart) {
    return InvalidError("setting '{}' is read at start only", name);
  }
  if (known == "timezone") {
    RETURN_IF_ERROR(CheckTimeZone(value));
  }
  config::SettingValues changed;
  {
    MutexLock lock(mutex_);
    RETURN_IF_ERROR(values_.Set(known, value));
    changed = values_;
  }
  Apply(known, changed);
  return Status::Ok();
}

void Engine::Apply(std::string_view name, const config::SettingValues& values) {
  if (name == "wait_timeout" || name == "interactive_timeout") {
    server_->SetIdleTimeouts(InSeconds(values, "wait_timeout"), InSeconds(values, "interactive_timeout"));
  } else if (name == "log_level") {
    logs_.SetLevel(values.Text(name));
  } else if (name == "query_log_min_msec") {
    query_log_->SetMinMicros(values.Integer(name));
  } else if (name == "query_log_format") {
    query_log_->SetPlain(values.Text(name) == "plain");
  } else if (IsMaintenance(name)) {
    storage::StorageOptions options;
    ReadMaintenance(values, options);
    catalog_->SetMaintenanceOptions(options);
  }
}

std::vector<sql::NamedValue> Engine::StatusCounters() const {
  std::vector<sql::NamedValue> rows = server_->status().Counters();
  const storage::StorageCounters counters = catalog_->counters();
  rows.push_back({"commits", std::to_string(counters.commits)});
  rows.push_back({"binlog_bytes", std::to_string(counters.binlog_bytes)});
  rows.push_back({"binlog_syncs", std::to_string(counters.binlog_syncs)});
  rows.push_back({"knn_index_bytes", std::to_string(index_memory_->used())});
  rows.push_back({"maintenance_jobs", std::to_string(catalog_->Jobs().size())});
  AddWork("flush", "flushes", counters.flushes, rows);
  AddWork("merge", "merges", counters.merges, rows);
  AddWaits("storage_wait", catalog_->waits(), rows);
  AddWaits("storage_log_wait", catalog_->log_waits(), rows);
  return rows;
}

std::string Engine::StatusLine() const { return server_->status().Line(); }

std::vector<sql::ProcessInfo> Engine::Processes() const { return server_->registry().List(); }

Status Engine::Kill(uint64_t connection_id, bool query_only) {
  return server_->registry().Kill(connection_id, query_only);
}

Status Engine::FlushLogs() {
  RETURN_IF_ERROR(logs_.Reopen());
  return query_log_->Reopen();
}

}  // namespace stoa::daemon
