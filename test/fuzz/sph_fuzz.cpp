#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/check.h"
#include "storage/base/memory_env.h"
#include "storage/chunk/chunk_header.h"
#include "storage/chunk/chunk_view.h"
#include "storage/chunk/row_copy.h"
#include "storage/table/head_builder.h"

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

constexpr ColumnType kTypes[] = {ColumnType::kId,     ColumnType::kInt,   ColumnType::kFloat,
                                 ColumnType::kString, ColumnType::kMulti, ColumnType::kFloatVector,
                                 ColumnType::kText,   ColumnType::kJson};

std::shared_ptr<const TableDefinition> Definition() {
  auto definition = std::make_shared<TableDefinition>();
  definition->id = TableId(1);
  definition->name = "t";
  definition->settings = {{"engine", "columnar"}};
  for (const ColumnType type : kTypes) {
    ColumnDefinition column;
    column.id = ColumnId(static_cast<uint32_t>(definition->columns.size()));
    column.type = type;
    column.stored = true;
    definition->columns.push_back(column);
  }
  return definition;
}

// The files of a sound chunk of 40 rows.
std::vector<std::pair<std::string, std::string>> WriteSound() {
  auto empty = std::make_shared<TableSnapshot>();
  empty->definition = Definition();
  InsertRows change;
  for (const ColumnDefinition& column : empty->definition->columns) {
    if (column.type != ColumnType::kId) {
      change.rows.columns.push_back({.column = column.id, .type = column.type});
    }
  }
  for (uint64_t id = 1; id <= 40; ++id) {
    change.rows.ids.emplace_back(id);
    for (ColumnValues& values : change.rows.columns) {
      switch (LaneOf(values.type)) {
        case Lane::kInt:
          values.AppendInt(static_cast<int64_t>(id));
          break;
        case Lane::kFloat:
          values.AppendFloat(static_cast<float>(id));
          break;
        case Lane::kBytes:
          values.AppendBytes(values.type == ColumnType::kJson ? "" : std::string(4 * (id % 3), '\1'));
      }
    }
  }
  HeadBuilder builder(empty);
  STOA_CHECK(builder.Insert(change).ok());
  const auto table = builder.Finish().value();
  MemoryEnv env;
  ChunkWriteInput input;
  input.parts = table->parts;
  input.definition = table->definition;
  input.id = ChunkId(1);
  STOA_CHECK(env.MakeFolder("/d").ok());
  STOA_CHECK(WriteChunk(env, "/d", input).ok());
  std::vector<std::pair<std::string, std::string>> files;
  const std::vector<std::string> names = env.List("/d").value();
  for (const std::string& name : names) {
    files.emplace_back(name, env.ReadFile("/d/" + name).value());
  }
  return files;
}

void ReadAll(Env& env, AccessMode mode) {
  const auto chunk = DiskChunk::Open(env, "/d", ChunkId(1), {.columnar_access = mode});
  if (!chunk.ok()) {
    return;
  }
  (void)(*chunk)->Files();
  const ChunkView view({*chunk, std::make_shared<const DeleteMap>(), std::make_shared<const PatchOverlay>()});
  const std::vector<RowId> rows = LiveRows(view);
  (void)CopyRows(view, std::span(rows).first(std::min<size_t>(rows.size(), 4096)),
                 (*chunk)->header().definition);
  (void)view.FindDocument(DocId(7));
  (void)(*chunk)->Check();
}

// The header's section as a writer would frame it, so that the fuzzer need not guess checksums.
void FrameHeader(Env& env, std::string_view payload) {
  const SectionFileKind kind{{'S', 'P', 'H', 'F'}, kChunkHeaderFormat};
  const auto file = env.Create("/d/chunk.1.sph").value();
  SectionFileWriter writer(*file, kind, 1);
  (void)writer.AddSection(1, 0, payload);
  (void)writer.Finish();
}

// Some bytes of one file are others: file, place (2 bytes), bytes.
void Overwrite(Env& env, const std::pair<std::string, std::string>& file, std::string_view input) {
  std::string bytes = file.second;
  if (input.size() > 2 && !bytes.empty()) {
    const size_t place =
        (static_cast<uint8_t>(input[0]) * 256u + static_cast<uint8_t>(input[1])) % bytes.size();
    const size_t count = std::min(bytes.size() - place, input.size() - 2);
    bytes.replace(place, count, input.substr(2, count));
  }
  (void)WriteFileAtomically(env, "/d/" + file.first, bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<std::pair<std::string, std::string>> sound = WriteSound();
  if (size < 2) {
    return 0;
  }
  MemoryEnv env;
  if (!env.MakeFolder("/d").ok()) {
    return 0;
  }
  for (const auto& [name, bytes] : sound) {
    (void)WriteFileAtomically(env, "/d/" + name, bytes);
  }
  const std::string input(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (data[0] % 4 == 0) {
    (void)WriteFileAtomically(env, "/d/chunk.1.sph", input);
  } else if (data[0] % 4 == 1) {
    FrameHeader(env, input);
  } else {
    Overwrite(env, sound[data[1] % sound.size()], input);
  }
  ReadAll(env, data[0] % 8 < 4 ? AccessMode::kMmap : AccessMode::kFile);
  return 0;
}
