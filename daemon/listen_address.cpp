#include "daemon/listen_address.h"

#include <sys/un.h>

#include <array>
#include <charconv>
#include <optional>

namespace stoa::daemon {
namespace {

constexpr size_t kMaxUnixPath = sizeof(sockaddr_un::sun_path) - 1;

struct ProtocolName {
  std::string_view name;
  ListenProtocol protocol;
};
constexpr std::array<ProtocolName, 6> kProtocols{{{"mysql", ListenProtocol::kMysql},
                                                  {"mysql41", ListenProtocol::kMysql},
                                                  {"http", ListenProtocol::kHttp},
                                                  {"https", ListenProtocol::kHttps},
                                                  {"sphinx", ListenProtocol::kAny},
                                                  {"replication", ListenProtocol::kReplication}}};

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

template <typename... Args>
Status Bad(std::string_view line, fmt::format_string<Args...> text, Args&&... args) {
  return InvalidError("listen '{}': {}", line, fmt::format(text, std::forward<Args>(args)...));
}

bool LooksLikePort(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789-") == std::string_view::npos;
}

Result<uint16_t> ParsePort(std::string_view text, std::string_view line) {
  uint32_t port = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error == std::errc::invalid_argument || stop != text.data() + text.size()) {
    return Bad(line, "'{}' is not a port", text);
  }
  if (error != std::errc() || port < 1 || port > 65535) {
    return Bad(line, "port {} is out of range (1..65535)", text);
  }
  return static_cast<uint16_t>(port);
}

Status ParsePorts(std::string_view text, ListenAddress& address) {
  const size_t dash = text.find('-');
  ASSIGN_OR_RETURN(address.port, ParsePort(text.substr(0, dash), address.text));
  address.last_port = address.port;
  if (dash != std::string_view::npos) {
    ASSIGN_OR_RETURN(address.last_port, ParsePort(text.substr(dash + 1), address.text));
    if (address.last_port < address.port) {
      return Bad(address.text, "the range of ports ends before it starts");
    }
  }
  return Status::Ok();
}

// name[_vip][_readonly]
Status ParseProtocol(std::string_view text, ListenAddress& address) {
  std::string name = Lower(text);
  for (bool again = true; again;) {
    again = false;
    if (name.ends_with("_vip")) {
      name.resize(name.size() - 4);
      again = address.vip = true;
    } else if (name.ends_with("_readonly")) {
      name.resize(name.size() - 9);
      again = address.read_only = true;
    }
  }
  for (const ProtocolName& known : kProtocols) {
    if (known.name == name) {
      address.protocol = known.protocol;
      return Status::Ok();
    }
  }
  return Bad(address.text, "unknown protocol '{}', known are mysql, http, https, sphinx and replication",
             text);
}

Status ParseUnix(std::string_view text, ListenAddress& address) {
  const size_t colon = text.rfind(':');
  const std::string_view path = text.substr(0, colon);
  if (path.size() > kMaxUnixPath) {
    return Bad(address.text, "the path has {} bytes, a unix socket takes {}", path.size(), kMaxUnixPath);
  }
  address.unix_path = path;
  return colon == std::string_view::npos ? Status::Ok() : ParseProtocol(text.substr(colon + 1), address);
}

// [host] in front; nullopt when there is none.
Result<std::optional<std::string_view>> TakeBracketed(std::string_view& text, std::string_view line) {
  if (!text.starts_with('[')) {
    return std::optional<std::string_view>();
  }
  const size_t end = text.find(']');
  if (end == std::string_view::npos || end == 1) {
    return Bad(line, "an IPv6 address is written as [::1]:9306");
  }
  const std::string_view host = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  if (!text.starts_with(':')) {
    return Bad(line, "a port is missing behind [{}]", host);
  }
  text.remove_prefix(1);
  return std::optional<std::string_view>(host);
}

Status ParseTcp(std::string_view text, ListenAddress& address) {
  address.host = "0.0.0.0";
  ASSIGN_OR_RETURN(const std::optional<std::string_view> bracketed, TakeBracketed(text, address.text));
  size_t colon = text.find(':');
  std::string_view first = text.substr(0, colon);
  if (bracketed) {
    address.host = *bracketed;
  } else if (!LooksLikePort(first)) {
    if (colon == std::string_view::npos) {
      return Bad(address.text, "a port is missing");
    }
    address.host = first.empty() ? "0.0.0.0" : Lower(first);
    text.remove_prefix(colon + 1);
    colon = text.find(':');
    first = text.substr(0, colon);
  }
  RETURN_IF_ERROR(ParsePorts(first, address));
  if (address.host == "*") {
    address.host = "0.0.0.0";
  }
  return colon == std::string_view::npos ? Status::Ok() : ParseProtocol(text.substr(colon + 1), address);
}

bool IsWildcard(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

bool Overlap(const ListenAddress& a, const ListenAddress& b) {
  if (a.is_unix() || b.is_unix()) {
    return a.unix_path == b.unix_path;
  }
  const bool same_host = a.host == b.host || IsWildcard(a.host) || IsWildcard(b.host);
  return same_host && a.port <= b.last_port && b.port <= a.last_port;
}

}  // namespace

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  ListenAddress address;
  const std::string_view line = Trim(text);
  address.text = line;
  if (line.empty()) {
    return Bad(line, "an address is missing");
  }
  RETURN_IF_ERROR(line.starts_with('/') ? ParseUnix(line, address) : ParseTcp(line, address));
  if (address.port != address.last_port && address.protocol != ListenProtocol::kReplication) {
    return Bad(line, "a range of ports is for replication only");
  }
  return address;
}

Result<std::vector<ListenAddress>> ParseListenAddresses(std::span<const std::string> lines) {
  std::vector<ListenAddress> addresses;
  for (const std::string& line : lines) {
    ASSIGN_OR_RETURN(ListenAddress address, ParseListenAddress(line));
    for (const ListenAddress& other : addresses) {
      if (Overlap(address, other)) {
        return Bad(address.text, "overlaps with listen '{}'", other.text);
      }
    }
    addresses.push_back(std::move(address));
  }
  return addresses;
}

}  // namespace stoa::daemon
