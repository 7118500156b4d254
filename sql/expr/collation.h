#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/bind/name_scope.h"

// Comparing strings by collation (SO-08). The _ci collations compare code points after simple Unicode case
// folding, the others compare bytes. Trailing blanks count. Bytes that are no UTF-8 compare as themselves.
namespace stoa::sql {

// Whether the collation ignores case.
bool FoldsCase(Collation collation);

// Below, at or above zero, as memcmp.
int CompareStrings(Collation collation, std::string_view a, std::string_view b);
bool EqualStrings(Collation collation, std::string_view a, std::string_view b);
// Equal strings have equal hashes and equal keys; keys of valid UTF-8 order (by bytes) as the strings do.
uint64_t HashString(Collation collation, std::string_view text);
std::string FoldKey(Collation collation, std::string_view text);
// The same, appended to `out`.
void AppendFoldKey(Collation collation, std::string_view text, std::string& out);

}  // namespace stoa::sql
