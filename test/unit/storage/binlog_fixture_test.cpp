#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "storage/base/memory_env.h"
#include "storage/binlog/binlog.h"

namespace stoa::storage {

TEST_CASE("a log of format version 1 is read", "[storage]") {
  // From a copy: opening a log adds a segment.
  const std::string folder = std::string(STOA_SOURCE_DIR) + "/test/fixtures/format/binlog/v1/";
  MemoryEnv env;
  REQUIRE(env.MakeFolder("/log").ok());
  for (const char* name : {"binlog.0001", "binlog.0002"}) {
    const std::string bytes = Env::Posix().ReadFile(folder + name).value();
    REQUIRE(env.Create(std::string("/log/") + name).value()->Append(bytes).ok());
  }
  std::vector<std::pair<uint64_t, std::string>> replayed;
  const BinlogOptions options = [] {
    BinlogOptions made;
    made.folder = "/log";
    return made;
  }();
  const auto binlog = Binlog::Open(options, env, Lsn(0), [&](Lsn lsn, std::string_view payload) {
    replayed.emplace_back(lsn.value, payload);
    return Status::Ok();
  });
  REQUIRE(binlog.status().ToString() == "ok");
  // Transaction 3 is in the first segment, but was given up: the second one says so.
  const std::vector<std::pair<uint64_t, std::string>> expected{
      {1, "hello"}, {2, ""}, {4, std::string(1000, 'z')}};
  CHECK(replayed == expected);
  CHECK(binlog.value()->last_appended() == Lsn(4));
}

}  // namespace stoa::storage
