#include "storage/column/vector_column.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace stoa::storage {
namespace {

constexpr size_t kBatchRows = 256;

class VectorReader : public ColumnReader {
 public:
  VectorReader(std::shared_ptr<const FileColumn> holder, const VectorColumn& column)
      : holder_(std::move(holder)), column_(column) {}

  ColumnType type() const override { return column_.type(); }
  Status ReadInts(std::span<const RowId>, std::span<int64_t>) override {
    return InternalError("a column of vectors has no integers");
  }
  Status ReadFloats(std::span<const RowId>, std::span<float>) override {
    return InternalError("a column of vectors has no single floats");
  }
  Status ReadBytes(std::span<const RowId> rows, std::span<std::string_view> values,
                   ReadBuffer& buffer) override {
    return column_.Read(rows, values, buffer);
  }

 private:
  std::shared_ptr<const FileColumn> holder_;
  const VectorColumn& column_;
};

}  // namespace

Result<std::shared_ptr<const FileColumn>> OpenVectorColumn(std::shared_ptr<const OpenSectionFile> file,
                                                           ColumnId column) {
  ASSIGN_OR_RETURN(std::shared_ptr<const FileColumn> vectors, VectorColumn::Open(std::move(file), column));
  return vectors;
}

Result<std::shared_ptr<const VectorColumn>> VectorColumn::Open(std::shared_ptr<const OpenSectionFile> file,
                                                               ColumnId column) {
  auto vectors = std::make_shared<VectorColumn>();
  vectors->key_ = column.value;
  ASSIGN_OR_RETURN(const std::string bytes, ReadWholeSection(*file, SpcSection::kVectorInfo, vectors->key_));
  auto info = VectorInfo::Decode(bytes);
  if (!info.ok()) {
    return info.status().WithContext(fmt::format(
        "{}: section {}.{}", file->path(), static_cast<uint32_t>(SpcSection::kVectorInfo), vectors->key_));
  }
  vectors->info_ = *info;
  RETURN_IF_ERROR(info->slots ? vectors->OpenSlots(*file) : vectors->OpenBlocks(*file));
  return std::shared_ptr<const VectorColumn>(std::move(vectors));
}

Status VectorColumn::OpenSlots(const OpenSectionFile& file) {
  const uint32_t kind = static_cast<uint32_t>(SpcSection::kVectors);
  if (file.Has(static_cast<uint32_t>(SpcSection::kSlotRows), key_)) {
    return UnsupportedError("{}: column {}: vectors in an order of their own", file.path(), key_);
  }
  ASSIGN_OR_RETURN(slots_, file.Section(kind, key_));
  if (slots_.length() != uint64_t{info_.slot_count} * info_.stride) {
    return CorruptError("{}: section {}.{}: {} bytes for {} slots of {}", file.path(), kind, key_,
                        slots_.length(), info_.slot_count, info_.stride);
  }
  presence_ = PresenceMap(info_.rows);
  if (info_.presence) {
    ASSIGN_OR_RETURN(const std::string bytes, ReadWholeSection(file, SpcSection::kPresence, key_));
    auto presence = PresenceMap::Decode(bytes, info_.rows);
    if (!presence.ok()) {
      return presence.status().WithContext(
          fmt::format("{}: section {}.{}", file.path(), static_cast<uint32_t>(SpcSection::kPresence), key_));
    }
    presence_ = std::move(*presence);
  }
  if (presence_.present() != info_.slot_count) {
    return CorruptError("{}: column {}: {} rows with a vector, {} slots", file.path(), key_,
                        presence_.present(), info_.slot_count);
  }
  slots_.Advise(AccessPattern::kRandom);
  return Status::Ok();
}

Status VectorColumn::OpenBlocks(const OpenSectionFile& file) {
  ASSIGN_OR_RETURN(values_, ByteBlocks::Open(file, {.directory = SpcSection::kSetOffsets,
                                                    .blocks = SpcSection::kSetValues,
                                                    .key = key_}));
  return values_.size() == info_.rows ? Status::Ok()
                                      : CorruptError("{}: column {}: {} values for {} rows", file.path(),
                                                     key_, values_.size(), info_.rows);
}

ColumnType VectorColumn::type() const {
  return info_.arrays ? ColumnType::kFloatVectorArray : ColumnType::kFloatVector;
}

