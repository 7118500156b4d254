#include "sql/expr/functions/civil_time.h"

#include <date/tz.h>

#include <algorithm>
#include <exception>
#include <limits>

namespace stoa::sql {
namespace {

using std::chrono::seconds;

int64_t Clamp(int64_t instant) { return std::clamp(instant, kFirstSecond, kLastSecond); }

int64_t AddClamped(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    return b < 0 ? kFirstSecond : kLastSecond;
  }
  return Clamp(sum);
}

int64_t MultiplyClamped(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
  }
  return product;
}

int LastDayOfMonth(int64_t year, int64_t month) {
  return static_cast<int>(DaysFromCivil(year, month + 1, 1) - DaysFromCivil(year, month, 1));
}

// Local midnight of the first day of the unit.
int64_t FirstDay(const CivilTime& civil, CalendarUnit unit) {
  switch (unit) {
    case CalendarUnit::kWeek:
      return civil.days - (civil.weekday + 6) % 7;
    case CalendarUnit::kMonth:
      return civil.days - (civil.day - 1);
    case CalendarUnit::kQuarter:
      return DaysFromCivil(civil.year, (civil.month - 1) / 3 * 3 + 1, 1);
    case CalendarUnit::kYear:
      return civil.days - (civil.year_day - 1);
    default:
      return civil.days;
  }
}

int64_t ShiftMonths(const CivilTime& civil, int64_t months) {
  constexpr int64_t kMostMonths = 12 * 10000;
  int64_t month =
      (civil.year * int64_t{12} + civil.month - 1) + std::clamp(months, -kMostMonths, kMostMonths);
  int64_t year = FloorDivide(month, 12);
  month = month - year * 12 + 1;
  return DaysFromCivil(year, month, std::min(civil.day, LastDayOfMonth(year, month)));
}

}  // namespace

std::optional<CalendarUnit> ParseCalendarUnit(std::string_view name) {
  constexpr std::string_view kNames[] = {"second", "minute", "hour",    "day",
                                         "week",   "month",  "quarter", "year"};
  if (!name.empty() && name.back() == 's') {
    name.remove_suffix(1);
  }
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) {
      return static_cast<CalendarUnit>(i);
    }
  }
  return std::nullopt;
}

int64_t FloorDivide(int64_t value, int64_t divisor) {
  int64_t quotient = value / divisor;
  return quotient - (value % divisor < 0 ? 1 : 0);
}

int64_t DaysFromCivil(int64_t year, int64_t month, int64_t day) {
  int64_t months = month - 1;
  int64_t carry = FloorDivide(months, 12);
  auto y = static_cast<int>(std::clamp<int64_t>(year + carry, -20000, 20000));
  auto m = static_cast<unsigned>(months - carry * 12 + 1);
  date::sys_days first = date::year{y} / date::month{m} / date::day{1};
  return first.time_since_epoch().count() + day - 1;
}

CivilTime CivilFromLocal(int64_t local_seconds) {
  local_seconds = Clamp(local_seconds);
  CivilTime civil;
  civil.days = FloorDivide(local_seconds, kDaySeconds);
  auto rest = static_cast<int>(local_seconds - civil.days * kDaySeconds);
  date::sys_days day{date::days{static_cast<int>(civil.days)}};
  date::year_month_day ymd{day};
  civil.year = static_cast<int>(ymd.year());
  civil.month = static_cast<int>(static_cast<unsigned>(ymd.month()));
  civil.day = static_cast<int>(static_cast<unsigned>(ymd.day()));
  civil.hour = rest / 3600;
  civil.minute = rest / 60 % 60;
  civil.second = rest % 60;
  civil.weekday = static_cast<int>(date::weekday{day}.c_encoding());
  civil.year_day = static_cast<int>(civil.days - DaysFromCivil(civil.year, 1, 1)) + 1;
  return civil;
}

