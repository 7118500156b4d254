#include "daemon/mysql/handshake.h"

#include <catch2/catch.hpp>

#include "daemon/mysql/auth.h"
#include "daemon/mysql/command.h"
#include "daemon/mysql/protocol.h"
#include "daemon/mysql/wire.h"

namespace stoa::daemon {
namespace {

std::string Fixed(uint32_t capabilities) {
  std::string out;
  AppendFixed(capabilities, out);
  AppendFixed(uint32_t{1 << 20}, out);
  out.push_back(45);
  out.append(23, '\0');
  return out;
}

TEST_CASE("the greeting has the layout of protocol version 10", "[daemon]") {
  Greeting greeting{"8.0.40-x", 77, {}, kOffered | kClientSsl, kNativePassword};
  greeting.scramble.fill('s');
  std::string bytes;
  AppendGreeting(greeting, bytes);
  PayloadReader reader(bytes);
  CHECK(reader.Fixed<uint8_t>() == 10);
  CHECK(reader.NullTerminated() == "8.0.40-x");
  CHECK(reader.Fixed<uint32_t>() == 77);
  CHECK(reader.Bytes(9) == std::string_view("ssssssss\0", 9));
  const uint32_t low = reader.Fixed<uint16_t>();
  reader.Skip(3);
  const uint32_t high = reader.Fixed<uint16_t>();
  CHECK((low | high << 16) == (kOffered | kClientSsl));
  CHECK(reader.Fixed<uint8_t>() == 21);
  reader.Skip(10);
  CHECK(reader.NullTerminated() == "ssssssssssss");
  CHECK(reader.NullTerminated() == kNativePassword);
  CHECK(reader.done());
}

TEST_CASE("a response with plugin, database and attributes is read", "[daemon]") {
  std::string bytes = Fixed(0x00bfa28d | kClientConnectWithDb);
  AppendNullTerminated("root", bytes);
  AppendLengthString(std::string(20, '\x00'), bytes);
  AppendNullTerminated("Manticore", bytes);
  AppendNullTerminated("mysql_native_password", bytes);
  AppendLengthString("attributes", bytes);
  const auto response = ParseHandshakeResponse(bytes, kOffered);
  REQUIRE(response.ok());
  CHECK(response->user == "root");
  CHECK(response->password.size() == 20);
  CHECK(response->database == "Manticore");
  CHECK(response->plugin == "mysql_native_password");
  CHECK_FALSE(response->tls_request);
}

TEST_CASE("a driver without plugins may end its response behind the password or database", "[daemon]") {
  const uint32_t node_mysql = 0x0006f3cf;  // sets CONNECT_WITH_DB also without a database
  std::string bytes = Fixed(node_mysql);
  AppendNullTerminated("u", bytes);
  bytes.push_back('\0');
  for (const std::string& end : {std::string(), std::string(1, '\0'), std::string("db\0", 3)}) {
    const auto response = ParseHandshakeResponse(bytes + end, kOffered);
    REQUIRE(response.ok());
    CHECK(response->plugin.empty());
    CHECK(response->database == (end.size() == 3 ? "db" : ""));
  }
}

TEST_CASE("the short form asks for TLS only when TLS was offered", "[daemon]") {
  const std::string bytes = Fixed(kClientProtocol41 | kClientSsl | kClientSecureConnection);
  const auto asked = ParseHandshakeResponse(bytes, kOffered | kClientSsl);
  REQUIRE(asked.ok());
  CHECK(asked->tls_request);
  CHECK_FALSE(ParseHandshakeResponse(bytes, kOffered).ok());
}

TEST_CASE("cut and ancient handshake responses are errors", "[daemon]") {
  std::string bytes = Fixed(0x00bfa28d);
  AppendNullTerminated("root", bytes);
  AppendLengthString(std::string(20, 'x'), bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(ParseHandshakeResponse(std::string_view(bytes).substr(0, size), kOffered).ok());
  }
  CHECK(ParseHandshakeResponse(Fixed(0x8d), kOffered).status().number() == 1043);
}

TEST_CASE("each client's authentication plugin gets the conversation it expects", "[daemon]") {
  const Scramble scramble = MakeScramble();
  CHECK_FALSE(AuthConversation("").needs_switch());
  CHECK_FALSE(AuthConversation("mysql_native_password").needs_switch());
  const AuthConversation sha2("caching_sha2_password");
  REQUIRE(sha2.needs_switch());
  std::string packet;
  sha2.AppendSwitch(scramble, packet);
  CHECK(packet ==
        "\xfe" + std::string("caching_sha2_password\0", 22) + std::string(scramble.data(), 20) + '\0');
  CHECK(sha2.AfterAnswer(std::string(32, 'x')) == "\x01\x03");
  CHECK(sha2.AfterAnswer(std::string(1, '\0')).empty());
  CHECK(sha2.AfterAnswer("").empty());
  packet.clear();
  AuthConversation("client_ed25519").AppendSwitch(scramble, packet);
  CHECK(packet.starts_with("\xfemysql_native_password"));
}

TEST_CASE("commands are recognised and unknown codes named", "[daemon]") {
  const auto query = ParseCommand("\x03SELECT 1");
  REQUIRE(query.ok());
  CHECK(query->arguments == "SELECT 1");
  const auto fetch = ParseCommand("\x1c");
  CHECK(fetch.status().number() == 1047);
  CHECK(fetch.status().text() == "unknown command (code=28)");
  CHECK(ParseCommand("\xc8").status().text() == "unknown command (code=200)");
  CHECK_FALSE(ParseCommand("").ok());
}

TEST_CASE("change user is read with and without its optional ends", "[daemon]") {
  std::string bytes("bob\0", 4);
  bytes += std::string("\x02xy", 3);
  bytes += std::string("Manticore\0", 10);
  const uint32_t capabilities = kClientSecureConnection | kClientPluginAuth;
  const auto with_database = ParseChangeUser(bytes, capabilities);
  REQUIRE(with_database.ok());
  CHECK(with_database->database == "Manticore");
  bytes += std::string("\x2d\0", 2) + std::string("caching_sha2_password\0", 22);
  const auto all = ParseChangeUser(bytes, capabilities);
  REQUIRE(all.ok());
  CHECK(all->user == "bob");
  CHECK(all->plugin == kCachingSha2);
  CHECK_FALSE(ParseChangeUser("bob", capabilities).ok());
}

}  // namespace
}  // namespace stoa::daemon
