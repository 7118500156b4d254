#include "storage/table/catalog.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <set>
#include <thread>

#include "catalog_fixture.h"
#include "storage/base/fault_point.h"
#include "storage/base/faulty_env.h"
#include "storage/base/memory_env.h"
#include "table_fixture.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;
using testing::Dump;
using testing::Insert;
using Lines = std::vector<std::string>;

struct Server : testing::CatalogInMemory {
  Server() { Start(); }
  void Create(const std::string& name) {
    REQUIRE(catalog->Create(testing::MakeDefinition(name)).status().ToString() == "ok");
  }
  Status Write(const std::string& name, Change change) {
    const std::shared_ptr<Table> table = catalog->Find(name);
    if (table == nullptr) {
      return NotFoundError("no table");  // assertions are for the main thread only
    }
    return catalog
        ->Commit({table},
                 [&](const auto&) {
                   return Result<WriteSet>(WriteSet{{table, std::move(change)}});
                 })
        .status();
  }
  Lines Rows(const std::string& name) {
    const std::shared_ptr<Table> table = catalog->Find(name);
    REQUIRE(table != nullptr);
    return Dump(*table->Snapshot());
  }
  std::set<std::string> Files(const std::string& folder) {
    const auto names = memory.List(folder);
    REQUIRE(names.ok());
    return {names->begin(), names->end()};
  }
};

Status AddColumn(Catalog& catalog, const std::string& table, const std::string& name, ColumnType type) {
  return catalog.Alter(table, [&](TableDefinition& definition) {
    definition.columns.push_back(testing::MakeColumn(name, type));
    return Status::Ok();
  });
}

Status DropColumn(Catalog& catalog, const std::string& table, size_t index) {
  return catalog.Alter(table, [&](TableDefinition& definition) {
    definition.columns.erase(definition.columns.begin() + static_cast<ptrdiff_t>(index));
    return Status::Ok();
  });
}

TEST_CASE("acknowledged rows are there after a crash and after a clean stop", "[storage]") {
  Server server;
  server.Create("goods");
  REQUIRE(server.Write("goods", Insert({2, 1}, 5)).ok());
  const Lines rows = {"2: 5 -5 2.5 text 5", "1: 5 -5 2.5 text 5"};
  server.Crash();
  CHECK(server.Rows("goods") == rows);
  server.Restart();
  CHECK(server.Rows("goods") == rows);
  CHECK(server.Write("goods", Insert({2}, 6)).ToString() == "exists: duplicate id '2'");
  server.Crash();
  CHECK(server.Rows("goods") == rows);
}

TEST_CASE("names of tables are unique, and missing ones are told", "[storage]") {
  Server server;
  server.Create("t");
  CHECK(server.catalog->Create(testing::MakeDefinition("t")).status().ToString() ==
        "exists: table 't' already exists");
  CHECK(server.catalog->Drop("x").ToString() == "not found: no such table 'x'");
  CHECK(server.catalog->Rename("t", "t").code() == StatusCode::kExists);
  REQUIRE(server.catalog->Rename("t", "u").ok());
  CHECK(server.catalog->Find("t") == nullptr);
  server.Crash();
  CHECK(server.catalog->List().size() == 1);
  CHECK(server.catalog->Find("u")->definition()->name == "u");
}

TEST_CASE("a dropped table stays readable, refuses writes and leaves no files", "[storage]") {
  Server server;
  server.Create("t");
  REQUIRE(server.Write("t", Insert({1}, 1)).ok());
  REQUIRE(server.catalog->FlushTable("t").ok());
  CHECK(server.catalog->DiskBytes(*server.catalog->Find("t")) > 100);
  const std::shared_ptr<Table> table = server.catalog->Find("t");
  REQUIRE(server.catalog->Drop("t").ok());
  CHECK(table->Snapshot()->live_count() == 1);
  const auto status = server.catalog->Commit({table}, [&](const auto&) {
    return Result<WriteSet>(WriteSet{{table, Insert({2}, 2)}});
  });
  CHECK(status.status().ToString() == "not found: table 't' was dropped");
  CHECK(server.Files("/data") == std::set<std::string>{"binlog", "catalog.manifest", "catalog.reserve"});
  server.Create("t");
  server.Crash();
  CHECK(server.Rows("t").empty());
}

