#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace stoa::sql {

// Characters are code points. Bytes that are no UTF-8 never leave the text: a character begins at every byte
// that does not continue one.
size_t CountCharacters(std::string_view text);
// The byte where character `index` begins; text.size() behind the last.
size_t CharacterOffset(std::string_view text, size_t index);
// The code points, bytes of broken characters as themselves.
void DecodeCharacters(std::string_view text, std::vector<char32_t>& out);

}  // namespace stoa::sql
