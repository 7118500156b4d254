#pragma once

#include <cstdint>
#include <string_view>

#include "storage/base/result.h"

namespace date {
class time_zone;
}

namespace stoa::sql {

// A time zone by its IANA name. Cheap to copy; the data behind it lives as long as the process.
class TimeZone {
 public:
  TimeZone() = default;  // UTC
  static Result<TimeZone> Find(std::string_view name);

  // Seconds since 1970 UTC of a local wall-clock time given as if it were UTC. A time that occurs twice means
  // its first occurrence, one that is skipped means the moment of the change.
  int64_t ToUnix(int64_t local_seconds) const;

 private:
  const date::time_zone* zone_ = nullptr;
};

// Seconds since 1970 of a date text (features DT-20): YYYY, YYYY-MM, YYYY-MM-DD,
// YYYY-MM-DDTHH[:MM[:SS[.frac]]][zone] with 'T' or a blank between, zone 'Z', '+HH', '+HHMM' or '+HH:MM'; ten
// and more digits are seconds as they are. `zone` is meant where the text names none.
Result<int64_t> ParseDateText(std::string_view text, const TimeZone& zone);

}  // namespace stoa::sql