std::unique_ptr<ColumnReader> VectorColumn::NewReader(std::shared_ptr<const FileColumn> self,
                                                      ColumnType) const {
  return std::make_unique<VectorReader>(std::move(self), *this);
}

const float* VectorColumn::base() const {
  return info_.dims == 0 ? nullptr : reinterpret_cast<const float*>(slots_.address());
}

Status VectorColumn::ReadVectors(std::span<const RowId> rows, std::span<const float*> vectors,
                                 ReadBuffer& buffer) const {
  if (!info_.slots) {
    return UnsupportedError("{}: column {}: the vectors have no common dims", values_.path(), key_);
  }
  std::array<std::string_view, kBatchRows> values;
  for (size_t first = 0; first < rows.size(); first += kBatchRows) {
    const size_t count = std::min(kBatchRows, rows.size() - first);
    RETURN_IF_ERROR(ReadSlots(rows.subspan(first, count), std::span(values).first(count), buffer));
    for (size_t i = 0; i < count; ++i) {
      vectors[first + i] = values[i].empty() ? nullptr : reinterpret_cast<const float*>(values[i].data());
    }
  }
  return Status::Ok();
}

Status VectorColumn::ReadSlots(std::span<const RowId> rows, std::span<std::string_view> values,
                               ReadBuffer& buffer) const {
  const uint64_t size = uint64_t{info_.dims} * sizeof(float);
  std::vector<ByteRange> ranges;
  ranges.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].value >= info_.rows) {
      return InternalError("{}: row {} of {} is asked for", slots_.path(), rows[i].value, info_.rows);
    }
    if (presence_.Has(rows[i]) && (i == 0 || rows[i] != rows[i - 1])) {
      ranges.push_back({.offset = uint64_t{presence_.Rank(rows[i])} * info_.stride, .length = size});
    }
  }
  std::vector<std::string_view> views(ranges.size());
  RETURN_IF_ERROR(slots_.ReadBatch(ranges, views, buffer));
  size_t next = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i] == rows[i - 1]) {
      values[i] = values[i - 1];
    } else {
      values[i] = presence_.Has(rows[i]) ? views[next++] : std::string_view("");
    }
  }
  return Status::Ok();
}

Status VectorColumn::Read(std::span<const RowId> rows, std::span<std::string_view> values,
                          ReadBuffer& buffer) const {
  if (info_.slots) {
    return ReadSlots(rows, values, buffer);
  }
  RETURN_IF_ERROR(values_.Read(rows, values, buffer));
  Status checked;
  for (size_t i = 0; i < rows.size() && checked.ok(); ++i) {
    checked = CheckValue(rows[i].value, values[i]);
  }
  RETURN_IF_ERROR(values_.CheckReadable());
  return checked;
}

Status VectorColumn::CheckValue(uint32_t row, std::string_view value) const {
  if (!info_.arrays || value.empty()) {
    return value.size() % sizeof(float) == 0 ? Status::Ok()
                                             : values_.Corrupt(row, "the vector ends inside of a float");
  }
  uint32_t dims = 0;
  std::memcpy(&dims, value.data(), std::min(sizeof(dims), value.size()));
  return value.size() >= sizeof(dims) && dims > 0 &&
                 (value.size() - sizeof(dims)) % (uint64_t{dims} * sizeof(float)) == 0
             ? Status::Ok()
             : values_.Corrupt(row, "the array does not hold whole vectors");
}

Status VectorColumn::CheckSlots() const {
  const uint64_t size = uint64_t{info_.dims} * sizeof(float);
  SectionCursor cursor(slots_);
  for (uint32_t slot = 0; slot < info_.slot_count; ++slot) {
    ASSIGN_OR_RETURN(const std::string_view bytes, cursor.At(uint64_t{slot} * info_.stride, info_.stride));
    const bool zeros = bytes.find_first_not_of('\0', size) == std::string_view::npos;
    RETURN_IF_ERROR(slots_.CheckReadable());
    if (!zeros) {
      return CorruptError("{}: column {}: slot {}: bytes behind the vector", slots_.path(), key_, slot);
    }
  }
  return Status::Ok();
}

Status VectorColumn::Check() const {
  if (info_.slots) {
    return CheckSlots();
  }
  return values_.Visit([this](uint32_t first, std::span<const std::string_view> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      RETURN_IF_ERROR(CheckValue(static_cast<uint32_t>(first + i), values[i]));
    }
    return Status::Ok();
  });
}

}  // namespace stoa::storage
