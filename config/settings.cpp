#include "config/settings.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "config/setting_units.h"

namespace stoa::config {

namespace {

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return lower;
}

std::vector<std::string_view> SplitChoices(std::string_view choices) {
  std::vector<std::string_view> parts;
  while (!choices.empty()) {
    const size_t bar = choices.find('|');
    parts.push_back(choices.substr(0, bar));
    choices = bar == std::string_view::npos ? std::string_view() : choices.substr(bar + 1);
  }
  return parts;
}

std::optional<std::string> NormalizeBool(std::string_view value) {
  const std::string lower = ToLower(value);
  if (lower == "1" || lower == "on" || lower == "yes" || lower == "true") {
    return "1";
  }
  if (lower == "0" || lower == "off" || lower == "no" || lower == "false") {
    return "0";
  }
  return std::nullopt;
}

std::optional<std::string> NormalizeChoice(const Setting& setting, std::string_view value) {
  const std::string lower = ToLower(value);
  for (std::string_view choice : SplitChoices(setting.choices)) {
    if (lower == choice) {
      return lower;
    }
  }
  return std::nullopt;
}

std::optional<int64_t> ParseNumber(const Setting& setting, std::string_view value) {
  switch (setting.type) {
    case SettingType::kSize:
      return ParseSize(value);
    case SettingType::kTime:
      return ParseTime(value, setting.unit);
    default:
      return ParsePlainInteger(value);
  }
}

std::optional<std::string> NormalizeNumber(const Setting& setting, std::string_view value) {
  const std::optional<int64_t> number = ParseNumber(setting, value);
  if (!number || *number < setting.minimum || *number > setting.maximum) {
    return std::nullopt;
  }
  return std::to_string(*number);
}

std::optional<std::string> Normalize(const Setting& setting, std::string_view value) {
  switch (setting.type) {
    case SettingType::kInteger:
    case SettingType::kSize:
    case SettingType::kTime:
      return NormalizeNumber(setting, value);
    case SettingType::kBool:
      return NormalizeBool(value);
    case SettingType::kChoice:
      return NormalizeChoice(setting, value);
    case SettingType::kText:
    case SettingType::kPath:
    case SettingType::kList:
      return std::string(value);
  }
  return std::nullopt;
}

bool IsPattern(std::string_view name) { return name.ends_with('*'); }

bool Matches(const Setting& setting, std::string_view name) {
  if (IsPattern(setting.name)) {
    return name.starts_with(setting.name.substr(0, setting.name.size() - 1));
  }
  return setting.name == name;
}

std::optional<size_t> IndexOf(std::string_view name) {
  const std::span<const Setting> all = AllSettings();
  for (size_t i = 0; i < all.size(); ++i) {
    if (Matches(all[i], name)) {
      return i;
    }
  }
  return std::nullopt;
}

// Edits (insert, remove, change, swap neighbours) between two names.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::vector<size_t> next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        next[j] = std::min(next[j], before[j - 2] + 1);
      }
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

bool KeepsEmpty(SettingType type) { return type == SettingType::kText || type == SettingType::kPath; }

}  // namespace

const Setting* FindSetting(std::string_view name) {
  const std::optional<size_t> index = IndexOf(name);
  return index ? &AllSettings()[*index] : nullptr;
}

std::string AllowedValues(const Setting& setting) {
  switch (setting.type) {
    case SettingType::kBool:
      return "0, 1";
    case SettingType::kChoice: {
      const std::vector<std::string_view> choices = SplitChoices(setting.choices);
      return fmt::format("{}", fmt::join(choices, ", "));
    }
    case SettingType::kInteger:
      return fmt::format("{} to {}", setting.minimum, setting.maximum);
    case SettingType::kSize:
      return fmt::format("{} to {}", FormatSize(setting.minimum), FormatSize(setting.maximum));
    case SettingType::kTime:
      return fmt::format("{} to {}", FormatTime(setting.minimum), FormatTime(setting.maximum));
    case SettingType::kText:
    case SettingType::kPath:
    case SettingType::kList:
      return "text";
  }
  return {};
}

