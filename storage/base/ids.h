#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace stoa {

// A number that means one thing. No arithmetic, no silent conversion; `value` is the way out.
template <typename Tag, typename Number>
struct StrongId {
  Number value{};

  constexpr StrongId() = default;
  constexpr explicit StrongId(Number number) : value(number) {}
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

using DocId = StrongId<struct DocIdTag, uint64_t>;  // the user's number of a document, 1 … 2^64-1
using RowId = StrongId<struct RowIdTag, uint32_t>;  // a row inside one chunk or segment, from 0
using ColumnId =
    StrongId<struct ColumnIdTag, uint32_t>;  // never reused within a table: DROP + ADD gives a new one
using TableId =
    StrongId<struct TableIdTag, uint64_t>;  // never reused within a data folder: TRUNCATE gives a new one
using ChunkId = StrongId<struct ChunkIdTag, uint64_t>;
using Lsn = StrongId<struct LsnTag, uint64_t>;  // log sequence number: counts commits of the server

}  // namespace stoa

template <typename Tag, typename Number>
struct std::hash<stoa::StrongId<Tag, Number>> {
  size_t operator()(stoa::StrongId<Tag, Number> id) const noexcept { return std::hash<Number>{}(id.value); }
};
