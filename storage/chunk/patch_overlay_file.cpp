#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/fault_point.h"
#include "storage/chunk/chunk_view.h"
#include "storage/chunk/generation_file.h"
#include "storage/chunk/stored_value.h"
#include "storage/table/column_values_codec.h"

namespace stoa::storage {
namespace {

constexpr SectionFileKind kKind{{'S', 'P', 'U', ' '}, kPatchOverlayFormat};
constexpr uint32_t kColumnSection = 2;  // key: column id

void EncodeBlock(uint32_t block, const PatchBlock& patch, ColumnType type, std::string& out) {
  ByteWriter writer(out);
  writer.Write<uint32_t>(block);
  writer.Write<uint16_t>(static_cast<uint16_t>(patch.rows.size()));
  for (const uint16_t row : patch.rows) {
    writer.Write<uint16_t>(row);
  }
  if (patch.values.type == type) {
    EncodeColumnValues(patch.values, out);
    return;
  }
  ColumnValues widened = patch.values;
  widened.type = type;
  EncodeColumnValues(widened, out);
}

Status WriteColumn(SectionFileWriter& file, const PatchOverlay::Column& column) {
  RETURN_IF_ERROR(file.BeginSection(kColumnSection, column.id.value));
  std::string bytes(1, static_cast<char>(column.type));
  for (const PatchOverlay::Column::Entry& entry : column.blocks) {
    EncodeBlock(entry.block, *entry.patch, column.type, bytes);
    RETURN_IF_ERROR(file.AppendToSection(bytes));
    bytes.clear();
  }
  STOA_FAULT_POINT("spu.write");
  return file.EndSection();
}

Status WriteTemporary(Env& env, const std::string& path, ChunkId chunk, uint64_t generation,
                      const PatchOverlay& overlay) {
  ASSIGN_OR_RETURN(const auto file, env.Create(path));
  SectionFileWriter writer(*file, kKind, chunk.value);
  RETURN_IF_ERROR(AddGenerationInfo(writer, generation, overlay.patched_values()));
  for (const auto& column : overlay.columns()) {
    RETURN_IF_ERROR(WriteColumn(writer, *column));
  }
  RETURN_IF_ERROR(writer.Finish());
  RETURN_IF_ERROR(file->Sync());
  RETURN_IF_ERROR(file->Close());
  STOA_FAULT_POINT("spu.rename");
  return Status::Ok();
}

// One column section.
class ColumnSectionReader {
 public:
  ColumnSectionReader(std::string_view bytes, uint64_t offset, ColumnId column, uint32_t row_count)
      : reader_(bytes, offset), column_(column), row_count_(row_count) {}

  Status Read(PatchOverlayEdit& overlay) {
    ASSIGN_OR_RETURN(type_, DecodeColumnType(reader_));
    if (type_ == ColumnType::kId || reader_.done()) {
      return CorruptError("offset {}: a section without patches, or of the document id", reader_.offset());
    }
    while (!reader_.done()) {
      RETURN_IF_ERROR(ReadBlock(overlay));
    }
    return Status::Ok();
  }

 private:
  Status ReadBlock(PatchOverlayEdit& overlay) {
    const uint64_t offset = reader_.offset();
    ASSIGN_OR_RETURN(const uint32_t block, reader_.Read<uint32_t>());
    ASSIGN_OR_RETURN(const uint16_t count, reader_.Read<uint16_t>());
    if (block < next_block_ || uint64_t{block} * kBlockRows >= row_count_ || count == 0 ||
        count > kBlockRows) {
      return CorruptError("offset {}: block {} with {} patches, behind block {}, in {} rows", offset, block,
                          count, next_block_, row_count_);
    }
    next_block_ = block + 1;
    auto patch = std::make_shared<PatchBlock>();
    RETURN_IF_ERROR(ReadRows(block, count, patch->rows));
    ASSIGN_OR_RETURN(patch->values, DecodeColumnValues(reader_, column_, type_, count));
    if (LaneOf(type_) == Lane::kBytes) {
      for (size_t i = 0; i < count; ++i) {
        const Status status = CheckStoredValue(type_, patch->values.BytesAt(i));
        if (!status.ok()) {
          return status.WithContext(fmt::format("offset {}: row {}", offset, patch->rows[i]));
        }
      }
    }
    overlay.SetBlock(column_, type_, block, std::move(patch));
    return Status::Ok();
  }

  Status ReadRows(uint32_t block, uint16_t count, std::vector<uint16_t>& rows) {
    rows.reserve(count);
    const uint64_t end = std::min<uint64_t>(kBlockRows, row_count_ - uint64_t{block} * kBlockRows);
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t offset = reader_.offset();
      ASSIGN_OR_RETURN(const uint16_t row, reader_.Read<uint16_t>());
      if (row >= end || (i > 0 && row <= rows.back())) {
        return CorruptError("offset {}: row {} of block {} does not ascend or is none of {} rows", offset,
                            row, block, row_count_);
      }
      rows.push_back(row);
    }
    return Status::Ok();
  }

  ByteReader reader_;
  const ColumnId column_;
  const uint32_t row_count_;
  ColumnType type_ = ColumnType::kInt;
  uint32_t next_block_ = 0;
};

}  // namespace

Status WritePatchOverlay(Env& env, const std::string& folder, ChunkId chunk, uint64_t generation,
                         const PatchOverlay& overlay) {
  const std::string path = GenerationPath(folder, chunk, "spu", generation);
  return NameFile(env, WriteTemporary(env, path + ".tmp", chunk, generation, overlay), path);
}

Result<std::shared_ptr<const PatchOverlay>> ReadPatchOverlay(Env& env, const std::string& folder,
                                                             ChunkId chunk, uint64_t generation,
                                                             uint32_t row_count) {
  const std::string path = GenerationPath(folder, chunk, "spu", generation);
  ASSIGN_OR_RETURN(const GenerationFile file, OpenGenerationFile(env, path, kKind, chunk, generation));
  PatchOverlayEdit edit(std::make_shared<const PatchOverlay>());
  const auto& sections = file.reader.sections();
  for (size_t i = 1; i < sections.size(); ++i) {
    if (sections[i].kind != kColumnSection || (i > 1 && sections[i].key <= sections[i - 1].key)) {
      return CorruptError("{}: section {}.{} is not expected here", path, sections[i].kind, sections[i].key);
    }
    ASSIGN_OR_RETURN(const std::string bytes, file.reader.Read(sections[i]));
    ColumnSectionReader column(bytes, sections[i].offset, ColumnId(sections[i].key), row_count);
    if (const Status status = column.Read(edit); !status.ok()) {
      return status.WithContext(path);
    }
  }
  auto overlay = edit.Finish();
  if (overlay->patched_values() != file.items) {
    return CorruptError("{}: {} values, not {}", path, overlay->patched_values(), file.items);
  }
  return overlay;
}

}  // namespace stoa::storage
