#include <algorithm>
#include <catch2/catch.hpp>

#include "sql/session/session.h"

// Statements about the files of tables, over a catalog that only notes what it is asked.
namespace stoa::sql {
namespace {

using storage::TableDefinition;
using storage::TableSnapshot;

std::shared_ptr<storage::Table> MakeTable(const std::string& name) {
  auto definition = std::make_shared<TableDefinition>();
  definition->name = name;
  auto snapshot = std::make_shared<TableSnapshot>();
  snapshot->definition = std::move(definition);
  return std::make_shared<storage::Table>(std::move(snapshot));
}

class NotingCatalog : public storage::Catalog {
 public:
  std::shared_ptr<storage::Table> Find(std::string_view name) const override {
    const auto found = std::find_if(tables.begin(), tables.end(),
                                    [&](const auto& table) { return table->definition()->name == name; });
    return found == tables.end() ? nullptr : *found;
  }
  Status CheckUsable(std::string_view) const override { return Status::Ok(); }
  void SetMaintenanceOptions(const storage::StorageOptions&) override {}
  std::vector<std::shared_ptr<storage::Table>> List() const override { return tables; }
  Result<std::shared_ptr<storage::Table>> Create(TableDefinition) override { return InternalError("no"); }
  Status Drop(std::string_view) override { return InternalError("no"); }
  Status Truncate(std::string_view) override { return InternalError("no"); }
  Status Rename(std::string_view, std::string_view) override { return InternalError("no"); }
  Status Alter(std::string_view, const std::function<Status(TableDefinition&)>&) override {
    return InternalError("no");
  }
  Result<storage::CommitResult> Commit(std::vector<std::shared_ptr<storage::Table>>,
                                       const BuildWriteSet&) override {
    return InternalError("no");
  }
  std::vector<DocId> NewDocIds(size_t) override { return {}; }
  Status FlushTable(std::string_view name) override { return Note("flush", name); }
  Status FlushRamChunk(std::string_view name) override { return Note("chunk", name); }
  Status Optimize(std::string_view name, const storage::OptimizeRequest& request) override {
    last_request = request;
    return Note("optimize", name);
  }
  Status RebuildVectorIndexes(std::string_view name, CancelToken*) override { return Note("rebuild", name); }
  Result<std::vector<std::string>> Freeze(std::string_view name) override {
    RETURN_IF_ERROR(Note("freeze", name));
    return std::vector<std::string>{"/data/" + std::string(name) + "/chunk.1.sph"};
  }
  Status Unfreeze(std::string_view name) override { return Note("unfreeze", name); }
  Result<std::string> Backup(const std::vector<std::string>& names, const std::string& folder,
                             const CancelToken*) override {
    for (const std::string& name : names) {
      RETURN_IF_ERROR(Note("backup", name));
    }
    return folder + "/1";
  }
  Status Import(std::string_view name, const std::string& path) override {
    RETURN_IF_ERROR(Note("import", name));
    return path == "/taken" ? ExistsError("taken") : Status::Ok();
  }
  storage::TableStatistics Statistics(const storage::Table&) const override { return statistics; }
  std::vector<storage::MaintenanceJob> Jobs() const override { return jobs; }
  storage::WaitHistogram waits() const override { return {}; }
  Status Close() override { return Status::Ok(); }
  storage::StorageCounters counters() const override { return {}; }
  uint64_t DiskBytes(const storage::Table&) const override { return 0; }

  std::vector<std::shared_ptr<storage::Table>> tables{MakeTable("a"), MakeTable("b"), MakeTable("c")};
  std::vector<std::string> calls;
  std::string failing;  // "freeze b"
  std::function<void()> on_freeze;
  storage::OptimizeRequest last_request;
  storage::TableStatistics statistics;
  std::vector<storage::MaintenanceJob> jobs;

