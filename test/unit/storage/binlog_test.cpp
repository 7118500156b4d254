#include "storage/binlog/binlog.h"

#include <catch2/catch.hpp>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "storage/base/fault_point.h"
#include "storage/base/faulty_env.h"
#include "storage/base/memory_env.h"
#include "storage/binlog/binlog_format.h"

namespace stoa::storage {
namespace {

using Catch::Matchers::Contains;
using Records = std::vector<std::pair<uint64_t, std::string>>;

// Disarms at the end of a test.
struct Faults {
  explicit Faults(std::string_view spec) { REQUIRE(FaultPoints::Arm(spec).ToString() == "ok"); }
  ~Faults() { static_cast<void>(FaultPoints::Arm("")); }
};

// A log in memory that can be opened again and again.
struct Log {
  MemoryEnv memory;
  FaultyEnv env{memory};
  BinlogOptions options;
  Records replayed;
  std::unique_ptr<Binlog> binlog;

  explicit Log(int flush = 1) {
    options.folder = "/log";
    options.flush = flush;
  }

  Status Open(uint64_t after = 0) {
    binlog.reset();
    replayed.clear();
    auto opened = Binlog::Open(options, env, Lsn(after), [&](Lsn lsn, std::string_view payload) {
      replayed.emplace_back(lsn.value, payload);
      return Status::Ok();
    });
    if (opened.ok()) {
      binlog = std::move(opened).value();
    }
    return opened.status();
  }
  void MustOpen(uint64_t after = 0) { REQUIRE(Open(after).ToString() == "ok"); }
  uint64_t Commit(std::string_view payload) {
    const Lsn lsn = binlog->Append(payload).value();
    REQUIRE(binlog->MakeDurable(lsn).ToString() == "ok");
    return lsn.value;
  }
  // Power cut: unsynced bytes are gone.
  void Crash() {
    binlog.reset();
    REQUIRE(env.DropUnsynced().ok());
  }
  void Overwrite(const std::string& path, std::string_view bytes) {
    REQUIRE(memory.Create(path).value()->Append(bytes).ok());
  }
};

const std::string kFirst = "/log/binlog.0001";

}  // namespace

TEST_CASE("what is durable is replayed in order after a power cut", "[storage]") {
  Log log;
  log.MustOpen();
  CHECK(log.Commit("one") == 1);
  CHECK(log.Commit("") == 2);
  CHECK(log.Commit(std::string(3 << 20, 'x')) == 3);
  CHECK(log.binlog->last_durable() == Lsn(3));
  REQUIRE(log.binlog->Append("never synced").ok());
  log.Crash();
  log.MustOpen();
  CHECK(log.replayed == Records{{1, "one"}, {2, ""}, {3, std::string(3 << 20, 'x')}});
  CHECK(log.Commit("four") == 4);
  log.Crash();
  log.MustOpen(2);
  CHECK(log.replayed == Records{{3, std::string(3 << 20, 'x')}, {4, "four"}});
}

TEST_CASE("the next LSN is above what was replayed, asked for and given up", "[storage]") {
  Log log;
  log.MustOpen(41);
  CHECK(log.Commit("a") == 42);
  log.Crash();
  log.MustOpen(100);
  CHECK(log.Commit("b") == 101);
  log.Crash();
  log.MustOpen(0);
  CHECK(log.replayed == Records{{42, "a"}, {101, "b"}});
}

TEST_CASE("a torn last record is cut at every length, and only it is lost", "[storage]") {
  const std::string last = "the last record";
  for (size_t cut = 1; cut <= kRecordHeaderSize + last.size(); ++cut) {
    Log log;
    log.MustOpen();
    log.Commit("one");
    log.Commit(last);
    log.Crash();
    std::string bytes = log.memory.ReadFile(kFirst).value();
    log.Overwrite(kFirst, bytes.substr(0, bytes.size() - cut));
    log.MustOpen();
    CHECK(log.replayed == Records{{1, "one"}});
    CHECK(log.Commit("two again") == 2);
    log.Crash();
    log.MustOpen();
    CHECK(log.replayed == Records{{1, "one"}, {2, "two again"}});
  }
}

TEST_CASE("zeros and rubbish behind the last record are cut", "[storage]") {
  for (const std::string& tail : {std::string(1, '\0'), std::string(5000, '\0'), std::string(200, '\x7f')}) {
    Log log;
    log.MustOpen();
    log.Commit("one");
    log.Crash();
    log.Overwrite(kFirst, log.memory.ReadFile(kFirst).value() + tail);
    log.MustOpen();
    CHECK(log.replayed == Records{{1, "one"}});
  }
}

TEST_CASE("any flipped byte is noticed: the tail is cut, the middle refused or skipped when asked",
          "[storage]") {
  Log made;
  made.MustOpen();
  made.Commit("first");
  made.Commit("second");
  made.Commit("third");
  made.Crash();
  const std::string bytes = made.memory.ReadFile(kFirst).value();
  const size_t second = kSegmentHeaderSize + kRecordHeaderSize + 5;
  const size_t third = second + kRecordHeaderSize + 6;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    Log log;
    REQUIRE(log.memory.MakeFolder("/log").ok());
    log.Overwrite(kFirst, damaged);
    if (at >= third) {
      log.MustOpen();
      CHECK(log.replayed == Records{{1, "first"}, {2, "second"}});
      continue;
    }
    const Status status = log.Open();
    CHECK_FALSE(status.ok());
    CHECK_THAT(status.text(), Contains(kFirst));
    const bool version = at >= 8 && at < 12;
    CHECK(status.code() == (version ? StatusCode::kUnsupported : StatusCode::kCorrupt));
    CHECK(log.memory.ReadFile(kFirst).value() == damaged);
    if (version) {
      continue;
    }
    CHECK_THAT(status.text(), Contains("--replay-flags=ignore-trx-errors"));
    if (at >= second) {
      CHECK_THAT(status.text(), Contains(fmt::format("offset {}", second)));
    }
    log.options.ignore_damaged_transactions = true;
    log.MustOpen();
    const Records expected = at < kSegmentHeaderSize ? Records{{1, "first"}, {2, "second"}, {3, "third"}}
                             : at < second           ? Records{{2, "second"}, {3, "third"}}
                                                     : Records{{1, "first"}, {3, "third"}};
    CHECK(log.replayed == expected);
    CHECK(log.Commit("fourth") == 4);
  }
}

