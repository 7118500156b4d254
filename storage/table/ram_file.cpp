#include "storage/table/ram_file.h"

#include <algorithm>
#include <utility>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/fault_point.h"
#include "storage/base/log.h"
#include "storage/chunk/row_copy.h"
#include "storage/format/section_file.h"
#include "storage/table/column_values_codec.h"
#include "storage/table/head_builder.h"

namespace stoa::storage {
namespace {

constexpr SectionFileKind kKind{{'R', 'A', 'M', 'P'}, kRamFormat};
constexpr uint32_t kInfoSection = 1;
constexpr uint32_t kIdSection = 2;      // key: group of rows
constexpr uint32_t kColumnSection = 3;  // key: group of rows

Status WriteInfo(SectionFileWriter& file, const TableSnapshot& snapshot, const RamFileIdentity& identity) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Write<uint64_t>(identity.generation);
  writer.Write<uint64_t>(identity.covered.value);
  writer.Write<uint64_t>(snapshot.live_count());
  return file.AddSection(kInfoSection, 0, bytes);
}

Status WriteGroup(SectionFileWriter& file, uint32_t group, const RowBatch& rows) {
  std::string bytes;
  for (const DocId id : rows.ids) {
    ByteWriter(bytes).Write<uint64_t>(id.value);
  }
  RETURN_IF_ERROR(file.AddSection(kIdSection, group, bytes));
  for (const ColumnValues& values : rows.columns) {
    if (HoldsOnlyDefaults(values)) {
      continue;
    }
    bytes.clear();
    ByteWriter writer(bytes);
    writer.Write<uint32_t>(values.column.value);
    writer.Write<uint8_t>(static_cast<uint8_t>(values.type));
    EncodeColumnValues(values, bytes);
    RETURN_IF_ERROR(file.AddSection(kColumnSection, group, bytes));
  }
  return Status::Ok();
}

Status WriteSections(WritableFile& file, const TableSnapshot& snapshot, const RamFileIdentity& identity) {
  SectionFileWriter writer(file, kKind, identity.table.value);
  RETURN_IF_ERROR(WriteInfo(writer, snapshot, identity));
  uint32_t group = 0;
  for (const auto& part : snapshot.parts) {
    const std::vector<RowId> live = LiveRows(*part);
    if (live.empty()) {
      continue;
    }
    ASSIGN_OR_RETURN(const RowBatch rows, CopyRows(*part, live, *snapshot.definition));
    RETURN_IF_ERROR(WriteGroup(writer, group, rows));
    ++group;
    STOA_FAULT_POINT("ram.write");
  }
  return writer.Finish();
}

Status WriteTemporary(Env& env, const std::string& path, const TableSnapshot& snapshot,
                      const RamFileIdentity& identity) {
  ASSIGN_OR_RETURN(const auto file, env.Create(path));
  RETURN_IF_ERROR(WriteSections(*file, snapshot, identity));
  RETURN_IF_ERROR(file->Sync());
  RETURN_IF_ERROR(file->Close());
  STOA_FAULT_POINT("ram.rename");
  return Status::Ok();
}

// Reads a file group by group.
class RamFileLoader {
 public:
  RamFileLoader(const SectionFileReader& file, std::shared_ptr<const TableSnapshot> empty)
      : file_(file), builder_(std::move(empty)) {}

  Result<std::shared_ptr<const TableSnapshot>> Load(const RamFileIdentity& identity) {
    if (file_.owner() != identity.table.value) {
      return CorruptError("belongs to table {}, not {}", file_.owner(), identity.table.value);
    }
    if (file_.sections().empty() || file_.sections()[0].kind != kInfoSection) {
      return CorruptError("the first section is not the information section");
    }
    for (const SectionEntry& section : file_.sections()) {
      RETURN_IF_ERROR(ReadSection(section, identity));
    }
    RETURN_IF_ERROR(EndGroup());
    if (rows_ != expected_rows_) {
      return CorruptError("{} rows instead of {}", rows_, expected_rows_);
    }
    return builder_.Finish();
  }

