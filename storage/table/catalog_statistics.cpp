#include <algorithm>

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

}  // namespace

TableStatistics LocalCatalog::Statistics(const Table& table) const {
  TableStatistics statistics;
  const auto snapshot = table.Snapshot();
  TableFiles files;
  {
    MutexLock lock(registry_mutex_);
    if (const auto place = FindTable(entries_, table); place != entries_.end()) {
      files = place->second.files;
    }
  }
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
  statistics.frozen = table.maintenance_.frozen.load() > 0;
  statistics.optimizing = jobs_.HasMerge(table);
  return statistics;
}

std::vector<MaintenanceJob> LocalCatalog::Jobs() const { return jobs_.List(); }

WaitHistogram LocalCatalog::waits() const { return waits_.Read(); }

}  // namespace stoa::storage
