#include "daemon/connection_registry.h"

#include <catch2/catch.hpp>

#include "daemon/status_report.h"

namespace stoa::daemon {
namespace {

TEST_CASE("connections over the limit are refused, privileged ones are not", "[daemon]") {
  ConnectionRegistry registry(2, Clock::System());
  const auto first = registry.Add("a", "mysql", false);
  const auto second = registry.Add("b", "mysql", false);
  REQUIRE(second != nullptr);
  CHECK(registry.Add("c", "mysql", false) == nullptr);
  CHECK(registry.Add("d", "mysql", true) != nullptr);
  registry.Remove(first->id());
  registry.Remove(second->id());
  CHECK(registry.Add("e", "mysql", false) != nullptr);
}

TEST_CASE("KILL reaches the connection, KILL QUERY only one that runs a statement", "[daemon]") {
  ConnectionRegistry registry(0, Clock::System());
  const auto entry = registry.Add("a", "mysql", false);
  std::vector<bool> kills;
  entry->SetKill([&kills](bool query_only) { kills.push_back(query_only); });
  REQUIRE(registry.Kill(entry->id(), true).ok());
  CHECK(kills.empty());
  entry->BeginCommand("Query", "SELECT 1");
  REQUIRE(registry.Kill(entry->id(), true).ok());
  REQUIRE(registry.Kill(entry->id(), false).ok());
  CHECK(kills == std::vector<bool>{true, false});
  CHECK(registry.Kill(999, false).number() == 1094);
}

TEST_CASE("the process list shows the running statement and forgets it afterwards", "[daemon]") {
  ConnectionRegistry registry(0, Clock::System());
  const auto entry = registry.Add("10.0.0.1:5", "mysql", false);
  entry->SetUser("bob");
  entry->BeginCommand("Query", std::string(1 << 20, 'x'));
  auto list = registry.List();
  REQUIRE(list.size() == 1);
  CHECK(list[0].user == "bob");
  CHECK(list[0].command == "Query");
  CHECK(list[0].statement.size() <= 8192);
  CHECK(registry.running() == 1);
  entry->EndCommand();
  CHECK(registry.List()[0].statement.empty());
  CHECK(registry.List()[0].command == "Sleep");
}

TEST_CASE("statements are counted by their first word", "[daemon]") {
  StatusReport report("8.0.40-x", Clock::System());
  report.CountStatement("  SeLeCt 1", 10, false);
  report.CountStatement("insert into t values (1)", 10, true);
  std::map<std::string, std::string> counters;
  for (const auto& row : report.Counters()) {
    counters[row.name] = row.value;
  }
  CHECK(counters["command_search"] == "1");
  CHECK(counters["command_insert"] == "1");
  CHECK(counters["queries"] == "2");
  CHECK(report.Line().starts_with("Uptime: 0  Threads: 0  Queue: 0"));
}

}  // namespace
}  // namespace stoa::daemon
