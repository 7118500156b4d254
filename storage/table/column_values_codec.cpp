#include "storage/table/column_values_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "storage/base/byte_writer.h"
#include "storage/chunk/column_block.h"

namespace stoa::storage {
namespace {

template <typename T>
void WriteAll(const std::vector<int64_t>& values, std::string& out) {
  const size_t start = out.size();
  out.resize(start + values.size() * sizeof(T));
  char* target = out.data() + start;
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(target + i * sizeof(T), &value, sizeof(T));
  }
}

template <typename Stored, typename Value>
Status ReadAll(ByteReader& reader, size_t rows, std::vector<Value>& values) {
  if (rows > reader.remaining() / sizeof(Stored)) {
    return CorruptError("offset {}: {} values do not fit in {} bytes", reader.offset(), rows,
                        reader.remaining());
  }
  ASSIGN_OR_RETURN(const std::string_view bytes, reader.ReadBytes(rows * sizeof(Stored)));
  values.resize(rows);
  for (size_t i = 0; i < rows; ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = static_cast<Value>(value);
  }
  return Status::Ok();
}

Status ReadTexts(ByteReader& reader, size_t rows, ColumnValues& values) {
  if (rows > reader.remaining()) {
    return CorruptError("offset {}: {} lengths do not fit in {} bytes", reader.offset(), rows,
                        reader.remaining());
  }
  values.offsets.resize(rows + 1);
  uint64_t total = 0;
  for (size_t i = 0; i < rows; ++i) {
    ASSIGN_OR_RETURN(const uint64_t length, reader.ReadVarint());
    if (length > reader.remaining()) {
      return CorruptError("offset {}: value of {} bytes crosses the end", reader.offset(), length);
    }
    total += length;
    values.offsets[i + 1] = total;
  }
  if (total > reader.remaining()) {
    return CorruptError("offset {}: values of {} bytes cross the end", reader.offset(), total);
  }
  ASSIGN_OR_RETURN(const std::string_view bytes, reader.ReadBytes(total));
  values.bytes = bytes;
  return Status::Ok();
}

}  // namespace

void EncodeColumnValues(const ColumnValues& values, std::string& out) {
  switch (CellOf(values.type)) {
    case Cell::kUint32:
      WriteAll<uint32_t>(values.ints, out);
      return;
    case Cell::kInt64:
      WriteAll<int64_t>(values.ints, out);
      return;
    case Cell::kFloat:
      out.append(reinterpret_cast<const char*>(values.floats.data()), values.floats.size() * sizeof(float));
      return;
    case Cell::kBytes:
      break;
  }
  ByteWriter writer(out);
  for (size_t i = 0; i + 1 < values.offsets.size(); ++i) {
    writer.WriteVarint(values.offsets[i + 1] - values.offsets[i]);
  }
  writer.WriteBytes(values.bytes);
}

Result<ColumnValues> DecodeColumnValues(ByteReader& reader, ColumnId column, ColumnType type, size_t rows) {
  ColumnValues values;
  values.column = column;
  values.type = type;
  switch (CellOf(type)) {
    case Cell::kUint32:
      RETURN_IF_ERROR((ReadAll<uint32_t>(reader, rows, values.ints)));
      return values;
    case Cell::kInt64:
      RETURN_IF_ERROR((ReadAll<int64_t>(reader, rows, values.ints)));
      return values;
    case Cell::kFloat:
      RETURN_IF_ERROR((ReadAll<float>(reader, rows, values.floats)));
      return values;
    case Cell::kBytes:
      break;
  }
  RETURN_IF_ERROR(ReadTexts(reader, rows, values));
  return values;
}

bool HoldsOnlyDefaults(const ColumnValues& values) {
  return std::all_of(values.ints.begin(), values.ints.end(), [](int64_t value) { return value == 0; }) &&
         std::all_of(values.floats.begin(), values.floats.end(),
                     [](float value) { return std::bit_cast<uint32_t>(value) == 0; }) &&
         values.bytes.empty();
}

Result<ColumnType> DecodeColumnType(ByteReader& reader) {
  ASSIGN_OR_RETURN(const uint8_t type, reader.Read<uint8_t>());
  if (type > static_cast<uint8_t>(ColumnType::kFloatVectorArray)) {
    return CorruptError("offset {}: {} is no column type", reader.offset() - 1, type);
  }
  return static_cast<ColumnType>(type);
}

}  // namespace stoa::storage
