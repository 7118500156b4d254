#include "sql/statements/date_text.h"

#include <date/date.h>
#include <date/tz.h>

#include <chrono>
#include <exception>
#include <optional>
#include <string>

namespace stoa::sql {
namespace {

// Walks over a date text; every step says whether what it wants stands there.
class DateScanner {
 public:
  explicit DateScanner(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  bool Skip(char c) {
    if (text_.empty() || text_[0] != c) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }
  // Exactly `count` digits.
  bool Digits(size_t count, int& value) {
    if (text_.size() < count) {
      return false;
    }
    value = 0;
    for (size_t i = 0; i < count; ++i) {
      if (text_[i] < '0' || text_[i] > '9') {
        return false;
      }
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return true;
  }
  bool SkipFraction() {
    size_t digits = 0;
    while (digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9') {
      ++digits;
    }
    text_.remove_prefix(digits);
    return digits > 0;
  }

 private:
  std::string_view text_;
};

struct DateParts {
  int year = 0, month = 1, day = 1;
  int hour = 0, minute = 0, second = 0;
  std::optional<int> offset_seconds;  // of the zone the text names
};

bool ScanZone(DateScanner& scanner, DateParts& parts) {
  if (scanner.Skip('Z') || scanner.Skip('z')) {
    parts.offset_seconds = 0;
    return true;
  }
  const bool negative = scanner.Skip('-');
  if (!negative && !scanner.Skip('+')) {
    return scanner.done();
  }
  int hours = 0;
  int minutes = 0;
  if (!scanner.Digits(2, hours)) {
    return false;
  }
  const bool colon = scanner.Skip(':');
  if ((colon || !scanner.done()) && !scanner.Digits(2, minutes)) {
    return false;
  }
  const int offset = hours * 3600 + minutes * 60;
  parts.offset_seconds = negative ? -offset : offset;
  return hours <= 15 && minutes <= 59;
}

bool ScanTime(DateScanner& scanner, DateParts& parts) {
  if (!scanner.Digits(2, parts.hour)) {
    return false;
  }
  if (scanner.Skip(':')) {
    if (!scanner.Digits(2, parts.minute)) {
      return false;
    }
    if (scanner.Skip(':')) {
      if (!scanner.Digits(2, parts.second) || (scanner.Skip('.') && !scanner.SkipFraction())) {
        return false;
      }
    }
  }
  return ScanZone(scanner, parts);
}

bool ScanDate(std::string_view text, DateParts& parts) {
  DateScanner scanner(text);
  if (!scanner.Digits(4, parts.year)) {
    return false;
  }
  if (scanner.Skip('-')) {
    if (!scanner.Digits(2, parts.month)) {
      return false;
    }
    if (scanner.Skip('-')) {
      if (!scanner.Digits(2, parts.day)) {
        return false;
      }
      if ((scanner.Skip('T') || scanner.Skip(' ')) && !ScanTime(scanner, parts)) {
        return false;
      }
    }
  }
  return scanner.done();
}

bool AllDigits(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

constexpr size_t kSecondsDigits = 10;
constexpr size_t kMostDigits = 18;

}  // namespace

Result<TimeZone> TimeZone::Find(std::string_view name) {
  TimeZone zone;
  if (name.empty() || name == "UTC") {
    return zone;
  }
  try {
    zone.zone_ = date::locate_zone(name);
  } catch (const std::exception&) {
    return NotFoundError("unknown time zone '{}'", name);
  }
  return zone;
}

int64_t TimeZone::ToUnix(int64_t local_seconds) const {
  if (zone_ == nullptr) {
    return local_seconds;
  }
  const date::local_seconds local{std::chrono::seconds(local_seconds)};
  return zone_->to_sys(local, date::choose::earliest).time_since_epoch().count();
}

Result<int64_t> ParseDateText(std::string_view text, const TimeZone& zone) {
  if (text.size() >= kSecondsDigits && text.size() <= kMostDigits && AllDigits(text)) {
    return static_cast<int64_t>(std::stoll(std::string(text)));
  }
  DateParts parts;
  if (!ScanDate(text, parts)) {
    return InvalidError("'{}' is not a date; wanted is YYYY-MM-DDTHH:MM:SS or seconds", text);
  }
  const date::year_month_day day(date::year(parts.year), date::month(static_cast<unsigned>(parts.month)),
                                 date::day(static_cast<unsigned>(parts.day)));
  if (!day.ok() || parts.hour > 23 || parts.minute > 59 || parts.second > 60) {
    return InvalidError("'{}' is not a date: no such day or time", text);
  }
  const int64_t days = date::sys_days(day).time_since_epoch().count();
  const int64_t local = days * 86400 + parts.hour * 3600 + parts.minute * 60 + parts.second;
  return parts.offset_seconds ? local - *parts.offset_seconds : zone.ToUnix(local);
}

}  // namespace stoa::sql
