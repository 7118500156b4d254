#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace stoa::config {

std::string_view Trim(std::string_view text);
// `text` in lower case when it is one word of letters, digits, '_', '-' and '.', else empty.
std::string LowerWord(std::string_view text);
// At most 60 bytes of `text`, bytes below 32 as '?', for messages.
std::string Excerpt(std::string_view text);

// A logical line: comments and '\' at line ends resolved, trimmed, not empty.
struct ConfigLine {
  std::string text;
  int number = 0;  // of its first physical line, from 1
};

// Cuts a config text into logical lines. Borrows the text.
class ConfigLines {
 public:
  explicit ConfigLines(std::string_view text);

  // kInvalid (starting with a line number) for what no config file may hold: NUL bytes, a "#!" first line.
  Status CheckText() const;
  std::optional<ConfigLine> Next();

 private:
  // Appends one physical line to `out`; true when it continues on the next.
  bool TakePhysicalLine(std::string& out);

  std::string_view rest_;
  int next_number_ = 1;
};

// The words of a section header.
class HeaderWords {
 public:
  explicit HeaderWords(std::string_view text) : rest_(Trim(text)) {}

  std::string NextWord();  // in lower case; empty when there is none
  bool Take(char mark);
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace stoa::config