TEST_CASE("a truncated segment is refused when a later one exists", "[storage]") {
  Log log;
  log.MustOpen();
  log.Commit("one");
  log.Commit("two");
  log.Crash();
  log.MustOpen();
  log.Commit("three");
  log.Crash();
  const std::string bytes = log.memory.ReadFile(kFirst).value();
  for (const size_t cut : {size_t{1}, size_t{kRecordHeaderSize + 3}}) {
    log.Overwrite(kFirst, bytes.substr(0, bytes.size() - cut));
    const Status status = log.Open();
    CHECK(status.code() == StatusCode::kCorrupt);
    CHECK_THAT(status.text(), Contains(kFirst));
    // Not needed: no reason to refuse.
    log.MustOpen(2);
    CHECK(log.replayed == Records{{3, "three"}});
    REQUIRE(log.memory.Remove("/log/binlog.0003").ok());
  }
  log.options.ignore_damaged_transactions = true;
  log.MustOpen();
  CHECK(log.replayed == Records{{1, "one"}, {3, "three"}});
}

TEST_CASE("a segment that was being made when the power went is made anew", "[storage]") {
  for (const std::string& rest : {std::string(), std::string("STOABLOG"), std::string(4096, '\0')}) {
    Log log;
    log.MustOpen();
    log.Commit("one");
    log.Crash();
    log.Overwrite("/log/binlog.0002", rest);
    log.MustOpen();
    CHECK(log.replayed == Records{{1, "one"}});
    CHECK(log.Commit("two") == 2);
    log.Crash();
    log.MustOpen();
    CHECK(log.replayed == Records{{1, "one"}, {2, "two"}});
  }
}

TEST_CASE("a missing segment is passed over only when nothing of it is needed", "[storage]") {
  for (const char* missing : {"/log/binlog.0001", "/log/binlog.0002"}) {
    Log log;
    for (const char* payload : {"one", "two", "three"}) {
      log.MustOpen();
      log.Commit(payload);
      log.Crash();
    }
    REQUIRE(log.memory.Remove(missing).ok());
    const Status status = log.Open();
    CHECK(status.code() == StatusCode::kCorrupt);
    CHECK_THAT(status.text(), Contains("missing") && Contains("--replay-flags=ignore-trx-errors"));
    log.MustOpen(2);
    CHECK(log.replayed == Records{{3, "three"}});
  }
}

