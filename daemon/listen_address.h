#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/result.h"

namespace stoa::daemon {

// kAny is what a `listen` without protocol means: everything but mysql on one port.
enum class ListenProtocol : uint8_t { kMysql, kHttp, kHttps, kAny, kReplication };

// One `listen` line of the config.
struct ListenAddress {
  std::string text;        // as written, for messages
  std::string host;        // numeric or a name, without brackets; empty for a unix socket
  std::string unix_path;   // empty for TCP
  uint16_t port = 0;       // 0 (only in code, never from a config): the system chooses
  uint16_t last_port = 0;  // of a range p1-p2; else the same as port
  ListenProtocol protocol = ListenProtocol::kAny;
  bool vip = false;  // may connect although max_connections is reached
  bool read_only = false;

  bool is_unix() const { return !unix_path.empty(); }
};

// (addr:port | port | /unix/path | addr:p1-p2 | [ipv6]:port)[:protocol[_vip][_readonly]]; kInvalid quotes the
// line.
Result<ListenAddress> ParseListenAddress(std::string_view text);

// All `listen` lines of a config together: also refuses ports or paths that are given twice or overlap. To be
// called right after parsing, before tables are loaded; Server::Bind() then finds names that do not resolve
// and ports that are taken.
Result<std::vector<ListenAddress>> ParseListenAddresses(std::span<const std::string> lines);

}  // namespace stoa::daemon