 private:
  Status ReadSection(const SectionEntry& section, const RamFileIdentity& identity) {
    ASSIGN_OR_RETURN(const std::string bytes, file_.Read(section));
    ByteReader reader(bytes, section.offset);
    switch (section.kind) {
      case kInfoSection:
        return ReadInfo(reader, identity);
      case kIdSection:
        RETURN_IF_ERROR(EndGroup());
        return ReadIds(reader);
      case kColumnSection:
        return ReadColumn(reader);
      default:
        return CorruptError("offset {}: {} is no kind of section", section.offset, section.kind);
    }
  }

  Status ReadInfo(ByteReader& reader, const RamFileIdentity& identity) {
    ASSIGN_OR_RETURN(const uint64_t generation, reader.Read<uint64_t>());
    ASSIGN_OR_RETURN(const uint64_t covered, reader.Read<uint64_t>());
    ASSIGN_OR_RETURN(expected_rows_, reader.Read<uint64_t>());
    if (generation != identity.generation) {
      return CorruptError("is of generation {}, not {}", generation, identity.generation);
    }
    if (covered < identity.covered.value) {
      return CorruptError("covers the log up to {}, not {}", covered, identity.covered.value);
    }
    return Status::Ok();
  }

  Status ReadIds(ByteReader& reader) {
    while (!reader.done()) {
      ASSIGN_OR_RETURN(const uint64_t id, reader.Read<uint64_t>());
      group_.rows.ids.emplace_back(id);
    }
    return Status::Ok();
  }

  Status ReadColumn(ByteReader& reader) {
    ASSIGN_OR_RETURN(const uint32_t column, reader.Read<uint32_t>());
    ASSIGN_OR_RETURN(const ColumnType type, DecodeColumnType(reader));
    ASSIGN_OR_RETURN(ColumnValues values,
                     DecodeColumnValues(reader, ColumnId(column), type, group_.rows.size()));
    group_.rows.columns.push_back(std::move(values));
    return Status::Ok();
  }

  Status EndGroup() {
    rows_ += group_.rows.size();
    RETURN_IF_ERROR(builder_.Insert(group_));
    group_ = {};
    return Status::Ok();
  }

  const SectionFileReader& file_;
  HeadBuilder builder_;
  InsertRows group_;
  uint64_t rows_ = 0;
  uint64_t expected_rows_ = 0;
};

}  // namespace

std::string RamFileName(uint64_t generation) { return fmt::format("ram.{}", generation); }

Status WriteRamFile(Env& env, const std::string& folder, const TableSnapshot& snapshot,
                    const RamFileIdentity& identity) {
  const std::string path = folder + "/" + RamFileName(identity.generation);
  const std::string temporary = path + ".tmp";
  Status status = WriteTemporary(env, temporary, snapshot, identity);
  if (status.ok()) {
    status = env.Rename(temporary, path);
  }
  if (!status.ok()) {
    if (const Status removed = env.Remove(temporary); !removed.ok() && env.Exists(temporary)) {
      LogWarning("{}", removed.text());
    }
    return status;
  }
  RETURN_IF_ERROR(env.SyncFolder(folder));
  STOA_FAULT_POINT("ram.after");
  return Status::Ok();
}

Result<std::shared_ptr<const TableSnapshot>> LoadRamFile(Env& env, const std::string& folder,
                                                         const RamFileIdentity& identity,
                                                         std::shared_ptr<const TableDefinition> definition) {
  const std::string path = folder + "/" + RamFileName(identity.generation);
  ASSIGN_OR_RETURN(const SectionFileReader file, SectionFileReader::Open(env, path, kKind));
  auto empty = std::make_shared<TableSnapshot>();
  empty->definition = std::move(definition);
  auto snapshot = RamFileLoader(file, std::move(empty)).Load(identity);
  if (snapshot.ok()) {
    return snapshot;
  }
  // A document id twice is as corrupt as a wrong length.
  return CorruptError("{}: {}", path, snapshot.status().text());
}

}  // namespace stoa::storage
