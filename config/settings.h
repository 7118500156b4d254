#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"

namespace stoa::config {

enum class SettingType : uint8_t { kInteger, kBool, kSize, kTime, kText, kChoice, kPath, kList };

// One row of the typed table of settings, from which the parser, SHOW VARIABLES / SETTINGS, --help-settings
// and docs/settings.md are made.
struct Setting {
  std::string_view section{};  // searchd, common; session: not in the file, only by SET GLOBAL
  std::string_view name{};     // "ondisk_*": any name with this prefix (deprecated rows only)
  SettingType type = SettingType::kText;
  std::string_view default_value{};  // as one would write it in the file ("128m", "5m"); empty: unset
  int64_t minimum = 0;               // kInteger, kSize (bytes), kTime (microseconds)
  int64_t maximum = 0;
  std::string_view choices{};  // kChoice: "mmap|file"
  int64_t unit = 1;            // kTime: microseconds of a number without suffix
  bool needs_restart = true;
  bool deprecated = false;     // recognised, ignored with a warning
  bool no_effect_yet = false;  // accepted and shown; nothing reads it so far
  std::string_view text{};     // one line
};

std::span<const Setting> AllSettings();
const Setting* FindSetting(std::string_view name);  // nullptr when unknown; name in lower case

// Checks `value` against the setting and normalises it ("1G" → "1073741824", "5m" → microseconds, "on" →
// "1"). kInvalid with the value and the allowed range or choices.
Result<std::string> NormalizeValue(const Setting& setting, std::string_view value);

// What a value may be, as messages and documents say it: "0 to 127", "mmap, file", "128k to 128m".
std::string AllowedValues(const Setting& setting);

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
  // As SHOW VARIABLES gives it: like Text(), but times in the setting's own unit ("28800", not microseconds).
  std::string Shown(std::string_view name) const;
  int64_t Integer(std::string_view name) const;  // kInteger, kBool, kSize in bytes, kTime in microseconds
  bool Bool(std::string_view name) const { return Integer(name) != 0; }
  std::vector<std::string> List(std::string_view name) const;
  bool IsSet(std::string_view name) const;  // given in the config or by Set()
  // kInvalid as NormalizeValue; kNotFound for an unknown name. An empty value means the default
  // again, but stays an empty value for kText and kPath (binlog_path: given and empty means no log).
  Status Set(std::string_view name, std::string_view value);
  Status Append(std::string_view name, std::string_view value);  // kList
  // Replaces a default that depends on the machine; does nothing to a value that was given.
  Status SetDefault(std::string_view name, std::string_view value);

 private:
  struct Entry {
    std::vector<std::string> values;
    bool given = false;
  };
  const Entry* Find(std::string_view name) const;

  std::vector<Entry> entries_;  // by index in AllSettings()
};

}  // namespace stoa::config
