#include "daemon/mysql/packet.h"

#include <catch2/catch.hpp>
#include <vector>

#include "daemon/mysql/compression.h"
#include "daemon/mysql/protocol.h"
#include "daemon/mysql/wire.h"

namespace stoa::daemon {
namespace {

std::string Frame(std::string_view payload) {
  PacketWriter writer;
  writer.Add(payload);
  return writer.Take();
}

std::vector<std::string> ReadAll(PacketReader& reader) {
  std::vector<std::string> packets;
  while (true) {
    auto packet = reader.Next();
    REQUIRE(packet.ok());
    if (!packet->has_value()) {
      return packets;
    }
    packets.push_back(std::move(**packet));
  }
}

TEST_CASE("length-encoded integers come back at every width", "[daemon]") {
  for (const uint64_t value : {uint64_t{0}, uint64_t{250}, uint64_t{251}, uint64_t{65535}, uint64_t{65536},
                               uint64_t{0xffffff}, uint64_t{0x1000000}, UINT64_MAX}) {
    std::string bytes;
    AppendLengthInteger(value, bytes);
    PayloadReader reader(bytes);
    CHECK(reader.LengthInteger() == value);
    CHECK(reader.done());
    CHECK_FALSE(reader.failed());
  }
}

TEST_CASE("reading past the end of a payload fails and stays failed", "[daemon]") {
  PayloadReader reader(
      "\x05"
      "abc");
  CHECK(reader.LengthString().empty());
  CHECK(reader.failed());
  CHECK(reader.Fixed<uint32_t>() == 0);
  CHECK(PayloadReader("\xfe\xff\xff\xff\xff\xff\xff\xff\xff").LengthString().empty());
}

TEST_CASE("packets are found in a stream that arrives byte by byte", "[daemon]") {
  const std::string stream = Frame("one") + Frame("") + Frame(std::string(300, 'x'));
  PacketReader reader(1000);
  std::vector<std::string> packets;
  for (const char byte : stream) {
    reader.Append(std::string_view(&byte, 1));
    for (std::string& packet : ReadAll(reader)) {
      packets.push_back(std::move(packet));
    }
  }
  CHECK(packets == std::vector<std::string>{"one", "", std::string(300, 'x')});
  CHECK_FALSE(reader.in_packet());
}

TEST_CASE("payloads of 16 MB and more are split and joined", "[daemon]") {
  for (const size_t size : {kMaxPacketPart - 1, kMaxPacketPart, kMaxPacketPart + 1, 2 * kMaxPacketPart}) {
    std::string payload(size, 'a');
    payload.back() = 'z';
    PacketWriter writer;
    writer.SetSequence(254);
    writer.Add(payload);
    const size_t parts = size / kMaxPacketPart + 1;
    CHECK(writer.size() == size + parts * kPacketHeader);
    CHECK(writer.sequence() == static_cast<uint8_t>(254 + parts));
    PacketReader reader(64 << 20);
    reader.Append(writer.Take());
    const auto packets = ReadAll(reader);
    REQUIRE(packets.size() == 1);
    CHECK(packets[0] == payload);
    CHECK(reader.sequence() == static_cast<uint8_t>(254 + parts - 1));
  }
}

TEST_CASE("a packet above the limit is refused by its header alone", "[daemon]") {
  PacketReader reader(1000);
  reader.Append(Frame(std::string(1001, 'x')).substr(0, kPacketHeader));
  const auto packet = reader.Next();
  REQUIRE_FALSE(packet.ok());
  CHECK(packet.status().number() == 1153);
  PacketReader enough(1000);
  enough.Append(Frame(std::string(1000, 'x')));
  CHECK(ReadAll(enough).size() == 1);
}

TEST_CASE("joined parts together count against the limit", "[daemon]") {
  PacketReader reader(kMaxPacketPart + 10);
  reader.Append(Frame(std::string(kMaxPacketPart + 11, 'x')));
  CHECK_FALSE(reader.Next().ok());
}

TEST_CASE("compressed frames come back, small ones stored, large ones deflated", "[daemon]") {
  for (const size_t size : {size_t{1}, size_t{49}, size_t{50}, size_t{5000}, size_t{3} << 20}) {
    std::string plain;
    for (size_t i = 0; i < size; ++i) {
      plain.push_back(static_cast<char>('a' + i % 7));
    }
    std::string wire;
    uint8_t sequence = 3;
    REQUIRE(AppendCompressed(plain, sequence, wire).ok());
    CHECK((size < 50) == (wire.size() > plain.size()));
    CompressedReader reader;
    std::string back;
    for (size_t i = 0; i < wire.size(); i += 1000) {
      reader.Append(std::string_view(wire).substr(i, 1000));
      auto more = reader.Next(back);
      while (more.ok() && *more) {
        more = reader.Next(back);
      }
      REQUIRE(more.ok());
    }
    CHECK(back == plain);
    CHECK(reader.sequence() == static_cast<uint8_t>(sequence - 1));
  }
}

TEST_CASE("a compressed frame that lies about its size is an error", "[daemon]") {
  std::string wire;
  uint8_t sequence = 0;
  REQUIRE(AppendCompressed(std::string(1000, 'q'), sequence, wire).ok());
  for (const char wrong : {'\x01', '\x7f'}) {
    std::string bad = wire;
    bad[4] = wrong;
    CompressedReader reader;
    reader.Append(bad);
    std::string out;
    CHECK_FALSE(reader.Next(out).ok());
  }
}

}  // namespace
}  // namespace stoa::daemon