TEST_CASE("eight threads commit in groups and everything is replayed in order", "[storage][threads]") {
  const int flush = GENERATE(0, 1, 2);
  Log log(flush);
  log.options.max_segment_size = 4096;
  log.options.sync_interval = std::chrono::milliseconds(1);
  log.MustOpen();
  constexpr int kEach = 200;
  std::map<uint64_t, std::string> sent;
  Mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          const std::string payload = fmt::format("thread {} record {}", t, i);
          const Result<Lsn> lsn = log.binlog->Append(payload);
          if (lsn.ok() && log.binlog->MakeDurable(*lsn).ok()) {
            MutexLock lock(mutex);
            sent.emplace(lsn->value, payload);
          }
        }
      });
    }
  }
  REQUIRE(sent.size() == 8 * kEach);
  REQUIRE(log.binlog->Close().ok());
  log.Crash();
  log.MustOpen();
  CHECK(log.replayed == Records(sent.begin(), sent.end()));
}

TEST_CASE("one sync makes all waiting records durable", "[storage]") {
  Log log;
  log.MustOpen();
  const uint64_t before = log.binlog->counters().syncs;
  for (int i = 0; i < 10; ++i) {
    REQUIRE(log.binlog->Append("x").ok());
  }
  REQUIRE(log.binlog->MakeDurable(Lsn(10)).ok());
  REQUIRE(log.binlog->MakeDurable(Lsn(3)).ok());
  CHECK(log.binlog->counters().syncs == before + 1);
  CHECK_FALSE(log.binlog->MakeDurable(Lsn(11)).ok());
}

TEST_CASE("records of a failed write or sync are given up for ever and later ones are taken", "[storage]") {
  const std::string point =
      GENERATE("binlog.write=fail@2", "binlog.write.after=fail@2", "binlog.sync=fail@2",
               "binlog.sync.after=fail@2", "env.append=full@2", "env.append.torn=full@2", "env.sync=fail@2");
  CAPTURE(point);
  Log log;
  log.MustOpen();
  {
    Faults faults(point);
    log.Commit("one");
    REQUIRE(log.binlog->Append("lost two").ok());
    REQUIRE(log.binlog->Append("lost three").ok());
    CHECK(log.binlog->MakeDurable(Lsn(3)).code() == StatusCode::kIo);
    CHECK(log.binlog->MakeDurable(Lsn(2)).code() == StatusCode::kIo);
    CHECK(log.binlog->last_durable() == Lsn(1));
    CHECK(log.Commit("four") == 4);
  }
  CHECK(log.binlog->MakeDurable(Lsn(2)).code() == StatusCode::kIo);
  CHECK(log.binlog->MakeDurable(Lsn(1)).ok());
  CHECK(log.binlog->last_durable() == Lsn(4));
  // Both if the bytes of the given-up records reached the disk and if they did not.
  if (GENERATE(false, true)) {
    log.Crash();
  }
  log.MustOpen();
  CHECK(log.replayed == Records{{1, "one"}, {4, "four"}});
}

TEST_CASE("while no new segment can be made, appends fail with the reason, then they go on", "[storage]") {
  Log log;
  log.MustOpen();
  log.Commit("one");
  {
    Faults faults("binlog.sync=fail,env.create=full");
    REQUIRE(log.binlog->Append("lost").ok());
    CHECK_FALSE(log.binlog->MakeDurable(Lsn(2)).ok());
    CHECK_THAT(log.binlog->Append("x").status().text(), Contains("No space left"));
    CHECK_THAT(log.binlog->Append("x").status().text(), Contains("No space left"));
    CHECK(log.binlog->last_appended() == Lsn(2));
  }
  CHECK(log.Commit("three") == 3);
  log.Crash();
  log.MustOpen();
  CHECK(log.replayed == Records{{1, "one"}, {3, "three"}});
}

TEST_CASE("threads hear of a failure exactly when their record is not replayed", "[storage][threads]") {
  const int flush = GENERATE(1, 2);
  Log log(flush);
  log.options.max_segment_size = 2000;
  log.MustOpen();
  std::map<uint64_t, std::string> sent;
  Mutex mutex;
  {
    Faults faults(
        "env.append=full%3,env.append.torn=fail%3,env.sync=fail%3,env.create=fail%10,binlog.sync.after=fail%"
        "3");
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 300; ++i) {
          const std::string payload = fmt::format("thread {} record {}", t, i);
          const Result<Lsn> lsn = log.binlog->Append(payload);
          if (lsn.ok() && log.binlog->MakeDurable(*lsn).ok()) {
            MutexLock lock(mutex);
            sent.emplace(lsn->value, payload);
          }
        }
      });
    }
  }
  CHECK(sent.size() > 300);
  CHECK(sent.size() < 1200);
  if (flush == 1) {
    log.Crash();
  }
  log.MustOpen();
  // Whose header could not be made durable may still be replayed: at most the last group.
  for (const auto& [lsn, payload] : sent) {
    const bool there =
        std::find(log.replayed.begin(), log.replayed.end(), std::pair(lsn, payload)) != log.replayed.end();
    CHECK(there);
  }
  REQUIRE_FALSE(log.replayed.empty());
  for (const auto& record : log.replayed) {
    CHECK((sent.contains(record.first) || record.first > sent.rbegin()->first));
  }
}

