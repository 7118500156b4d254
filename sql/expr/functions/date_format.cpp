#include "sql/expr/functions/date_format.h"

#include <fmt/format.h>

#include <iterator>

namespace stoa::sql {
namespace {

constexpr std::string_view kWeekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                          "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};

// The first day of week 1 of a year.
int64_t FirstWeek(int year, int mode) {
  int first_weekday = mode & 1;
  bool four_days = ((mode & 1) != 0) != ((mode & 4) != 0);
  int64_t new_year = DaysFromCivil(year, 1, 1);
  int weekday = CivilFromLocal(new_year * kDaySeconds).weekday;
  int into_week = (weekday - first_weekday + 7) % 7;
  bool this_week = four_days ? into_week <= 3 : into_week == 0;
  return new_year - into_week + (this_week ? 0 : 7);
}

template <typename... Args>
void Append(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

int Hour12(const CivilTime& civil) { return civil.hour % 12 == 0 ? 12 : civil.hour % 12; }

void AppendOffset(int64_t offset, std::string& out) {
  int64_t minutes = (offset < 0 ? -offset : offset) / 60;
  Append(out, "{}{:02}{:02}", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

// Letters of dates. False when `letter` is none of them.
bool AppendDateLetter(char letter, const CivilTime& civil, std::string& out) {
  int week_year = 0;
  switch (letter) {
    case 'a':
      out += WeekdayName(civil.weekday).substr(0, 3);
      return true;
    case 'A':
      out += WeekdayName(civil.weekday);
      return true;
    case 'b':
    case 'h':
      out += MonthName(civil.month).substr(0, 3);
      return true;
    case 'B':
      out += MonthName(civil.month);
      return true;
    case 'C':
      Append(out, "{:02}", civil.year / 100);
      return true;
    case 'd':
      Append(out, "{:02}", civil.day);
      return true;
    case 'e':
      Append(out, "{:2}", civil.day);
      return true;
    case 'D':
    case 'x':
      Append(out, "{:02}/{:02}/{:02}", civil.month, civil.day, civil.year % 100);
      return true;
    case 'F':
      AppendDate(civil, out);
      return true;
    case 'g':
      WeekOfYear(civil, 3, &week_year);
      Append(out, "{:02}", week_year % 100);
      return true;
    case 'G':
      WeekOfYear(civil, 3, &week_year);
      Append(out, "{:04}", week_year);
      return true;
    case 'V':
      Append(out, "{:02}", WeekOfYear(civil, 3));
      return true;
    case 'U':
      Append(out, "{:02}", WeekOfYear(civil, 0));
      return true;
    case 'W':
      Append(out, "{:02}", WeekOfYear(civil, 5));
      return true;
    case 'j':
      Append(out, "{:03}", civil.year_day);
      return true;
    case 'm':
      Append(out, "{:02}", civil.month);
      return true;
    case 'u':
      Append(out, "{}", civil.weekday == 0 ? 7 : civil.weekday);
      return true;
    case 'w':
      Append(out, "{}", civil.weekday);
      return true;
    case 'y':
      Append(out, "{:02}", civil.year % 100);
      return true;
    case 'Y':
      Append(out, "{:04}", civil.year);
      return true;
    default:
      return false;
  }
}

bool AppendTimeLetter(char letter, const CivilTime& civil, std::string& out) {
  const char* half = civil.hour < 12 ? "AM" : "PM";
  switch (letter) {
    case 'H':
      Append(out, "{:02}", civil.hour);
      return true;
    case 'I':
      Append(out, "{:02}", Hour12(civil));
      return true;
    case 'k':
      Append(out, "{:2}", civil.hour);
      return true;
    case 'l':
      Append(out, "{:2}", Hour12(civil));
      return true;
    case 'M':
      Append(out, "{:02}", civil.minute);
      return true;
    case 'S':
      Append(out, "{:02}", civil.second);
      return true;
    case 'p':
      out += half;
      return true;
    case 'P':
      out += civil.hour < 12 ? "am" : "pm";
      return true;
    case 'r':
      Append(out, "{:02}:{:02}:{:02} {}", Hour12(civil), civil.minute, civil.second, half);
      return true;
    case 'R':
      Append(out, "{:02}:{:02}", civil.hour, civil.minute);
      return true;
    case 'T':
    case 'X':
      AppendTime(civil, out);
      return true;
    case 'n':
      out += '\n';
      return true;
    case 't':
      out += '\t';
      return true;
    case '%':
      out += '%';
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string_view WeekdayName(int weekday) { return kWeekdays[weekday]; }
std::string_view MonthName(int month) { return kMonths[month - 1]; }

void AppendDate(const CivilTime& civil, std::string& out) {
  Append(out, "{:04}-{:02}-{:02}", civil.year, civil.month, civil.day);
}

void AppendTime(const CivilTime& civil, std::string& out) {
  Append(out, "{:02}:{:02}:{:02}", civil.hour, civil.minute, civil.second);
}

void AppendDateFormat(std::string_view format, int64_t instant, ZoneClock& clock, std::string& out) {
  CivilTime civil = clock.Civil(instant);
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    char letter = format[++i];
    if (AppendDateLetter(letter, civil, out) || AppendTimeLetter(letter, civil, out)) {
      continue;
    }
    switch (letter) {
      case 'c':
        AppendDateFormat("%a %b %e %H:%M:%S %Y", instant, clock, out);
        break;
      case 's':
        Append(out, "{}", instant);
        break;
      case 'z':
        AppendOffset(clock.OffsetAt(instant), out);
        break;
      case 'Z':
        out += clock.ZoneName(instant);
        break;
      default:
        out += '%';
        out += letter;
        break;
    }
  }
}

int WeekOfYear(const CivilTime& civil, int mode, int* year) {
  int week_year = civil.year;
  int64_t start = FirstWeek(week_year, mode);
  bool whole_weeks = (mode & 2) != 0;
  if (civil.days < start) {
    if (!whole_weeks) {
      return 0;
    }
    start = FirstWeek(--week_year, mode);
  } else if (int64_t next = FirstWeek(week_year + 1, mode); whole_weeks && civil.days >= next) {
    start = next;
    ++week_year;
  }
  if (year != nullptr) {
    *year = week_year;
  }
  return static_cast<int>((civil.days - start) / 7) + 1;
}

}  // namespace stoa::sql
