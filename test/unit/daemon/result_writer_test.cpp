#include "daemon/mysql/result_writer.h"

#include <catch2/catch.hpp>

#include "daemon/mysql/column_definition.h"
#include "daemon/mysql/protocol.h"
#include "daemon/mysql/wire.h"

namespace stoa::daemon {
namespace {

using sql::Cell;
using sql::ValueType;

class Collected : public PacketOutput, public StatusFlagSource {
 public:
  Status Send(PacketWriter& full) override {
    bytes += full.Take();
    ++sends;
    return answer;
  }
  uint16_t StatusFlags() const override { return kStatusAutocommit; }

  // Payloads of all packets; checks that their numbers run on.
  std::vector<std::string> Payloads() {
    bytes += packets.Take();
    std::vector<std::string> payloads;
    PacketReader reader(1 << 30);
    reader.Append(bytes);
    for (auto packet = reader.Next(); packet.ok() && packet->has_value(); packet = reader.Next()) {
      CHECK(reader.sequence() == static_cast<uint8_t>(first + payloads.size()));
      payloads.push_back(std::move(**packet));
    }
    return payloads;
  }
  ResultWriter Writer(uint32_t capabilities, RowFormat format = RowFormat::kText) {
    packets.SetSequence(first);
    return ResultWriter({packets, *this, *this, capabilities, format});
  }

