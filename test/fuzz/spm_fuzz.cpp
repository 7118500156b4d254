#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "storage/base/memory_env.h"
#include "storage/chunk/chunk_view.h"
#include "storage/format/section_file.h"

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

constexpr uint32_t kRows = 100'000;

// What is read can be written, and reads the same.
void Read(MemoryEnv& env) {
  const auto map = ReadDeleteMap(env, "/d", ChunkId(7), 3, kRows);
  if (!map.ok()) {
    return;
  }
  if (!WriteDeleteMap(env, "/d", ChunkId(7), 4, **map).ok()) {
    std::abort();
  }
  const auto again = ReadDeleteMap(env, "/d", ChunkId(7), 4, kRows);
  if (!again.ok() || (*again)->count() != (*map)->count()) {
    std::abort();
  }
  for (uint32_t word = 0; word <= kRows / 64; ++word) {
    if ((*again)->Word(word) != (*map)->Word(word)) {
      std::abort();
    }
  }
}

// The input as the pages section in a right frame; the first byte is the number of rows.
void ReadFramed(MemoryEnv& env, std::string_view input) {
  auto file = env.Create("/d/chunk.7.spm.3");
  SectionFileWriter writer(**file, {{'S', 'P', 'M', ' '}, kDeleteMapFormat}, 7);
  const uint64_t info[] = {3, input.empty() ? 0 : static_cast<uint8_t>(input[0])};
  (void)writer.AddSection(1, 0, std::string_view(reinterpret_cast<const char*>(info), sizeof(info)));
  (void)writer.AddSection(2, 0, input.substr(input.empty() ? 0 : 1));
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
  } else if (WriteFileAtomically(env, "/d/chunk.7.spm.3", input).ok()) {
    Read(env);
  }
  return 0;
}
