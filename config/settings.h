#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"

namespace stoa::config {

enum class SettingType : uint8_t { kInteger, kBool, kSize, kTime, kText, kChoice, kPath, kList };

// One row of the typed table of settings, from which the parser, SHOW VARIABLES / SETTINGS, --help-settings and
// docs/settings.md are made.
struct Setting {
  std::string_view section;        // searchd, common
  std::string_view name;
  SettingType type = SettingType::kText;
  std::string_view default_value;  // as text in base units (bytes, microseconds → see unit); empty: unset
  int64_t minimum = 0;             // kInteger, kSize (bytes), kTime (microseconds)
  int64_t maximum = 0;
  std::string_view choices;        // kChoice: "mmap|file"
  bool needs_restart = true;
  bool deprecated = false;         // recognised, ignored with a warning
  std::string_view text;           // one line
};

std::span<const Setting> AllSettings();
const Setting* FindSetting(std::string_view name);  // nullptr when unknown; name in lower case

// Checks `value` against the setting and normalises it ("1G" → "1073741824", "5m" → microseconds, "on" → "1").
// kInvalid with the value and the allowed range or choices.
Result<std::string> NormalizeValue(const Setting& setting, std::string_view value);

// The known name nearest to a misspelt one; empty when none is near.
std::string_view NearestSetting(std::string_view name);

// Markdown of docs/settings.md and plain text of --help-settings.
std::string SettingsMarkdown();
std::string SettingsHelp();

// The values in force. A value type; copy it to change it.
class SettingValues {
 public:
  SettingValues();  // all defaults

  // Normalised text; kList: the last value. Empty when unset.
  std::string Text(std::string_view name) const;
  int64_t Integer(std::string_view name) const;   // kInteger, kBool, kSize in bytes, kTime in microseconds
  bool Bool(std::string_view name) const { return Integer(name) != 0; }
  std::vector<std::string> List(std::string_view name) const;
  bool IsSet(std::string_view name) const;        // given in the config or by Set()
  // kInvalid as NormalizeValue; kNotFound for an unknown name.
  Status Set(std::string_view name, std::string_view value);
  Status Append(std::string_view name, std::string_view value);  // kList

 private:
  struct Entry {
    std::vector<std::string> values;
    bool given = false;
  };
  std::vector<Entry> entries_;  // by index in AllSettings()
};

}  // namespace stoa::config