TEST_CASE("records of the time before TRUNCATE do not come back", "[storage]") {
  Server server;
  server.Create("t");
  REQUIRE(server.Write("t", Insert({1, 2}, 1)).ok());
  REQUIRE(server.catalog->FlushTable("t").ok());
  REQUIRE(server.Write("t", Insert({3}, 1)).ok());
  REQUIRE(server.catalog->Truncate("t").ok());
  CHECK(server.Rows("t").empty());
  REQUIRE(server.Write("t", Insert({4}, 4)).ok());
  server.Crash();
  CHECK(server.Rows("t") == Lines{"4: 4 -4 2 text 4"});
}

TEST_CASE("rows written before an ALTER replay into the new columns", "[storage]") {
  Server server;
  server.Create("t");
  REQUIRE(server.Write("t", Insert({1}, 4294967295)).ok());
  REQUIRE(AddColumn(*server.catalog, "t", "later", ColumnType::kInt).ok());
  REQUIRE(DropColumn(*server.catalog, "t", 3).ok());
  REQUIRE(server.catalog
              ->Alter("t",
                      [](TableDefinition& definition) {
                        definition.columns[1].type = ColumnType::kBigint;
                        return Status::Ok();
                      })
              .ok());
  CHECK(server.catalog->Find("t")->definition()->columns.back().id == ColumnId(5));
  REQUIRE(server.Write("t", testing::UpdateInt({1}, 5, ColumnType::kInt, 8)).ok());
  const Lines rows = {"1: 4294967295 -4294967295 text 4294967295 8"};
  CHECK(server.Rows("t") == rows);
  server.Crash();
  CHECK(server.Rows("t") == rows);
  server.Restart();
  CHECK(server.Rows("t") == rows);
  // A column that is dropped and added again is another one.
  REQUIRE(DropColumn(*server.catalog, "t", 4).ok());
  REQUIRE(AddColumn(*server.catalog, "t", "later", ColumnType::kString).ok());
  CHECK(server.catalog->Find("t")->definition()->columns.back().id == ColumnId(6));
  CHECK(server.Rows("t") == Lines{"1: 4294967295 -4294967295 text 4294967295 "});
}

TEST_CASE("an ALTER that its caller refuses changes nothing", "[storage]") {
  Server server;
  server.Create("t");
  const auto before = server.catalog->Find("t")->definition();
  CHECK(server.catalog
            ->Alter("t",
                    [](TableDefinition& definition) {
                      definition.columns.clear();
                      return InvalidError("no");
                    })
            .ToString() == "invalid: no");
  CHECK(server.catalog->Find("t")->definition() == before);
}

TEST_CASE("a second server on the same folder is refused", "[storage]") {
  Server server;
  const auto second = Catalog::Open(server.options, server.env, server.clock);
  CHECK(second.status().code() == StatusCode::kExists);
  CHECK_THAT(second.status().text(), Contains("data folder /data is used by another process"));
}

TEST_CASE("what a crash left behind is removed at start, other files stay", "[storage]") {
  Server server;
  server.Create("t");
  REQUIRE(server.Write("t", Insert({1}, 1)).ok());
  REQUIRE(server.catalog->FlushTable("t").ok());
  server.catalog.reset();
  const auto put = [&](const std::string& path) {
    REQUIRE(WriteFileAtomically(server.memory, path, "x").ok());
  };
  REQUIRE(server.memory.MakeFolder("/data/old.t99").ok());
  put("/data/old.t99/ram.1");
  put("/data/t.t1/ram.7");
  put("/data/t.t1/ram.2.tmp");
  put("/data/catalog.manifest.tmp");
  put("/data/notes.txt");
  server.Start();
  CHECK(server.Files("/data") ==
        std::set<std::string>{"binlog", "catalog.manifest", "catalog.reserve", "notes.txt", "t.t1"});
  CHECK(server.Files("/data/t.t1") == std::set<std::string>{"ram.1"});
  CHECK(server.Rows("t").size() == 1);
}

