#include "daemon/listen_address.h"

#include <catch2/catch.hpp>

namespace stoa::daemon {
namespace {

std::string ErrorOf(const std::vector<std::string>& lines) {
  const auto addresses = ParseListenAddresses(lines);
  return addresses.ok() ? "" : addresses.status().text();
}

TEST_CASE("every form of a listen line is read", "[daemon]") {
  const auto tcp = ParseListenAddress("127.0.0.1:9306:mysql");
  REQUIRE(tcp.ok());
  CHECK(tcp->host == "127.0.0.1");
  CHECK(tcp->port == 9306);
  CHECK(tcp->protocol == ListenProtocol::kMysql);
  const auto port = ParseListenAddress(" 9312 ");
  REQUIRE(port.ok());
  CHECK(port->host == "0.0.0.0");
  CHECK(port->protocol == ListenProtocol::kAny);
  const auto vip = ParseListenAddress("9307:mysql41_vip_readonly");
  REQUIRE(vip.ok());
  CHECK(vip->vip);
  CHECK(vip->read_only);
  CHECK(vip->protocol == ListenProtocol::kMysql);
  const auto local = ParseListenAddress("/run/stoa.sock:mysql");
  REQUIRE(local.ok());
  CHECK(local->unix_path == "/run/stoa.sock");
  const auto six = ParseListenAddress("[::1]:9306:mysql");
  REQUIRE(six.ok());
  CHECK(six->host == "::1");
  const auto range = ParseListenAddress("127.0.0.1:7300-7310:replication");
  REQUIRE(range.ok());
  CHECK(range->last_port == 7310);
  CHECK(ParseListenAddress("localhost:9308:http")->protocol == ListenProtocol::kHttp);
}

TEST_CASE("a bad listen line is told with the line and the reason", "[daemon]") {
  CHECK(ErrorOf({"127.0.0.1:0:mysql"}) == "listen '127.0.0.1:0:mysql': port 0 is out of range (1..65535)");
  CHECK(ErrorOf({"127.0.0.1:70000:mysql"}) ==
        "listen '127.0.0.1:70000:mysql': port 70000 is out of range (1..65535)");
  CHECK(ErrorOf({"127.0.0.1:99999999999:mysql"}).find("out of range") != std::string::npos);
  CHECK(ErrorOf({"127.0.0.1:x:mysql"}).find("'x' is not a port") != std::string::npos);
  CHECK(ErrorOf({"127.0.0.1:9306:mysqll"}).find("unknown protocol 'mysqll'") != std::string::npos);
  CHECK(ErrorOf({"localhost"}).find("port is missing") != std::string::npos);
  CHECK(ErrorOf({"[::1]"}).find("port is missing") != std::string::npos);
  CHECK(ErrorOf({"[::1:9306"}).find("[::1]:9306") != std::string::npos);
  CHECK(ErrorOf({"/" + std::string(200, 'p') + ":mysql"}).find("201 bytes") != std::string::npos);
  CHECK(ErrorOf({"9310-9305:replication"}).find("ends before it starts") != std::string::npos);
  CHECK_FALSE(ErrorOf({"9305-9310:mysql"}).empty());
  CHECK_FALSE(ErrorOf({""}).empty());
}

TEST_CASE("ports that are given twice or overlap a range are refused", "[daemon]") {
  CHECK(ErrorOf({"127.0.0.1:7306:mysql", "127.0.0.1:7300-7310:replication"}) ==
        "listen '127.0.0.1:7300-7310:replication': overlaps with listen '127.0.0.1:7306:mysql'");
  CHECK_FALSE(ErrorOf({"127.0.0.1:9306:mysql", "9306:http"}).empty());
  CHECK_FALSE(ErrorOf({"/a.sock:mysql", "/a.sock:http"}).empty());
  CHECK(
      ErrorOf({"127.0.0.1:9306:mysql", "127.0.0.2:9306:mysql", "127.0.0.1:9308:http", "/a:mysql", "/b:mysql"})
          .empty());
}

}  // namespace
}  // namespace stoa::daemon
