#include "daemon/mysql/prepared.h"

#include <catch2/catch.hpp>

#include "daemon/mysql/wire.h"

namespace stoa::daemon {
namespace {

struct Parameter {
  WireType type;
  bool is_unsigned;
  std::string bytes;
  bool is_null = false;
};

// What follows the statement's id in COM_STMT_EXECUTE.
std::string Arguments(const std::vector<Parameter>& parameters, bool with_types = true) {
  std::string out(1, '\0');
  AppendFixed(uint32_t{1}, out);
  std::string nulls((parameters.size() + 7) / 8, '\0');
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].is_null) {
      nulls[i / 8] = static_cast<char>(nulls[i / 8] | (1 << (i % 8)));
    }
  }
  out += nulls;
  out.push_back(with_types ? '\1' : '\0');
  for (const Parameter& parameter : parameters) {
    if (with_types) {
      out.push_back(static_cast<char>(parameter.type));
      out.push_back(parameter.is_unsigned ? '\x80' : '\0');
    }
  }
  for (const Parameter& parameter : parameters) {
    out += parameter.is_null ? "" : parameter.bytes;
  }
  return out;
}

template <typename T>
std::string Bytes(T value) {
  std::string out;
  AppendFixed(value, out);
  return out;
}

std::string Text(std::string_view text) {
  std::string out;
  AppendLengthString(text, out);
  return out;
}

sql::Value DecodeOne(const Parameter& parameter) {
  PreparedParameters statement("", 1);
  auto values = statement.Decode(Arguments({parameter}));
  REQUIRE(values.ok());
  return (*values)[0];
}

TEST_CASE("integers of every width keep sign and value", "[daemon]") {
  CHECK(DecodeOne({WireType::kTiny, false, Bytes(int8_t{-1})}).integer == -1);
  CHECK(DecodeOne({WireType::kTiny, true, Bytes(uint8_t{255})}).integer == 255);
  CHECK(DecodeOne({WireType::kShort, false, Bytes(int16_t{-300})}).integer == -300);
  CHECK(DecodeOne({WireType::kLong, true, Bytes(uint32_t{4294967295u})}).integer == 4294967295);
  CHECK(DecodeOne({WireType::kLongLong, false, Bytes(INT64_MIN)}).integer == INT64_MIN);
  const sql::Value large = DecodeOne({WireType::kLongLong, true, Bytes((uint64_t{1} << 63) + 1)});
  CHECK(large.type == sql::ValueType::kUint64);
  CHECK(static_cast<uint64_t>(large.integer) == (uint64_t{1} << 63) + 1);
}

TEST_CASE("decimals are numbers, texts are texts", "[daemon]") {
  CHECK(DecodeOne({WireType::kNewDecimal, false, Text("12.5")}).real == 12.5);
  CHECK(DecodeOne({WireType::kNewDecimal, false, Text("12")}).type == sql::ValueType::kBigint);
  CHECK(DecodeOne({WireType::kVarString, false, Text("12")}).bytes == "12");
  CHECK(DecodeOne({WireType::kLongBlob, false, Text(std::string(70000, 'b'))}).bytes.size() == 70000);
  CHECK(DecodeOne({WireType::kDouble, false, Bytes(2.5)}).real == 2.5);
  CHECK(DecodeOne({WireType::kFloat, false, Bytes(0.5f)}).type == sql::ValueType::kFloat);
}

TEST_CASE("dates and times become text", "[daemon]") {
  const std::string date = Bytes(uint16_t{2026}) + "\x01\x02";
  CHECK(DecodeOne({WireType::kDate, false, "\x04" + date}).bytes == "2026-01-02");
  CHECK(DecodeOne({WireType::kDatetime, false, "\x07" + date + "\x0d\x0e\x0f"}).bytes ==
        "2026-01-02 13:14:15");
  CHECK(
      DecodeOne({WireType::kTimestamp, false, "\x0b" + date + "\x0d\x0e\x0f" + Bytes(uint32_t{42})}).bytes ==
      "2026-01-02 13:14:15.000042");
  CHECK(DecodeOne({WireType::kTime, false, "\x08\x01" + Bytes(uint32_t{1}) + "\x01\x02\x03"}).bytes ==
        "-25:02:03");
  CHECK(DecodeOne({WireType::kTime, false, std::string(1, '\0')}).bytes == "00:00:00");
}

TEST_CASE("types are remembered for the next execute, values and NULLs are not", "[daemon]") {
  PreparedParameters statement("", 2);
  CHECK_FALSE(
      statement.Decode(Arguments({{WireType::kTiny, false, "\1"}, {WireType::kTiny, false, "\2"}}, false))
          .ok());
  REQUIRE(statement.Decode(Arguments({{WireType::kTiny, false, "\1"}, {WireType::kString, false, Text("x")}}))
              .ok());
  const auto again = statement.Decode(
      Arguments({{WireType::kTiny, false, "\1", true}, {WireType::kString, false, Text("y")}}, false));
  REQUIRE(again.ok());
  CHECK((*again)[0].is_null());
  CHECK((*again)[1].bytes == "y");
}

TEST_CASE("long data replaces a parameter once", "[daemon]") {
  PreparedParameters statement("", 2);
  statement.AddLongData(0, "abc", 100);
  statement.AddLongData(0, "def", 100);
  const auto values =
      statement.Decode(Arguments({{WireType::kBlob, false, ""}, {WireType::kTiny, false, "\7"}}));
  REQUIRE(values.ok());
  CHECK((*values)[0].bytes == "abcdef");
  CHECK((*values)[1].integer == 7);
  CHECK(
      (*statement.Decode(Arguments({{WireType::kBlob, false, Text("")}, {WireType::kTiny, false, "\7"}})))[0]
          .bytes.empty());
}

TEST_CASE("long data over the limit or for no parameter fails the next execute only", "[daemon]") {
  const std::string arguments = Arguments({{WireType::kTiny, false, "\7"}});
  PreparedParameters statement("", 1);
  statement.AddLongData(0, std::string(101, 'x'), 100);
  CHECK(statement.Decode(arguments).status().number() == 1153);
  CHECK(statement.Decode(arguments).ok());
  statement.AddLongData(1, "x", 100);
  CHECK(statement.Decode(arguments).status().number() == 1210);
  CHECK(statement.Decode(arguments).ok());
}

TEST_CASE("too few, too many and cut parameters are errors", "[daemon]") {
  const std::string two =
      Arguments({{WireType::kLong, false, Bytes(1)}, {WireType::kString, false, Text("xyz")}});
  CHECK(PreparedParameters("", 2).Decode(two).ok());
  for (size_t size = 0; size < two.size(); ++size) {
    CHECK_FALSE(PreparedParameters("", 2).Decode(std::string_view(two).substr(0, size)).ok());
  }
  CHECK_FALSE(PreparedParameters("", 2).Decode(two + "!").ok());
  CHECK_FALSE(PreparedParameters("", 3).Decode(two).ok());
  CHECK(PreparedParameters("", 0).Decode(std::string_view("\0\1\0\0\0", 5)).ok());
}

}  // namespace
}  // namespace stoa::daemon
