#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "storage/base/memory_env.h"
#include "storage/table/manifest.h"

// The first byte chooses: the file as a whole, or what is inside its frame.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    stoa::MemoryEnv env;
    const bool made =
        env.MakeFolder("/d").ok() &&
        stoa::WriteFileAtomically(env, std::string("/d/") + stoa::storage::kManifestName, input).ok();
    if (made) {
      (void)stoa::storage::ReadManifest(env, "/d");
    }
    return 0;
  }
  const auto manifest = stoa::storage::DecodeManifest(input);
  if (manifest.ok()) {
    const auto again = stoa::storage::DecodeManifest(stoa::storage::EncodeManifest(*manifest));
    if (!again.ok() || !(*again == *manifest)) {
      std::abort();
    }
  }
  return 0;
}
