#include <bit>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/fault_point.h"
#include "storage/chunk/chunk_view.h"
#include "storage/chunk/generation_file.h"

namespace stoa::storage {
namespace {

constexpr SectionFileKind kKind{{'S', 'P', 'M', ' '}, kDeleteMapFormat};
constexpr uint32_t kPagesSection = 2;
constexpr uint32_t kPageWords = DeleteMap::kPageRows / 64;
// A page with fewer rows is a list of them, any other is one bit a row.
constexpr uint32_t kBitsFrom = DeleteMap::kPageRows / 16;

void EncodePage(uint32_t page, const uint64_t* words, std::string& out) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < kPageWords; ++i) {
    count += static_cast<uint32_t>(std::popcount(words[i]));
  }
  ByteWriter writer(out);
  writer.Write<uint32_t>(page);
  writer.Write<uint32_t>(count);
  for (uint32_t i = 0; i < kPageWords; ++i) {
    if (count >= kBitsFrom) {
      writer.Write<uint64_t>(words[i]);
      continue;
    }
    for (uint64_t word = words[i]; word != 0; word &= word - 1) {
      writer.Write<uint16_t>(static_cast<uint16_t>(i * 64 + static_cast<uint32_t>(std::countr_zero(word))));
    }
  }
}

Status WriteSections(WritableFile& file, ChunkId chunk, uint64_t generation, const DeleteMap& map) {
  SectionFileWriter writer(file, kKind, chunk.value);
  RETURN_IF_ERROR(AddGenerationInfo(writer, generation, map.count()));
  std::string pages;
  for (uint32_t page = 0; page < map.page_count(); ++page) {
    if (const uint64_t* words = map.PageWords(page); words != nullptr) {
      EncodePage(page, words, pages);
    }
  }
  RETURN_IF_ERROR(writer.AddSection(kPagesSection, 0, pages));
  STOA_FAULT_POINT("spm.write");
  return writer.Finish();
}

Status WriteTemporary(Env& env, const std::string& path, ChunkId chunk, uint64_t generation,
                      const DeleteMap& map) {
  ASSIGN_OR_RETURN(const auto file, env.Create(path));
  RETURN_IF_ERROR(WriteSections(*file, chunk, generation, map));
  RETURN_IF_ERROR(file->Sync());
  RETURN_IF_ERROR(file->Close());
  STOA_FAULT_POINT("spm.rename");
  return Status::Ok();
}

// Builds a map from the pages section.
class PagesReader {
 public:
  PagesReader(std::string_view bytes, uint64_t offset, uint32_t row_count)
      : reader_(bytes, offset), row_count_(row_count) {}

  Result<std::shared_ptr<const DeleteMap>> Read() {
    while (!reader_.done()) {
      const uint64_t offset = reader_.offset();
      ASSIGN_OR_RETURN(const uint32_t page, reader_.Read<uint32_t>());
      ASSIGN_OR_RETURN(const uint32_t count, reader_.Read<uint32_t>());
      if (page < next_page_ || page > (uint64_t{row_count_} - 1) / DeleteMap::kPageRows || row_count_ == 0) {
        return CorruptError("offset {}: page {} behind page {} in {} rows", offset, page, next_page_,
                            row_count_);
      }
      if (count == 0 || count > DeleteMap::kPageRows) {
        return CorruptError("offset {}: a page with {} rows", offset, count);
      }
      next_page_ = page + 1;
      RETURN_IF_ERROR(count < kBitsFrom ? ReadList(page, count) : ReadBits(page, count));
    }
    return map_.Finish();
  }

 private:
  Status ReadList(uint32_t page, uint32_t count) {
    const uint64_t first = uint64_t{page} * DeleteMap::kPageRows;
    uint32_t above = 0;  // the least that the next row may be
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t offset = reader_.offset();
      ASSIGN_OR_RETURN(const uint16_t row, reader_.Read<uint16_t>());
      if (row < above || row >= DeleteMap::kPageRows || first + row >= row_count_) {
        return CorruptError("offset {}: row {} of page {} does not ascend or is none of {} rows", offset, row,
                            page, row_count_);
      }
      above = row + uint32_t{1};
      map_.Add(RowId(static_cast<uint32_t>(first + row)));
    }
    return Status::Ok();
  }

  Status ReadBits(uint32_t page, uint32_t count) {
    const uint64_t offset = reader_.offset();
    const uint32_t count_before = map_.count();
    for (uint32_t i = 0; i < kPageWords; ++i) {
      ASSIGN_OR_RETURN(const uint64_t word, reader_.Read<uint64_t>());
      const uint32_t index = page * kPageWords + i;
      const uint64_t width = static_cast<uint64_t>(std::bit_width(word));
      if (uint64_t{index} * 64 + width > row_count_ && word != 0) {
        return CorruptError("offset {}: page {} has rows behind the last of {}", offset, page, row_count_);
      }
      map_.AddWord(index, word);
    }
    return map_.count() - count_before == count
               ? Status::Ok()
               : CorruptError("offset {}: page {} has {} rows, not {}", offset, page,
                              map_.count() - count_before, count);
  }

  ByteReader reader_;
  const uint32_t row_count_;
  uint32_t next_page_ = 0;
  DeleteMapEdit map_{std::make_shared<const DeleteMap>()};
};

}  // namespace

Status WriteDeleteMap(Env& env, const std::string& folder, ChunkId chunk, uint64_t generation,
                      const DeleteMap& map) {
  const std::string path = GenerationPath(folder, chunk, "spm", generation);
  return NameFile(env, WriteTemporary(env, path + ".tmp", chunk, generation, map), path);
}

Result<std::shared_ptr<const DeleteMap>> ReadDeleteMap(Env& env, const std::string& folder, ChunkId chunk,
                                                       uint64_t generation, uint32_t row_count) {
  const std::string path = GenerationPath(folder, chunk, "spm", generation);
  ASSIGN_OR_RETURN(const GenerationFile file, OpenGenerationFile(env, path, kKind, chunk, generation));
  const auto& sections = file.reader.sections();
  if (sections.size() != 2 || sections[1].kind != kPagesSection) {
    return CorruptError("{}: not the sections of a delete map", path);
  }
  ASSIGN_OR_RETURN(const std::string pages, file.reader.Read(sections[1]));
  auto map = PagesReader(pages, sections[1].offset, row_count).Read();
  if (!map.ok()) {
    return map.status().WithContext(path);
  }
  if ((*map)->count() != file.items) {
    return CorruptError("{}: {} rows, not {}", path, (*map)->count(), file.items);
  }
  return map;
}

}  // namespace stoa::storage
