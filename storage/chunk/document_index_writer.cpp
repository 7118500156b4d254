#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "storage/base/byte_writer.h"
#include "storage/chunk/block_filter.h"
#include "storage/chunk/document_index.h"
#include "storage/chunk/document_index_format.h"

namespace stoa::storage {
namespace {

// 12 bytes, as they are many.
struct IdAndRow {
  uint32_t low = 0;
  uint32_t high = 0;
  uint32_t row = 0;

  uint64_t id() const { return uint64_t{high} << 32 | low; }
};

Result<std::vector<IdAndRow>> ReadIds(ColumnInput& input) {
  std::vector<IdAndRow> ids;
  ids.reserve(input.row_count());
  bool ascending = true;
  RETURN_IF_ERROR(input.Rewind());
  for (;;) {
    ASSIGN_OR_RETURN(const ColumnValues* values, input.Next());
    if (values == nullptr) {
      break;
    }
    for (const int64_t value : values->ints) {
      const auto id = static_cast<uint64_t>(value);
      ascending = ascending && (ids.empty() || ids.back().id() < id);
      ids.push_back(
          {static_cast<uint32_t>(id), static_cast<uint32_t>(id >> 32), static_cast<uint32_t>(ids.size())});
    }
  }
  if (ids.size() != input.row_count()) {
    return InternalError("{} document ids for {} rows", ids.size(), input.row_count());
  }
  if (!ascending) {
    std::sort(ids.begin(), ids.end(), [](const auto& a, const auto& b) { return a.id() < b.id(); });
    const auto twin = std::adjacent_find(ids.begin(), ids.end(),
                                         [](const auto& a, const auto& b) { return a.id() == b.id(); });
    if (twin != ids.end()) {
      return InternalError("document id {} twice in a chunk", twin->id());
    }
  }
  return ids;
}

void Pack(std::span<const uint64_t> values, uint32_t width, std::string& out) {
  const size_t start = out.size();
  const size_t bytes = PackedBytes(values.size(), width);
  out.resize(start + bytes + sizeof(uint64_t));  // the last word may cross the end
  char* packed = out.data() + start;
  for (size_t i = 0; width > 0 && i < values.size(); ++i) {
    const uint64_t bit = i * width;
    uint64_t word;
    std::memcpy(&word, packed + bit / 8, sizeof(word));
    word |= values[i] << (bit % 8);
    std::memcpy(packed + bit / 8, &word, sizeof(word));
  }
  out.resize(start + bytes);
}

uint32_t WidthOf(std::span<const uint64_t> values, uint32_t widest) {
  uint64_t all = 0;
  bool counts = true;
  for (size_t i = 0; i < values.size(); ++i) {
    all |= values[i];
    counts = counts && values[i] == i;
  }
  const auto width = static_cast<uint32_t>(std::bit_width(all));
  // One value that is 0 counts too.
  return counts ? 0 : width > widest ? 64 : std::max(width, 1u);
}

// Appends the packed lists of up to kIdBlockRows entries.
IdBlock PackBlock(std::span<const IdAndRow> entries, std::string& out) {
  IdBlock block;
  block.first = entries.front().id();
  block.row = std::min_element(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
                return a.row < b.row;
              })->row;
  std::vector<uint64_t> ids;
  std::vector<uint64_t> rows;
  for (const IdAndRow& entry : entries) {
    ids.push_back(entry.id() - block.first);
    rows.push_back(entry.row - block.row);
  }
  block.id_width = static_cast<uint8_t>(WidthOf(ids, kWidestPacked));
  block.row_width = static_cast<uint8_t>(WidthOf(rows, kWidestPacked));
  Pack(ids, block.id_width, out);
  Pack(rows, block.row_width, out);
  return block;
}

// Writes the packed blocks; returns their directory.
Result<std::string> WriteBlocks(std::span<const IdAndRow> ids, SectionFileWriter& file) {
  RETURN_IF_ERROR(file.BeginSection(static_cast<uint32_t>(SptSection::kIds), 0, {.page_size = kDefaultPage}));
  std::string directory;
  std::string packed;
  ByteWriter writer(directory);
  for (size_t from = 0; from < ids.size(); from += kIdBlockRows) {
    const uint64_t offset = file.section_length();
    packed.clear();
    const IdBlock block =
        PackBlock(ids.subspan(from, std::min<size_t>(kIdBlockRows, ids.size() - from)), packed);
    writer.Write<uint64_t>(block.first);
    writer.Write<uint64_t>(offset);
    writer.Write<uint32_t>(block.row);
    writer.Write<uint8_t>(block.id_width);
    writer.Write<uint8_t>(block.row_width);
    writer.Write<uint16_t>(0);
    RETURN_IF_ERROR(file.AppendToSection(packed));
  }
  RETURN_IF_ERROR(file.EndSection());
  return directory;
}

Status WriteFilter(std::span<const IdAndRow> ids, SectionFileWriter& file) {
  const uint64_t lines = FilterLines(ids.size());
  std::string filter(lines * kFilterLine, '\0');
  for (const IdAndRow& entry : ids) {
    const uint64_t hash = FilterHash(DocId(entry.id()));
    AddToFilter(hash, filter.data() + FilterOffset(hash, lines));
  }
  return file.AddSection(static_cast<uint32_t>(SptSection::kFilter), 0, filter, {.page_size = kDefaultPage});
}

}  // namespace

Status DocumentIndex::Write(ColumnInput& input, WritableFile& out, ChunkId chunk) {
  ASSIGN_OR_RETURN(const std::vector<IdAndRow> ids, ReadIds(input));
  const uint64_t least = ids.empty() ? UINT64_MAX : ids.front().id();
  const uint64_t greatest = ids.empty() ? 0 : ids.back().id();
  SectionFileWriter file(out, kDocumentIndexKind, chunk.value);
  std::string info;
  ByteWriter writer(info);
  writer.Write<uint64_t>(ids.size());
  writer.Write<uint64_t>(least);
  writer.Write<uint64_t>(greatest);
  RETURN_IF_ERROR(file.AddSection(static_cast<uint32_t>(SptSection::kInfo), 0, info));
  ASSIGN_OR_RETURN(const std::string directory, WriteBlocks(ids, file));
  RETURN_IF_ERROR(file.AddSection(static_cast<uint32_t>(SptSection::kBlocks), 0, directory));
  if (!ids.empty() && greatest - least != ids.size() - 1) {
    RETURN_IF_ERROR(WriteFilter(ids, file));
  }
  return file.Finish();
}

}  // namespace stoa::storage
