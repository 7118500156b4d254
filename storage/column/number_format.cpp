#include "storage/column/number_format.h"

#include <algorithm>

#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/column/number_kernels_reference.h"

namespace stoa::storage {
namespace {

uint64_t ZigZag(uint64_t difference) {
  return (difference << 1) ^ (difference >> 63 != 0 ? ~uint64_t{0} : 0);
}
uint64_t UnZigZag(uint64_t coded) { return (coded >> 1) ^ ((coded & 1) != 0 ? ~uint64_t{0} : 0); }

bool HasBase(BlockEncoding encoding) {
  return encoding == BlockEncoding::kPatched || encoding == BlockEncoding::kLinear;
}
bool HasCount(BlockEncoding encoding) {
  return encoding == BlockEncoding::kTable || encoding == BlockEncoding::kRuns ||
         encoding == BlockEncoding::kPatched;
}

// Widths that follow from the rest.
void SetWidths(NumberBlock& block) {
  const auto range_width = static_cast<uint8_t>(PackedWidth(block.maximum - block.minimum));
  if (block.encoding == BlockEncoding::kPacked) {
    block.width = range_width;
  } else if (block.encoding == BlockEncoding::kTable) {
    block.width = static_cast<uint8_t>(PackedWidth(block.count == 0 ? 0 : block.count - 1u));
  }
  if (HasCount(block.encoding)) {
    block.value_width = range_width;
  }
}

Result<NumberBlock> ReadEntry(ByteReader& reader, uint64_t last_minimum) {
  NumberBlock block;
  ASSIGN_OR_RETURN(const uint8_t head, reader.Read<uint8_t>());
  block.encoding = static_cast<BlockEncoding>(head & 7);
  block.listed = (head & 8) != 0;
  block.decimal = static_cast<uint8_t>(head >> 4);
  ASSIGN_OR_RETURN(const uint64_t minimum, reader.ReadVarint());
  block.minimum = last_minimum + UnZigZag(minimum);
  block.maximum = block.minimum;
  if (block.encoding != BlockEncoding::kConstant) {
    ASSIGN_OR_RETURN(const uint64_t range, reader.ReadVarint());
    block.maximum += range;  // an overflow is refused as a maximum below the minimum
  }
  if (HasCount(block.encoding)) {
    ASSIGN_OR_RETURN(const uint64_t count, reader.ReadVarint());
    if (count > kBlockRows) {
      return CorruptError("{} values of a block", count);
    }
    block.count = static_cast<uint16_t>(count);
  }
  if (HasBase(block.encoding)) {
    ASSIGN_OR_RETURN(block.width, reader.Read<uint8_t>());
    ASSIGN_OR_RETURN(const uint64_t base, reader.ReadVarint());
    block.base = block.minimum + UnZigZag(base);
  }
  if (block.encoding == BlockEncoding::kLinear) {
    ASSIGN_OR_RETURN(const uint64_t slope, reader.ReadVarint());
    block.slope = static_cast<int64_t>(UnZigZag(slope));
  }
  SetWidths(block);
  return block;
}

Status CheckForm(const NumberBlock& block, ColumnType type) {
  const bool is_float = LaneOf(type) == Lane::kFloat;
  if (is_float ? block.maximum > 0xffffffffu : block.decimal != 0) {
    return CorruptError("an entry of another type");
  }
  return Status::Ok();
}

uint64_t ZoneKey(const NumberBlock& block, uint64_t key) {
  return block.decimal == 0 ? key : OrderedBits(FloatOfDecimalKey(key, block.decimal - 1u));
}

}  // namespace

std::string NumberInfo::Encode() const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.Write(static_cast<uint32_t>(type));
  writer.Write(rows);
  return bytes;
}

Result<NumberInfo> NumberInfo::Decode(std::string_view bytes) {
  ByteReader reader(bytes);
  NumberInfo info;
  ASSIGN_OR_RETURN(const uint32_t type, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(info.rows, reader.Read<uint32_t>());
  if (type > static_cast<uint32_t>(ColumnType::kFloatVectorArray) ||
      !IsNumber(static_cast<ColumnType>(type)) || !reader.done()) {
    return CorruptError("not the description of a number column");
  }
  info.type = static_cast<ColumnType>(type);
  return info;
}

void NumberDirectoryWriter::Add(const NumberBlock& block) {
  ByteWriter writer(bytes_);
  writer.Write(static_cast<uint8_t>(static_cast<uint8_t>(block.encoding) | (block.listed ? 8 : 0) |
                                    block.decimal << 4));
  writer.WriteVarint(ZigZag(block.minimum - last_minimum_));
  last_minimum_ = block.minimum;
  if (block.encoding != BlockEncoding::kConstant) {
    writer.WriteVarint(block.maximum - block.minimum);
  }
  if (HasCount(block.encoding)) {
    writer.WriteVarint(block.count);
  }
  if (HasBase(block.encoding)) {
    writer.Write(block.width);
    writer.WriteVarint(ZigZag(block.base - block.minimum));
  }
  if (block.encoding == BlockEncoding::kLinear) {
    writer.WriteVarint(ZigZag(static_cast<uint64_t>(block.slope)));
  }
}

Result<std::vector<NumberBlock>> ReadNumberDirectory(std::string_view bytes, const NumberInfo& info,
                                                     uint64_t payload_bytes) {
  ByteReader reader(bytes);
  std::vector<NumberBlock> blocks;
  // An entry has two bytes at least: what a damaged number of rows can allocate is bounded by the file.
  const uint32_t count = BlocksOf(info.rows);
  blocks.reserve(std::min<size_t>(count, bytes.size() / 2));
  uint64_t last_minimum = KeyOfZero(info.type);
  uint64_t end = 0;
  for (uint32_t index = 0; index < count; ++index) {
    const auto context = [&](const Status& status) {
      return status.WithContext(fmt::format("entry of block {}, offset {}", index, reader.offset()));
    };
    auto block = ReadEntry(reader, last_minimum);
    if (!block.ok()) {
      return context(block.status());
    }
    const uint32_t rows = RowsOfBlock(index, info.rows);
    Status valid = ValidateBlock(*block, rows);
    if (valid.ok()) {
      valid = CheckForm(*block, info.type);
    }
    if (!valid.ok()) {
      return context(valid);
    }
    block->offset = end;
    end += PartsOf(*block, rows).size;
    last_minimum = block->minimum;
    blocks.push_back(*block);
  }
  if (!reader.done() || end + kPackedSlack != payload_bytes) {
    return CorruptError("{} bytes of blocks instead of {}, {} bytes behind the last entry", payload_bytes,
                        end + kPackedSlack, reader.remaining());
  }
  return blocks;
}

std::vector<NumberZone> ZonesOf(const std::vector<NumberBlock>& blocks) {
  std::vector<NumberZone> zones;
  constexpr size_t kZoneBlocks = kZoneRows / kBlockRows;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const NumberZone block{.minimum = ZoneKey(blocks[i], blocks[i].minimum),
                           .maximum = ZoneKey(blocks[i], blocks[i].maximum)};
    if (i % kZoneBlocks == 0) {
      zones.push_back(block);
    } else {
      zones.back().minimum = std::min(zones.back().minimum, block.minimum);
      zones.back().maximum = std::max(zones.back().maximum, block.maximum);
    }
  }
  return zones;
}

std::string EncodeZones(const std::vector<NumberZone>& zones) {
  std::string bytes;
  ByteWriter writer(bytes);
  for (const NumberZone& zone : zones) {
    writer.Write(zone.minimum);
    writer.Write(zone.maximum);
  }
  return bytes;
}

}  // namespace stoa::storage