// The library throws on unknown names and on zone files it cannot read, here only: later look-ups do not read
// files.
Result<Zone> Zone::Find(const std::string& name) {
  if (name.empty() || name == "UTC" || name == "Etc/UTC" || name == "SYSTEM") {
    return Zone();
  }
  try {
    const date::time_zone* zone = date::locate_zone(name);
    static_cast<void>(zone->get_info(date::sys_seconds{seconds{0}}));
    return Zone(zone);
  } catch (const std::exception&) {
    return NotFoundError("unknown time zone: '{}'", name);
  }
}

void ZoneClock::Load(int64_t instant) {
  if (zone_.zone_ == nullptr) {
    begin_ = std::numeric_limits<int64_t>::min();
    end_ = std::numeric_limits<int64_t>::max();
    return;
  }
  date::sys_info info = zone_.zone_->get_info(date::sys_seconds{seconds{instant}});
  begin_ = info.begin.time_since_epoch().count();
  end_ = info.end.time_since_epoch().count();
  offset_ = info.offset.count();
}

int64_t ZoneClock::OffsetAt(int64_t instant) {
  instant = Clamp(instant);
  if (instant < begin_ || instant >= end_) {
    Load(instant);
  }
  return offset_;
}

int64_t ZoneClock::ToLocal(int64_t instant) { return Clamp(instant) + OffsetAt(instant); }

int64_t ZoneClock::FromLocal(int64_t local_seconds) {
  local_seconds = Clamp(local_seconds);
  if (zone_.zone_ == nullptr) {
    return local_seconds;
  }
  // Far from both clock changes the remembered offset is the only possible one.
  int64_t guess = local_seconds - offset_;
  if (guess - kDaySeconds >= begin_ && guess < end_ - kDaySeconds) {
    return guess;
  }
  date::local_seconds local{seconds{local_seconds}};
  return zone_.zone_->to_sys(local, date::choose::earliest).time_since_epoch().count();
}

std::string ZoneClock::ZoneName(int64_t instant) {
  return zone_.zone_ == nullptr ? "UTC"
                                : zone_.zone_->get_info(date::sys_seconds{seconds{Clamp(instant)}}).abbrev;
}

int64_t ZoneClock::Floor(int64_t instant, CalendarUnit unit) {
  instant = Clamp(instant);
  int64_t local = ToLocal(instant);
  // Inside a day the offset of the instant itself is kept: the hour that a clock change repeats is two hours.
  switch (unit) {
    case CalendarUnit::kSecond:
      return instant;
    case CalendarUnit::kMinute:
      return instant - (local - FloorDivide(local, 60) * 60);
    case CalendarUnit::kHour:
      return instant - (local - FloorDivide(local, 3600) * 3600);
    default:
      return FromLocal(FirstDay(CivilFromLocal(local), unit) * kDaySeconds);
  }
}

int64_t ZoneClock::Add(int64_t instant, int64_t count, CalendarUnit unit) {
  instant = Clamp(instant);
  switch (unit) {
    case CalendarUnit::kSecond:
      return AddClamped(instant, count);
    case CalendarUnit::kMinute:
      return AddClamped(instant, MultiplyClamped(count, 60));
    case CalendarUnit::kHour:
      return AddClamped(instant, MultiplyClamped(count, 3600));
    default:
      break;
  }
  int64_t local = ToLocal(instant);
  CivilTime civil = CivilFromLocal(local);
  int64_t time_of_day = local - civil.days * kDaySeconds;
  constexpr int64_t kMostDays = 4000000;
  switch (unit) {
    case CalendarUnit::kDay:
      civil.days += std::clamp(count, -kMostDays, kMostDays);
      break;
    case CalendarUnit::kWeek:
      civil.days += std::clamp(MultiplyClamped(count, 7), -kMostDays, kMostDays);
      break;
    case CalendarUnit::kMonth:
      civil.days = ShiftMonths(civil, count);
      break;
    case CalendarUnit::kQuarter:
      civil.days = ShiftMonths(civil, MultiplyClamped(count, 3));
      break;
    default:
      civil.days = ShiftMonths(civil, MultiplyClamped(count, 12));
      break;
  }
  return FromLocal(civil.days * kDaySeconds + time_of_day);
}

}  // namespace stoa::sql
