#include "daemon/mysql/prepared.h"

#include <charconv>

#include "daemon/mysql/error_packet.h"
#include "daemon/mysql/wire.h"

namespace stoa::daemon {
namespace {

constexpr uint16_t kUnsignedParameter = 0x8000;

template <typename Signed, typename Unsigned>
sql::Value ReadInteger(PayloadReader& reader, bool is_unsigned) {
  const auto value = reader.Fixed<Signed>();
  return sql::Value::Bigint(is_unsigned ? int64_t{static_cast<Unsigned>(value)} : int64_t{value});
}

sql::Value ReadLongLong(PayloadReader& reader, bool is_unsigned) {
  const auto value = reader.Fixed<int64_t>();
  return is_unsigned && value < 0 ? sql::Value::Uint64(static_cast<uint64_t>(value))
                                  : sql::Value::Bigint(value);
}

// Decimals travel as text and are meant as numbers.
sql::Value NumberFromText(std::string_view text) {
  int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (auto [stop, error] = std::from_chars(text.data(), end, integer); error == std::errc() && stop == end) {
    return sql::Value::Bigint(integer);
  }
  uint64_t large = 0;
  if (auto [stop, error] = std::from_chars(text.data(), end, large); error == std::errc() && stop == end) {
    return sql::Value::Uint64(large);
  }
  double real = 0;
  if (auto [stop, error] = std::from_chars(text.data(), end, real); error == std::errc() && stop == end) {
    return sql::Value::Double(real);
  }
  return sql::Value::String(std::string(text));
}

std::optional<std::string> ReadDate(PayloadReader& reader) {
  const uint8_t length = reader.Fixed<uint8_t>();
  if (length != 0 && length != 4 && length != 7 && length != 11) {
    return std::nullopt;
  }
  const unsigned year = length >= 4 ? reader.Fixed<uint16_t>() : 0u;
  const unsigned month = length >= 4 ? reader.Fixed<uint8_t>() : 0u;
  const unsigned day = length >= 4 ? reader.Fixed<uint8_t>() : 0u;
  std::string text = fmt::format("{:04}-{:02}-{:02}", year, month, day);
  if (length >= 7) {
    const unsigned hour = reader.Fixed<uint8_t>();
    const unsigned minute = reader.Fixed<uint8_t>();
    const unsigned second = reader.Fixed<uint8_t>();
    text += fmt::format(" {:02}:{:02}:{:02}", hour, minute, second);
  }
  if (length == 11) {
    text += fmt::format(".{:06}", reader.Fixed<uint32_t>());
  }
  return text;
}

std::optional<std::string> ReadTime(PayloadReader& reader) {
  const uint8_t length = reader.Fixed<uint8_t>();
  if (length != 0 && length != 8 && length != 12) {
    return std::nullopt;
  }
  if (length == 0) {
    return "00:00:00";
  }
  const bool negative = reader.Fixed<uint8_t>() != 0;
  const uint64_t days = reader.Fixed<uint32_t>();
  const unsigned hour = reader.Fixed<uint8_t>();
  const unsigned minute = reader.Fixed<uint8_t>();
  const unsigned second = reader.Fixed<uint8_t>();
  std::string text =
      fmt::format("{}{:02}:{:02}:{:02}", negative ? "-" : "", days * 24 + hour, minute, second);
  if (length == 12) {
    text += fmt::format(".{:06}", reader.Fixed<uint32_t>());
  }
  return text;
}

// nullopt: the type is unknown or its bytes are wrong.
std::optional<sql::Value> ReadValue(PayloadReader& reader, ParameterType type) {
  switch (type.type) {
    case WireType::kTiny:
      return ReadInteger<int8_t, uint8_t>(reader, type.is_unsigned);
    case WireType::kShort:
    case WireType::kYear:
      return ReadInteger<int16_t, uint16_t>(reader, type.is_unsigned);
    case WireType::kLong:
    case WireType::kInt24:
      return ReadInteger<int32_t, uint32_t>(reader, type.is_unsigned);
    case WireType::kLongLong:
      return ReadLongLong(reader, type.is_unsigned);
    case WireType::kFloat:
      return sql::Value::Float(reader.Fixed<float>());
    case WireType::kDouble:
      return sql::Value::Double(reader.Fixed<double>());
    case WireType::kNull:
      return sql::Value::Null();
    case WireType::kDecimal:
    case WireType::kNewDecimal:
      return NumberFromText(reader.LengthString());
    case WireType::kDate:
    case WireType::kDatetime:
    case WireType::kTimestamp:
    case WireType::kTime: {
      std::optional<std::string> text = type.type == WireType::kTime ? ReadTime(reader) : ReadDate(reader);
      return text ? std::optional(sql::Value::String(std::move(*text))) : std::nullopt;
    }
    case WireType::kVarchar:
    case WireType::kBit:
    case WireType::kJson:
    case WireType::kEnum:
    case WireType::kSet:
    case WireType::kTinyBlob:
    case WireType::kMediumBlob:
    case WireType::kLongBlob:
    case WireType::kBlob:
    case WireType::kVarString:
    case WireType::kString:
    case WireType::kGeometry:
      return sql::Value::String(std::string(reader.LengthString()));
  }
  return std::nullopt;
}

std::vector<ParameterType> ReadTypes(PayloadReader& reader, size_t count) {
  std::vector<ParameterType> types;
  for (size_t i = 0; i < count && !reader.failed(); ++i) {
    const uint16_t word = reader.Fixed<uint16_t>();
    types.push_back({static_cast<WireType>(word & 0xff), (word & kUnsignedParameter) != 0});
  }
  return types;
}

}  // namespace

void PreparedParameters::AddLongData(uint16_t parameter, std::string_view bytes, uint64_t limit) {
  if (parameter >= count_) {
    long_error_ = WrongArguments(fmt::format("long data for parameter {} of {}", parameter + 1, count_));
    return;
  }
  if (long_bytes_ + bytes.size() > limit) {
    long_error_ = Status(StatusCode::kLimit,
                         fmt::format("long data is larger than max_packet_size ({} bytes)", limit), 1153);
    return;
  }
  long_bytes_ += bytes.size();
  long_data_[parameter].append(bytes);
}

void PreparedParameters::ForgetLongData() {
  long_data_.clear();
  long_bytes_ = 0;
  long_error_ = Status::Ok();
}

Result<std::vector<sql::Value>> PreparedParameters::Decode(std::string_view arguments) {
  Result<std::vector<sql::Value>> values =
      long_error_.ok() ? DecodeAll(arguments) : Result<std::vector<sql::Value>>(long_error_);
  ForgetLongData();
  return values;
}

Result<std::vector<sql::Value>> PreparedParameters::DecodeAll(std::string_view arguments) {
  PayloadReader reader(arguments);
  reader.Skip(sizeof(uint8_t) +
              sizeof(uint32_t));  // cursor flags: rows are sent at once; iteration count: always 1
  if (reader.failed()) {
    return MalformedPacket("execute is too short");
  }
  std::vector<sql::Value> values;
  if (count_ == 0) {
    return values;
  }
  const std::string_view nulls = reader.Bytes((count_ + 7) / 8);
  if (reader.Fixed<uint8_t>() == 1) {
    std::vector<ParameterType> types = ReadTypes(reader, count_);
    if (!reader.failed()) {
      types_ = std::move(types);
    }
  }
  if (reader.failed() || types_.size() != count_) {
    return WrongArguments(fmt::format("the statement has {} parameters", count_));
  }
  values.reserve(count_);
  for (size_t i = 0; i < count_; ++i) {
    const auto long_data = long_data_.find(static_cast<uint16_t>(i));
    if (long_data != long_data_.end()) {
      values.push_back(sql::Value::String(std::move(long_data->second)));
      continue;
    }
    if ((static_cast<uint8_t>(nulls[i / 8]) >> (i % 8)) & 1) {
      values.push_back(sql::Value::Null());
      continue;
    }
    std::optional<sql::Value> value = ReadValue(reader, types_[i]);
    if (!value || reader.failed()) {
      return WrongArguments(fmt::format("parameter {} of {} has no readable value", i + 1, count_));
    }
    values.push_back(std::move(*value));
  }
  if (!reader.done()) {
    return WrongArguments(fmt::format("more than {} parameters", count_));
  }
  return values;
}

PreparedParameters* PreparedStatements::Find(uint32_t id) {
  const auto found = statements_.find(id);
  return found == statements_.end() ? nullptr : &found->second;
}

}  // namespace stoa::daemon
