#include <unicode/bytestream.h>
#include <unicode/casemap.h>

#include <algorithm>

#include "sql/expr/functions/function.h"
#include "sql/expr/functions/utf8.h"

// Functions that make texts of texts. Positions and lengths count characters, from 1 as in MySQL.
namespace stoa::sql {
namespace {

// Longest text that repeat(), replace(), lpad() and rpad() make; what would be longer is NULL.
constexpr size_t kMostBytes = size_t{1} << 20;

// One argument per kind: 't' a text, 'i' an integer. Optional arguments may be missing at the end.
template <char... kKinds>
Result<std::vector<SharedExpr>> BindKinds(const ParsedExpr& call, NameScope& scope) {
  constexpr char kAll[] = {kKinds...};
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope));
  for (size_t i = 0; i < args.size(); ++i) {
    args[i] = kAll[i] == 't' ? AsText(std::move(args[i])) : AsBigint(std::move(args[i]));
  }
  return args;
}

// kMake(in, row, text) makes the text of a row; false: it is NULL.
template <auto kMake, char... kKinds>
Result<SharedExpr> BindText(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, (BindKinds<kKinds...>(call, scope)));
  return MakeKernel(ValueType::kString, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      std::string text;
      bool has_value = kMake(in, row, text);
      out.texts()[row] = has_value ? out.Own(std::move(text)) : std::string_view();
      if (!has_value) {
        out.SetNull(row);
      }
    }
  });
}

// kCount(in, row) is a whole number for each row.
template <auto kCount, char... kKinds>
Result<SharedExpr> BindCount(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, (BindKinds<kKinds...>(call, scope)));
  return MakeKernel(ValueType::kInt, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      out.ints()[row] = kCount(in, row);
    }
  });
}

std::string_view TextAt(const KernelInputs& in, size_t arg, size_t row) { return in[arg].texts()[row]; }
int64_t IntAt(const KernelInputs& in, size_t arg, size_t row) { return in[arg].ints()[row]; }
bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

template <bool kUpper>
bool ChangeCase(const KernelInputs& in, size_t row, std::string& out) {
  std::string_view text = TextAt(in, 0, row);
  if (IsAscii(text)) {
    out = text;
    for (char& c : out) {
      bool change = kUpper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
      c = change ? static_cast<char>(c ^ 0x20) : c;
    }
    return true;
  }
  icu::StringByteSink<std::string> sink(&out);
  UErrorCode error = U_ZERO_ERROR;
  icu::StringPiece piece(text.data(), static_cast<int32_t>(text.size()));
  if constexpr (kUpper) {
    icu::CaseMap::utf8ToUpper("", 0, piece, sink, nullptr, error);
  } else {
    icu::CaseMap::utf8ToLower("", 0, piece, sink, nullptr, error);
  }
  if (U_FAILURE(error)) {
    out = text;
  }
  return true;
}

std::string_view Characters(std::string_view text, size_t first, size_t count) {
  size_t begin = CharacterOffset(text, first);
  size_t end = begin + CharacterOffset(text.substr(begin), count);
  return text.substr(begin, end - begin);
}

size_t AsCount(int64_t value) { return value > 0 ? static_cast<size_t>(value) : 0; }

// substring(s, position[, length]): a position below zero counts from the end.
bool Substring(const KernelInputs& in, size_t row, std::string& out) {
  std::string_view text = TextAt(in, 0, row);
  int64_t position = IntAt(in, 1, row);
  size_t length = in.size() == 3 ? AsCount(IntAt(in, 2, row)) : text.size();
  if (position == 0 || length == 0) {
    return true;
  }
  size_t first = AsCount(position - 1);
  if (position < 0) {
    size_t count = CountCharacters(text);
    uint64_t back = -static_cast<uint64_t>(position);
    if (back > count) {
      return true;
    }
    first = count - back;
  }
  out = Characters(text, first, length);
  return true;
}

bool Left(const KernelInputs& in, size_t row, std::string& out) {
  out = Characters(TextAt(in, 0, row), 0, AsCount(IntAt(in, 1, row)));
  return true;
}

bool Right(const KernelInputs& in, size_t row, std::string& out) {
  std::string_view text = TextAt(in, 0, row);
  size_t count = CountCharacters(text);
  size_t wanted = std::min(count, AsCount(IntAt(in, 1, row)));
  out = text.substr(CharacterOffset(text, count - wanted));
  return true;
}

