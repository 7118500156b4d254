#include <fmt/format.h>

#include "config/setting_units.h"
#include "config/settings.h"

namespace stoa::config {

namespace {

std::string_view TypeName(const Setting& setting) {
  switch (setting.type) {
    case SettingType::kInteger:
      return "integer";
    case SettingType::kBool:
      return "bool";
    case SettingType::kSize:
      return "size";
    case SettingType::kTime:
      return setting.unit == 1000 ? "time, ms" : "time, s";
    case SettingType::kText:
      return "text";
    case SettingType::kChoice:
      return "choice";
    case SettingType::kPath:
      return "path";
    case SettingType::kList:
      return "list";
  }
  return "text";
}

std::string_view SectionTitle(std::string_view section) {
  return section == "session"  ? "Only by SET GLOBAL"
         : section == "common" ? "Section `common`"
                               : "Section `searchd`";
}

bool HasRange(const Setting& setting) {
  return setting.type != SettingType::kText && setting.type != SettingType::kPath &&
         setting.type != SettingType::kList;
}

std::string Notes(const Setting& setting) {
  std::string notes;
  if (!setting.needs_restart) {
    notes += " SET GLOBAL changes it.";
  }
  if (setting.no_effect_yet) {
    notes += " (No effect yet.)";
  }
  return notes;
}

// A "|" inside a table cell would end it.
std::string CellText(std::string_view text) {
  std::string cell;
  for (char c : text) {
    if (c == '|') {
      cell += '\\';
    }
    cell += c;
  }
  return cell;
}

void AppendMarkdownSection(std::string_view section, std::string& out) {
  out += fmt::format("\n## {}\n\n| name | type | default | allowed | what it does |\n|---|---|---|---|---|\n",
                     SectionTitle(section));
  for (const Setting& setting : AllSettings()) {
    if (setting.section != section || setting.deprecated) {
      continue;
    }
    out += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", setting.name, TypeName(setting),
                       setting.default_value, HasRange(setting) ? AllowedValues(setting) : "",
                       CellText(setting.text), Notes(setting));
  }
}

}  // namespace

std::string SettingsMarkdown() {
  std::string out =
      "# Settings\n\nGenerated from `config/settings_table.cpp` by `searchd --help-settings-markdown`; do "
      "not edit.\n\n"
      "Sizes take the suffixes `k m g t` (1024-based), times `us ms s m h d w`; integers only. A time "
      "without\n"
      "suffix counts in the unit that its type names. How the file is written: "
      "[configuration.md](configuration.md).\n";
  for (std::string_view section : {"searchd", "common", "session"}) {
    AppendMarkdownSection(section, out);
  }
  out += "\n## Removed\n\nRecognised in old files and ignored with a warning:\n";
  for (const Setting& setting : AllSettings()) {
    if (setting.deprecated) {
      out += fmt::format("`{}` ", setting.name);
    }
  }
  out.back() = '\n';
  return out;
}

std::string SettingsHelp() {
  std::string out;
  for (const Setting& setting : AllSettings()) {
    if (setting.deprecated) {
      continue;
    }
    out += fmt::format("{} ({}", setting.name, TypeName(setting));
    if (!setting.default_value.empty()) {
      out += fmt::format(", default {}", setting.default_value);
    }
    if (HasRange(setting)) {
      out += fmt::format(", {}", AllowedValues(setting));
    }
    out += fmt::format(")\n    {}{}\n", setting.text, Notes(setting));
  }
  return out;
}

}  // namespace stoa::config
