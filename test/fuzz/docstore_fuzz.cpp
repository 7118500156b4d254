#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzz_sections.h"
#include "storage/base/memory_env.h"
#include "storage/chunk/docstore.h"
#include "storage/chunk/docstore_codec.h"
#include "storage/chunk/docstore_format.h"
#include "storage/format/section_file.h"

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

constexpr uint64_t kChunk = 1;
constexpr uint32_t kMaxRows = 4096;  // read, however many the file says it has
constexpr const char* kPath = "/d/a.spds";

void ReadAll(MemoryEnv& env) {
  const auto store =
      Docstore::Open(env, kPath, ChunkId(kChunk), std::make_shared<DocstoreCache>(uint64_t{1} << 16));
  if (!store.ok()) {
    return;
  }
  std::vector<RowId> rows;
  for (uint32_t row = 0; row < (*store)->row_count() && row < kMaxRows; ++row) {
    rows.emplace_back(row);
  }
  for (uint32_t column = 0; column < 16; ++column) {
    const auto reader = (*store)->NewReader(*store, ColumnId(column), ColumnType::kText);
    std::vector<std::string_view> values(rows.size());
    ReadBuffer buffer;
    if (reader.ok() && (*reader)->ReadBytes(rows, values, buffer).ok()) {
      const std::vector<std::string> copies(values.begin(), values.end());
    }
  }
  if ((*store)->row_count() <= kMaxRows) {
    (void)(*store)->Check();
  }
}

void ReadFramed(MemoryEnv& env, std::string_view input) {
  auto file = env.Create(kPath);
  SectionFileWriter writer(**file, kDocstoreKind, kChunk);
  (void)writer.AddSection(kDocstoreInfoSection, 0, TakePiece(input));
  (void)writer.AddSection(kDocstoreDirectorySection, 0, TakePiece(input));
  (void)writer.AddSection(kDocstoreBlockSection, 0, input, {.page_size = kDocstorePage});
  (void)writer.Finish();
  ReadAll(env);
}

// One block, the input, of a file that is right otherwise.
void ReadBlock(MemoryEnv& env, std::string_view input, BlockCodec codec) {
  const std::string_view head = TakePiece(input);
  const uint32_t raw_size = head.empty() ? 0 : static_cast<uint8_t>(head[0]) * 64u;
  const uint32_t rows = head.size() < 2 ? 1 : static_cast<uint8_t>(head[1]);
  const DocstoreInfo info{rows, codec, {{ColumnId(1), ColumnType::kText}, {ColumnId(2), ColumnType::kText}}};
  const DocstoreDirectory directory{{{0, raw_size, 0}, {rows, 0, input.size()}}};
  auto file = env.Create(kPath);
  SectionFileWriter writer(**file, kDocstoreKind, kChunk);
  (void)writer.AddSection(kDocstoreInfoSection, 0, info.Encode());
  (void)writer.AddSection(kDocstoreDirectorySection, 0, directory.Encode());
  (void)writer.AddSection(kDocstoreBlockSection, 0, input, {.page_size = kDocstorePage});
  (void)writer.Finish();
  ReadAll(env);
}

}  // namespace

// By the first byte: the file as it is; its sections, framed with right checksums; one block of a codec.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  MemoryEnv env;
  (void)env.MakeFolder("/d");
  switch (data[0] % 5) {
    case 0:
      (void)WriteFileAtomically(env, kPath, input);
      ReadAll(env);
      break;
    case 1:
      ReadFramed(env, input);
      break;
    default:
      ReadBlock(env, input, static_cast<BlockCodec>(data[0] % 5 - 2));
      break;
  }
  return 0;
}
