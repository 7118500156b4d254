#include "config/config_file.h"

#include <catch2/catch.hpp>

using stoa::Status;
using stoa::config::ConfigResult;
using stoa::config::ParseConfig;

namespace {

ConfigResult Parse(std::string_view text) {
  auto result = ParseConfig(text, "searchd.conf");
  INFO((result.ok() ? std::string() : result.status().text()));
  REQUIRE(result.ok());
  return std::move(result).value();
}

std::string ErrorOf(std::string_view text) {
  const auto result = ParseConfig(text, "searchd.conf");
  REQUIRE_FALSE(result.ok());
  CHECK(result.status().code() == stoa::StatusCode::kInvalid);
  return result.status().text();
}

}  // namespace

TEST_CASE("an empty text gives the defaults", "[config]") {
  const ConfigResult result = Parse("");
  CHECK(result.warnings.empty());
  CHECK(result.values.Text("access_columnar_attrs") == "mmap");
  CHECK(result.values.Integer("binlog_flush") == 1);
  CHECK_FALSE(result.values.IsSet("binlog_flush"));
}

TEST_CASE("a section may stand on one line or on several", "[config]") {
  for (std::string_view text :
       {"searchd\n{\n access_columnar_attrs = file\n}\n", "searchd {\n access_columnar_attrs = file\n}",
        "searchd { access_columnar_attrs = file }", "searchd { access_columnar_attrs = file\n}",
        "\xEF\xBB\xBFsearchd\r\n{\r\n\tACCESS_COLUMNAR_ATTRS=FILE\r\n}\r\n"}) {
    INFO(text);
    const ConfigResult result = Parse(text);
    CHECK(result.warnings.empty());
    CHECK(result.values.Text("access_columnar_attrs") == "file");
    CHECK(result.values.IsSet("access_columnar_attrs"));
  }
}

TEST_CASE("comments end at the line, a backslash keeps the mark or continues the line", "[config]") {
  const ConfigResult result = Parse(
      "# first\n"
      "searchd { # opens\n"
      "  query_log = /tmp/a\\#b # the name holds a mark\n"
      "  mysql_version_string = 8.0\\\n"
      ".40\n"
      "  data_dir = C:\\x\n"
      "}\n");
  CHECK(result.values.Text("query_log") == "/tmp/a#b");
  CHECK(result.values.Text("mysql_version_string") == "8.0.40");
  CHECK(result.values.Text("data_dir") == "C:\\x");
}

TEST_CASE("a list setting keeps every value in order", "[config]") {
  const ConfigResult result = Parse("searchd {\nlisten = 9306:mysql\nlisten = 9308:http\n}");
  CHECK(result.values.List("listen") == std::vector<std::string>{"9306:mysql", "9308:http"});
}

TEST_CASE("a child section takes the keys of its parent and clears the lists it repeats", "[config]") {
  const ConfigResult result = Parse(
      "searchd base {\nlisten = 1\nlisten = 2\nthreads = 3\nengine = columnar\n}\n"
      "searchd : base {\nlisten = 4\nlisten = 5\nthreads =\n}\n");
  CHECK(result.values.List("listen") == std::vector<std::string>{"4", "5"});
  CHECK_FALSE(result.values.IsSet("threads"));
  CHECK(result.values.Text("engine") == "columnar");
  CHECK_THAT(ErrorOf("searchd : nobody {\n}"),
             Catch::Contains("searchd.conf:1:") && Catch::Contains("'nobody'"));
}

TEST_CASE("an empty path is given and empty", "[config]") {
  const ConfigResult result = Parse("searchd {\nbinlog_path = # disable logging\n}");
  CHECK(result.values.IsSet("binlog_path"));
  CHECK(result.values.Text("binlog_path").empty());
}

TEST_CASE("an unknown setting is a warning with file, line and the nearest name", "[config]") {
  const ConfigResult result = Parse("searchd\n{\n  acess_columnar_attrs = file\n  zzzzzz = 1\n}");
  REQUIRE(result.warnings.size() == 2);
  CHECK(result.warnings[0] ==
        "searchd.conf:3: unknown setting 'acess_columnar_attrs' in section searchd, did you mean "
        "'access_columnar_attrs'?");
  CHECK(result.warnings[1] == "searchd.conf:4: unknown setting 'zzzzzz' in section searchd");
  CHECK(result.values.Text("access_columnar_attrs") == "mmap");
}

TEST_CASE("removed settings and settings in the wrong section are warnings", "[config]") {
  const ConfigResult result = Parse(
      "searchd {\nmax_children = 3\nondisk_attrs_default = 1\nplugin_dir = /x\n}\ncommon { threads = 2 }");
  REQUIRE(result.warnings.size() == 4);
  CHECK_THAT(result.warnings[0], Catch::Contains("'max_children' was removed"));
  CHECK_THAT(result.warnings[1], Catch::Contains("'ondisk_attrs_default' was removed"));
  CHECK_THAT(result.warnings[2], Catch::Contains("belongs in section common"));
  CHECK_THAT(result.warnings[3],
             Catch::Contains("searchd.conf:6:") && Catch::Contains("belongs in section searchd"));
}

TEST_CASE("a bad value is an error with file, line, value and what is allowed", "[config]") {
  CHECK(ErrorOf("searchd {\naccess_columnar_attrs = x\n}") ==
        "searchd.conf:2: bad value 'x' for 'access_columnar_attrs': allowed are mmap, file");
  CHECK(ErrorOf("searchd {\n\nmax_packet_size = 1g\n}") ==
        "searchd.conf:3: bad value '1g' for 'max_packet_size': allowed are 128k to 128m");
  CHECK_THAT(ErrorOf("searchd { rt_flush_period = 1.5h }"), Catch::Contains("bad value '1.5h'"));
}

TEST_CASE("sections of tables and sources are refused with a sentence", "[config]") {
  for (std::string_view text : {"table products\n{\n}", "index products {\n}", "source s : base {\n}"}) {
    CHECK_THAT(ErrorOf(text), Catch::Contains("searchd.conf:1:") && Catch::Contains("CREATE TABLE") &&
                                  Catch::Contains("remove the section"));
  }
}

TEST_CASE("grammar errors name file and line", "[config]") {
  CHECK_THAT(ErrorOf("#!/bin/sh\necho"), Catch::Contains("searchd.conf:1: scripts"));
  CHECK_THAT(ErrorOf("serachd {\n}"), Catch::Contains("searchd.conf:1: unknown section 'serachd'"));
  CHECK_THAT(ErrorOf("\nsearchd\nlisten = 1\n"), Catch::Contains("searchd.conf:3: expected '{'"));
  CHECK_THAT(ErrorOf("searchd {\nlisten\n}"), Catch::Contains("searchd.conf:2: expected 'key = value'"));
  CHECK_THAT(ErrorOf("searchd {\nthreads = 1\n"),
             Catch::Contains("searchd.conf:1:") && Catch::Contains("not closed"));
  CHECK_THAT(ErrorOf("searchd {\n}\nsearchd {\n}"),
             Catch::Contains("searchd.conf:3:") && Catch::Contains("line 1"));
  CHECK_THAT(ErrorOf(std::string_view("searchd {\n\0}", 12)), Catch::Contains("NUL"));
  CHECK_THAT(ErrorOf("= {"), Catch::Contains("expected a section"));
  CHECK_THAT(ErrorOf("searchd {\n} searchd {"), Catch::Contains("after '}'"));
}
