#include "storage/table/write_set_codec.h"

#include <utility>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/table/column_values_codec.h"

namespace stoa::storage {
namespace {

constexpr uint8_t kPayloadVersion = 1;

enum class ChangeKind : uint8_t { kInsert = 1, kReplace = 2, kDelete = 3, kUpdate = 4 };

void WriteIds(const std::vector<DocId>& ids, std::string& out) {
  ByteWriter writer(out);
  writer.WriteVarint(ids.size());
  for (const DocId id : ids) {
    writer.Write<uint64_t>(id.value);
  }
}

Result<std::vector<DocId>> ReadIds(ByteReader& reader) {
  ASSIGN_OR_RETURN(const uint64_t count, reader.ReadVarint());
  if (count > reader.remaining() / sizeof(uint64_t)) {
    return CorruptError("offset {}: {} document ids cross the end", reader.offset(), count);
  }
  std::vector<DocId> ids;
  ids.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const uint64_t id, reader.Read<uint64_t>());
    ids.emplace_back(id);
  }
  return ids;
}

void WriteColumns(const std::vector<ColumnValues>& columns, std::string& out) {
  ByteWriter writer(out);
  writer.WriteVarint(columns.size());
  for (const ColumnValues& values : columns) {
    writer.WriteVarint(values.column.value);
    writer.Write<uint8_t>(static_cast<uint8_t>(values.type));
    EncodeColumnValues(values, out);
  }
}

Result<std::vector<ColumnValues>> ReadColumns(ByteReader& reader, size_t rows) {
  ASSIGN_OR_RETURN(const uint64_t count, reader.ReadVarint());
  std::vector<ColumnValues> columns;
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const uint64_t column, reader.ReadVarint());
    ASSIGN_OR_RETURN(const ColumnType type, DecodeColumnType(reader));
    ASSIGN_OR_RETURN(ColumnValues values,
                     DecodeColumnValues(reader, ColumnId(static_cast<uint32_t>(column)), type, rows));
    columns.push_back(std::move(values));
  }
  return columns;
}

Result<Change> ReadChange(ByteReader& reader) {
  ASSIGN_OR_RETURN(const uint8_t kind, reader.Read<uint8_t>());
  ASSIGN_OR_RETURN(std::vector<DocId> ids, ReadIds(reader));
  switch (static_cast<ChangeKind>(kind)) {
    case ChangeKind::kInsert:
    case ChangeKind::kReplace: {
      InsertRows insert;
      insert.replace = static_cast<ChangeKind>(kind) == ChangeKind::kReplace;
      ASSIGN_OR_RETURN(insert.rows.columns, ReadColumns(reader, ids.size()));
      insert.rows.ids = std::move(ids);
      return Change(std::move(insert));
    }
    case ChangeKind::kDelete:
      return Change(DeleteRows{std::move(ids)});
    case ChangeKind::kUpdate: {
      UpdateRows update;
      ASSIGN_OR_RETURN(update.columns, ReadColumns(reader, ids.size()));
      update.ids = std::move(ids);
      return Change(std::move(update));
    }
  }
  return CorruptError("offset {}: {} is no kind of change", reader.offset(), kind);
}

}  // namespace

void WriteSetWriter::Add(TableId table, const Change& change) {
  ++count_;
  ByteWriter writer(body_);
  writer.Write<uint64_t>(table.value);
  if (const auto* insert = std::get_if<InsertRows>(&change)) {
    writer.Write<uint8_t>(static_cast<uint8_t>(insert->replace ? ChangeKind::kReplace : ChangeKind::kInsert));
    WriteIds(insert->rows.ids, body_);
    WriteColumns(insert->rows.columns, body_);
  } else if (const auto* gone = std::get_if<DeleteRows>(&change)) {
    writer.Write<uint8_t>(static_cast<uint8_t>(ChangeKind::kDelete));
    WriteIds(gone->ids, body_);
  } else if (const auto* update = std::get_if<UpdateRows>(&change)) {
    writer.Write<uint8_t>(static_cast<uint8_t>(ChangeKind::kUpdate));
    WriteIds(update->ids, body_);
    WriteColumns(update->columns, body_);
  }
}

std::string WriteSetWriter::Finish() && {
  std::string payload;
  payload.reserve(body_.size() + 11);
  ByteWriter writer(payload);
  writer.Write<uint8_t>(kPayloadVersion);
  writer.WriteVarint(count_);
  payload.append(body_);
  return payload;
}

Result<std::vector<LoggedChange>> DecodeWriteSet(std::string_view payload) {
  ByteReader reader(payload);
  ASSIGN_OR_RETURN(const uint8_t version, reader.Read<uint8_t>());
  if (version != kPayloadVersion) {
    return CorruptError("transaction of version {}, this server reads version {}", version, kPayloadVersion);
  }
  ASSIGN_OR_RETURN(const uint64_t count, reader.ReadVarint());
  std::vector<LoggedChange> changes;
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const uint64_t table, reader.Read<uint64_t>());
    ASSIGN_OR_RETURN(Change change, ReadChange(reader));
    changes.push_back({TableId(table), std::move(change)});
  }
  if (!reader.done()) {
    return CorruptError("offset {}: {} bytes behind the last change", reader.offset(), reader.remaining());
  }
  return changes;
}

}  // namespace stoa::storage
