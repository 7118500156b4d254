#include "config/config_lines.h"

#include <algorithm>

namespace stoa::config {

namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string LowerWord(std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), IsWordByte)) {
    return {};
  }
  std::string word(text);
  std::transform(word.begin(), word.end(), word.begin(), ToLower);
  return word;
}

std::string Excerpt(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string shown(text.substr(0, kLongest));
  for (char& c : shown) {
    if (c >= 0 && c < ' ') {
      c = '?';
    }
  }
  return shown;
}

ConfigLines::ConfigLines(std::string_view text) : rest_(text) {
  if (rest_.starts_with(kByteOrderMark)) {
    rest_.remove_prefix(kByteOrderMark.size());
  }
}

Status ConfigLines::CheckText() const {
  if (rest_.starts_with("#!")) {
    return InvalidError(
        "1: scripts as config file (#!) are not supported; run the script and save what it prints");
  }
  const size_t nul = rest_.find('\0');
  if (nul != std::string_view::npos) {
    const auto line = std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(nul), '\n') + 1;
    return InvalidError("{}: the file holds a NUL byte: not a text file", line);
  }
  return Status::Ok();
}

bool ConfigLines::TakePhysicalLine(std::string& out) {
  const size_t end = rest_.find('\n');
  std::string_view line = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
  ++next_number_;
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#') {
      return false;
    }
    if (line[i] != '\\') {
      out += line[i];
    } else if (i + 1 == line.size()) {
      return true;
    } else if (line[i + 1] == '#') {
      out += '#';
      ++i;
    } else {
      out += '\\';
    }
  }
  return false;
}

std::optional<ConfigLine> ConfigLines::Next() {
  while (!rest_.empty()) {
    ConfigLine line{.text = {}, .number = next_number_};
    std::string raw;
    while (TakePhysicalLine(raw) && !rest_.empty()) {
    }
    line.text = Trim(raw);
    if (!line.text.empty()) {
      return line;
    }
  }
  return std::nullopt;
}

std::string HeaderWords::NextWord() {
  size_t length = 0;
  while (length < rest_.size() && IsWordByte(rest_[length])) {
    ++length;
  }
  std::string word = LowerWord(rest_.substr(0, length));
  rest_ = Trim(rest_.substr(length));
  return word;
}

bool HeaderWords::Take(char mark) {
  if (!rest_.starts_with(mark)) {
    return false;
  }
  rest_ = Trim(rest_.substr(1));
  return true;
}

}  // namespace stoa::config