  PacketWriter packets;
  std::string bytes;
  size_t sends = 0;
  uint8_t first = 1;
  Status answer;
};

sql::ResultColumn Column(std::string name, ValueType type) {
  sql::ResultColumn column;
  column.name = std::move(name);
  column.type = type;
  return column;
}

const std::vector<sql::ResultColumn> kTwo{Column("id", ValueType::kBigint), Column("s", ValueType::kString)};
const std::vector<Cell> kRow{{ValueType::kBigint, -7, 0, {}}, {ValueType::kString, 0, 0, "abc"}};
const std::vector<Cell> kNullRow{{ValueType::kBigint, 1, 0, {}}, {}};

TEST_CASE("a result set ends with EOF packets, or one OK where the client wants it", "[daemon]") {
  Collected old_client;
  ResultWriter writer = old_client.Writer(0);
  REQUIRE(writer.Columns(kTwo).ok());
  REQUIRE(writer.Row(kRow).ok());
  REQUIRE(writer.Row(kNullRow).ok());
  REQUIRE(writer.End({2, false, "info"}).ok());
  const auto payloads = old_client.Payloads();
  REQUIRE(payloads.size() == 7);
  CHECK(payloads[0] == "\x02");
  CHECK(payloads[3] == std::string("\xfe\0\0\x02\0", 5));
  CHECK(payloads[4] ==
        "\x02-7\x03"
        "abc");
  CHECK(payloads[5] ==
        "\x01"
        "1\xfb");
  CHECK(payloads[6] == std::string("\xfe\x02\0\x02\0", 5));
  CHECK(writer.complete());
  CHECK(writer.rows() == 2);

  Collected new_client;
  ResultWriter other = new_client.Writer(kClientDeprecateEof);
  REQUIRE(other.Columns(kTwo).ok());
  REQUIRE(other.End({2, false, "info"}).ok());
  const auto short_form = new_client.Payloads();
  REQUIRE(short_form.size() == 4);
  CHECK(short_form[3] == std::string("\xfe\0\0\x02\0\x02\0\x04info", 12));
}

TEST_CASE("packet numbers run on over several results and the flag says that more follow", "[daemon]") {
  Collected client;
  client.first = 250;  // they wrap around
  ResultWriter writer = client.Writer(0);
  REQUIRE(writer.Columns(kTwo).ok());
  REQUIRE(writer.End({0, true, {}}).ok());
  CHECK_FALSE(writer.complete());
  REQUIRE(writer.Ok({3, 9, 1, true, {}}).ok());
  REQUIRE(writer.Error(Status(StatusCode::kInvalid, "no such thing", 1146)).ok());
  CHECK(writer.complete());
  const auto payloads = client.Payloads();
  REQUIRE(payloads.size() == 7);
  CHECK(payloads[4] == std::string("\xfe\0\0\x0a\0", 5));
  CHECK(payloads[5] == std::string("\0\x03\x09\x0a\0\x01\0", 7));
  CHECK(payloads[6] == "\xff\x7a\x04#42S02no such thing");
}

TEST_CASE("SELECT 1 travels as LONG, reals with 31 decimals, all else as utf8mb4 strings", "[daemon]") {
  CHECK(ColumnWireType(ValueType::kInt) == WireType::kLong);
  CHECK(ColumnWireType(ValueType::kUint64) == WireType::kLongLong);
  CHECK(ColumnWireType(ValueType::kFloat) == WireType::kFloat);
  CHECK(ColumnWireType(ValueType::kDouble) == WireType::kDouble);
  for (const ValueType type : {ValueType::kNull, ValueType::kText, ValueType::kJson, ValueType::kMulti,
                               ValueType::kMulti64, ValueType::kFloatVector, ValueType::kFloatVectorArray}) {
    CHECK(ColumnWireType(type) == WireType::kVarString);
  }
  std::string bytes;
  AppendColumnDefinition(Column("x", ValueType::kFloat), bytes);
  PayloadReader reader(bytes);
  CHECK(reader.LengthString() == "def");
  for (int i = 0; i < 3; ++i) {
    CHECK(reader.LengthString().empty());
  }
  CHECK(reader.LengthString() == "x");
  CHECK(reader.LengthString().empty());
  CHECK(reader.Fixed<uint8_t>() == 12);
  reader.Skip(6);
  CHECK(reader.Fixed<uint8_t>() == static_cast<uint8_t>(WireType::kFloat));
  reader.Skip(2);
  CHECK(reader.Fixed<uint8_t>() == 31);
  CHECK(reader.remaining() == 2);
}

TEST_CASE("binary rows have a null bitmap and values of the column's type", "[daemon]") {
  Collected client;
  ResultWriter writer = client.Writer(kClientDeprecateEof, RowFormat::kBinary);
  std::vector<sql::ResultColumn> columns;
  std::vector<Cell> cells;
  for (int i = 0; i < 6; ++i) {
    columns.push_back(Column("n", ValueType::kString));
    cells.push_back({});
  }
  columns.push_back(Column("i", ValueType::kInt));
  cells.push_back({ValueType::kBigint, 4294967295, 0, {}});
  columns.push_back(Column("f", ValueType::kFloat));
  cells.push_back({ValueType::kInt, 2, 0, {}});
  columns.push_back(Column("s", ValueType::kString));
  cells.push_back({ValueType::kInt, 12, 0, {}});
  REQUIRE(writer.Columns(columns).ok());
  REQUIRE(writer.Row(cells).ok());
  REQUIRE(writer.End({}).ok());
  const auto payloads = client.Payloads();
  std::string expected("\0\xfc\0\xff\xff\xff\xff", 7);
  AppendFixed(2.0f, expected);
  expected +=
      "\x02"
      "12";
  CHECK(payloads[payloads.size() - 2] == expected);
}

TEST_CASE("large results leave in pieces and a failed send is remembered", "[daemon]") {
  Collected client;
  ResultWriter writer = client.Writer(0);
  const std::string text(1000, 't');
  REQUIRE(writer.Columns({{Column("s", ValueType::kString)}}).ok());
  for (int i = 0; i < 500; ++i) {
    REQUIRE(writer.Row({{Cell{ValueType::kString, 0, 0, text}}}).ok());
  }
  CHECK(client.sends >= 5);
  CHECK(client.sends <= 10);
  client.answer = IoError("gone");
  Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) {
    status = writer.Row({{Cell{ValueType::kString, 0, 0, text}}});
  }
  CHECK_FALSE(status.ok());
  CHECK(writer.output_failed());
}

TEST_CASE("prepare tells id, columns and parameters", "[daemon]") {
  Collected client;
  ResultWriter writer = client.Writer(0);
  writer.Prepared(5, kTwo, 3);
  const auto payloads = client.Payloads();
  REQUIRE(payloads.size() == 1 + 3 + 1 + 2 + 1);
  CHECK(payloads[0] == std::string("\0\x05\0\0\0\x02\0\x03\0\0\0\0", 12));
}

}  // namespace
}  // namespace stoa::daemon