template <bool kBegin, bool kEnd>
bool Trim(const KernelInputs& in, size_t row, std::string& out) {
  std::string_view text = TextAt(in, 0, row);
  while (kBegin && text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (kEnd && text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  out = text;
  return true;
}

bool Replace(const KernelInputs& in, size_t row, std::string& out) {
  std::string_view text = TextAt(in, 0, row);
  std::string_view from = TextAt(in, 1, row);
  std::string_view to = TextAt(in, 2, row);
  if (from.empty()) {
    out = text;
    return true;
  }
  size_t at = 0;
  for (size_t found = text.find(from); found != std::string_view::npos; found = text.find(from, at)) {
    out.append(text, at, found - at);
    out += to;
    at = found + from.size();
    if (out.size() > std::max(kMostBytes, text.size())) {
      return false;
    }
  }
  out.append(text, at);
  return true;
}

bool Repeat(const KernelInputs& in, size_t row, std::string& out) {
  std::string_view text = TextAt(in, 0, row);
  size_t count = text.empty() ? 0 : AsCount(IntAt(in, 1, row));
  if (count > 0 && text.size() > kMostBytes / count) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    out += text;
  }
  return true;
}

bool Reverse(const KernelInputs& in, size_t row, std::string& out) {
  std::string_view text = TextAt(in, 0, row);
  for (size_t end = text.size(); end > 0;) {
    size_t begin = end - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) {
      --begin;
    }
    out.append(text, begin, end - begin);
    end = begin;
  }
  return true;
}

// lpad(s, length[, pad]): exactly `length` characters, filled from `pad` or cut.
template <bool kLeft>
bool Pad(const KernelInputs& in, size_t row, std::string& out) {
  std::string_view text = TextAt(in, 0, row);
  int64_t wanted = IntAt(in, 1, row);
  std::string_view pad = in.size() == 3 ? TextAt(in, 2, row) : " ";
  size_t count = CountCharacters(text);
  if (wanted < 0 || AsCount(wanted) > kMostBytes) {
    return false;
  }
  size_t length = AsCount(wanted);
  if (count >= length) {
    out = Characters(text, 0, length);
    return true;
  }
  size_t missing = length - count;
  size_t pad_count = CountCharacters(pad);
  if (pad_count == 0 || missing / pad_count * pad.size() > kMostBytes) {
    return false;
  }
  std::string filling;
  for (size_t i = 0; i < missing / pad_count; ++i) {
    filling += pad;
  }
  filling += Characters(pad, 0, missing % pad_count);
  out = kLeft ? filling + std::string(text) : std::string(text) + filling;
  return true;
}

// substring_index(s, delimiter, n): what stands before the n-th delimiter, or behind the n-th from the end.
bool SubstringIndex(const KernelInputs& in, size_t row, std::string& out) {
  std::string_view text = TextAt(in, 0, row);
  std::string_view delimiter = TextAt(in, 1, row);
  int64_t count = IntAt(in, 2, row);
  if (delimiter.empty() || count == 0) {
    return true;
  }
  size_t at = count > 0 ? 0 : text.size();
  for (; count > 0; --count) {
    size_t found = text.find(delimiter, at);
    if (found == std::string_view::npos || count == 1) {
      out = text.substr(0, found);
      return true;
    }
    at = found + delimiter.size();
  }
  for (; count < 0; ++count) {
    size_t found =
        at < delimiter.size() ? std::string_view::npos : text.rfind(delimiter, at - delimiter.size());
    if (found == std::string_view::npos) {
      out = text;
      return true;
    }
    at = found;
  }
  out = text.substr(at + delimiter.size());
  return true;
}

int64_t CharLength(const KernelInputs& in, size_t row) {
  return static_cast<int64_t>(CountCharacters(TextAt(in, 0, row)));
}

// The position of `part` in `text` from character `from` (1 is the first) on; 0: none.
int64_t PositionOf(std::string_view text, std::string_view part, int64_t from) {
  if (from <= 0 || AsCount(from - 1) > CountCharacters(text)) {
    return 0;
  }
  size_t found = text.find(part, CharacterOffset(text, AsCount(from - 1)));
  return found == std::string_view::npos ? 0
                                         : static_cast<int64_t>(CountCharacters(text.substr(0, found))) + 1;
}

