#include "daemon/mysql/handshake.h"

#include "daemon/mysql/error_packet.h"
#include "daemon/mysql/protocol.h"
#include "daemon/mysql/wire.h"

namespace stoa::daemon {
namespace {

constexpr size_t kFirstScramblePart = 8;
constexpr size_t kResponseFiller = 23;

std::string_view ReadPassword(PayloadReader& reader, uint32_t capabilities) {
  if (capabilities & kClientPluginAuthLenenc) {
    return reader.LengthString();
  }
  if (capabilities & kClientSecureConnection) {
    return reader.Bytes(reader.Fixed<uint8_t>());
  }
  return reader.NullTerminatedOrRest();
}

}  // namespace

void AppendGreeting(const Greeting& greeting, std::string& out) {
  const std::string_view scramble(greeting.scramble.data(), greeting.scramble.size());
  AppendFixed(uint8_t{10}, out);
  AppendNullTerminated(greeting.version, out);
  AppendFixed(static_cast<uint32_t>(greeting.connection_id), out);
  out.append(scramble.substr(0, kFirstScramblePart));
  out.push_back('\0');
  AppendFixed(static_cast<uint16_t>(greeting.capabilities), out);
  AppendFixed(static_cast<uint8_t>(kCharset), out);
  AppendFixed(static_cast<uint16_t>(kStatusAutocommit), out);
  AppendFixed(static_cast<uint16_t>(greeting.capabilities >> 16), out);
  AppendFixed(static_cast<uint8_t>(scramble.size() + 1), out);
  out.append(10, '\0');
  AppendNullTerminated(scramble.substr(kFirstScramblePart), out);
  AppendNullTerminated(greeting.plugin, out);
}

Result<HandshakeResponse> ParseHandshakeResponse(std::string_view payload, uint32_t offered) {
  PayloadReader reader(payload);
  HandshakeResponse response;
  const uint32_t asked = reader.Fixed<uint32_t>();
  if (reader.failed() || !(asked & kClientProtocol41)) {
    return Status(StatusCode::kInvalid, "bad handshake: the client's protocol is older than 4.1", 1043);
  }
  response.capabilities = asked & offered;
  reader.Skip(sizeof(uint32_t) + sizeof(uint8_t) + kResponseFiller);  // its packet limit, its charset
  if (reader.failed()) {
    return MalformedPacket("handshake response is too short");
  }
  if ((response.capabilities & kClientSsl) && reader.done()) {
    response.tls_request = true;
    return response;
  }
  response.user = reader.NullTerminated();
  // Layout follows what the client set, whether or not it was offered.
  response.password = ReadPassword(reader, asked);
  if ((asked & kClientConnectWithDb) && !reader.done()) {
    response.database = reader.NullTerminatedOrRest();
  }
  if ((asked & kClientPluginAuth) && !reader.done()) {
    response.plugin = reader.NullTerminatedOrRest();
  }
  // Connection attributes follow; nothing here needs them.
  if (reader.failed()) {
    return MalformedPacket("handshake response is too short");
  }
  return response;
}

Result<ChangeUser> ParseChangeUser(std::string_view arguments, uint32_t capabilities) {
  PayloadReader reader(arguments);
  ChangeUser change;
  change.user = reader.NullTerminated();
  if (capabilities & kClientSecureConnection) {
    reader.Skip(reader.Fixed<uint8_t>());
  } else {
    reader.NullTerminatedOrRest();
  }
  if (!reader.done()) {
    change.database = reader.NullTerminatedOrRest();
  }
  if (!reader.done()) {
    reader.Skip(sizeof(uint16_t));  // charset
  }
  if ((capabilities & kClientPluginAuth) && !reader.done()) {
    change.plugin = reader.NullTerminatedOrRest();
  }
  if (reader.failed()) {
    return MalformedPacket("change user is too short");
  }
  return change;
}

}  // namespace stoa::daemon
