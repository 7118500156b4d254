#include "config/config_file.h"

#include <map>
#include <optional>

#include "config/config_lines.h"

namespace stoa::config {

namespace {

struct KeyValue {
  std::string key;
  std::string value;
  int line = 0;
};

// The keys of one section, those of its parent first.
struct Section {
  std::string type;
  std::string name;
  int line = 0;
  std::vector<KeyValue> keys;
};

bool IsTableWord(std::string_view word) { return word == "table" || word == "index"; }

// Reads sections into lists of keys, then applies them. One use, one thread.
class ConfigReader {
 public:
  ConfigReader(std::string_view text, std::string_view file) : lines_(text), file_(file) {}

  Result<ConfigResult> Read() {
    if (const Status status = lines_.CheckText(); !status.ok()) {
      return InvalidError("{}:{}", file_, status.text());
    }
    while (std::optional<ConfigLine> line = lines_.Next()) {
      RETURN_IF_ERROR(ReadLine(*line));
    }
    if (open_) {
      return Error(open_->line, "section {} is not closed: '}}' is missing", open_->type);
    }
    RETURN_IF_ERROR(ApplySections());
    return std::move(result_);
  }

 private:
  template <typename... Args>
  Status Error(int line, fmt::format_string<Args...> text, Args&&... args) const {
    return InvalidError("{}:{}: {}", file_, line, fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void Warn(int line, fmt::format_string<Args...> text, Args&&... args) {
    result_.warnings.push_back(
        fmt::format("{}:{}: {}", file_, line, fmt::format(text, std::forward<Args>(args)...)));
  }

  Status ReadLine(const ConfigLine& line) {
    if (!open_) {
      return ReadHeader(line);
    }
    if (waits_for_brace_) {
      return ReadOpeningBrace(line.text, line.number);
    }
    return ReadBody(line.text, line.number);
  }

  // searchd | searchd { | searchd name : parent {
  Status ReadHeader(const ConfigLine& line) {
    HeaderWords words(line.text);
    Section section{.type = words.NextWord(), .name = words.NextWord(), .line = line.number, .keys = {}};
    RETURN_IF_ERROR(CheckSectionType(section, line));
    if (words.Take(':')) {
      const std::string parent = words.NextWord();
      ASSIGN_OR_RETURN(section.keys, ParentKeys(section.type, parent, line.number));
    }
    open_ = std::move(section);
    waits_for_brace_ = true;
    own_keys_from_ = open_->keys.size();
    return words.rest().empty() ? Status::Ok() : ReadOpeningBrace(words.rest(), line.number);
  }

  Status CheckSectionType(const Section& section, const ConfigLine& line) const {
    if (IsTableWord(section.type) || section.type == "source") {
      return Error(line.number,
                   "section {} {}: tables are made by CREATE TABLE and live in data_dir; remove the section",
                   section.type, section.name);
    }
    if (section.type == "searchd" || section.type == "common" || section.type == "indexer") {
      return Status::Ok();
    }
    if (section.type.empty()) {
      return Error(line.number, "expected a section, found '{}'", Excerpt(line.text));
    }
    return Error(line.number, "unknown section '{}', known are searchd and common", section.type);
  }

  Result<std::vector<KeyValue>> ParentKeys(const std::string& type, const std::string& parent,
                                           int line) const {
    for (const Section& section : sections_) {
      if (section.type == type && section.name == parent && !parent.empty()) {
        return section.keys;
      }
    }
    return Error(line, "section {} inherits from '{}', which is not there", type, parent);
  }

  Status ReadOpeningBrace(std::string_view text, int line) {
    if (!text.starts_with('{')) {
      return Error(line, "expected '{{' after section {}, found '{}'", open_->type, Excerpt(text));
    }
    waits_for_brace_ = false;
    std::string_view rest = Trim(text.substr(1));
    if (rest.empty()) {
      return Status::Ok();
    }
    // A section on one line: its closing brace ends the line.
    const bool closes = rest.ends_with('}');
    if (closes) {
      rest = Trim(rest.substr(0, rest.size() - 1));
    }
    if (!rest.empty()) {
      RETURN_IF_ERROR(ReadBody(rest, line));
    }
    return closes && open_ ? CloseSection() : Status::Ok();
  }

  Status ReadBody(std::string_view text, int line) {
    if (text.starts_with('}')) {
      if (text.size() > 1) {
        return Error(line, "unexpected '{}' after '}}'", Excerpt(Trim(text.substr(1))));
      }
      return CloseSection();
    }
    const size_t equals = text.find('=');
    const std::string key = LowerWord(Trim(text.substr(0, equals)));
    if (equals == std::string_view::npos || key.empty()) {
      return Error(line, "expected 'key = value' or '}}', found '{}'", Excerpt(text));
    }
    AddKey({.key = key, .value = std::string(Trim(text.substr(equals + 1))), .line = line});
    return Status::Ok();
  }

  // The first own occurrence of a key clears what the parent said.
  void AddKey(KeyValue added) {
    std::vector<KeyValue>& keys = open_->keys;
    for (size_t i = 0; i < own_keys_from_;) {
      if (keys[i].key == added.key) {
        keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(i));
        --own_keys_from_;
      } else {
        ++i;
      }
    }
    keys.push_back(std::move(added));
  }

  Status CloseSection() {
    for (const Section& section : sections_) {
      if (section.type == open_->type && section.name == open_->name) {
        return Error(open_->line, "section {}{}{} was already given in line {}", open_->type,
                     open_->name.empty() ? "" : " ", open_->name, section.line);
      }
    }
    sections_.push_back(*std::move(open_));
    open_.reset();
    return Status::Ok();
  }

  Status ApplySections() {
    for (std::string_view type : {"searchd", "common", "indexer"}) {
      if (const Section* section = InForce(type)) {
        RETURN_IF_ERROR(ApplySection(*section));
      }
    }
    return Status::Ok();
  }

  // The section without a name, else the last one.
  const Section* InForce(std::string_view type) const {
    const Section* found = nullptr;
    for (const Section& section : sections_) {
      if (section.type == type && (found == nullptr || !found->name.empty())) {
        found = &section;
      }
    }
    return found;
  }

  Status ApplySection(const Section& section) {
    if (section.type == "indexer") {
      Warn(section.line, "section indexer has no effect: there is no indexer");
      return Status::Ok();
    }
    for (const KeyValue& key : section.keys) {
      RETURN_IF_ERROR(ApplyKey(section.type, key));
    }
    return Status::Ok();
  }

  Status ApplyKey(const std::string& section, const KeyValue& key) {
    const Setting* setting = FindSetting(key.key);
    if (setting == nullptr || setting->section == "session") {
      const std::string_view nearest = NearestSetting(key.key);
      Warn(key.line, "unknown setting '{}' in section {}{}", Excerpt(key.key), section,
           nearest.empty() ? std::string() : fmt::format(", did you mean '{}'?", nearest));
      return Status::Ok();
    }
    if (setting->deprecated) {
      Warn(key.line, "setting '{}' was removed and is ignored", key.key);
      return Status::Ok();
    }
    if (setting->section != section) {
      Warn(key.line, "setting '{}' belongs in section {} and is ignored in {}", key.key, setting->section,
           section);
      return Status::Ok();
    }
    return SetValue(*setting, key);
  }

  Status SetValue(const Setting& setting, const KeyValue& key) {
    const bool adds = setting.type == SettingType::kList && !key.value.empty();
    const Status status =
        adds ? result_.values.Append(setting.name, key.value) : result_.values.Set(setting.name, key.value);
    if (!status.ok()) {
      return Error(key.line, "{}", status.text());
    }
    return Status::Ok();
  }

  ConfigLines lines_;
  std::string file_;
  ConfigResult result_;
  std::vector<Section> sections_;
  std::optional<Section> open_;
  bool waits_for_brace_ = false;
  size_t own_keys_from_ = 0;  // keys of open_ before it came from the parent
};

}  // namespace

Result<ConfigResult> ParseConfig(std::string_view text, std::string_view file) {
  return ConfigReader(text, file).Read();
}

}  // namespace stoa::config
