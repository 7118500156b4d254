#pragma once

#include <optional>
#include <string_view>

#include "sql/bind/name_scope.h"
#include "sql/expr/functions/civil_time.h"

namespace stoa::sql {

// "2026", "2026-04", "2026-04-20", with a time behind 'T' or a blank ("12:30", "12:30:05", fraction ignored)
// and a zone
// ("Z", "+02:00"; else `clock`'s); or seconds since 1970 (more than four digits). Nothing when it is none of
// them.
std::optional<int64_t> ParseDateText(std::string_view text, ZoneClock& clock);

// Date math: "now" or a date text followed by "||", then steps: "+2M", "-3d", "/d" (down to the beginning of
// the day). Units are s m h H d w M y. A date text alone is one, too.
std::optional<int64_t> ParseDateMath(std::string_view text, int64_t now, ZoneClock& clock);

// "30s", "2h", "1d" in seconds; nothing unless it is above zero.
std::optional<int64_t> ParseDuration(std::string_view text);

// The zone of the statement.
Result<Zone> FindZone(const NameScope& scope);
// The first `count` arguments as instants (kBigint): numbers as they are, date texts parsed (NULL when they
// are none).
Result<std::vector<SharedExpr>> BindInstants(const ParsedExpr& call, NameScope& scope,
                                             size_t count = SIZE_MAX);

}  // namespace stoa::sql