Result<std::string> NormalizeValue(const Setting& setting, std::string_view value) {
  std::optional<std::string> normal = Normalize(setting, value);
  if (!normal) {
    return InvalidError("bad value '{}' for '{}': allowed are {}", value, setting.name,
                        AllowedValues(setting));
  }
  return *std::move(normal);
}

std::string_view NearestSetting(std::string_view name) {
  constexpr size_t kLongestName = 64;
  if (name.size() > kLongestName) {
    return {};
  }
  size_t best_distance = name.size() / 3 + 1;
  std::string_view best;
  for (const Setting& setting : AllSettings()) {
    if (setting.deprecated || setting.section == "session" || IsPattern(setting.name)) {
      continue;
    }
    const size_t distance = EditDistance(name, setting.name);
    if (distance < best_distance) {
      best_distance = distance;
      best = setting.name;
    }
  }
  return best;
}

SettingValues::SettingValues() : entries_(AllSettings().size()) {
  const std::span<const Setting> all = AllSettings();
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].default_value.empty()) {
      entries_[i].values = {NormalizeValue(all[i], all[i].default_value).value()};
    }
  }
}

const SettingValues::Entry* SettingValues::Find(std::string_view name) const {
  const std::optional<size_t> index = IndexOf(name);
  return index ? &entries_[*index] : nullptr;
}

std::string SettingValues::Text(std::string_view name) const {
  const Entry* entry = Find(name);
  return entry == nullptr || entry->values.empty() ? std::string() : entry->values.back();
}

std::string SettingValues::Shown(std::string_view name) const {
  const Setting* setting = FindSetting(name);
  std::string text = Text(name);
  if (setting == nullptr || setting->type != SettingType::kTime || text.empty()) {
    return text;
  }
  return std::to_string(Integer(name) / setting->unit);
}

int64_t SettingValues::Integer(std::string_view name) const {
  return ParsePlainInteger(Text(name)).value_or(0);
}

std::vector<std::string> SettingValues::List(std::string_view name) const {
  const Entry* entry = Find(name);
  return entry == nullptr ? std::vector<std::string>() : entry->values;
}

bool SettingValues::IsSet(std::string_view name) const {
  const Entry* entry = Find(name);
  return entry != nullptr && entry->given;
}

Status SettingValues::Set(std::string_view name, std::string_view value) {
  const std::optional<size_t> index = IndexOf(name);
  if (!index) {
    return NotFoundError("unknown setting '{}'", name);
  }
  const Setting& setting = AllSettings()[*index];
  if (value.empty() && !KeepsEmpty(setting.type)) {
    entries_[*index] = SettingValues().entries_[*index];
    return Status::Ok();
  }
  ASSIGN_OR_RETURN(std::string normal, NormalizeValue(setting, value));
  entries_[*index] = {.values = {std::move(normal)}, .given = true};
  return Status::Ok();
}

Status SettingValues::Append(std::string_view name, std::string_view value) {
  const std::optional<size_t> index = IndexOf(name);
  if (!index || AllSettings()[*index].type != SettingType::kList) {
    return NotFoundError("unknown list setting '{}'", name);
  }
  entries_[*index].values.emplace_back(value);
  entries_[*index].given = true;
  return Status::Ok();
}

Status SettingValues::SetDefault(std::string_view name, std::string_view value) {
  const std::optional<size_t> index = IndexOf(name);
  if (!index) {
    return NotFoundError("unknown setting '{}'", name);
  }
  if (!entries_[*index].given) {
    ASSIGN_OR_RETURN(std::string normal, NormalizeValue(AllSettings()[*index], value));
    entries_[*index].values = {std::move(normal)};
  }
  return Status::Ok();
}

}  // namespace stoa::config
