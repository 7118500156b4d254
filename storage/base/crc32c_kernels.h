#pragma once

#include <cstdint>
#include <string_view>

namespace stoa {

// The two ways to compute Crc32c(); they always agree. Crc32c() chooses once, at the first call.
uint32_t Crc32cTable(std::string_view bytes, uint32_t seed);  // any machine
bool HasCrc32cInstruction();
uint32_t Crc32cInstruction(std::string_view bytes, uint32_t seed);  // only where HasCrc32cInstruction()

}  // namespace stoa