TEST_CASE("a damaged table does not keep the others from working", "[storage]") {
  Server server;
  server.Create("good");
  server.Create("bad");
  REQUIRE(server.Write("good", Insert({1}, 1)).ok());
  REQUIRE(server.Write("bad", Insert({1}, 1)).ok());
  REQUIRE(server.catalog->FlushTable("bad").ok());
  server.catalog.reset();
  std::string bytes = server.memory.ReadFile("/data/bad.t2/ram.1").value();
  const std::string whole = bytes;
  bytes[130] = static_cast<char>(bytes[130] ^ 1);
  REQUIRE(WriteFileAtomically(server.memory, "/data/bad.t2/ram.1", bytes).ok());
  server.Start();
  CHECK(server.Rows("good").size() == 1);
  CHECK(server.catalog->Find("bad") == nullptr);
  CHECK_THAT(server.catalog->Create(testing::MakeDefinition("bad")).status().text(),
             Contains("damaged") && Contains("/data/bad.t2/ram.1"));
  server.Restart();
  REQUIRE(WriteFileAtomically(server.memory, "/data/bad.t2/ram.1", whole).ok());
  server.Restart();
  CHECK(server.Rows("bad").size() == 1);
}

TEST_CASE("a damaged table is told apart from a missing one, and can be dropped", "[storage]") {
  Server server;
  server.Create("bad");
  REQUIRE(server.Write("bad", Insert({1}, 1)).ok());
  REQUIRE(server.catalog->FlushTable("bad").ok());
  server.catalog.reset();
  REQUIRE(WriteFileAtomically(server.memory, "/data/bad.t1/ram.1", "x").ok());
  server.Start();
  CHECK_THAT(server.catalog->CheckUsable("bad").text(),
             Contains("table 'bad' is damaged and not available") && Contains("/data/bad.t1/ram.1"));
  CHECK(server.catalog->CheckUsable("nosuch").ok());
  CHECK(server.catalog->Drop("bad").ok());
  CHECK(server.Files("/data") == std::set<std::string>{"binlog", "catalog.manifest", "catalog.reserve"});
  server.Create("bad");
  CHECK(server.catalog->CheckUsable("bad").ok());
}

TEST_CASE("a lost manifest stops the start, nothing is removed", "[storage]") {
  Server server;
  server.Create("t");
  REQUIRE(server.Write("t", Insert({1}, 1)).ok());
  const bool flushed = GENERATE(true, false);
  if (flushed) {
    REQUIRE(server.catalog->Close().ok());
  }
  server.catalog.reset();
  const std::string manifest = server.memory.ReadFile("/data/catalog.manifest").value();
  REQUIRE(server.memory.Remove("/data/catalog.manifest").ok());
  const auto opened = Catalog::Open(server.options, server.env, server.clock);
  CHECK(opened.status().code() == StatusCode::kCorrupt);
  CHECK_THAT(opened.status().text(), Contains("/data/catalog.manifest is missing"));
  REQUIRE(WriteFileAtomically(server.memory, "/data/catalog.manifest", manifest).ok());
  server.Start();
  CHECK(server.Rows("t").size() == 1);
}

TEST_CASE("a damaged manifest stops the start and says where", "[storage]") {
  Server server;
  server.Create("t");
  server.catalog.reset();
  std::string bytes = server.memory.ReadFile("/data/catalog.manifest").value();
  bytes.resize(bytes.size() / 2);
  REQUIRE(WriteFileAtomically(server.memory, "/data/catalog.manifest", bytes).ok());
  const auto opened = Catalog::Open(server.options, server.env, server.clock);
  CHECK(opened.status().code() == StatusCode::kCorrupt);
  CHECK_THAT(opened.status().text(), Contains("/data/catalog.manifest"));
}