int64_t Locate(const KernelInputs& in, size_t row) {
  return PositionOf(TextAt(in, 1, row), TextAt(in, 0, row), in.size() == 3 ? IntAt(in, 2, row) : 1);
}
int64_t Instr(const KernelInputs& in, size_t row) {
  return PositionOf(TextAt(in, 0, row), TextAt(in, 1, row), 1);
}

bool CanConcat(ValueType type) {
  return IsText(type) || type == ValueType::kJson || type == ValueType::kNull;
}

Result<SharedExpr> BindConcat(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindArguments(call, scope));
  for (size_t i = 0; i < args.size(); ++i) {
    if (!CanConcat(args[i]->type())) {
      return FunctionError(scope,
                           fmt::format("all CONCAT() arguments must be strings (arg {} is not)", i + 1));
    }
    args[i] = AsText(std::move(args[i]));
  }
  return MakeKernel(ValueType::kString, std::move(args), [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      std::string text;
      for (size_t arg = 0; arg < in.size(); ++arg) {
        text += in[arg].texts()[row];
      }
      out.texts()[row] = out.Own(std::move(text));
    }
  });
}

// concat_ws(separator, a, b, …) leaves out what is NULL; it is NULL only when the separator is.
Result<SharedExpr> BindConcatWs(const ParsedExpr& call, NameScope& scope) {
  ASSIGN_OR_RETURN(auto args, BindTexts(call, scope));
  auto join = [](const KernelInputs& in, Vector& out) {
    for (size_t row = 0; row < out.size(); ++row) {
      out.texts()[row] = {};
      if (in[0].IsNull(row)) {
        out.SetNull(row);
        continue;
      }
      std::string text;
      bool first = true;
      for (size_t arg = 1; arg < in.size(); ++arg) {
        if (!in[arg].IsNull(row)) {
          text += first ? std::string_view() : in[0].texts()[row];
          text += in[arg].texts()[row];
          first = false;
        }
      }
      out.texts()[row] = out.Own(std::move(text));
    }
  };
  return MakeKernel(ValueType::kString, std::move(args), join, NullRule::kKernelDecides);
}

constexpr FunctionEntry kFunctions[] = {
    {"concat", 1, kAnyCount, BindConcat},
    {"concat_ws", 2, kAnyCount, BindConcatWs},
    {"upper", 1, 1, BindText<ChangeCase<true>, 't'>},
    {"ucase", 1, 1, BindText<ChangeCase<true>, 't'>},
    {"lower", 1, 1, BindText<ChangeCase<false>, 't'>},
    {"lcase", 1, 1, BindText<ChangeCase<false>, 't'>},
    {"substring_index", 3, 3, BindText<SubstringIndex, 't', 't', 'i'>},
    {"substring", 2, 3, BindText<Substring, 't', 'i', 'i'>},
    {"substr", 2, 3, BindText<Substring, 't', 'i', 'i'>},
    {"mid", 2, 3, BindText<Substring, 't', 'i', 'i'>},
    {"left", 2, 2, BindText<Left, 't', 'i'>},
    {"right", 2, 2, BindText<Right, 't', 'i'>},
    {"trim", 1, 1, BindText<Trim<true, true>, 't'>},
    {"ltrim", 1, 1, BindText<Trim<true, false>, 't'>},
    {"rtrim", 1, 1, BindText<Trim<false, true>, 't'>},
    {"replace", 3, 3, BindText<Replace, 't', 't', 't'>},
    {"repeat", 2, 2, BindText<Repeat, 't', 'i'>},
    {"reverse", 1, 1, BindText<Reverse, 't'>},
    {"lpad", 2, 3, BindText<Pad<true>, 't', 'i', 't'>},
    {"rpad", 2, 3, BindText<Pad<false>, 't', 'i', 't'>},
    {"char_length", 1, 1, BindCount<CharLength, 't'>},
    {"character_length", 1, 1, BindCount<CharLength, 't'>},
    {"locate", 2, 3, BindCount<Locate, 't', 't', 'i'>},
    {"instr", 2, 2, BindCount<Instr, 't', 't'>},
};

}  // namespace

std::span<const FunctionEntry> StringFunctions() { return kFunctions; }

}  // namespace stoa::sql
