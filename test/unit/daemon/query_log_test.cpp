#include "daemon/query_log.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "daemon/pid_file.h"

using stoa::daemon::OneLineStatement;
using stoa::daemon::PidFile;
using stoa::daemon::QueryLog;
using stoa::daemon::ReadRunningPid;
using stoa::daemon::StatementReport;

namespace {

// A folder that is gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path().string() + "/stoa-unit-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a logged statement is one line that means the same", "[daemon]") {
  CHECK(OneLineStatement("select 1") == "select 1;");
  CHECK(OneLineStatement("select 1 ; ;\n") == "select 1;");
  CHECK(OneLineStatement("select 'a\nb', \"c\r\nd\" from t") == "select 'a\\nb', \"c\\r\\nd\" from t;");
  CHECK(OneLineStatement("select 1 -- it's one\nfrom t # it's t\nwhere a=1") ==
        "select 1  from t  where a=1;");
  CHECK(OneLineStatement("select 'it\\'s -- not' /* two\nlines */ from t") ==
        "select 'it\\'s -- not' /* two lines */ from t;");
  CHECK(OneLineStatement("select 'open\n") == "select 'open\\n;");
}

TEST_CASE("the query log keeps slow selects and updates as SQL", "[daemon]") {
  const TemporaryFolder folder;
  const std::string path = folder.File("query.log");
  auto log = QueryLog::Open({.path = path, .min_micros = 1000, .more_commands = "delete"});
  REQUIRE(log.ok());
  StatementReport report{
      .client_address = "127.0.0.1:4000", .connection_id = 7, .start_micros = 0, .rows = 3};
  for (std::string_view text :
       {"SELECT 1\nFROM t", "insert into t values(1)", "/* x */ Update t set a=1", "DELETE x"}) {
    report.text = text;
    report.wall_micros = 2000;
    (*log)->OnStatement(report);
    report.wall_micros = 999;
    (*log)->OnStatement(report);
  }
  report.text = "SELECT x";
  report.error = "unknown column\n'x'";
  report.wall_micros = 1'500'000;
  (*log)->OnStatement(report);

  const std::string text = ReadAll(path);
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  CHECK_THAT(text,
             Catch::Contains("conn 7 (127.0.0.1:4000) real 0.002 wall 0.002 found 3 */ SELECT 1 FROM t;\n"));
  CHECK_THAT(text, Catch::Contains("*/ /* x */ Update t set a=1;\n"));
  CHECK_THAT(text, Catch::Contains("*/ DELETE x;\n"));
  CHECK_THAT(text, Catch::Contains("wall 1.500 found 3 */ SELECT x; # error=unknown column 'x'\n"));
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::all) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("a reopened query log goes to a new file", "[daemon]") {
  const TemporaryFolder folder;
  const std::string path = folder.File("query.log");
  auto log = QueryLog::Open({.path = path});
  REQUIRE(log.ok());
  std::filesystem::rename(path, folder.File("old"));
  REQUIRE((*log)->Reopen().ok());
  (*log)->OnStatement({.text = "select 1"});
  CHECK(ReadAll(folder.File("old")).empty());
  CHECK_THAT(ReadAll(path), Catch::Contains("select 1;"));
}

TEST_CASE("a pid file belongs to one living process", "[daemon]") {
  const TemporaryFolder folder;
  const std::string path = folder.File("searchd.pid");
  CHECK_FALSE(ReadRunningPid(path));
  std::ofstream(path) << getppid() << "\n";  // left behind, and its number is in use
  CHECK_FALSE(ReadRunningPid(path));
  {
    auto file = PidFile::Create(path);
    REQUIRE(file.ok());
    CHECK(ReadRunningPid(path) == getpid());
    const auto second = PidFile::Create(path);
    REQUIRE_FALSE(second.ok());
    CHECK_THAT(second.status().text(), Catch::Contains(path) && Catch::Contains(std::to_string(getpid())));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK_THAT(PidFile::Create(folder.File("no/such/folder")).status().text(),
             Catch::Contains("no/such/folder: No such file"));
}
