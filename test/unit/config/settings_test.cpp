#include "config/settings.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <set>
#include <sstream>

#include "config/setting_units.h"

using stoa::config::AllSettings;
using stoa::config::FindSetting;
using stoa::config::NormalizeValue;
using stoa::config::SettingType;
using stoa::config::SettingValues;

TEST_CASE("every row of the table is sound", "[config]") {
  std::set<std::string_view> names;
  for (const auto& setting : AllSettings()) {
    INFO(setting.name);
    CHECK(names.insert(setting.name).second);
    CHECK_FALSE(setting.text.empty());
    if (!setting.default_value.empty()) {
      CHECK(NormalizeValue(setting, setting.default_value).ok());
    }
    if (setting.type == SettingType::kInteger || setting.type == SettingType::kSize ||
        setting.type == SettingType::kTime) {
      CHECK(setting.minimum < setting.maximum);
    }
    CHECK((setting.type == SettingType::kChoice) == !setting.choices.empty());
  }
}

TEST_CASE("sizes and times are integers with a suffix", "[config]") {
  using stoa::config::ParseSize;
  using stoa::config::ParseTime;
  CHECK(ParseSize("64k") == 65536);
  CHECK(ParseSize("2T") == int64_t{2} << 40);
  CHECK(ParseSize("17") == 17);
  CHECK_FALSE(ParseSize("1.5m"));
  CHECK_FALSE(ParseSize("m"));
  CHECK_FALSE(ParseSize("1kb"));
  CHECK_FALSE(ParseSize("9999999999g"));
  CHECK(ParseTime("5", 1'000'000) == 5'000'000);
  CHECK(ParseTime("5", 1'000) == 5'000);
  CHECK(ParseTime("3M", 1'000) == 180'000'000);
  CHECK(ParseTime("50ms", 1'000'000) == 50'000);
  CHECK(ParseTime("7us", 1'000'000) == 7);
  CHECK(ParseTime("-1", 1'000'000) == -1'000'000);
  CHECK_FALSE(ParseTime("1.5h", 1));
  CHECK_FALSE(ParseTime("", 1));
}

TEST_CASE("values are checked against the range when set", "[config]") {
  SettingValues values;
  CHECK(values.Set("server_id", "127").ok());
  CHECK(values.Integer("server_id") == 127);
  CHECK(values.Set("server_id", "128").code() == stoa::StatusCode::kInvalid);
  CHECK(values.Integer("server_id") == 127);
  CHECK(values.Set("nothing", "1").code() == stoa::StatusCode::kNotFound);
  CHECK(values.Set("auto_schema", "OFF").ok());
  CHECK_FALSE(values.Bool("auto_schema"));
}

TEST_CASE("times are shown in their own unit", "[config]") {
  SettingValues values;
  CHECK(values.Integer("wait_timeout") == 28'800'000'000);
  CHECK(values.Shown("wait_timeout") == "28800");
  CHECK(values.Shown("qcache_thresh_msec") == "3000");
  CHECK(values.Shown("max_packet_size") == "134217728");
}

TEST_CASE("a default of the machine does not replace what was given", "[config]") {
  SettingValues values;
  REQUIRE(values.SetDefault("threads", "8").ok());
  CHECK(values.Integer("threads") == 8);
  CHECK_FALSE(values.IsSet("threads"));
  REQUIRE(values.Set("threads", "2").ok());
  REQUIRE(values.SetDefault("threads", "8").ok());
  CHECK(values.Integer("threads") == 2);
}

TEST_CASE("the nearest name is offered only when it is near", "[config]") {
  CHECK(stoa::config::NearestSetting("acess_columnar_attrs") == "access_columnar_attrs");
  CHECK(stoa::config::NearestSetting("lsiten") == "listen");
  CHECK(stoa::config::NearestSetting("xyzzy").empty());
  CHECK(stoa::config::NearestSetting(std::string(10'000, 'a')).empty());
}

TEST_CASE("docs/settings.md is what the table says", "[config]") {
  std::ifstream file(STOA_SOURCE_DIR "/docs/settings.md");
  std::stringstream text;
  text << file.rdbuf();
  INFO("make it anew: build/release/searchd --help-settings-markdown > docs/settings.md");
  const bool same = text.str() == stoa::config::SettingsMarkdown();
  CHECK(same);
}
