#pragma once

#include <string>
#include <string_view>

#include "sql/expr/functions/civil_time.h"

namespace stoa::sql {

std::string_view WeekdayName(int weekday);  // 0 is Sunday
std::string_view MonthName(int month);      // 1 … 12

void AppendDate(const CivilTime& civil, std::string& out);  // 2026-04-20
void AppendTime(const CivilTime& civil, std::string& out);  // 07:05:00

// The instant in strftime's letters (English names); what is no letter of it is copied.
void AppendDateFormat(std::string_view format, int64_t instant, ZoneClock& clock, std::string& out);

// Week of the year by MySQL's modes 0 … 7: bit 0 weeks begin on Monday; bit 1 days before week 1 belong to
// the last week of the year before, not to week 0; bit 2 turns the rule of week 1 (modes 1, 3, 4, 6: four
// days or more in this year; 0, 2, 5, 7: its first day is in this year). `year`, when given, is set to the
// year that the week belongs to.
int WeekOfYear(const CivilTime& civil, int mode, int* year = nullptr);

}  // namespace stoa::sql
