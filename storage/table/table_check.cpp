#include "storage/table/table_check.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "storage/chunk/part_column_input.h"
#include "storage/format/section_table.h"
#include "storage/table/manifest.h"
#include "storage/table/ram_file.h"
#include "storage/table/table_files.h"

namespace stoa::storage {
namespace {

// While a server replaces the files.
constexpr int kLeastTries = 5;
constexpr auto kLongestChase = std::chrono::seconds(30);
constexpr int kMostReads = 100;  // of the manifest

std::string NameOf(const TablePart& part) {
  return part.is_disk_chunk()
             ? ChunkFileName(static_cast<const ChunkView&>(part).state().chunk->header().id, "*")
             : std::string("the RAM part file");
}

// No live document of parts[index] is in a later part.
Status CheckDocumentsOf(const TableSnapshot& snapshot, size_t index, const std::string& folder) {
  const auto& parts = snapshot.parts;
  const PartRows rows{std::span(parts).subspan(index, 1)};
  PartColumnInput ids(rows, snapshot.definition->columns.front(), nullptr);
  while (true) {
    ASSIGN_OR_RETURN(const ColumnValues* const piece, ids.Next());
    if (piece == nullptr) {
      return Status::Ok();
    }
    for (const int64_t value : piece->ints) {
      const DocId id(static_cast<uint64_t>(value));
      for (size_t other = index + 1; other < parts.size(); ++other) {
        ASSIGN_OR_RETURN(const std::optional<RowId> row, parts[other]->FindDocument(id));
        if (row.has_value()) {
          return CorruptError("{}: document {} is in {} and in {}", folder, id.value, NameOf(*parts[index]),
                              NameOf(*parts[other]));
        }
      }
    }
  }
}

// Between the sections of the files that are read whole when a table is opened.
Status CheckZeros(Env& env, const std::string& folder, const ManifestTable& table) {
  for (const ManifestChunk& chunk : table.chunks) {
    std::vector<std::string> suffixes = {"sph"};
    if (chunk.delete_generation > 0) {
      suffixes.push_back(fmt::format("spm.{}", chunk.delete_generation));
    }
    if (chunk.patch_generation > 0) {
      suffixes.push_back(fmt::format("spu.{}", chunk.patch_generation));
    }
    for (const std::string& suffix : suffixes) {
      RETURN_IF_ERROR(CheckZerosBetweenSections(env, folder + "/" + ChunkFileName(chunk.id, suffix)));
    }
  }
  return table.ram_generation > 0
             ? CheckZerosBetweenSections(env, folder + "/" + RamFileName(table.ram_generation))
             : Status::Ok();
}

Result<TableCheckReport> CheckFiles(Env& env, const std::string& data_dir, const ManifestTable& table,
                                    std::shared_ptr<const VectorIndexFormat> format) {
  DiskChunk::Options options;
  options.columnar_access = AccessMode::kFile;
  options.vector_index_format = std::move(format);
  ASSIGN_OR_RETURN(const OpenedTable opened, OpenTableFiles(env, data_dir, table, options));
  const TableSnapshot& snapshot = *opened.snapshot;
  const std::string folder = data_dir + "/" + table.folder;
  RETURN_IF_ERROR(CheckZeros(env, folder, table));
  for (const auto& view : ChunksOf(snapshot)) {
    RETURN_IF_ERROR(view->state().chunk->Check());
  }
  for (size_t part = 0; part < snapshot.parts.size(); ++part) {
    RETURN_IF_ERROR(CheckDocumentsOf(snapshot, part, folder));
  }
  return TableCheckReport{.chunks = table.chunks.size(), .rows = snapshot.live_count()};
}

Result<ManifestTable> FindInManifest(Env& env, const std::string& data_dir, std::string_view name) {
  ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(env, data_dir));
  const auto found = std::find_if(manifest.tables.begin(), manifest.tables.end(),
                                  [&](const ManifestTable& table) { return table.definition.name == name; });
  if (found == manifest.tables.end()) {
    return NotFoundError("table '{}' is not in {}/{}", name, data_dir, kManifestName);
  }
  return std::move(*found);
}

// `alone`: no server replaces the manifest while it is read.
Result<ManifestTable> ReadNamed(Env& env, const std::string& data_dir, std::string_view table, bool alone) {
  for (int tries = 1;; ++tries) {
    Result<ManifestTable> named = FindInManifest(env, data_dir, table);
    const Status zeros =
        named.ok() ? CheckZerosBetweenSections(env, data_dir + "/" + kManifestName) : named.status();
    if (zeros.ok()) {
      return named;
    }
    if (alone || tries == kMostReads || zeros.code() == StatusCode::kNotFound) {
      return zeros;
    }
  }
}

}  // namespace

Result<TableCheckReport> CheckTable(Env& env, const std::string& data_dir, std::string_view table,
                                    std::shared_ptr<const VectorIndexFormat> format) {
  const Result<std::unique_ptr<FolderLock>> lock = env.Lock(data_dir);
  const auto end = std::chrono::steady_clock::now() + kLongestChase;
  ASSIGN_OR_RETURN(ManifestTable named, ReadNamed(env, data_dir, table, lock.ok()));
  std::string last_fault;
  for (int tries = 1;; ++tries) {
    Result<TableCheckReport> report = CheckFiles(env, data_dir, named, format);
    if (report.ok() || lock.ok()) {
      if (report.ok() && !lock.ok()) {
        report->note = lock.status().text();
      }
      return report;
    }
    // A server runs: what the old manifest names may be gone by now. What is still so is damage.
    ASSIGN_OR_RETURN(ManifestTable newer, ReadNamed(env, data_dir, table, false));
    const bool gave_up = tries >= kLeastTries && std::chrono::steady_clock::now() > end;
    if (newer == named || report.status().text() == last_fault || gave_up) {
      return report;
    }
    last_fault = report.status().text();
    named = std::move(newer);
  }
}

}  // namespace stoa::storage