 private:
  Status Note(std::string_view verb, std::string_view name) {
    const std::string call = fmt::format("{} {}", verb, name);
    calls.push_back(call);
    if (verb == "freeze" && on_freeze) {
      on_freeze();
    }
    return call == failing ? InvalidError("{} failed", call) : Status::Ok();
  }
};

class EmptyServer : public ServerView {
 public:
  std::string VersionString() const override { return "8"; }
  std::vector<NamedValue> Settings() const override { return {}; }
  Result<std::string> Setting(std::string_view name) const override {
    return name == "data_dir" ? Result<std::string>("/data") : NotFoundError("no");
  }
  Status SetSetting(std::string_view, std::string_view) override { return NotFoundError("no"); }
  std::vector<NamedValue> StatusCounters() const override { return {}; }
  std::string StatusLine() const override { return {}; }
  std::vector<ProcessInfo> Processes() const override { return {}; }
  Status Kill(uint64_t, bool) override { return NotFoundError("no"); }
  Status FlushLogs() override { return Status::Ok(); }
};

// Rows as lines, cells divided by bars; `gone`: the client takes nothing.
class LineSink : public ResultSink {
 public:
  Status Columns(std::span<const ResultColumn>) override {
    return gone ? IoError("client gone") : Status::Ok();
  }
  Status Row(std::span<const Cell> cells) override {
    std::string line;
    for (const Cell& cell : cells) {
      line.append(line.empty() ? "" : "|")
          .append(cell.type == ValueType::kBigint ? std::to_string(cell.integer) : std::string(cell.bytes));
    }
    lines.push_back(line);
    return Status::Ok();
  }
  Status End(const ResultEnd&) override { return Status::Ok(); }
  Status Ok(const OkInfo&) override { return Status::Ok(); }
  Status Error(const Status&) override { return Status::Ok(); }

  std::vector<std::string> lines;
  bool gone = false;
};

struct Fixture {
  NotingCatalog catalog;
  EmptyServer server;
  Session session{{&catalog, &server, &Clock::System()}, 1, "u"};
  LineSink sink;

