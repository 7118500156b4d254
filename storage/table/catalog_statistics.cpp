#include <algorithm>

#include "storage/chunk/chunk_header.h"
#include "storage/chunk/ram_segment.h"
#include "storage/table/local_catalog.h"
#include "storage/table/ram_file.h"
#include "storage/table/table_options.h"

namespace stoa::storage {
namespace {

// A file that is read as a whole: delete maps, overlays, the RAM part.
void AddFile(Env& env, const std::string& folder, const std::string& name,
             std::vector<ChunkFileInfo>& files) {
  if (const auto size = env.FileSize(folder + "/" + name); size.ok()) {
    files.push_back({.name = name, .bytes = *size});
  }
}

uint64_t BytesOf(const StoredColumn& column, uint32_t rows) {
  uint64_t bytes = 0;
  for (size_t block = 0; block < column.blocks.size() && block * kBlockRows < rows; ++block) {
    if (column.blocks[block] == nullptr) {
      continue;
    }
    const auto* cells = column.blocks[block]->values<BytesCell>();
    const uint64_t count = std::min<uint64_t>(column.blocks[block]->capacity(), rows - block * kBlockRows);
    for (uint64_t i = 0; i < count; ++i) {
      bytes += cells[i].size;
    }
  }
  return bytes;
}

// Of stored texts, as a chunk counts them.
uint64_t RamTextBytes(const TableSnapshot& snapshot) {
  uint64_t bytes = 0;
  for (const auto& part : SegmentsOf(snapshot)) {
    const SegmentView::State& state = static_cast<const SegmentView&>(*part).state();
    for (const ColumnDefinition& definition : snapshot.definition->columns) {
      const StoredColumn* column = PlaceOf(*snapshot.definition, definition) == ColumnPlace::kDocstore
                                       ? state.directory->Find(definition.id)
                                       : nullptr;
      bytes += column != nullptr ? BytesOf(*column, state.row_count) : 0;
    }
  }
  return bytes;
}

}  // namespace

TableStatistics LocalCatalog::Statistics(const Table& table) const {
  TableStatistics statistics;
  const auto snapshot = table.Snapshot();
  const auto entries = shown_.Load();
  const auto place = FindTable(*entries, table);
  const TableFiles files = place != entries->end() ? place->second.files : TableFiles{};
  const std::string folder = PathOf(files.folder);
  for (const auto& view : ChunksOf(*snapshot)) {
    const ChunkView::State& state = view->state();
    const ChunkId id = state.chunk->header().id;
    statistics.chunks.push_back({.id = id,
                                 .rows = view->row_count(),
                                 .deleted = view->deleted().count(),
                                 .disk_bytes = state.chunk->disk_bytes(),
                                 .patched_values = state.overlay->patched_values(),
                                 .merging = jobs_.IsBusy(table, id)});
    statistics.chunk_ram_bytes += view->ram_bytes();
    statistics.text_bytes += state.chunk->text_bytes();
    for (ChunkFileInfo& file : state.chunk->Files()) {
      statistics.files.push_back(std::move(file));
    }
  }
  for (const TableFiles::Chunk& chunk : files.chunks) {
    if (chunk.named.delete_generation > 0) {
      AddFile(env_, folder,
              ChunkFileName(chunk.named.id, fmt::format("spm.{}", chunk.named.delete_generation)),
              statistics.files);
    }
    if (chunk.named.patch_generation > 0) {
      AddFile(env_, folder,
              ChunkFileName(chunk.named.id, fmt::format("spu.{}", chunk.named.patch_generation)),
              statistics.files);
    }
  }
  if (files.ram_generation > 0) {
    AddFile(env_, folder, RamFileName(files.ram_generation), statistics.files);
  }
  for (ChunkFileInfo& file : statistics.files) {
    file.name = files.folder + "/" + file.name;
  }
  statistics.ram_segments = static_cast<uint32_t>(SegmentsOf(*snapshot).size());
  statistics.ram_bytes = RamBytesOf(*snapshot);
  statistics.mem_limit = MemLimitOf(*snapshot->definition, options_);
  statistics.mem_limit_rate = table.maintenance_.mem_limit_rate.load();
  statistics.text_bytes += RamTextBytes(*snapshot);
  const Lsn last = pipeline_->PublishedState(table).lsn;
  statistics.transaction = last.value;
  statistics.saved_transaction = std::min(files.flushed, last).value;
  statistics.frozen = table.maintenance_.frozen.load() > 0;
  statistics.optimizing = jobs_.HasMerge(table);
  return statistics;
}

std::vector<MaintenanceJob> LocalCatalog::Jobs() const { return jobs_.List(); }

WaitHistogram LocalCatalog::waits() const { return waits_.Read(); }

}  // namespace stoa::storage
