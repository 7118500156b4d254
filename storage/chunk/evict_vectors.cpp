#include "storage/chunk/evict_vectors.h"

#include <algorithm>
#include <span>

#include "storage/chunk/chunk_view.h"

namespace stoa::storage {
namespace {

bool IsVector(ColumnType type) {
  return type == ColumnType::kFloatVector || type == ColumnType::kFloatVectorArray;
}

bool HoldsVectors(const SectionEntry& section, const TableDefinition& definition) {
  return std::any_of(definition.columns.begin(), definition.columns.end(),
                     [&](const ColumnDefinition& column) {
                       return column.id.value == section.key && IsVector(column.type);
                     });
}

// Where the vectors of a file lie; all of a .spb, whose values of several columns are not told apart.
std::vector<ByteRange> VectorRanges(const std::string& suffix, const OpenSectionFile& file,
                                    const TableDefinition& definition) {
  std::vector<ByteRange> ranges;
  for (const SectionEntry& section : file.sections()) {
    if (section.length > 0 && (suffix == "spb" || HoldsVectors(section, definition))) {
      ranges.push_back({section.offset, section.length});
    }
  }
  return ranges;
}

void CountResident(const OpenSectionFile& file, std::span<const ByteRange> ranges, EvictedFile& evicted) {
  const CachedPages cached = file.Cached();
  evicted.bytes = 0;
  evicted.resident_pages = 0;
  for (const ByteRange& range : ranges) {
    const uint64_t first = range.offset / cached.page_bytes;
    const uint64_t end = (range.offset + range.length - 1) / cached.page_bytes + 1;
    evicted.bytes += (end - first) * cached.page_bytes;
    for (uint64_t page = first; page < std::min<uint64_t>(end, cached.pages.size()); ++page) {
      evicted.resident_pages += cached.pages[page] ? 1 : 0;
    }
  }
}

// The kernel keeps pages in folios of up to 2 MiB and drops whole ones only: what is left at the ends goes
// with its neighbours, as few of them as will do.
EvictedFile Evict(const OpenSectionFile& file, std::span<const ByteRange> ranges) {
  EvictedFile evicted{.path = file.path()};
  for (const uint64_t margin : {0u, 64u << 10, 256u << 10, 2u << 20}) {
    for (const ByteRange& range : ranges) {
      const uint64_t begin = range.offset - std::min(range.offset, margin);
      const ByteRange wide{begin, range.offset + range.length + margin - begin};
      file.GiveUp({&wide, 1});
    }
    CountResident(file, ranges, evicted);
    if (evicted.resident_pages == 0) {
      break;
    }
  }
  return evicted;
}

}  // namespace

std::vector<EvictedFile> EvictVectors(const TableSnapshot& snapshot) {
  std::vector<EvictedFile> files;
  for (const auto& part : snapshot.parts) {
    if (!part->is_disk_chunk()) {
      continue;
    }
    const DiskChunk& chunk = *static_cast<const ChunkView&>(*part).state().chunk;
    chunk.VisitFiles([&](const std::string& suffix, const OpenSectionFile& file) {
      if (suffix != "spc" && suffix != "spb") {
        return;
      }
      const std::vector<ByteRange> ranges = VectorRanges(suffix, file, chunk.header().definition);
      if (!ranges.empty()) {
        files.push_back(Evict(file, ranges));
      }
    });
  }
  return files;
}

}  // namespace stoa::storage
