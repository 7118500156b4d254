#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace date {
class time_zone;
}

// Instants (seconds since 1970 in UTC) as calendar dates of a time zone and back. Years 1 … 9999; what lies
// outside counts as the nearest end.
namespace stoa::sql {

inline constexpr int64_t kDaySeconds = 86400;
inline constexpr int64_t kFirstSecond = -62135596800;  // 0001-01-01 00:00:00
inline constexpr int64_t kLastSecond = 253402300799;   // 9999-12-31 23:59:59

struct CivilTime {
  int64_t days = 0;  // since 1970-01-01
  int year = 1970;
  int month = 1;  // 1 … 12
  int day = 1;    // 1 … 31
  int hour = 0;
  int minute = 0;
  int second = 0;
  int weekday = 4;   // 0 is Sunday
  int year_day = 1;  // 1 … 366
};

enum class CalendarUnit : uint8_t { kSecond, kMinute, kHour, kDay, kWeek, kMonth, kQuarter, kYear };
std::optional<CalendarUnit> ParseCalendarUnit(std::string_view name);

// Days since 1970-01-01; month and day need not be inside their ranges' year (month 13 is the next January).
int64_t DaysFromCivil(int64_t year, int64_t month, int64_t day);
CivilTime CivilFromLocal(int64_t local_seconds);
int64_t FloorDivide(int64_t value, int64_t divisor);

// A zone by its IANA name; UTC is nullptr inside. Value; share freely.
class Zone {
 public:
  static Result<Zone> Find(const std::string& name);
  Zone() = default;

 private:
  friend class ZoneClock;
  explicit Zone(const date::time_zone* zone) : zone_(zone) {}
  const date::time_zone* zone_ = nullptr;
};

// Converts instants and remembers the zone's offset between two clock changes, so that a batch of instants
// seldom asks the zone. One thread at a time; make one for each batch.
class ZoneClock {
 public:
  explicit ZoneClock(Zone zone) : zone_(zone) {}

  // Seconds to add to UTC, at this instant.
  int64_t OffsetAt(int64_t instant);
  int64_t ToLocal(int64_t instant);
  // The first instant that shows this local time; a time skipped by a clock change is the instant of the
  // change.
  int64_t FromLocal(int64_t local_seconds);
  CivilTime Civil(int64_t instant) { return CivilFromLocal(ToLocal(instant)); }
  std::string ZoneName(int64_t instant);  // "CET"

  // The beginning of the unit that the instant is in; weeks begin on Monday.
  int64_t Floor(int64_t instant, CalendarUnit unit);
  // Seconds, minutes and hours are counted as such; days and more move the date and keep the time of day.
  // Days behind a month's end become its last.
  int64_t Add(int64_t instant, int64_t count, CalendarUnit unit);

 private:
  void Load(int64_t instant);

  Zone zone_;
  int64_t begin_ = 0;  // the offset holds from begin_ to before end_
  int64_t end_ = 0;
  int64_t offset_ = 0;
};

}  // namespace stoa::sql
