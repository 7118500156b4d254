#include "sql/expr/functions/date_math.h"

#include <charconv>

#include "sql/expr/functions/function.h"

namespace stoa::sql {
namespace {

// Reads a text from its beginning.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  char peek() const { return text_.empty() ? '\0' : text_.front(); }
  bool Take(char c) {
    if (peek() != c || text_.empty()) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }
  bool Take(std::string_view word) {
    if (!text_.starts_with(word)) {
      return false;
    }
    text_.remove_prefix(word.size());
    return true;
  }
  char Next() {
    char c = peek();
    text_.remove_prefix(text_.empty() ? 0 : 1);
    return c;
  }
  size_t CountDigits() const {
    size_t count = 0;
    while (count < text_.size() && text_[count] >= '0' && text_[count] <= '9') {
      ++count;
    }
    return count;
  }
  // A number of `least` to `most` digits.
  std::optional<int64_t> Digits(size_t least, size_t most) {
    size_t count = CountDigits();
    if (count < least || count > most) {
      return std::nullopt;
    }
    int64_t value = 0;
    if (std::from_chars(text_.data(), text_.data() + count, value).ec != std::errc()) {
      return std::nullopt;
    }
    text_.remove_prefix(count);
    return value;
  }
  void SkipDigits() { text_.remove_prefix(CountDigits()); }

 private:
  std::string_view text_;
};

bool Within(const std::optional<int64_t>& value, int64_t least, int64_t most) {
  return value && *value >= least && *value <= most;
}

// Hours, minutes and seconds as seconds.
std::optional<int64_t> ReadTimeOfDay(TextReader& reader) {
  std::optional<int64_t> hour = reader.Digits(1, 2);
  if (!Within(hour, 0, 23)) {
    return std::nullopt;
  }
  int64_t total = *hour * 3600;
  for (int64_t unit : {60, 1}) {
    if (!reader.Take(':')) {
      return total;
    }
    std::optional<int64_t> part = reader.Digits(2, 2);
    if (!Within(part, 0, 59)) {
      return std::nullopt;
    }
    total += *part * unit;
  }
  if (reader.Take('.')) {
    reader.SkipDigits();
  }
  return total;
}

// Local seconds of the date and time at the reader.
std::optional<int64_t> ReadLocal(TextReader& reader) {
  std::optional<int64_t> year = reader.Digits(4, 4);
  std::optional<int64_t> month = 1;
  std::optional<int64_t> day = 1;
  if (year && reader.Take('-')) {
    month = reader.Digits(1, 2);
    if (month && reader.Take('-')) {
      day = reader.Digits(1, 2);
    }
  }
  if (!Within(year, 1, 9999) || !Within(month, 1, 12) || !Within(day, 1, 31)) {
    return std::nullopt;
  }
  int64_t days = DaysFromCivil(*year, *month, *day);
  if (days >= DaysFromCivil(*year, *month + 1, 1)) {
    return std::nullopt;  // 30 February
  }
  int64_t seconds = 0;
  if (reader.Take('T') || reader.Take(' ')) {
    std::optional<int64_t> time = ReadTimeOfDay(reader);
    if (!time) {
      return std::nullopt;
    }
    seconds = *time;
  }
  return days * kDaySeconds + seconds;
}

// "Z", "+02:00", "-0530": seconds east of UTC.
std::optional<int64_t> ReadOffset(TextReader& reader) {
  if (reader.Take('Z')) {
    return 0;
  }
  int64_t sign = reader.Next() == '-' ? -1 : 1;
  std::optional<int64_t> hours = reader.CountDigits() == 4 ? reader.Digits(4, 4) : reader.Digits(1, 2);
  if (!hours) {
    return std::nullopt;
  }
  int64_t minutes = *hours > 99 ? *hours % 100 : 0;
  int64_t whole = *hours > 99 ? *hours / 100 : *hours;
  if (reader.Take(':')) {
    std::optional<int64_t> part = reader.Digits(2, 2);
    if (!part) {
      return std::nullopt;
    }
    minutes = *part;
  }
  if (whole > 18 || minutes > 59) {
    return std::nullopt;
  }
  return sign * (whole * 3600 + minutes * 60);
}

std::optional<CalendarUnit> MathUnit(char letter) {
  switch (letter) {
    case 's':
      return CalendarUnit::kSecond;
    case 'm':
      return CalendarUnit::kMinute;
    case 'h':
    case 'H':
      return CalendarUnit::kHour;
    case 'd':
      return CalendarUnit::kDay;
    case 'w':
      return CalendarUnit::kWeek;
    case 'M':
      return CalendarUnit::kMonth;
    case 'y':
      return CalendarUnit::kYear;
    default:
      return std::nullopt;
  }
}

// The steps behind the anchor.
std::optional<int64_t> ApplySteps(TextReader& reader, int64_t instant, ZoneClock& clock) {
  while (!reader.done()) {
    char step = reader.Next();
    if (step == '/') {
      std::optional<CalendarUnit> unit = MathUnit(reader.Next());
      if (!unit) {
        return std::nullopt;
      }
      instant = clock.Floor(instant, *unit);
      continue;
    }
    if (step != '+' && step != '-') {
      return std::nullopt;
    }
    std::optional<int64_t> count = reader.CountDigits() == 0 ? 1 : reader.Digits(1, 12);
    std::optional<CalendarUnit> unit = MathUnit(reader.Next());
    if (!count || !unit) {
      return std::nullopt;
    }
    instant = clock.Add(instant, step == '-' ? -*count : *count, *unit);
  }
  return instant;
}

std::string_view TrimBlanks(std::string_view text) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return text;
}

