#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoa::config {

// Whole decimal number with an optional sign; nullopt for anything else and for what does not fit.
std::optional<int64_t> ParsePlainInteger(std::string_view text);

// "64k", "128M", "1g", "2T" (1024-based) or a plain number of bytes; integers only.
std::optional<int64_t> ParseSize(std::string_view text);

// "200us", "50ms", "5s", "3m", "10h", "2d", "1w" in microseconds; a number without suffix counts `unit`
// microseconds.
std::optional<int64_t> ParseTime(std::string_view text, int64_t unit);

// The shortest exact form: "128k", "1000", "1g".
std::string FormatSize(int64_t bytes);
// The shortest exact form: "5m", "1500ms", "0s".
std::string FormatTime(int64_t micros);

}  // namespace stoa::config
