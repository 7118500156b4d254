#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The bytes of stored JSON (docs/format/json.md), shared by the reader, the encoder and updates. All
// functions take bytes as they come from disk and never read outside of them.
namespace stoa::storage::json_layout {

inline constexpr int kMaxDepth = 100;       // containers inside each other
inline constexpr size_t kCountBytes = 4;    // number of items, at the end of a container
inline constexpr size_t kItemEndBytes = 4;  // per item: where it ends, in front of the count

// Whether `bytes` start with a known tag and are long enough for what the tag says of their own level.
bool IsWellFormedHead(std::string_view bytes);
// Of a container with a well-formed head.
size_t ItemCount(std::string_view bytes);
// Bytes of the item (array: a value; object: name, then a value); empty when its ends are wrong.
std::string_view Item(std::string_view bytes, size_t index);
// Cuts varint length and text off the front of `bytes` and returns the rest; both are empty when they do not
// fit.
std::string_view SplitString(std::string_view bytes, std::string_view& text);

void AppendString(std::string_view text, std::string& out);
// Ends and count of a container whose tag stands at `begin` in `out` and whose items follow it; ends are
// relative to the first item.
void AppendContainerEnd(const uint32_t* ends, size_t count, std::string& out);

}  // namespace stoa::storage::json_layout
