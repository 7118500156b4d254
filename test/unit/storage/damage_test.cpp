#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <random>

#include "chunk_fixture.h"
#include "storage/chunk/chunk_view.h"
#include "storage/table/manifest.h"
#include "storage/table/ram_file.h"
#include "storage/table/table_check.h"
#include "storage/table/table_files.h"

// Each file of a table is cut at many places and has bits flipped: the check reports every fault, and who
// reads the table gets what was written or an error that names the file.

namespace stoa::storage {
namespace {

using testing::EveryType;
using testing::InputOf;
using testing::TableOf;

constexpr int kTruncations = 50;
constexpr int kFlips = 200;
constexpr uint64_t kDocuments = 300;

// A data folder with one table that has a file of every kind: a chunk with deleted and patched rows, and a
// RAM part file.
class SoundFolder {
 public:
  explicit SoundFolder(const std::string& engine) {
    definition = EveryType(engine);
    entry = {.definition = definition, .folder = "every.t1", .ram_generation = 3};
    entry.chunks = {{.id = ChunkId(1), .delete_generation = 2, .patch_generation = 4}};
    entry.next_chunk_id = 2;
    REQUIRE(env.MakeFolder(kFolder).ok());
    const auto table = TableOf(definition, 1, kDocuments);
    REQUIRE(WriteChunk(env, kFolder, InputOf(*table, 1)).ToString() == "ok");
    DeleteMapEdit deletes(std::make_shared<const DeleteMap>());
    deletes.Add(RowId(4));
    deletes.AddRange(100, 130);
    REQUIRE(WriteDeleteMap(env, kFolder, ChunkId(1), 2, *deletes.Finish()).ok());
    REQUIRE(WritePatchOverlay(env, kFolder, ChunkId(1), 4, *Patches()).ok());
    const auto ram = TableOf(definition, kDocuments + 1, 20);
    REQUIRE(WriteRamFile(env, kFolder, *ram, {TableId(1), 3, Lsn(0)}).ok());
    Manifest manifest;
    manifest.tables = {entry};
    REQUIRE(WriteManifest(env, "/d", manifest).ok());
  }

  Status Check() { return CheckTable(env, "/d", "every").status(); }

  std::vector<std::string> Paths() {
    std::vector<std::string> paths = {std::string("/d/") + kManifestName};
    const std::vector<std::string> names = env.List(kFolder).value();
    for (const std::string& name : names) {
      paths.push_back(kFolder + "/" + name);
    }
    return paths;
  }

  void Put(const std::string& path, std::string_view bytes) {
    auto file = env.Create(path).value();
    REQUIRE(file->Append(bytes).ok());
  }

  static inline const std::string kFolder = "/d/every.t1";
  MemoryEnv env;
  TableDefinition definition;
  ManifestTable entry;