void ParseInstants(const KernelInputs& in, ZoneClock& clock, Vector& out) {
  bool json = in[0].type() == ValueType::kJson;
  for (size_t row = 0; row < out.size(); ++row) {
    out.ints()[row] = 0;
    if (in[0].IsNull(row)) {
      continue;
    }
    std::string_view text = in[0].texts()[row];
    if (json) {
      storage::JsonView value(text);
      if (value.is_number()) {
        out.ints()[row] = value.AsInt();
        continue;
      }
      text = value.AsString();
    }
    std::optional<int64_t> instant = ParseDateText(text, clock);
    out.ints()[row] = instant.value_or(0);
    if (!instant) {
      out.SetNull(row);
    }
  }
}

}  // namespace

std::optional<int64_t> ParseDateText(std::string_view text, ZoneClock& clock) {
  TextReader reader(TrimBlanks(text));
  bool negative = reader.Take('-');
  if (size_t digits = reader.CountDigits(); negative || digits > 4) {
    std::optional<int64_t> seconds = reader.Digits(1, 18);
    if (!seconds || !reader.done()) {
      return std::nullopt;
    }
    return negative ? -*seconds : *seconds;
  }
  std::optional<int64_t> local = ReadLocal(reader);
  if (!local || reader.done()) {
    return local ? std::optional<int64_t>(clock.FromLocal(*local)) : std::nullopt;
  }
  if (char c = reader.peek(); c != 'Z' && c != '+' && c != '-') {
    return std::nullopt;
  }
  std::optional<int64_t> offset = ReadOffset(reader);
  return offset && reader.done() ? std::optional<int64_t>(*local - *offset) : std::nullopt;
}

std::optional<int64_t> ParseDateMath(std::string_view text, int64_t now, ZoneClock& clock) {
  text = TrimBlanks(text);
  if (TextReader reader(text); reader.Take("now")) {
    return ApplySteps(reader, now, clock);
  }
  size_t bars = text.find("||");
  std::optional<int64_t> anchor = ParseDateText(text.substr(0, bars), clock);
  if (!anchor || bars == std::string_view::npos) {
    return anchor;
  }
  TextReader reader(text.substr(bars + 2));
  return ApplySteps(reader, *anchor, clock);
}

std::optional<int64_t> ParseDuration(std::string_view text) {
  TextReader reader(TrimBlanks(text));
  std::optional<int64_t> count = reader.Digits(1, 9);
  int64_t unit = 0;
  switch (reader.Next()) {
    case 's':
      unit = 1;
      break;
    case 'm':
      unit = 60;
      break;
    case 'h':
    case 'H':
      unit = 3600;
      break;
    case 'd':
      unit = kDaySeconds;
      break;
    case 'w':
      unit = 7 * kDaySeconds;
      break;
    default:
      return std::nullopt;
  }
  if (!count || *count == 0 || !reader.done()) {
    return std::nullopt;
  }
  return *count * unit;
}

Result<Zone> FindZone(const NameScope& scope) {
  Result<Zone> zone = Zone::Find(scope.context().timezone);
  if (!zone.ok()) {
    return FunctionError(scope, zone.status().text());
  }
  return zone;
}

Result<std::vector<SharedExpr>> BindInstants(const ParsedExpr& call, NameScope& scope, size_t count) {
  ASSIGN_OR_RETURN(auto args, BindScalars(call, scope, count));
  ASSIGN_OR_RETURN(Zone zone, FindZone(scope));
  for (SharedExpr& arg : args) {
    if (LaneOf(arg->type()) != VectorLane::kBytes) {
      arg = AsBigint(std::move(arg));
      continue;
    }
    auto parse = [zone](const KernelInputs& in, Vector& out) {
      ZoneClock clock(zone);
      ParseInstants(in, clock, out);
    };
    ASSIGN_OR_RETURN(arg, MakeKernel(ValueType::kBigint, {arg}, parse));
  }
  return args;
}

}  // namespace stoa::sql
