#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace stoa::daemon {

// The 20 bytes that a client mixes with its password; never zero, since clients treat them as text.
using Scramble = std::array<char, 20>;

struct Greeting {
  std::string version;
  uint64_t connection_id = 0;
  Scramble scramble{};
  uint32_t capabilities = 0;
  std::string_view plugin;
};

// Payload of the first packet (protocol version 10).
void AppendGreeting(const Greeting& greeting, std::string& out);

// What a client answers to the greeting. Capabilities are those that both sides have.
struct HandshakeResponse {
  uint32_t capabilities = 0;
  bool tls_request = false;  // the short form: TLS comes first, then the real answer
  std::string user;
  std::string password;  // the plugin's answer, not the plain password
  std::string database;
  std::string plugin;  // empty when the client knows no plugins
};
// kInvalid (1835, or 1043 for a client older than MySQL 4.1).
Result<HandshakeResponse> ParseHandshakeResponse(std::string_view payload, uint32_t offered);

struct ChangeUser {
  std::string user;
  std::string database;
  std::string plugin;
};
Result<ChangeUser> ParseChangeUser(std::string_view arguments, uint32_t capabilities);

}  // namespace stoa::daemon
