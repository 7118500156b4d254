#include "sql/session/session_state.h"

namespace stoa::sql {
namespace {

char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// Where the character behind the one at `at` starts.
size_t AfterCharacter(std::string_view text, size_t at) {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) {
    ++at;
  }
  return at;
}

// One step of the pattern that is not '%' against the text at `at`: the positions behind both, or false.
bool Step(std::string_view text, std::string_view pattern, size_t& at, size_t& step) {
  if (at >= text.size() || step >= pattern.size()) {
    return false;
  }
  if (pattern[step] == '_') {
    at = AfterCharacter(text, at);
    ++step;
    return true;
  }
  const size_t literal = pattern[step] == '\\' && step + 1 < pattern.size() ? step + 1 : step;
  if (LowerAscii(text[at]) != LowerAscii(pattern[literal])) {
    return false;
  }
  ++at;
  step = literal + 1;
  return true;
}

}  // namespace

bool MatchesLike(std::string_view text, std::string_view pattern) {
  size_t at = 0;
  size_t step = 0;
  // The last '%' and the text it has not swallowed yet: only this one needs to be tried again.
  size_t percent = std::string_view::npos;
  size_t retry = 0;
  while (at < text.size() || step < pattern.size()) {
    if (step < pattern.size() && pattern[step] == '%') {
      percent = step++;
      retry = at;
      continue;
    }
    if (Step(text, pattern, at, step)) {
      continue;
    }
    if (percent == std::string_view::npos || retry >= text.size()) {
      return false;
    }
    retry = AfterCharacter(text, retry);
    at = retry;
    step = percent + 1;
  }
  return true;
}

}  // namespace stoa::sql
