#include <cstddef>
#include <cstdint>
#include <string_view>

#include "config/config_file.h"

// Any bytes are either a config or an error that names the file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kLongest = 65536;
  if (size > kLongest) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto result = stoa::config::ParseConfig(text, "fuzz.conf");
  if (!result.ok() && !result.status().text().starts_with("fuzz.conf:")) {
    __builtin_trap();
  }
  return 0;
}