TEST_CASE("with flush 2 a failed sync loses nothing that was acknowledged", "[storage]") {
  Log log(2);
  log.MustOpen();
  log.Commit("one");
  log.Commit("two");
  {
    Faults faults("binlog.sync=fail@1");
    CHECK_FALSE(log.binlog->Close().ok());
  }
  log.Crash();
  log.MustOpen();
  CHECK(log.replayed == Records{{1, "one"}, {2, "two"}});
}

TEST_CASE("with flush 0 and 2 the log syncs by itself", "[storage][threads]") {
  const int flush = GENERATE(0, 2);
  Log log(flush);
  log.options.sync_interval = std::chrono::milliseconds(1);
  log.MustOpen();
  log.Commit("one");
  const uint64_t before = log.binlog->counters().syncs;
  log.Commit("two");
  while (log.binlog->counters().syncs == before) {
    std::this_thread::yield();
  }
  log.Commit("three");
  REQUIRE(log.binlog->Close().ok());
  CHECK_FALSE(log.binlog->Append("closed").ok());
  log.Crash();
  log.MustOpen();
  CHECK(log.replayed == Records{{1, "one"}, {2, "two"}, {3, "three"}});
}

TEST_CASE("a full segment is ended and a new one begun", "[storage]") {
  Log log;
  log.options.max_segment_size = 200;
  log.MustOpen();
  for (int i = 1; i <= 10; ++i) {
    CHECK(log.Commit(std::string(50, static_cast<char>('a' + i))) == static_cast<uint64_t>(i));
  }
  CHECK(log.memory.List("/log").value().size() == 4);
  log.Crash();
  log.MustOpen();
  CHECK(log.replayed.size() == 10);
}

TEST_CASE("forgetting removes whole segments only, and they are not missed later", "[storage]") {
  Log log;
  log.options.max_segment_size = 200;
  log.MustOpen();
  for (int i = 1; i <= 10; ++i) {  // three records a segment
    log.Commit(std::string(50, 'x'));
  }
  REQUIRE(log.binlog->Forget(Lsn(2)).ok());
  CHECK(log.memory.Exists(kFirst));
  REQUIRE(log.binlog->Forget(Lsn(5)).ok());
  CHECK_FALSE(log.memory.Exists(kFirst));
  CHECK(log.memory.Exists("/log/binlog.0002"));
  log.Crash();
  log.MustOpen();  // `after` below what was forgotten
  REQUIRE(log.replayed.size() == 7);
  CHECK(log.replayed.front().first == 4);

  REQUIRE(log.binlog->Forget(Lsn(10)).ok());
  CHECK(log.memory.List("/log").value().size() == 1);
  log.Crash();
  log.MustOpen();
  CHECK(log.replayed.empty());
  CHECK(log.Commit("eleven") == 11);
}

TEST_CASE("a failed removal is tried again at the next call", "[storage]") {
  Log log;
  log.options.max_segment_size = 1;
  log.MustOpen();
  log.Commit("one");
  log.Commit("two");
  {
    Faults faults("binlog.forget=fail@2");
    CHECK_FALSE(log.binlog->Forget(Lsn(2)).ok());
  }
  CHECK(log.binlog->Forget(Lsn(2)).ok());
  CHECK(log.memory.List("/log").value().size() == 1);
}

TEST_CASE("an error of the receiver ends the replay and names the place", "[storage]") {
  Log log;
  log.MustOpen();
  log.Commit("one");
  log.binlog.reset();
  const auto refuse = [](StatusCode code) {
    return [code](Lsn, std::string_view) { return Status(code, "bad table"); };
  };
  CHECK_THAT(Binlog::Open(log.options, log.env, Lsn(0), refuse(StatusCode::kLimit)).status().text(),
             Contains(kFirst) && Contains("transaction 1: bad table"));
  log.options.ignore_damaged_transactions = true;
  CHECK(Binlog::Open(log.options, log.env, Lsn(0), refuse(StatusCode::kLimit)).status().code() ==
        StatusCode::kLimit);
  CHECK(Binlog::Open(log.options, log.env, Lsn(0), refuse(StatusCode::kCorrupt)).ok());
}

}  // namespace stoa::storage
