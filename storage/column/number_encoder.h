#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "storage/column/number_block.h"

namespace stoa::storage {

// Chooses how a block is packed, by the exact number of bytes of every encoding, and packs it. The payload is
// appended to `payload`; the block's offset is left 0.

// `keys`: 1 … 1,024 of them.
NumberBlock EncodeKeys(std::span<const uint64_t> keys, std::string& payload);
// Bit for bit, NaNs included.
NumberBlock EncodeFloats(std::span<const float> values, std::string& payload);

// With the encoding that is asked for, for tests; none when it cannot hold these keys.
std::optional<NumberBlock> EncodeKeysAs(BlockEncoding encoding, std::span<const uint64_t> keys,
                                        std::string& payload);

}  // namespace stoa::storage
