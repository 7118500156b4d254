#include "storage/chunk/chunk_header.h"

#include <algorithm>
#include <utility>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/chunk/vector_index_file.h"
#include "storage/table/definition_codec.h"

namespace stoa::storage {
namespace {

constexpr SectionFileKind kKind{{'S', 'P', 'H', 'F'}, kChunkHeaderFormat};
constexpr uint32_t kHeaderSection = 1;

Result<ChunkHeaderFile> DecodeHeader(std::string_view bytes, const SectionEntry& section, ChunkId id) {
  ByteReader reader(bytes, section.offset);
  ChunkHeaderFile file;
  ChunkHeader& header = file.header;
  header.id = id;
  ASSIGN_OR_RETURN(header.row_count, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(header.created, reader.Read<int64_t>());
  ASSIGN_OR_RETURN(header.merged_from, reader.ReadVarint());
  ASSIGN_OR_RETURN(const uint64_t count, reader.ReadVarint());
  for (uint64_t i = 0; i < count; ++i) {
    ChunkHeaderFile::File entry;
    ASSIGN_OR_RETURN(entry.suffix, reader.ReadString());
    ASSIGN_OR_RETURN(entry.bytes, reader.ReadVarint());
    file.files.push_back(std::move(entry));
  }
  ASSIGN_OR_RETURN(header.definition, DecodeDefinition(reader));
  if (!reader.done()) {
    return CorruptError("offset {}: {} bytes behind the definition", reader.offset(), reader.remaining());
  }
  if (header.row_count == 0 || header.row_count == UINT32_MAX || header.definition.columns.empty()) {
    return CorruptError("offset {}: a chunk of {} rows and {} columns", section.offset, header.row_count,
                        header.definition.columns.size());
  }
  const auto has_suffix = [](const ChunkHeaderFile::File& entry, const std::string& suffix) {
    return entry.suffix == suffix;
  };
  std::vector<std::string> expected = ChunkSuffixes(header.definition);
  if (!file.files.empty() && file.files.back().suffix == kVectorIndexSuffix &&
      !VectorIndexColumns(header.definition).empty()) {
    expected.emplace_back(kVectorIndexSuffix);
  }
  if (!std::equal(file.files.begin(), file.files.end(), expected.begin(), expected.end(), has_suffix)) {
    return CorruptError("offset {}: the files of the chunk are not those of its columns", section.offset);
  }
  return file;
}

}  // namespace

ColumnPlace PlaceOf(const TableDefinition& definition, const ColumnDefinition& column) {
  if (column.type == ColumnType::kText) {
    return column.stored ? ColumnPlace::kDocstore : ColumnPlace::kNowhere;
  }
  return definition.IsColumnar(column) ? ColumnPlace::kColumnar : ColumnPlace::kRowwise;
}

std::vector<std::string> ChunkSuffixes(const TableDefinition& definition) {
  bool columnar = false;
  bool rows = false;
  bool blobs = false;
  bool texts = false;
  for (const ColumnDefinition& column : definition.columns) {
    const ColumnPlace place = PlaceOf(definition, column);
    columnar |= place == ColumnPlace::kColumnar;
    rows |= place == ColumnPlace::kRowwise;
    blobs |= place == ColumnPlace::kRowwise && LaneOf(column.type) == Lane::kBytes;
    texts |= place == ColumnPlace::kDocstore;
  }
  std::vector<std::string> suffixes;
  for (const auto& [present, suffix] :
       {std::pair(columnar, "spc"), {rows, "spa"}, {blobs, "spb"}, {texts, "spds"}, {true, "spt"}}) {
    if (present) {
      suffixes.emplace_back(suffix);
    }
  }
  return suffixes;
}

Status WriteChunkHeader(const ChunkHeaderFile& header, WritableFile& file) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Write<uint32_t>(header.header.row_count);
  writer.Write<int64_t>(header.header.created);
  writer.WriteVarint(header.header.merged_from);
  writer.WriteVarint(header.files.size());
  for (const ChunkHeaderFile::File& entry : header.files) {
    writer.WriteString(entry.suffix);
    writer.WriteVarint(entry.bytes);
  }
  EncodeDefinition(header.header.definition, writer);
  SectionFileWriter sections(file, kKind, header.header.id.value);
  RETURN_IF_ERROR(sections.AddSection(kHeaderSection, 0, bytes));
  return sections.Finish();
}

Result<ChunkHeaderFile> ReadChunkHeader(Env& env, const std::string& folder, ChunkId id) {
  const std::string path = folder + "/" + ChunkFileName(id, "sph");
  if (!env.Exists(path)) {
    return CorruptError("{}: the file is missing", path);
  }
  ASSIGN_OR_RETURN(const SectionFileReader file, SectionFileReader::Open(env, path, kKind));
  if (file.owner() != id.value) {
    return CorruptError("{}: belongs to chunk {}", path, file.owner());
  }
  if (file.sections().size() != 1 || file.sections()[0].kind != kHeaderSection) {
    return CorruptError("{}: the section of the header is missing", path);
  }
  const SectionEntry& section = file.sections()[0];
  ASSIGN_OR_RETURN(const std::string bytes, file.Read(section));
  Result<ChunkHeaderFile> header = DecodeHeader(bytes, section, id);
  return header.ok() ? std::move(header) : Result<ChunkHeaderFile>(header.status().WithContext(path));
}

Status CheckChunkFiles(Env& env, const std::string& folder, const ChunkHeaderFile& header) {
  for (const ChunkHeaderFile::File& entry : header.files) {
    const std::string path = folder + "/" + ChunkFileName(header.header.id, entry.suffix);
    const Result<uint64_t> size = env.FileSize(path);
    if (!size.ok()) {
      return size.status().code() == StatusCode::kNotFound ? CorruptError("{}: the file is missing", path)
                                                           : size.status();
    }
    if (*size != entry.bytes) {
      return CorruptError("{}: {} bytes, but the chunk was written with {}", path, *size, entry.bytes);
    }
  }
  return Status::Ok();
}

}  // namespace stoa::storage
