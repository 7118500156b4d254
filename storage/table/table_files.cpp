#include "storage/table/table_files.h"

#include <algorithm>
#include <set>

#include "storage/base/log.h"
#include "storage/chunk/stored_value.h"
#include "storage/chunk/vector_index_file.h"
#include "storage/table/ram_file.h"

namespace stoa::storage {
namespace {

std::string DeleteFileName(const ManifestChunk& chunk) {
  return ChunkFileName(chunk.id, fmt::format("spm.{}", chunk.delete_generation));
}

std::string PatchFileName(const ManifestChunk& chunk) {
  return ChunkFileName(chunk.id, fmt::format("spu.{}", chunk.patch_generation));
}

// The generations that are on disk now, and those after a save.
Result<TableFiles::Chunk> SaveChunk(Env& env, const std::string& folder, const ChunkView& view,
                                    const TableFiles& old) {
  TableFiles::Chunk chunk;
  const ChunkId id = view.state().chunk->header().id;
  chunk.named.id = id;
  const auto known = std::find_if(old.chunks.begin(), old.chunks.end(),
                                  [&](const TableFiles::Chunk& other) { return other.named.id == id; });
  if (known != old.chunks.end()) {
    chunk = *known;
  }
  const auto& deletes = view.state().deleted;
  if (deletes != chunk.deletes && deletes->count() > 0) {
    ++chunk.named.delete_generation;
    RETURN_IF_ERROR(WriteDeleteMap(env, folder, id, chunk.named.delete_generation, *deletes));
    chunk.deletes = deletes;
  }
  const auto& patches = view.state().overlay;
  if (patches != chunk.patches && !patches->empty()) {
    ++chunk.named.patch_generation;
    RETURN_IF_ERROR(WritePatchOverlay(env, folder, id, chunk.named.patch_generation, *patches));
    chunk.patches = patches;
  }
  return chunk;
}

// The patches are values that the column may have; ReadPatchOverlay knows their types only.
bool FitsColumn(const PatchOverlay::Column& patches, const ColumnDefinition& column) {
  if (column.type == ColumnType::kId || !CanReadAs(patches.type, column.type)) {
    return false;
  }
  const int64_t most = column.type == ColumnType::kBool  ? 1
                       : column.type == ColumnType::kInt ? (int64_t{1} << column.bits) - 1
                                                         : INT64_MAX;
  const uint64_t vector_bytes =
      column.type == ColumnType::kFloatVector && column.knn ? column.knn->dims * sizeof(float) : 0;
  for (const PatchOverlay::Column::Entry& entry : patches.blocks) {
    const ColumnValues& values = entry.patch->values;
    if (std::any_of(values.ints.begin(), values.ints.end(), [&](int64_t value) { return value > most; })) {
      return false;
    }
    for (size_t i = 0; vector_bytes > 0 && i < entry.patch->rows.size(); ++i) {
      if (!values.BytesAt(i).empty() && values.BytesAt(i).size() != vector_bytes) {
        return false;
      }
    }
  }
  return true;
}

Status CheckOverlay(const PatchOverlay& overlay, const TableDefinition& definition, const std::string& path) {
  for (const auto& patches : overlay.columns()) {
    const int index = definition.IndexOf(patches->id);
    if (index < 0) {
      continue;  // the column was dropped
    }
    const ColumnDefinition& column = definition.columns[static_cast<size_t>(index)];
    if (!FitsColumn(*patches, column)) {
      return CorruptError("{}: values of column {} '{}' are none of {}", path, column.id.value, column.name,
                          DescribeType(column));
    }
  }
  return Status::Ok();
}

Result<std::shared_ptr<const ChunkView>> OpenChunk(Env& env, const std::string& folder,
                                                   const DiskChunk::Options& options,
                                                   const TableDefinition& definition,
                                                   TableFiles::Chunk& chunk) {
  ChunkView::State state;
  const ChunkId id = chunk.named.id;
  ASSIGN_OR_RETURN(state.chunk, DiskChunk::Open(env, folder, id, options));
  state.deleted = std::make_shared<const DeleteMap>();
  state.overlay = std::make_shared<const PatchOverlay>();
  if (chunk.named.delete_generation > 0) {
    ASSIGN_OR_RETURN(state.deleted,
                     ReadDeleteMap(env, folder, id, chunk.named.delete_generation, state.chunk->row_count()));
    chunk.deletes = state.deleted;
  }
  if (chunk.named.patch_generation > 0) {
    ASSIGN_OR_RETURN(state.overlay, ReadPatchOverlay(env, folder, id, chunk.named.patch_generation,
                                                     state.chunk->row_count()));
    RETURN_IF_ERROR(CheckOverlay(*state.overlay, definition, folder + "/" + PatchFileName(chunk.named)));
    chunk.patches = state.overlay;
  }
  return std::make_shared<const ChunkView>(std::move(state));
}

// Every file of the table's folder that may stay.
std::set<std::string> ChunkSuffixGenerations(const TableFiles& files) {
  std::set<std::string> names;
  for (const TableFiles::Chunk& chunk : files.chunks) {
    names.insert(DeleteFileName(chunk.named));
    names.insert(PatchFileName(chunk.named));
  }
  return names;
}

void RemoveFile(Env& env, const std::string& path) {
  if (const Status status = env.Remove(path); !status.ok() && status.code() != StatusCode::kNotFound) {
    LogWarning("{}", status.text());
  }
}

}  // namespace

std::vector<std::shared_ptr<const ChunkView>> ChunksOf(const TableSnapshot& snapshot) {
  std::vector<std::shared_ptr<const ChunkView>> chunks;
  for (const auto& part : snapshot.parts) {
    if (part->is_disk_chunk()) {
      chunks.push_back(std::static_pointer_cast<const ChunkView>(part));
    }
  }
  return chunks;
}

std::vector<std::shared_ptr<const TablePart>> SegmentsOf(const TableSnapshot& snapshot) {
  std::vector<std::shared_ptr<const TablePart>> segments;
  std::copy_if(snapshot.parts.begin(), snapshot.parts.end(), std::back_inserter(segments),
               [](const auto& part) { return !part->is_disk_chunk(); });
  return segments;
}

uint64_t RamBytesOf(const TableSnapshot& snapshot) {
  uint64_t bytes = 0;
  for (size_t i = snapshot.parts.size(); i-- > 0 && !snapshot.parts[i]->is_disk_chunk();) {
    bytes += snapshot.parts[i]->ram_bytes();
  }
  return bytes;
}

std::shared_ptr<const TableQuantizers> QuantizersOf(const TableSnapshot& snapshot) {
  auto quantizers = std::make_shared<TableQuantizers>();
  const auto chunks = ChunksOf(snapshot);
  for (const ColumnDefinition* column : VectorIndexColumns(*snapshot.definition)) {
    uint64_t newest = 0;
    std::shared_ptr<const VectorQuantizer> found;
    for (const auto& chunk : chunks) {
      const VectorIndex* const index = chunk->vector_index(*column);
      const uint64_t id = chunk->state().chunk->header().id.value;
      if (index != nullptr && index->quantizer() != nullptr && (found == nullptr || id > newest)) {
        newest = id;
        found = index->quantizer();
      }
    }
    const auto known = snapshot.quantizer(column->id);
    if (found != nullptr) {
      const bool same = known != nullptr && known->id() == found->id();
      quantizers->entries.push_back({column->id, same ? known : found});
    }
  }
  return quantizers->entries.empty() ? nullptr : std::move(quantizers);
}

Result<OpenedTable> OpenTableFiles(Env& env, const std::string& data_dir, const ManifestTable& table,
                                   const DiskChunk::Options& options) {
  const std::string folder = data_dir + "/" + table.folder;
  OpenedTable opened;
  opened.files.folder = table.folder;
  opened.files.flushed = table.flushed;
  opened.files.ram_generation = table.ram_generation;
  opened.files.next_chunk_id = table.next_chunk_id;
  auto snapshot = std::make_shared<TableSnapshot>();
  snapshot->definition = std::make_shared<const TableDefinition>(table.definition);
  for (const ManifestChunk& named : table.chunks) {
    TableFiles::Chunk chunk{.named = named};
    ASSIGN_OR_RETURN(auto view, OpenChunk(env, folder, options, table.definition, chunk));
    snapshot->parts.push_back(std::move(view));
    opened.files.chunks.push_back(std::move(chunk));
  }
  snapshot->quantizers = QuantizersOf(*snapshot);
  if (table.ram_generation > 0) {
    ASSIGN_OR_RETURN(const auto ram,
                     LoadRamFile(env, folder, {table.definition.id, table.ram_generation, table.flushed},
                                 snapshot->definition));
    snapshot->parts.insert(snapshot->parts.end(), ram->parts.begin(), ram->parts.end());
  }
  opened.snapshot = std::move(snapshot);
  return opened;
}

Result<TableFiles> WriteTableFiles(Env& env, const std::string& data_dir, const SaveRequest& request) {
  const std::string folder = data_dir + "/" + request.old.folder;
  TableFiles next = request.old;
  next.chunks.clear();
  RETURN_IF_ERROR(env.MakeFolder(folder));
  RETURN_IF_ERROR(env.SyncFolder(data_dir));
  for (const auto& view : ChunksOf(request.snapshot)) {
    ASSIGN_OR_RETURN(TableFiles::Chunk chunk, SaveChunk(env, folder, *view, request.old));
    next.chunks.push_back(std::move(chunk));
  }
  if (request.ram != RamSave::kKeep) {
    next.flushed = std::max(request.old.flushed, request.covered);
    next.ram_generation = 0;
  }
  if (request.ram == RamSave::kWrite) {
    TableSnapshot ram;
    ram.definition = request.snapshot.definition;
    ram.parts = SegmentsOf(request.snapshot);
    next.ram_generation = request.old.ram_generation + 1;
    RETURN_IF_ERROR(WriteRamFile(env, folder, ram, {ram.definition->id, next.ram_generation, next.flushed}));
  }
  RETURN_IF_ERROR(env.SyncFolder(folder));
  return next;
}

void RemoveObsoleteFiles(Env& env, const std::string& data_dir, const TableFiles& old,
                         const TableFiles& next) {
  const std::string folder = data_dir + "/" + old.folder;
  if (old.ram_generation > 0 && old.ram_generation != next.ram_generation) {
    RemoveFile(env, folder + "/" + RamFileName(old.ram_generation));
  }
  for (const TableFiles::Chunk& chunk : old.chunks) {
    const auto kept = std::find_if(next.chunks.begin(), next.chunks.end(),
                                   [&](const auto& other) { return other.named.id == chunk.named.id; });
    const bool gone = kept == next.chunks.end();
    if (chunk.named.delete_generation > 0 &&
        (gone || kept->named.delete_generation != chunk.named.delete_generation)) {
      RemoveFile(env, folder + "/" + DeleteFileName(chunk.named));
    }
    if (chunk.named.patch_generation > 0 &&
        (gone || kept->named.patch_generation != chunk.named.patch_generation)) {
      RemoveFile(env, folder + "/" + PatchFileName(chunk.named));
    }
    if (gone) {
      if (const Status status = RemoveChunkFiles(env, folder, chunk.named.id); !status.ok()) {
        LogWarning("files of a merged chunk stay until the next start: {}", status.text());
      }
    }
  }
}

void RemoveUnnamedFiles(Env& env, const std::string& data_dir, const TableFiles& files) {
  const std::string folder = data_dir + "/" + files.folder;
  const auto names = env.List(folder);
  if (!names.ok()) {
    return;
  }
  const std::set<std::string> generations = ChunkSuffixGenerations(files);
  const auto is_named = [&](const std::string& name) {
    if (name.starts_with("ram.")) {
      return files.ram_generation > 0 && name == RamFileName(files.ram_generation);
    }
    const std::optional<ChunkId> chunk = ChunkOfFileName(name);
    if (!chunk.has_value()) {
      return true;  // not one of ours
    }
    const bool known = std::any_of(files.chunks.begin(), files.chunks.end(),
                                   [&](const auto& other) { return other.named.id == *chunk; });
    const bool has_generation =
        name.find(".spm.") != std::string::npos || name.find(".spu.") != std::string::npos;
    return known && !name.ends_with(".tmp") && (!has_generation || generations.contains(name));
  };
  for (const std::string& name : *names) {
    if (!is_named(name)) {
      LogWarning("{}/{} belongs to no table and is removed", folder, name);
      RemoveFile(env, folder + "/" + name);
    }
  }
}

}  // namespace stoa::storage
