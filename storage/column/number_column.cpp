#include "storage/column/number_column.h"

#include <string>
#include <utility>
#include <vector>

#include "storage/column/number_encoder.h"
#include "storage/column/number_format.h"
#include "storage/column/number_reader.h"

namespace stoa::storage {
namespace {

uint32_t Number(SpcSection section) { return static_cast<uint32_t>(section); }

// Packs the pieces of an input, block by block.
class NumberWriter {
 public:
  NumberWriter(ColumnType type, SectionFileWriter& file)
      : type_(type), flip_(KeyFlip(type)), file_(file), directory_(type) {}

  Status Add(const ColumnValues& values) {
    const bool is_float = LaneOf(type_) == Lane::kFloat;
    const size_t rows = is_float ? values.floats.size() : values.ints.size();
    if (LaneOf(values.type) != LaneOf(type_) || rows == 0 || rows_ % kBlockRows != 0) {
      return InternalError("column {}: a piece of {} rows behind {}", values.column.value, rows, rows_);
    }
    for (size_t first = 0; first < rows; first += kBlockRows) {
      const size_t count = std::min<size_t>(kBlockRows, rows - first);
      payload_.clear();
      NumberBlock block = is_float ? EncodeFloats(std::span(values.floats).subspan(first, count), payload_)
                                   : EncodeInts(std::span(values.ints).subspan(first, count));
      block.offset = file_.section_length();
      directory_.Add(block);
      blocks_.push_back(block);
      RETURN_IF_ERROR(file_.AppendToSection(payload_));
    }
    rows_ += rows;
    return Status::Ok();
  }

  uint64_t rows() const { return rows_; }
  const std::string& directory() const { return directory_.bytes(); }
  std::string Zones() const { return EncodeZones(ZonesOf(blocks_)); }

 private:
  NumberBlock EncodeInts(std::span<const int64_t> values) {
    keys_.clear();
    for (const int64_t value : values) {
      keys_.push_back(static_cast<uint64_t>(value) ^ flip_);
    }
    return EncodeKeys(keys_, payload_);
  }

  ColumnType type_;
  uint64_t flip_;
  SectionFileWriter& file_;
  uint64_t rows_ = 0;
  NumberDirectoryWriter directory_;
  std::vector<NumberBlock> blocks_;
  std::vector<uint64_t> keys_;
  std::string payload_;
};

class NumberColumn : public FileColumn {
 public:
  NumberColumn(NumberColumnData data, std::string zones) : data_(std::move(data)), zones_(std::move(zones)) {}

  ColumnType type() const override { return data_.info.type; }
  uint32_t row_count() const override { return data_.info.rows; }
  uint64_t ram_bytes() const override {
    return sizeof(*this) + data_.blocks.capacity() * sizeof(NumberBlock) + zones_.capacity();
  }
  std::unique_ptr<ColumnReader> NewReader(std::shared_ptr<const FileColumn> self,
                                          ColumnType type) const override {
    return std::make_unique<NumberReader>(std::move(self), data_, type);
  }
  Status Check() const override {
    if (zones_ != EncodeZones(ZonesOf(data_.blocks))) {
      return CorruptError("{}: zones that contradict the directory", data_.payloads.path());
    }
    SectionCursor cursor(data_.payloads);
    for (uint32_t index = 0; index < data_.blocks.size(); ++index) {
      const NumberBlock& block = data_.blocks[index];
      const uint32_t rows = data_.RowsOf(index);
      ASSIGN_OR_RETURN(const std::string_view payload,
                       cursor.At(block.offset, PartsOf(block, rows).size + kPackedSlack));
      const Status status = CheckPayload(block, payload.data(), rows);
      if (!status.ok()) {
        return status.WithContext(
            fmt::format("{}: block {} at offset {}", data_.payloads.path(), index, block.offset));
      }
    }
    return data_.payloads.CheckReadable();
  }

 private:
  NumberColumnData data_;
  std::string zones_;
};

Result<std::string> ReadWhole(const OpenSectionFile& file, SpcSection section, uint32_t key) {
  ASSIGN_OR_RETURN(const SectionBytes bytes, file.Section(Number(section), key));
  ReadBuffer buffer;
  ASSIGN_OR_RETURN(const std::string_view view, bytes.Read(0, bytes.length(), buffer));
  std::string copy(view);
  RETURN_IF_ERROR(bytes.CheckReadable());
  return copy;
}

Status InColumn(const Status& status, const OpenSectionFile& file, uint32_t key, const char* section) {
  return status.WithContext(fmt::format("{}: {} of column {}", file.path(), section, key));
}

}  // namespace

Status WriteNumbers(ColumnType type, ColumnInput& input, SectionFileWriter& file, uint32_t key) {
  if (!IsNumber(type)) {
    return InternalError("column {} is not of numbers", key);
  }
  RETURN_IF_ERROR(input.Rewind());
  RETURN_IF_ERROR(file.BeginSection(Number(SpcSection::kBlocks), key, {.page_size = kDefaultPage}));
  NumberWriter writer(type, file);
  while (true) {
    ASSIGN_OR_RETURN(const ColumnValues* values, input.Next());
    if (values == nullptr) {
      break;
    }
    RETURN_IF_ERROR(writer.Add(*values));
  }
  if (writer.rows() != input.row_count()) {
    return InternalError("column {}: {} rows instead of {}", key, writer.rows(), input.row_count());
  }
  RETURN_IF_ERROR(file.AppendToSection(std::string(kPackedSlack, '\0')));
  RETURN_IF_ERROR(file.EndSection());
  RETURN_IF_ERROR(file.AddSection(Number(SpcSection::kDirectory), key, writer.directory()));
  RETURN_IF_ERROR(file.AddSection(Number(SpcSection::kZones), key, writer.Zones()));
  const NumberInfo info{.type = type, .rows = input.row_count()};
  return file.AddSection(Number(SpcSection::kColumn), key, info.Encode());
}

Status WriteNumberColumn(const ColumnDefinition& column, ColumnInput& input, SectionFileWriter& file) {
  return WriteNumbers(column.type, input, file, column.id.value);
}

Result<std::shared_ptr<const FileColumn>> OpenNumberColumn(std::shared_ptr<const OpenSectionFile> file,
                                                           ColumnId column) {
  const uint32_t key = column.value;
  ASSIGN_OR_RETURN(const std::string info_bytes, ReadWhole(*file, SpcSection::kColumn, key));
  auto info = NumberInfo::Decode(info_bytes);
  if (!info.ok()) {
    return InColumn(info.status(), *file, key, "description");
  }
  NumberColumnData data{.info = *info};
  ASSIGN_OR_RETURN(data.payloads, file->Section(Number(SpcSection::kBlocks), key));
  ASSIGN_OR_RETURN(const std::string directory, ReadWhole(*file, SpcSection::kDirectory, key));
  auto blocks = ReadNumberDirectory(directory, *info, data.payloads.length());
  if (!blocks.ok()) {
    return InColumn(blocks.status(), *file, key, "directory");
  }
  data.blocks = std::move(*blocks);
  ASSIGN_OR_RETURN(std::string zones, ReadWhole(*file, SpcSection::kZones, key));
  return std::shared_ptr<const FileColumn>(std::make_shared<NumberColumn>(std::move(data), std::move(zones)));
}

}  // namespace stoa::storage
