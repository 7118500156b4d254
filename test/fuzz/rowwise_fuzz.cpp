#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzz_sections.h"
#include "storage/base/memory_env.h"
#include "storage/chunk/rowwise_file.h"
#include "storage/chunk/rowwise_layout.h"
#include "storage/format/section_file.h"
#include "storage/json/json_value.h"

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

constexpr uint64_t kChunk = 1;
constexpr uint32_t kMaxRows = 4096;  // read, however many the file says it has

uint64_t Touch(std::string_view value) {
  uint64_t sum = value.size();
  for (const char byte : value) {
    sum = sum * 31 + static_cast<unsigned char>(byte);
  }
  return sum;
}

void ReadColumn(const std::shared_ptr<const RowwiseFile>& file, ColumnId column, ColumnType type,
                const std::vector<RowId>& rows) {
  const auto reader = file->NewReader(file, column, type);
  if (!reader.ok()) {
    return;
  }
  std::vector<int64_t> ints(rows.size());
  std::vector<float> floats(rows.size());
  std::vector<std::string_view> values(rows.size());
  ReadBuffer buffer;
  (void)(*reader)->ReadInts(rows, ints);
  (void)(*reader)->ReadFloats(rows, floats);
  if ((*reader)->ReadBytes(rows, values, buffer).ok()) {
    uint64_t sum = 0;
    for (const std::string_view value : values) {
      sum += Touch(value);
      if (type == ColumnType::kJson) {
        sum += JsonText(JsonView(value)).size();
      }
    }
    volatile uint64_t kept = sum;  // so that the loads stay
    (void)kept;
  }
}

void ReadAll(MemoryEnv& env) {
  const auto file = RowwiseFile::Open(env, "/d/a.spa", "/d/a.spb", ChunkId(kChunk));
  if (!file.ok()) {
    return;
  }
  std::vector<RowId> rows;
  for (uint32_t row = 0; row < (*file)->row_count() && row < kMaxRows; ++row) {
    rows.emplace_back(row);
  }
  for (uint32_t column = 0; column < 16; ++column) {
    for (uint8_t type = 0; type <= static_cast<uint8_t>(ColumnType::kFloatVectorArray); ++type) {
      ReadColumn(*file, ColumnId(column), static_cast<ColumnType>(type), rows);
    }
  }
  if ((*file)->row_count() <= kMaxRows) {
    (void)(*file)->Check();
  }
}

void Write(MemoryEnv& env, const char* path, const SectionFileKind& kind,
           const std::vector<std::string_view>& sections) {
  auto file = env.Create(path);
  SectionFileWriter writer(**file, kind, kChunk);
  for (size_t i = 0; i < sections.size(); ++i) {
    (void)writer.AddSection(static_cast<uint32_t>(i) + 1, 0, sections[i],
                            {.page_size = i == 1 ? kDefaultPage : kWholeSection});
  }
  (void)writer.Finish();
}

}  // namespace

// Even first byte: the .spa is the input as it is. Odd: the input is cut into layout, rows and values, framed
// with right checksums.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  MemoryEnv env;
  (void)env.MakeFolder("/d");
  if (data[0] % 2 == 0) {
    Write(env, "/d/a.spb", kBlobKind, {"some values for the references"});
    (void)WriteFileAtomically(env, "/d/a.spa", input);
  } else {
    const std::string_view layout = TakePiece(input);
    const std::string_view rows = TakePiece(input);
    Write(env, "/d/a.spa", kRowwiseKind, {layout, rows});
    Write(env, "/d/a.spb", kBlobKind, {input});
  }
  ReadAll(env);
  return 0;
}
