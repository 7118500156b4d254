#include "storage/table/definition_codec.h"

#include <string>
#include <utility>
#include <vector>

#include "storage/table/column_values_codec.h"

namespace stoa::storage {
namespace {

enum ColumnFlag : uint16_t {
  kIndexed = 1,
  kStored = 2,
  kAttribute = 4,
  kFastFetch = 8,
  kHash = 16,
  kSecondaryIndex = 32,
  kHasEngine = 64,
  kColumnar = 128,
  kHasKnn = 256,
  kAllFlags = 511,
};

uint16_t FlagsOf(const ColumnDefinition& column) {
  const auto flag = [](bool set, ColumnFlag bit) { return set ? unsigned{bit} : 0u; };
  return static_cast<uint16_t>(
      flag(column.indexed, kIndexed) | flag(column.stored, kStored) | flag(column.attribute, kAttribute) |
      flag(column.fast_fetch, kFastFetch) | flag(column.hash, kHash) |
      flag(column.secondary_index, kSecondaryIndex) | flag(column.engine.has_value(), kHasEngine) |
      flag(column.engine == Engine::kColumnar, kColumnar) | flag(column.knn.has_value(), kHasKnn));
}

void WriteColumn(const ColumnDefinition& column, ByteWriter& writer) {
  writer.WriteVarint(column.id.value);
  writer.WriteString(column.name);
  writer.Write<uint8_t>(static_cast<uint8_t>(column.type));
  writer.Write<uint8_t>(column.bits);
  writer.Write<uint16_t>(FlagsOf(column));
  if (column.knn.has_value()) {
    writer.WriteVarint(column.knn->dims);
    writer.WriteString(column.knn->similarity);
    writer.WriteVarint(column.knn->hnsw_m);
    writer.WriteVarint(column.knn->hnsw_ef_construction);
    writer.WriteString(column.knn->quantization);
  }
}

Result<std::string> ReadText(ByteReader& reader) {
  ASSIGN_OR_RETURN(const std::string_view text, reader.ReadString());
  return std::string(text);
}

Result<uint32_t> ReadVarint32(ByteReader& reader) {
  ASSIGN_OR_RETURN(const uint64_t value, reader.ReadVarint());
  if (value > UINT32_MAX) {
    return CorruptError("offset {}: {} is above 32 bits", reader.offset(), value);
  }
  return static_cast<uint32_t>(value);
}

Result<KnnOptions> ReadKnn(ByteReader& reader) {
  KnnOptions knn;
  ASSIGN_OR_RETURN(knn.dims, ReadVarint32(reader));
  ASSIGN_OR_RETURN(knn.similarity, ReadText(reader));
  ASSIGN_OR_RETURN(knn.hnsw_m, ReadVarint32(reader));
  ASSIGN_OR_RETURN(knn.hnsw_ef_construction, ReadVarint32(reader));
  ASSIGN_OR_RETURN(knn.quantization, ReadText(reader));
  return knn;
}

Result<ColumnDefinition> ReadColumn(ByteReader& reader) {
  ColumnDefinition column;
  ASSIGN_OR_RETURN(const uint32_t id, ReadVarint32(reader));
  column.id = ColumnId(id);
  ASSIGN_OR_RETURN(column.name, ReadText(reader));
  ASSIGN_OR_RETURN(column.type, DecodeColumnType(reader));
  ASSIGN_OR_RETURN(column.bits, reader.Read<uint8_t>());
  ASSIGN_OR_RETURN(const uint16_t flags, reader.Read<uint16_t>());
  if ((flags & ~kAllFlags) != 0 || column.bits == 0 || column.bits > 32) {
    return CorruptError("offset {}: column '{}' has unknown flags", reader.offset(), column.name);
  }
  column.indexed = (flags & kIndexed) != 0;
  column.stored = (flags & kStored) != 0;
  column.attribute = (flags & kAttribute) != 0;
  column.fast_fetch = (flags & kFastFetch) != 0;
  column.hash = (flags & kHash) != 0;
  column.secondary_index = (flags & kSecondaryIndex) != 0;
  if ((flags & kHasEngine) != 0) {
    column.engine = (flags & kColumnar) != 0 ? Engine::kColumnar : Engine::kRowwise;
  }
  if ((flags & kHasKnn) != 0) {
    ASSIGN_OR_RETURN(column.knn, ReadKnn(reader));
  }
  return column;
}

Result<std::vector<std::string>> ReadTexts(ByteReader& reader) {
  ASSIGN_OR_RETURN(const uint64_t count, reader.ReadVarint());
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(std::string text, ReadText(reader));
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

void EncodeDefinition(const TableDefinition& definition, ByteWriter& writer) {
  writer.WriteVarint(definition.id.value);
  writer.WriteString(definition.name);
  writer.Write<uint8_t>(static_cast<uint8_t>(definition.kind));
  writer.WriteVarint(definition.next_column_id);
  writer.WriteVarint(definition.columns.size());
  for (const ColumnDefinition& column : definition.columns) {
    WriteColumn(column, writer);
  }
  writer.WriteVarint(definition.settings.size());
  for (const auto& [name, value] : definition.settings) {
    writer.WriteString(name);
    writer.WriteString(value);
  }
  writer.WriteVarint(definition.setting_order.size());
  for (const std::string& name : definition.setting_order) {
    writer.WriteString(name);
  }
  writer.WriteVarint(definition.local_tables.size());
  for (const std::string& name : definition.local_tables) {
    writer.WriteString(name);
  }
}

Result<TableDefinition> DecodeDefinition(ByteReader& reader) {
  TableDefinition definition;
  ASSIGN_OR_RETURN(const uint64_t id, reader.ReadVarint());
  definition.id = TableId(id);
  ASSIGN_OR_RETURN(definition.name, ReadText(reader));
  ASSIGN_OR_RETURN(const uint8_t kind, reader.Read<uint8_t>());
  if (kind > static_cast<uint8_t>(TableKind::kDistributed)) {
    return CorruptError("offset {}: {} is no kind of table", reader.offset(), kind);
  }
  definition.kind = static_cast<TableKind>(kind);
  ASSIGN_OR_RETURN(definition.next_column_id, ReadVarint32(reader));
  ASSIGN_OR_RETURN(const uint64_t columns, reader.ReadVarint());
  for (uint64_t i = 0; i < columns; ++i) {
    ASSIGN_OR_RETURN(ColumnDefinition column, ReadColumn(reader));
    if ((column.type == ColumnType::kId) != (i == 0)) {
      return CorruptError("offset {}: the first column of table '{}', and only it, is the id",
                          reader.offset(), definition.name);
    }
    definition.columns.push_back(std::move(column));
  }
  ASSIGN_OR_RETURN(const uint64_t settings, reader.ReadVarint());
  for (uint64_t i = 0; i < settings; ++i) {
    ASSIGN_OR_RETURN(std::string name, ReadText(reader));
    ASSIGN_OR_RETURN(definition.settings[std::move(name)], ReadText(reader));
  }
  ASSIGN_OR_RETURN(definition.setting_order, ReadTexts(reader));
  ASSIGN_OR_RETURN(definition.local_tables, ReadTexts(reader));
  return definition;
}

}  // namespace stoa::storage
