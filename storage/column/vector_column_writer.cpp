#include <string>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/column/vector_column.h"

namespace stoa::storage {
namespace {

constexpr SectionLayout kSlotsLayout{.alignment = 4096, .page_size = 4096};
constexpr uint64_t kSlotAlignment = 64;
constexpr uint64_t kMaxSlotBytes = 1u << 26;  // longer vectors lie in byte blocks
constexpr size_t kWriteBytes = 1u << 20;

// Writes the vectors of a column into slots, as long as all have the same dims.
class SlotWriter {
 public:
  SlotWriter(SectionFileWriter& file, VectorInfo& info) : file_(file), info_(info) {}

  // False when the vector has other dims than the first one.
  Result<bool> Append(std::string_view vector) {
    presence_.Append(!vector.empty());
    if (vector.empty()) {
      return true;
    }
    const uint64_t size = uint64_t{info_.dims} * sizeof(float);
    if (info_.dims == 0) {
      if (vector.size() % sizeof(float) != 0 || vector.size() > kMaxSlotBytes) {
        return false;
      }
      info_.dims = static_cast<uint32_t>(vector.size() / sizeof(float));
      info_.stride =
          static_cast<uint32_t>((vector.size() + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment);
    } else if (vector.size() != size) {
      return false;
    }
    slots_.append(vector);
    slots_.resize(slots_.size() + info_.stride - vector.size());
    if (slots_.size() >= kWriteBytes) {
      RETURN_IF_ERROR(Flush());
    }
    return true;
  }
  Status Flush() {
    RETURN_IF_ERROR(file_.AppendToSection(slots_));
    slots_.clear();
    return Status::Ok();
  }
  const PresenceWriter& presence() const { return presence_; }

 private:
  SectionFileWriter& file_;
  VectorInfo& info_;
  std::string slots_;
  PresenceWriter presence_;
};

Result<bool> AppendAll(ColumnInput& input, SlotWriter& writer) {
  RETURN_IF_ERROR(input.Rewind());
  while (true) {
    ASSIGN_OR_RETURN(const ColumnValues* values, input.Next());
    if (values == nullptr) {
      RETURN_IF_ERROR(writer.Flush());
      return true;
    }
    for (size_t row = 0; row < values->size(); ++row) {
      ASSIGN_OR_RETURN(const bool fits, writer.Append(values->BytesAt(row)));
      if (!fits) {
        return false;
      }
    }
  }
}

// False when the vectors differ in dims: what has been written is left unused.
Result<bool> WriteSlots(ColumnInput& input, SectionFileWriter& file, uint32_t key, VectorInfo& info) {
  RETURN_IF_ERROR(file.BeginSection(static_cast<uint32_t>(SpcSection::kVectors), key, kSlotsLayout));
  SlotWriter writer(file, info);
  ASSIGN_OR_RETURN(const bool fits, AppendAll(input, writer));
  RETURN_IF_ERROR(file.EndSection());
  if (!fits) {
    info.dims = 0;
    info.stride = 0;
    return false;
  }
  info.slots = true;
  info.slot_count = writer.presence().present();
  info.presence = info.slot_count != info.rows;
  if (info.presence) {
    RETURN_IF_ERROR(
        file.AddSection(static_cast<uint32_t>(SpcSection::kPresence), key, writer.presence().Encode()));
  }
  return true;
}

Status WriteBlocks(ColumnInput& input, SectionFileWriter& file, uint32_t key) {
  ByteBlocksWriter writer(
      file, {.directory = SpcSection::kSetOffsets, .blocks = SpcSection::kSetValues, .key = key});
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

}  // namespace

std::string VectorInfo::Encode() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Write<uint8_t>(slots ? 1 : 0);
  writer.Write<uint8_t>(arrays ? 1 : 0);
  writer.Write<uint8_t>(presence ? 1 : 0);
  writer.Write<uint8_t>(0);
  writer.Write<uint32_t>(rows);
  writer.Write<uint32_t>(slot_count);
  writer.Write<uint32_t>(dims);
  writer.Write<uint32_t>(stride);
  return bytes;
}

Result<VectorInfo> VectorInfo::Decode(std::string_view bytes) {
  ByteReader reader(bytes);
  VectorInfo info;
  uint8_t flags[4] = {};
  for (uint8_t& flag : flags) {
    ASSIGN_OR_RETURN(flag, reader.Read<uint8_t>());
  }
  ASSIGN_OR_RETURN(info.rows, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(info.slot_count, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(info.dims, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(info.stride, reader.Read<uint32_t>());
  if (flags[0] > 1 || flags[1] > 1 || flags[2] > 1 || flags[3] != 0 || !reader.done()) {
    return CorruptError("unknown form of a vector column");
  }
  info.slots = flags[0] == 1;
  info.arrays = flags[1] == 1;
  info.presence = flags[2] == 1;
  if (!info.slots && (info.slot_count != 0 || info.dims != 0 || info.stride != 0 || info.presence)) {
    return CorruptError("slots of vectors that are not in slots");
  }
  if (info.slots &&
      (info.arrays || info.stride % kSlotAlignment != 0 ||
       info.stride < uint64_t{info.dims} * sizeof(float) || (info.dims == 0) != (info.slot_count == 0))) {
    return CorruptError("{} slots of {} bytes for {} dims", info.slot_count, info.stride, info.dims);
  }
  return info;
}

Status WriteVectorColumn(const ColumnDefinition& column, ColumnInput& input, SectionFileWriter& file) {
  const uint32_t key = column.id.value;
  VectorInfo info{.arrays = column.type == ColumnType::kFloatVectorArray, .rows = input.row_count()};
  bool slots = false;
  if (!info.arrays) {
    ASSIGN_OR_RETURN(slots, WriteSlots(input, file, key, info));
  }
  if (!slots) {
    RETURN_IF_ERROR(WriteBlocks(input, file, key));
  }
  return file.AddSection(static_cast<uint32_t>(SpcSection::kVectorInfo), key, info.Encode());
}

}  // namespace stoa::storage