 private:
  // New values of some rows, of every column that can have them.
  std::shared_ptr<const PatchOverlay> Patches() const {
    PatchOverlayEdit edit(std::make_shared<const PatchOverlay>());
    const std::vector<RowId> rows = {RowId(1), RowId(2), RowId(90), RowId(200)};
    const std::vector<uint32_t> picks = {0, 1, 2, 3};
    const RowBatch values = testing::RowsOf(definition, {501, 502, 503, 504});
    for (const ColumnValues& of_column : values.columns) {
      const auto& column = definition.columns[static_cast<size_t>(definition.IndexOf(of_column.column))];
      if (column.type != ColumnType::kText) {
        edit.Set(rows, picks, of_column, column);
      }
    }
    return edit.Finish();
  }
};

// What one reads of a table: its rows, documents found by id, rows found by conditions.
using Answers = std::vector<std::string>;

std::vector<ColumnPredicate> PredicatesOn(const ColumnDefinition& column) {
  switch (LaneOf(column.type)) {
    case Lane::kInt:
      return {{.test = IntRange{3, 1'700'000'099}}, {.test = IntSet{{0, 1, 7, 250}}, .negated = true}};
    case Lane::kFloat:
      return {{.test = FloatRange{1.5f, 20.0f}}};
    case Lane::kBytes:
      break;
  }
  if (column.type != ColumnType::kString) {
    return {};
  }
  return {{.test = BytesSet{{"color 3", "none"}}}, {.test = BytesSet{{"color 5"}}, .negated = true}};
}

Status AppendRows(const TablePart& part, const TableDefinition& definition, Answers& answers) {
  const std::vector<RowId> live = LiveRows(part);
  ASSIGN_OR_RETURN(const RowBatch rows, CopyRows(part, live, definition));
  for (size_t row = 0; row < rows.size(); ++row) {
    std::string line = std::to_string(rows.ids[row].value);
    for (const ColumnValues& values : rows.columns) {
      line += "|" + testing::ValueText(values, row);
    }
    answers.push_back(std::move(line));
  }
  return Status::Ok();
}

Status AppendDocuments(const TablePart& part, Answers& answers) {
  for (uint64_t id = 0; id < kDocuments + 30; ++id) {
    ASSIGN_OR_RETURN(const std::optional<RowId> row, part.FindDocument(DocId(id)));
    answers.push_back(row ? std::to_string(row->value) : "none");
  }
  return Status::Ok();
}

Status AppendSelected(const TablePart& part, const ColumnDefinition& column, Answers& answers) {
  for (const ColumnPredicate& predicate : PredicatesOn(column)) {
    ASSIGN_OR_RETURN(const auto reader, part.Column(column));
    BlockBits bits{};
    for (uint32_t row = 0; row < part.row_count(); ++row) {
      bits[row / 64] |= uint64_t{1} << (row % 64);
    }
    RETURN_IF_ERROR(reader->Select(0, predicate, bits));
    for (const uint64_t word : bits) {
      answers.push_back(std::to_string(word));
    }
  }
  return Status::Ok();
}

Result<Answers> Ask(SoundFolder& folder, AccessMode mode) {
  DiskChunk::Options options;
  options.columnar_access = mode;
  ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(folder.env, "/d"));
  ASSIGN_OR_RETURN(const OpenedTable table, OpenTableFiles(folder.env, "/d", manifest.tables.at(0), options));
  Answers answers;
  for (const auto& part : table.snapshot->parts) {
    RETURN_IF_ERROR(AppendDocuments(*part, answers));
    for (const ColumnDefinition& column : folder.definition.columns) {
      RETURN_IF_ERROR(AppendSelected(*part, column, answers));
    }
    RETURN_IF_ERROR(AppendRows(*part, folder.definition, answers));
  }
  return answers;
}

bool Contains(const Status& status, const std::string& part) {
  return status.text().find(part) != std::string::npos;
}

// What is wrong with how a damaged file is treated; empty: nothing.
std::string Judge(SoundFolder& folder, const std::string& path, const Answers& right, size_t& still_right) {
  const Status check = folder.Check();
  const bool places = Contains(check, "offset") || Contains(check, "bytes");
  if (check.ok() || !Contains(check, path) || !places) {
    return "the check says " + check.ToString();
  }
  for (const AccessMode mode : {AccessMode::kMmap, AccessMode::kFile}) {
    const Result<Answers> answers = Ask(folder, mode);
    if (answers.ok() && *answers != right) {
      return "a wrong answer";
    }
    if (!answers.ok() && !Contains(answers.status(), path)) {
      return "a reader is told " + answers.status().ToString();
    }
    still_right += answers.ok() ? 1 : 0;
  }
  return "";
}

void DamageEveryFile(const std::string& engine) {
  SoundFolder folder(engine);
  REQUIRE(folder.Check().ToString() == "ok");
  const Answers right = Ask(folder, AccessMode::kMmap).value();
  REQUIRE(Ask(folder, AccessMode::kFile).value() == right);
  std::mt19937_64 dice(20240611);
  for (const std::string& path : folder.Paths()) {
    const std::string sound = folder.env.ReadFile(path).value();
    size_t still_right = 0;
    std::vector<std::string> faults;
    for (int i = 0; i < kTruncations + kFlips; ++i) {
      std::string bytes = sound;
      const size_t at = dice() % sound.size();
      if (i < kTruncations) {
        bytes.resize(at);
      } else {
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << dice() % 8);
      }
      folder.Put(path, bytes);
      if (const std::string fault = Judge(folder, path, right, still_right); !fault.empty()) {
        faults.push_back(
            fmt::format("{} {} at {}: {}", path, i < kTruncations ? "cut" : "flipped", at, fault));
      }
    }
    folder.Put(path, sound);
    CAPTURE(path, sound.size(), still_right);
    CHECK(faults == std::vector<std::string>());
  }
  CHECK(folder.Check().ok());
}

TEST_CASE("no damage to a file of a columnar table goes unnoticed", "[storage]") {
  DamageEveryFile("columnar");
}

TEST_CASE("no damage to a file of a row-wise table goes unnoticed", "[storage]") {
  DamageEveryFile("rowwise");
}

}  // namespace
}  // namespace stoa::storage
