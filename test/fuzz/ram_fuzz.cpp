#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/memory_env.h"
#include "storage/chunk/row_copy.h"
#include "storage/format/section_file.h"
#include "storage/table/commit_pipeline.h"
#include "storage/table/ram_file.h"
#include "storage/table/write_set_codec.h"

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

std::shared_ptr<const TableDefinition> Definition() {
  auto definition = std::make_shared<TableDefinition>();
  definition->id = TableId(1);
  definition->name = "t";
  const ColumnType types[] = {ColumnType::kId, ColumnType::kInt, ColumnType::kBigint, ColumnType::kFloat,
                              ColumnType::kString};
  for (const ColumnType type : types) {
    ColumnDefinition column;
    column.id = ColumnId(static_cast<uint32_t>(definition->columns.size()));
    column.type = type;
    definition->columns.push_back(column);
  }
  return definition;
}

void ReadAll(const TableSnapshot& table) {
  for (const auto& part : table.parts) {
    (void)CopyRows(*part, LiveRows(*part), *table.definition);
  }
}

void Load(MemoryEnv& env) {
  const auto table = LoadRamFile(env, "/d", {TableId(1), 1, Lsn(0)}, Definition());
  if (table.ok()) {
    ReadAll(**table);
  }
}

// Sections as a writer would frame them, so that the fuzzer need not guess checksums: kind byte, length byte,
// bytes.
void LoadFramed(MemoryEnv& env, std::string_view input) {
  const SectionFileKind kind{{'R', 'A', 'M', 'P'}, kRamFormat};
  auto file = env.Create("/d/ram.1");
  SectionFileWriter writer(**file, kind, 1);
  while (input.size() >= 2) {
    const size_t length = std::min<size_t>(static_cast<uint8_t>(input[1]), input.size() - 2);
    (void)writer.AddSection(static_cast<uint8_t>(input[0]) % 5, 0, input.substr(2, length));
    input.remove_prefix(2 + length);
  }
  (void)writer.Finish();
  Load(env);
}

void Replay(std::string_view input) {
  auto changes = DecodeWriteSet(input);
  auto empty = std::make_shared<TableSnapshot>();
  empty->definition = Definition();
  if (changes.ok()) {
    const auto table = CommitPipeline::Replay(std::move(empty), *changes);
    if (table.ok()) {
      ReadAll(**table);
    }
  }
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
  if (data[0] % 3 == 0) {
    if (WriteFileAtomically(env, "/d/ram.1", input).ok()) {
      Load(env);
    }
  } else if (data[0] % 3 == 1) {
    LoadFramed(env, input);
  } else {
    Replay(input);
  }
  return 0;
}