TEST_CASE("the log is let go once the RAM parts are written", "[storage]") {
  Server server;
  server.options.binlog_max_log_size = 4096;
  server.catalog.reset();
  server.Start();
  server.Create("t");
  server.Create("idle");
  for (uint64_t id = 1; id <= 200; ++id) {
    REQUIRE(server.Write("t", Insert({id}, 1)).ok());
  }
  CHECK(server.Files("/data/binlog").size() > 3);
  REQUIRE(server.catalog->FlushTable("t").ok());
  CHECK(server.Files("/data/binlog").size() == 1);
  CHECK(server.Files("/data/t.t1").size() == 1);
  server.Crash();
  CHECK(server.Rows("t").size() == 200);
}

TEST_CASE("a log that was taken away starts again without losing later commits", "[storage]") {
  Server server;
  server.Create("t");
  for (uint64_t id = 1; id <= 20; ++id) {
    REQUIRE(server.Write("t", Insert({id}, 1)).ok());
  }
  REQUIRE(server.catalog->Close().ok());
  server.catalog.reset();
  REQUIRE(server.memory.RemoveTree("/data/binlog").ok());
  server.Start();
  REQUIRE(server.Write("t", Insert({100}, 2)).ok());
  server.Crash();
  CHECK(server.Rows("t").size() == 21);
}

TEST_CASE("a table with binlog='0' keeps what was flushed", "[storage]") {
  Server server;
  TableDefinition definition = testing::MakeDefinition("t");
  definition.settings["binlog"] = "0";
  REQUIRE(server.catalog->Create(definition).ok());
  REQUIRE(server.Write("t", Insert({1}, 1)).ok());
  REQUIRE(server.catalog->FlushTable("t").ok());
  REQUIRE(server.Write("t", Insert({2}, 1)).ok());
  server.Crash();
  CHECK(server.Rows("t") == Lines{"1: 1 -1 0.5 text 1"});
  REQUIRE(server.Write("t", Insert({2}, 1)).ok());
  server.Restart();
  CHECK(server.Rows("t").size() == 2);
}

TEST_CASE("a log from before is read even when there is to be none any more", "[storage]") {
  Server server;
  server.Create("t");
  REQUIRE(server.Write("t", Insert({1}, 1)).ok());
  server.options.binlog_enabled = false;
  server.Crash();
  CHECK(server.Rows("t").size() == 1);
  REQUIRE(server.Write("t", testing::Delete({1})).ok());
  server.Restart();
  server.options.binlog_enabled = true;
  server.Restart();
  CHECK(server.Rows("t").empty());
}

TEST_CASE("automatic ids ascend, are never given twice and pass over ids in use", "[storage]") {
  Server server;
  server.options.server_id = 5;
  server.Create("t");
  server.Restart();
  const auto first = server.catalog->NewDocIds(3);
  CHECK(first[0].value >> 56 == 5);
  CHECK(((first[0].value >> 24) & 0xffffffff) >= 1'700'000'000 - 1'556'668'800);
  CHECK(first[2].value == first[0].value + 2);
  REQUIRE(server.Write("t", Insert({first[2].value + 1}, 1)).ok());
  CHECK(server.catalog->NewDocIds(1)[0].value == first[2].value + 2);
  server.Crash();  // within the same second
  CHECK(server.catalog->NewDocIds(1)[0].value > first[2].value + 2);
}

TEST_CASE("nothing is written after Close", "[storage]") {
  Server server;
  server.Create("t");
  REQUIRE(server.catalog->Close().ok());
  CHECK(server.Write("t", Insert({1}, 1)).code() == StatusCode::kInvalid);
  CHECK(server.catalog->Drop("t").code() == StatusCode::kInvalid);
}

