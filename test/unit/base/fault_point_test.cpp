#include "storage/base/fault_point.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "base/temporary_folder.h"
#include "storage/base/env.h"

namespace stoa {
namespace {

using Catch::Matchers::Contains;

struct Disarm {
  ~Disarm() { static_cast<void>(FaultPoints::Arm("")); }
};

int Failures(const char* name, int passes) {
  int failures = 0;
  for (int i = 0; i < passes; ++i) {
    failures += FaultPoints::Pass(name).ok() ? 0 : 1;
  }
  return failures;
}

}  // namespace

TEST_CASE("a fault point fails at the pass or at the share it was armed for", "[base]") {
  const Disarm disarm;
  REQUIRE(FaultPoints::Arm("env.sync=fail@3,env.rename=fail,env.create=full%25,seed=5").ok());
  CHECK(FaultPoints::armed());
  CHECK(FaultPoints::Pass("env.sync").ok());
  CHECK(FaultPoints::Pass("env.sync").ok());
  CHECK_THAT(FaultPoints::Pass("env.sync").text(), Contains("env.sync") && Contains("Input/output error"));
  CHECK(Failures("env.sync", 10) == 0);
  CHECK(Failures("env.rename", 10) == 10);
  CHECK(Failures("env.append", 10) == 0);
  const int share = Failures("env.create", 1000);
  CHECK(share > 150);
  CHECK(share < 350);
  CHECK(FaultPoints::Report() == fmt::format("env.create {}\nenv.rename 10\nenv.sync 1\n", share));

  REQUIRE(FaultPoints::Arm("env.create=full%25,seed=5").ok());
  CHECK(Failures("env.create", 1000) == share);
  REQUIRE(FaultPoints::Arm("").ok());
  CHECK_FALSE(FaultPoints::armed());
}

TEST_CASE("arming refuses what it does not know and says what it knows", "[base]") {
  CHECK_THAT(FaultPoints::Arm("env.snyc=fail").text(), Contains("'env.snyc'") && Contains("env.sync"));
  CHECK_THAT(FaultPoints::Arm("env.sync=explode").text(), Contains("'explode'") && Contains("kill"));
  for (const char* bad :
       {"env.sync", "env.sync=fail@0", "env.sync=fail@x", "env.sync=fail%101", "seed=x", ",,"}) {
    CHECK(FaultPoints::Arm(bad).code() == StatusCode::kInvalid);
  }
  CHECK_FALSE(FaultPoints::armed());
}

TEST_CASE("injected faults are in the report file before they act", "[base]") {
  const Disarm disarm;
  const TemporaryFolder folder;
  REQUIRE(FaultPoints::Arm("env.sync=fail@2,report=" + (folder / "report")).ok());
  CHECK(Failures("env.sync", 3) == 1);
  CHECK(Env::Posix().ReadFile(folder / "report").value() == "env.sync fail 2\n");
}

TEST_CASE("every fault point of the sources can be armed", "[base]") {
  const Disarm disarm;
  const std::regex use(R"re(STOA_FAULT_POINT\("([^"]+)"\))re");
  for (const char* layer : {"storage", "knn", "sql", "config", "daemon"}) {
    const std::filesystem::path root = std::filesystem::path(STOA_SOURCE_DIR) / layer;
    if (!std::filesystem::exists(root)) {
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") {
        continue;
      }
      const std::string text = Env::Posix().ReadFile(entry.path().string()).value();
      for (auto match = std::sregex_iterator(text.begin(), text.end(), use); match != std::sregex_iterator();
           ++match) {
        CHECK(FaultPoints::Arm((*match)[1].str() + "=fail").ToString() == "ok");
      }
    }
  }
}

}  // namespace stoa
