#include "storage/column/set_column.h"

#include <cstring>
#include <utility>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/column/byte_blocks.h"

namespace stoa::storage {
namespace {

ByteBlocksSections SetSections(uint32_t key) {
  return {.directory = SpcSection::kSetOffsets, .blocks = SpcSection::kSetValues, .key = key};
}

size_t ItemSize(ColumnType type) { return type == ColumnType::kMulti ? sizeof(uint32_t) : sizeof(int64_t); }

std::string EncodeInfo(ColumnType type, uint32_t rows) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Write<uint32_t>(static_cast<uint32_t>(ItemSize(type)));
  writer.Write<uint32_t>(rows);
  return bytes;
}

template <typename Item>
bool Ascends(std::string_view set) {
  Item last{};
  for (size_t at = 0; at < set.size(); at += sizeof(Item)) {
    Item item;
    std::memcpy(&item, set.data() + at, sizeof(Item));
    if (at > 0 && item <= last) {
      return false;
    }
    last = item;
  }
  return true;
}

class SetColumn : public FileColumn {
 public:
  SetColumn(ColumnType type, ByteBlocks sets) : type_(type), sets_(std::move(sets)) {}

  ColumnType type() const override { return type_; }
  uint32_t row_count() const override { return sets_.size(); }
  uint64_t ram_bytes() const override { return sets_.ram_bytes(); }
  std::unique_ptr<ColumnReader> NewReader(std::shared_ptr<const FileColumn> self,
                                          ColumnType type) const override;
  Status Check() const override {
    return sets_.Visit([this](uint32_t first, std::span<const std::string_view> sets) {
      for (size_t i = 0; i < sets.size(); ++i) {
        const uint32_t row = static_cast<uint32_t>(first + i);
        RETURN_IF_ERROR(CheckLength(row, sets[i]));
        if (!(type_ == ColumnType::kMulti ? Ascends<uint32_t>(sets[i]) : Ascends<int64_t>(sets[i]))) {
          return sets_.Corrupt(row, "the set does not ascend");
        }
      }
      return Status::Ok();
    });
  }

  Status Read(std::span<const RowId> rows, std::span<std::string_view> sets, ReadBuffer& buffer) const {
    RETURN_IF_ERROR(sets_.Read(rows, sets, buffer));
    for (size_t i = 0; i < sets.size(); ++i) {
      RETURN_IF_ERROR(CheckLength(rows[i].value, sets[i]));
    }
    return Status::Ok();
  }

 private:
  Status CheckLength(uint32_t row, std::string_view set) const {
    return set.size() % ItemSize(type_) == 0 ? Status::Ok()
                                             : sets_.Corrupt(row, "the set ends inside of an item");
  }

  ColumnType type_;
  ByteBlocks sets_;
};

class SetReader : public ColumnReader {
 public:
  SetReader(std::shared_ptr<const FileColumn> holder, const SetColumn& column)
      : holder_(std::move(holder)), column_(column) {}

  ColumnType type() const override { return column_.type(); }
  Status ReadInts(std::span<const RowId>, std::span<int64_t>) override {
    return InternalError("a column of sets has no single integers");
  }
  Status ReadFloats(std::span<const RowId>, std::span<float>) override {
    return InternalError("a column of sets has no floats");
  }
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   ReadBuffer& buffer) override {
    return column_.Read(rows, values, buffer);
  }

 private:
  std::shared_ptr<const FileColumn> holder_;
  const SetColumn& column_;
};

std::unique_ptr<ColumnReader> SetColumn::NewReader(std::shared_ptr<const FileColumn> self, ColumnType) const {
  return std::make_unique<SetReader>(std::move(self), *this);
}

}  // namespace

Status WriteSetColumn(const ColumnDefinition& column, ColumnInput& input, SectionFileWriter& file) {
  const uint32_t key = column.id.value;
  RETURN_IF_ERROR(file.AddSection(static_cast<uint32_t>(SpcSection::kSetInfo), key,
                                  EncodeInfo(column.type, input.row_count())));
  ByteBlocksWriter writer(file, SetSections(key));
  RETURN_IF_ERROR(writer.Begin());
  RETURN_IF_ERROR(input.Rewind());
  while (true) {
    ASSIGN_OR_RETURN(const ColumnValues* values, input.Next());
    if (values == nullptr) {
      return writer.Finish();
    }
    RETURN_IF_ERROR(writer.Append(values->offsets, values->bytes));
  }
}

Result<std::shared_ptr<const FileColumn>> OpenSetColumn(std::shared_ptr<const OpenSectionFile> file,
                                                        ColumnId column) {
  const uint32_t key = column.value;
  ASSIGN_OR_RETURN(const std::string info, ReadWholeSection(*file, SpcSection::kSetInfo, key));
  ASSIGN_OR_RETURN(ByteBlocks sets, ByteBlocks::Open(*file, SetSections(key)));
  for (const ColumnType type : {ColumnType::kMulti, ColumnType::kMulti64}) {
    if (info == EncodeInfo(type, sets.size())) {
      return std::shared_ptr<const FileColumn>(std::make_shared<SetColumn>(type, std::move(sets)));
    }
  }
  return CorruptError("{}: section {}.{} does not describe a column of {} sets", file->path(),
                      static_cast<uint32_t>(SpcSection::kSetInfo), key, sets.size());
}

}  // namespace stoa::storage