TEST_CASE("definitions are altered while rows are written", "[storage][threads]") {
  Server server;
  server.Create("t");
  std::vector<std::thread> writers;
  std::atomic<int> failures{0};
  for (uint64_t w = 0; w < 3; ++w) {
    writers.emplace_back([&, w] {
      for (uint64_t i = 0; i < 100; ++i) {
        failures += server.Write("t", Insert({w * 1000 + i}, 1)).ok() ? 0 : 1;
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    REQUIRE(AddColumn(*server.catalog, "t", "x", ColumnType::kInt).ok());
    REQUIRE(server.catalog->FlushTable("t").ok());
    REQUIRE(DropColumn(*server.catalog, "t", 5).ok());
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  CHECK(failures == 0);
  std::multiset<std::string> before;
  for (const std::string& line : server.Rows("t")) {
    before.insert(line);
  }
  CHECK(before.size() == 300);
  server.Crash();
  const Lines after = server.Rows("t");
  CHECK(std::multiset<std::string>(after.begin(), after.end()) == before);
}

TEST_CASE("a flush and a merge that another statement gets out of its way start again",
          "[storage][threads]") {
  Server server;
  server.Create("t");
  std::atomic<bool> done{false};
  std::atomic<int> failures{0};
  std::thread truncating([&] {
    while (!done) {
      failures += server.catalog->Truncate("t").ok() ? 0 : 1;
    }
  });
  std::set<std::string> answers;
  std::vector<uint64_t> ids(200);
  for (int round = 0; round < 300; ++round) {
    std::iota(ids.begin(), ids.end(), 1);
    REQUIRE(server.Write("t", Insert(ids, round, true)).ok());
    answers.insert(server.catalog->FlushRamChunk("t").ToString());
    REQUIRE(server.Write("t", Insert(ids, round, true)).ok());
    answers.insert(server.catalog->FlushRamChunk("t").ToString());
    answers.insert(server.catalog->Optimize("t", {.cutoff = 1, .wait = true, .cancel = nullptr}).ToString());
  }
  done = true;
  truncating.join();
  CHECK(failures == 0);
  CHECK(answers == std::set<std::string>{"ok"});
}

// Random operations, now and then a crash: what was acknowledged is there, in its order, and nothing else.
class RandomRun {
 public:
  RandomRun(Server& server, uint32_t seed) : server_(server), random_(seed) {
    for (const char* name : {"a", "b"}) {
      server_.Create(name);
    }
  }

  void Step(bool with_faults) {
    const std::string name = Pick(2) == 0 ? "a" : "b";
    const uint32_t what = Pick(100);
    const Lines before = server_.Rows(name);
    if (with_faults) {
      Arm();
    }
    Status status;
    if (what < 70) {
      status = server_.Write(name, RandomChange());
    } else if (what < 74) {
      status = server_.catalog->FlushTable(name);
    } else if (what < 78) {
      status = server_.catalog->FlushRamChunk(name);
    } else if (what < 80) {
      status = server_.catalog->Optimize(name, {.cutoff = 1, .wait = true});
    }
    REQUIRE(FaultPoints::Arm("").ok());
    if (!status.ok() && status.code() != StatusCode::kExists) {
      REQUIRE(with_faults);
      REQUIRE(status.code() == StatusCode::kIo);
    }
    if (!status.ok()) {
      REQUIRE(server_.Rows(name) == before);
    }
    if (what >= 80) {
      StepWithoutFaults(name, what);
    }
  }

 private:
  uint32_t Pick(uint32_t count) { return std::uniform_int_distribution<uint32_t>(0, count - 1)(random_); }

  void Arm() {
    const char* points[] = {"env.append=fail%30", "env.append.torn=fail%30", "env.sync=fail%30",
                            "env.rename=fail%50", "env.create=fail%30",      "env.read=fail%30",
                            "chunk.publish=fail", "manifest.rename=fail%50"};
    REQUIRE(FaultPoints::Arm(fmt::format("{},seed={}", points[Pick(8)], random_())).ok());
  }

  void StepWithoutFaults(const std::string& name, uint32_t what) {
    if (what < 82) {
      REQUIRE(server_.catalog->Truncate(name).ok());
    } else if (what < 85) {
      REQUIRE(AddColumn(*server_.catalog, name, "x", ColumnType::kBigint).ok());
    } else if (what < 88) {
      const size_t columns = server_.catalog->Find(name)->definition()->columns.size();
      REQUIRE((columns <= 3 || DropColumn(*server_.catalog, name, columns - 1).ok()));
    } else if (what < 89) {
      REQUIRE(server_.catalog->Drop(name).ok());
      server_.Create(name);
    } else {
      Compare(what >= 92);
    }
  }

  void Compare(bool crash) {
    std::map<std::string, Lines> before;
    for (const char* name : {"a", "b"}) {
      before[name] = server_.Rows(name);
    }
    if (crash) {
      server_.Crash();
    } else {
      server_.Restart();
    }
    for (const char* name : {"a", "b"}) {
      Lines after = server_.Rows(name);
      std::sort(after.begin(), after.end());
      std::sort(before[name].begin(), before[name].end());
      REQUIRE(after == before[name]);
    }
  }

  Change RandomChange() {
    std::vector<uint64_t> ids;
    for (uint32_t i = Pick(5) + 1; i > 0; --i) {
      ids.push_back(Pick(60) + 1);
    }
    const int64_t value = Pick(1000);
    switch (Pick(5)) {
      case 0:
        return Insert(ids, value);
      case 1:
        return testing::Delete(ids);
      case 2:
        return testing::UpdateInt(ids, 1, ColumnType::kInt, value);
      case 3:
        return testing::UpdateText(ids, 4, std::string(Pick(300), 'u'));
      default:
        return Insert(ids, value, true);
    }
  }

  Server& server_;
  std::mt19937 random_;
};

std::string FileNames(const std::vector<std::string>& paths) {
  std::string names;
  for (const std::string& path : paths) {
    names += path.substr(path.rfind('/') + 1) + " ";
  }
  return names;
}

TEST_CASE("a flush without rows in RAM writes what was deleted and updated in chunks", "[storage]") {
  Server server;
  server.Create("t");
  REQUIRE(server.Write("t", Insert({1, 2, 3}, 5)).ok());
  REQUIRE(server.catalog->FlushRamChunk("t").ok());
  REQUIRE(server.Write("t", testing::Delete({2})).ok());
  REQUIRE(server.Write("t", testing::UpdateInt({3}, 1, ColumnType::kInt, 7)).ok());
  const auto paths = server.catalog->Freeze("t");
  REQUIRE(paths.status().ToString() == "ok");
  CHECK_THAT(FileNames(*paths), Contains("chunk.1.spm.1 ") && Contains("chunk.1.spu.1 "));
}

TEST_CASE("a flush that could not be saved is saved by the next one", "[storage]") {
  Server server;
  server.Create("t");
  REQUIRE(server.Write("t", Insert({1, 2, 3}, 5)).ok());
  REQUIRE(FaultPoints::Arm("manifest.write=fail@1").ok());
  const Status failed = server.catalog->FlushRamChunk("t");
  REQUIRE(FaultPoints::Arm("").ok());
  CHECK(failed.code() == StatusCode::kIo);
  const auto paths = server.catalog->Freeze("t");
  REQUIRE(paths.status().ToString() == "ok");
  CHECK_THAT(FileNames(*paths), Contains("chunk.1.sph "));
  const Lines rows = server.Rows("t");
  server.Crash();
  CHECK(server.Rows("t") == rows);
}

TEST_CASE("random changes survive random crashes", "[storage]") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  INFO("seed " << seed);
  Server server;
  RandomRun run(server, seed);
  for (int i = 0; i < 600; ++i) {
    run.Step(false);
  }
}

TEST_CASE("changes that fail for lack of disk leave no trace, before and after a crash", "[storage]") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  INFO("seed " << seed);
  Server server;
  RandomRun run(server, seed);
  for (int i = 0; i < 400; ++i) {
    run.Step(true);
  }
}

}  // namespace
}  // namespace stoa::storage