  Status Run(std::string_view text) {
    catalog.calls.clear();
    sink.lines.clear();
    return session.Execute(text, sink);
  }
};

using Calls = std::vector<std::string>;

}  // namespace

TEST_CASE("FREEZE lists the files of all its tables and keeps them frozen", "[sql]") {
  Fixture f;
  REQUIRE(f.Run("FREEZE a, b, a").ok());
  CHECK(f.catalog.calls == Calls{"freeze a", "freeze b"});
  CHECK(f.sink.lines ==
        Calls{"/data/a/chunk.1.sph|/data/a/chunk.1.sph", "/data/b/chunk.1.sph|/data/b/chunk.1.sph"});
}

TEST_CASE("a FREEZE that fails half way lets go of what it froze", "[sql]") {
  Fixture f;
  f.catalog.failing = "freeze c";
  CHECK_FALSE(f.Run("FREEZE a, b, c").ok());
  CHECK(f.catalog.calls == Calls{"freeze a", "freeze b", "freeze c", "unfreeze a", "unfreeze b"});
}

TEST_CASE("a FREEZE that is killed lets go of what it froze", "[sql]") {
  Fixture f;
  f.catalog.on_freeze = [&] { f.session.cancel().Cancel(); };
  CHECK(f.Run("FREEZE a, b").code() == StatusCode::kCancelled);
  CHECK(f.catalog.calls == Calls{"freeze a", "unfreeze a"});
}

TEST_CASE("a FREEZE whose client is gone lets go of what it froze", "[sql]") {
  Fixture f;
  f.sink.gone = true;
  CHECK_FALSE(f.Run("FREEZE a").ok());
  CHECK(f.catalog.calls == Calls{"freeze a", "unfreeze a"});
}

TEST_CASE("UNFREEZE lets go of every table and tells the first error", "[sql]") {
  Fixture f;
  f.catalog.failing = "unfreeze a";
  CHECK(f.Run("UNFREEZE a, b").text() == "unfreeze a failed");
  CHECK(f.catalog.calls == Calls{"unfreeze a", "unfreeze b"});
}

TEST_CASE("OPTIMIZE waits and can be killed only with sync", "[sql]") {
  Fixture f;
  REQUIRE(f.Run("OPTIMIZE TABLE a").ok());
  CHECK_FALSE(f.catalog.last_request.wait);
  CHECK(f.catalog.last_request.cancel == nullptr);
  CHECK_FALSE(f.catalog.last_request.cutoff.has_value());
  REQUIRE(f.Run("OPTIMIZE TABLE a OPTION sync=on, cutoff=3").ok());
  CHECK(f.catalog.last_request.wait);
  CHECK(f.catalog.last_request.cancel == &f.session.cancel());
  CHECK(f.catalog.last_request.cutoff == 3);
}

TEST_CASE("BACKUP names each table once, or none for all, and answers with the path", "[sql]") {
  Fixture f;
  REQUIRE(f.Run("BACKUP TABLES a, c, a TO /x OPTION async=1, compress=0").ok());
  CHECK(f.catalog.calls == Calls{"backup a", "backup c"});
  CHECK(f.sink.lines == Calls{"/x/1"});
  REQUIRE(f.Run("BACKUP TO '/x y'").ok());
  CHECK(f.catalog.calls.empty());
  CHECK(f.sink.lines == Calls{"/x y/1"});
}

TEST_CASE("IMPORT TABLE under a name that is taken says so", "[sql]") {
  Fixture f;
  CHECK(f.Run("IMPORT TABLE a FROM '/free'").text() ==
        "table 'a': IMPORT TABLE failed: table 'a' already exists");
  CHECK(f.Run("IMPORT TABLE d FROM '/taken'").text() ==
        "table 'd': IMPORT TABLE failed: table 'd' already exists");
  CHECK(f.Run("IMPORT TABLE d FROM '/free'").ok());
}

TEST_CASE("flushes and merges are rows of SHOW PROCESSLIST and SHOW THREADS", "[sql]") {
  Fixture f;
  const int64_t now = Clock::System().UnixMicros() / 1'000'000;
  f.catalog.jobs = {
      {.id = 7, .table = "a", .what = "merge of 4 chunks", .done = 1, .total = 8, .started = now + 100},
      {.id = 8, .table = "b", .what = "flush of the RAM part", .started = now + 100}};
  REQUIRE(f.Run("SHOW PROCESSLIST").ok());
  CHECK(f.sink.lines ==
        Calls{"0|system user||Manticore|Daemon|0|maintenance|merge of 4 chunks of table a: 12.5%",
              "0|system user||Manticore|Daemon|0|maintenance|flush of the RAM part of table b"});
  REQUIRE(f.Run("SHOW THREADS").ok());
  REQUIRE(f.sink.lines.size() == 2);
  CHECK(f.sink.lines[0] == "7|job_7|-|maintenance|-|0|0s|N/A|N/A|In job|merge of 4 chunks of table a: 12.5%");
  REQUIRE(f.Run("SELECT command, info FROM information_schema.processlist WHERE command = 'Daemon'").ok());
  CHECK(f.sink.lines.size() == 2);
}

TEST_CASE("SHOW TABLE STATUS adds up what is mapped, by kind of file", "[sql]") {
  Fixture f;
  f.catalog.statistics.ram_bytes = 100;
  f.catalog.statistics.chunk_ram_bytes = 20;
  f.catalog.statistics.mem_limit = 1000;
  f.catalog.statistics.mem_limit_rate = 0.5;
  f.catalog.statistics.frozen = true;
  f.catalog.statistics.files = {
      {"a/chunk.1.spc", 50, 0, 0}, {"a/chunk.1.spa", 40, 40, 30}, {"a/chunk.1.spd", 9, 9, 1}};
  f.catalog.statistics.chunks = {
      {.id = ChunkId{3}, .rows = 10, .deleted = 4, .disk_bytes = 99, .patched_values = 2}};
  REQUIRE(f.Run("SHOW TABLE a STATUS").ok());
  for (const char* line : {"ram_bytes|120", "ram_chunk|100", "mem_limit|1000", "mem_limit_rate|50.00%",
                           "locked|1", "disk_mapped|49", "disk_mapped_cached|31", "disk_mapped_doclists|9",
                           "disk_mapped_cached_doclists|1", "disk_mapped_hitlists|0", "optimizing|0"}) {
    CAPTURE(line);
    CHECK(std::count(f.sink.lines.begin(), f.sink.lines.end(), line) == 1);
  }
  REQUIRE(f.Run("SHOW TABLE a CHUNK 0 STATUS").ok());
  CHECK(f.sink.lines == Calls{"table_type|disk", "chunk_id|3", "indexed_documents|6", "disk_bytes|99",
                              "killed_documents|4", "killed_rate|40.00%", "updated_values|2",
                              "optimizing|0"});
  REQUIRE(f.Run("SELECT * FROM a.@files WHERE size > 40").ok());
  CHECK(f.sink.lines == Calls{"a/chunk.1.spc|/data/a/chunk.1.spc|50|0|0"});
  REQUIRE(f.Run("SHOW LOCKS").ok());
  CHECK(f.sink.lines.front() == "rt|a|freeze|");
}

}  // namespace stoa::sql
