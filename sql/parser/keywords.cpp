#include "sql/parser/keywords.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace stoa::sql {
namespace {

constexpr size_t kLongestWord = 19;

constexpr auto kReserved = std::to_array<std::string_view>({
    "and",
    "as",
    "by",
    "case",
    "columnarscan",
    "distinct",
    "div",
    "docidindex",
    "explain",
    "facet",
    "false",
    "force",
    "from",
    "hybrid_match",
    "ignore",
    "in",
    "indexes",
    "inner",
    "is",
    "join",
    "knn",
    "left",
    "limit",
    "mod",
    "no_columnarscan",
    "no_docidindex",
    "no_secondaryindex",
    "not",
    "null",
    "offset",
    "on",
    "or",
    "order",
    "reload",
    "secondaryindex",
    "select",
    "sysfilters",
    "token",
    "true",
    "where",
});

constexpr auto kClause = std::to_array<std::string_view>({
    "asc",       "between", "chunk",  "collate", "cross",  "desc",      "else",   "end",
    "for",       "group",   "having", "into",    "like",   "lock",      "option", "outer",
    "procedure", "read",    "regexp", "right",   "rlike",  "separator", "set",    "then",
    "union",     "use",     "values", "when",    "window", "within",    "write",
});

static_assert(std::is_sorted(kReserved.begin(), kReserved.end()));
static_assert(std::is_sorted(kClause.begin(), kClause.end()));

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

template <size_t N>
bool Contains(const std::array<std::string_view, N>& sorted, std::string_view word) {
  std::array<char, kLongestWord> buffer;
  if (word.empty() || word.size() > buffer.size()) {
    return false;
  }
  std::transform(word.begin(), word.end(), buffer.begin(), Lower);
  return std::binary_search(sorted.begin(), sorted.end(), std::string_view(buffer.data(), word.size()));
}

}  // namespace

bool IsReservedWord(std::string_view word) { return Contains(kReserved, word); }

bool IsClauseWord(std::string_view word) { return Contains(kClause, word) || IsReservedWord(word); }

bool IsPlainName(std::string_view name) {
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty() || !is_letter(name.front())) {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); }) &&
         !IsReservedWord(name);
}

bool EqualsLower(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) {
    return false;
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (Lower(a[i]) != lower[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace stoa::sql
