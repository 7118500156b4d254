#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "storage/base/memory_env.h"
#include "storage/chunk/chunk_view.h"
#include "storage/format/section_file.h"

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

constexpr uint32_t kRows = 5'000;

// Touches every byte of every patch.
uint64_t Sum(const PatchOverlay& overlay) {
  uint64_t sum = overlay.patched_values();
  for (const auto& column : overlay.columns()) {
    for (const auto& entry : column->blocks) {
      for (size_t i = 0; i < entry.patch->rows.size(); ++i) {
        sum = sum * 31 + entry.patch->rows[i];
        if (LaneOf(column->type) != Lane::kBytes) {
          continue;
        }
        for (const char c : entry.patch->values.BytesAt(i)) {
          sum = sum * 31 + static_cast<uint8_t>(c);
        }
      }
    }
  }
  return sum;
}

// What is read can be written, and reads the same.
void Read(MemoryEnv& env) {
  const auto overlay = ReadPatchOverlay(env, "/d", ChunkId(7), 3, kRows);
  if (!overlay.ok()) {
    return;
  }
  if (!WritePatchOverlay(env, "/d", ChunkId(7), 4, **overlay).ok()) {
    std::abort();
  }
  const auto again = ReadPatchOverlay(env, "/d", ChunkId(7), 4, kRows);
  if (!again.ok() || Sum(**again) != Sum(**overlay)) {
    std::abort();
  }
}

// Sections as a writer would frame them: column byte, length byte, bytes. The first byte is the number of
// values.
void ReadFramed(MemoryEnv& env, std::string_view input) {
  auto file = env.Create("/d/chunk.7.spu.3");
  SectionFileWriter writer(**file, {{'S', 'P', 'U', ' '}, kPatchOverlayFormat}, 7);
  const uint64_t info[] = {3, input.empty() ? 0 : static_cast<uint8_t>(input[0])};
  (void)writer.AddSection(1, 0, std::string_view(reinterpret_cast<const char*>(info), sizeof(info)));
  input.remove_prefix(input.empty() ? 0 : 1);
  while (input.size() >= 2) {
    const size_t length = std::min<size_t>(static_cast<uint8_t>(input[1]), input.size() - 2);
    (void)writer.AddSection(2, static_cast<uint8_t>(input[0]), input.substr(2, length));
    input.remove_prefix(2 + length);
  }
  (void)writer.Finish();
  Read(env);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  MemoryEnv env;
  if (!env.MakeFolder("/d").ok()) {
    return 0;
  }
  if (data[0] % 4 != 0) {
    ReadFramed(env, input);
  } else if (WriteFileAtomically(env, "/d/chunk.7.spu.3", input).ok()) {
    Read(env);
  }
  return 0;
}
