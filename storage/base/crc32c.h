#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stoa {

// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `bytes`; `seed` is the CRC of what came before.
uint32_t Crc32c(std::string_view bytes, uint32_t seed = 0);

}  // namespace stoa
