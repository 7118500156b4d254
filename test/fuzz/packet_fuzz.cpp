// What a client can send: the packet stream in pieces (plain and compressed), the handshake response, change
// user, every command's arguments, and the parameters of an execute. The first byte chooses, the second
// shapes it.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/mysql/auth.h"
#include "daemon/mysql/command.h"
#include "daemon/mysql/compression.h"
#include "daemon/mysql/handshake.h"
#include "daemon/mysql/packet.h"
#include "daemon/mysql/prepared.h"
#include "storage/base/check.h"

namespace {

using namespace stoa::daemon;  // NOLINT(google-build-using-namespace): a program of one file

constexpr uint64_t kLimit = 1 << 20;

void FuzzPackets(std::string_view bytes, size_t step) {
  PacketReader reader(kLimit);
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, step);
    bytes.remove_prefix(part.size());
    reader.Append(part);
    auto packet = reader.Next();
    while (packet.ok() && packet->has_value()) {
      STOA_CHECK((*packet)->size() <= kLimit);
      packet = reader.Next();
    }
    if (!packet.ok()) {
      return;
    }
  }
}

void FuzzCompressed(std::string_view bytes, size_t step) {
  CompressedReader reader;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, step);
    bytes.remove_prefix(part.size());
    reader.Append(part);
    std::string plain;
    auto more = reader.Next(plain);
    while (more.ok() && *more) {
      plain.clear();
      more = reader.Next(plain);
    }
    if (!more.ok()) {
      return;
    }
  }
}

void FuzzHandshake(std::string_view bytes, uint32_t shape) {
  const uint32_t offered = kOffered | ((shape & 1) != 0 ? uint32_t{kClientSsl} : 0);
  const auto response = ParseHandshakeResponse(bytes, offered);
  if (response.ok()) {
    STOA_CHECK((response->capabilities & ~offered) == 0);
    AuthConversation(response->plugin).AfterAnswer(bytes);
  }
  if (const auto change = ParseChangeUser(bytes, shape << 12); change.ok()) {
    STOA_CHECK(change->user.size() <= bytes.size());
  }
}

void FuzzCommand(std::string_view bytes) {
  const auto command = ParseCommand(bytes);
  if (!command.ok()) {
    return;
  }
  const auto fields = ParseFieldList(command->arguments);
  const auto data = ParseLongData(command->arguments);
  const auto number = ParseNumber(command->arguments);
  STOA_CHECK(!fields.ok() || fields->table.size() <= bytes.size());
  STOA_CHECK(data.ok() || !number.ok() || bytes.size() < 7);
}

void FuzzExecute(std::string_view bytes, size_t parameters) {
  PreparedParameters statement("", parameters);
  const size_t middle = bytes.size() / 2;
  statement.AddLongData(static_cast<uint16_t>(parameters / 2), bytes.substr(0, 3), kLimit);
  for (const std::string_view part : {bytes.substr(0, middle), bytes.substr(middle), bytes}) {
    const auto values = statement.Decode(part);
    STOA_CHECK(!values.ok() || values->size() == parameters);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) {
    return 0;
  }
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t shape = data[1];
  switch (data[0] % 5) {
    case 0:
      FuzzPackets(bytes, shape + 1);
      break;
    case 1:
      FuzzCompressed(bytes, shape + 1);
      break;
    case 2:
      FuzzHandshake(bytes, static_cast<uint32_t>(shape));
      break;
    case 3:
      FuzzCommand(bytes);
      break;
    default:
      FuzzExecute(bytes, shape % 20);
      break;
  }
  return 0;
}
