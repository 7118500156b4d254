#include "storage/table/manifest.h"

#include <utility>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/fault_point.h"
#include "storage/format/section_file.h"
#include "storage/table/definition_codec.h"

namespace stoa::storage {
namespace {

constexpr SectionFileKind kKind{{'C', 'A', 'T', 'M'}, kManifestFormat};
constexpr uint32_t kCatalogSection = 1;

constexpr uint32_t kFirstVersionWithChunks = 2;

Status ReadChunks(ByteReader& reader, ManifestTable& table) {
  ASSIGN_OR_RETURN(table.next_chunk_id, reader.ReadVarint());
  ASSIGN_OR_RETURN(const uint64_t count, reader.ReadVarint());
  for (uint64_t i = 0; i < count; ++i) {
    ManifestChunk chunk;
    ASSIGN_OR_RETURN(const uint64_t id, reader.ReadVarint());
    chunk.id = ChunkId(id);
    ASSIGN_OR_RETURN(chunk.delete_generation, reader.ReadVarint());
    ASSIGN_OR_RETURN(chunk.patch_generation, reader.ReadVarint());
    if (id == 0 || id >= table.next_chunk_id) {
      return CorruptError("offset {}: {} is no chunk of table '{}'", reader.offset(), id,
                          table.definition.name);
    }
    table.chunks.push_back(chunk);
  }
  return Status::Ok();
}

// Writes into a string.
class StringFile : public WritableFile {
 public:
  Status Append(std::string_view bytes) override {
    bytes_.append(bytes);
    return Status::Ok();
  }
  Status Sync() override { return Status::Ok(); }
  Status Truncate(uint64_t size) override {
    bytes_.resize(size);
    return Status::Ok();
  }
  Status Close() override { return Status::Ok(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

Status PassRename() {
  STOA_FAULT_POINT("manifest.rename");
  return Status::Ok();
}

}  // namespace

std::string EncodeManifest(const Manifest& manifest) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.WriteVarint(manifest.next_table_id);
  writer.WriteVarint(manifest.next_document_id);
  writer.WriteVarint(manifest.log_start.value);
  writer.WriteVarint(manifest.tables.size());
  for (const ManifestTable& table : manifest.tables) {
    EncodeDefinition(table.definition, writer);
    writer.WriteString(table.folder);
    writer.WriteVarint(table.flushed.value);
    writer.WriteVarint(table.ram_generation);
    writer.WriteVarint(table.next_chunk_id);
    writer.WriteVarint(table.chunks.size());
    for (const ManifestChunk& chunk : table.chunks) {
      writer.WriteVarint(chunk.id.value);
      writer.WriteVarint(chunk.delete_generation);
      writer.WriteVarint(chunk.patch_generation);
    }
  }
  return bytes;
}

Result<Manifest> DecodeManifest(std::string_view bytes, uint32_t version) {
  ByteReader reader(bytes);
  Manifest manifest;
  ASSIGN_OR_RETURN(manifest.next_table_id, reader.ReadVarint());
  ASSIGN_OR_RETURN(manifest.next_document_id, reader.ReadVarint());
  ASSIGN_OR_RETURN(const uint64_t log_start, reader.ReadVarint());
  manifest.log_start = Lsn(log_start);
  ASSIGN_OR_RETURN(const uint64_t tables, reader.ReadVarint());
  for (uint64_t i = 0; i < tables; ++i) {
    ManifestTable table;
    ASSIGN_OR_RETURN(table.definition, DecodeDefinition(reader));
    ASSIGN_OR_RETURN(const std::string_view folder, reader.ReadString());
    table.folder = folder;
    ASSIGN_OR_RETURN(const uint64_t flushed, reader.ReadVarint());
    table.flushed = Lsn(flushed);
    ASSIGN_OR_RETURN(table.ram_generation, reader.ReadVarint());
    if (version >= kFirstVersionWithChunks) {
      RETURN_IF_ERROR(ReadChunks(reader, table));
    }
    if (table.folder.empty() || table.folder.find('/') != std::string::npos || table.folder[0] == '.') {
      return CorruptError("offset {}: '{}' is no folder of a table", reader.offset(), table.folder);
    }
    manifest.tables.push_back(std::move(table));
  }
  if (!reader.done()) {
    return CorruptError("offset {}: {} bytes behind the last table", reader.offset(), reader.remaining());
  }
  return manifest;
}

Status WriteManifest(Env& env, const std::string& data_dir, const Manifest& manifest) {
  STOA_FAULT_POINT("manifest.write");
  StringFile file;
  SectionFileWriter writer(file, kKind, 0);
  RETURN_IF_ERROR(writer.AddSection(kCatalogSection, 0, EncodeManifest(manifest)));
  RETURN_IF_ERROR(writer.Finish());
  const std::string path = data_dir + "/" + kManifestName;
  RETURN_IF_ERROR(WriteFileAtomically(env, path, file.bytes()));
  return PassRename();
}

Result<Manifest> ReadManifest(Env& env, const std::string& data_dir) {
  const std::string path = data_dir + "/" + kManifestName;
  if (!env.Exists(path)) {
    return Manifest{};
  }
  ASSIGN_OR_RETURN(const SectionFileReader file, SectionFileReader::Open(env, path, kKind));
  if (file.sections().size() != 1 || file.sections()[0].kind != kCatalogSection) {
    return CorruptError("{}: the section of the catalog is missing", path);
  }
  ASSIGN_OR_RETURN(const std::string bytes, file.Read(file.sections()[0]));
  Result<Manifest> manifest = DecodeManifest(bytes, file.version());
  return manifest.ok() ? std::move(manifest) : Result<Manifest>(manifest.status().WithContext(path));
}

}  // namespace stoa::storage
