#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace stoa::sql {

// Reads "0.5, -2,3e7" as 32-bit floats, up to `close`, which must come; '\0': up to the end of the text. At
// least one number, blanks around each; a number too small for a float is 0. Returns the offset of `close`;
// nullopt, with anything in `floats`, when the text has something else in it or a number is too large.
std::optional<size_t> ReadFloats(std::string_view text, char close, std::vector<float>& floats);

}  // namespace stoa::sql
