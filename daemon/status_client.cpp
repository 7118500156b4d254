#include "daemon/status_client.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace stoa::daemon {

namespace {

constexpr uint8_t kOkPacket = 0x00;
constexpr uint8_t kEndPacket = 0xFE;
constexpr uint8_t kErrorPacket = 0xFF;
constexpr uint32_t kCapabilities = 0x00000200 | 0x00008000;  // PROTOCOL_41, SECURE_CONNECTION
constexpr size_t kLongestPacket = 1 << 20;

// A socket that speaks MySQL packets below 16 MB. One thread.
class PacketSocket {
 public:
  explicit PacketSocket(int fd) : fd_(fd) {
    const timeval timeout{.tv_sec = 5, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  }
  ~PacketSocket() { close(fd_); }
  PacketSocket(const PacketSocket&) = delete;
  PacketSocket& operator=(const PacketSocket&) = delete;

  Result<std::string> Read() {
    std::array<unsigned char, 4> header{};
    RETURN_IF_ERROR(ReadBytes(reinterpret_cast<char*>(header.data()), header.size()));
    const size_t length =
        header[0] | static_cast<size_t>(header[1]) << 8 | static_cast<size_t>(header[2]) << 16;
    sequence_ = static_cast<uint8_t>(header[3] + 1);
    if (length == 0 || length > kLongestPacket) {
      return IoError("the server sent a packet of {} bytes", length);
    }
    std::string packet(length, '\0');
    RETURN_IF_ERROR(ReadBytes(packet.data(), length));
    return packet;
  }

  Status Write(std::string_view payload) {
    const auto length = static_cast<uint32_t>(payload.size());
    std::string packet = {static_cast<char>(length & 0xFF), static_cast<char>(length >> 8 & 0xFF),
                          static_cast<char>(length >> 16 & 0xFF), static_cast<char>(sequence_)};
    packet += payload;
    if (send(fd_, packet.data(), packet.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(packet.size())) {
      return IoError("cannot send to the server: {}", std::strerror(errno));
    }
    return Status::Ok();
  }

  void StartCommand() { sequence_ = 0; }

 private:
  Status ReadBytes(char* to, size_t length) {
    while (length > 0) {
      const ssize_t got = recv(fd_, to, length, 0);
      if (got <= 0) {
        return IoError("the server does not answer: {}",
                       got == 0 ? "connection closed" : std::strerror(errno));
      }
      to += got;
      length -= static_cast<size_t>(got);
    }
    return Status::Ok();
  }

  int fd_;
  uint8_t sequence_ = 0;
};

Result<int> ConnectUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return InvalidError("socket path {} is too long", path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const Status status = IoError("cannot connect to {}: {}", path, std::strerror(errno));
    close(fd);
    return status;
  }
  return fd;
}

Result<int> ConnectTcp(const ListenAddress& address) {
  const bool any = address.host.empty() || address.host == "0.0.0.0";
  const std::string host = any ? "127.0.0.1" : address.host == "::" ? "::1" : address.host;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) {
    return IoError("cannot resolve {}: {}", host, gai_strerror(error));
  }
  const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool connected = fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0;
  const Status status =
      connected ? Status::Ok() : IoError("cannot connect to {}: {}", address.text, std::strerror(errno));
  freeaddrinfo(found);
  if (!connected) {
    close(fd);
    return status;
  }
  return fd;
}

Status CheckNotError(std::string_view packet) {
  if (static_cast<uint8_t>(packet.front()) == kErrorPacket) {
    return IoError("the server refuses: {}", packet.substr(std::min<size_t>(packet.size(), 3)));
  }
  return Status::Ok();
}

// Any user is accepted while authentication is off.
Status LogIn(PacketSocket& socket) {
  ASSIGN_OR_RETURN(const std::string greeting, socket.Read());
  RETURN_IF_ERROR(CheckNotError(greeting));
  std::string response;
  for (int shift = 0; shift < 32; shift += 8) {
    response += static_cast<char>(kCapabilities >> shift & 0xFF);
  }
  response += std::string("\0\0\0\1", 4);  // longest packet: 16 MB
  response += static_cast<char>(45);       // utf8mb4
  response += std::string(23, '\0');
  response += std::string("status\0", 7);
  response += '\0';  // no password
  RETURN_IF_ERROR(socket.Write(response));
  for (;;) {
    ASSIGN_OR_RETURN(const std::string packet, socket.Read());
    RETURN_IF_ERROR(CheckNotError(packet));
    if (static_cast<uint8_t>(packet.front()) == kOkPacket) {
      return Status::Ok();
    }
    if (static_cast<uint8_t>(packet.front()) == kEndPacket) {  // another method: still no password
      RETURN_IF_ERROR(socket.Write(std::string_view("\0", 1)));
    }
  }
}

// A length-encoded string of at most 64 KB; longer ones do not come here.
Result<std::string> ReadCell(std::string_view& row) {
  constexpr uint8_t kNull = 0xFB;
  constexpr uint8_t kTwoBytes = 0xFC;
  size_t header = 1;
  size_t length = row.empty() ? kNull : static_cast<uint8_t>(row.front());
  if (length == kNull) {
    row.remove_prefix(std::min<size_t>(1, row.size()));
    return std::string("NULL");
  }
  if (length == kTwoBytes && row.size() >= 3) {
    header = 3;
    length = static_cast<uint8_t>(row[1]) | static_cast<size_t>(static_cast<uint8_t>(row[2])) << 8;
  }
  if (row.size() < header + length) {
    return IoError("the server sent a row that cannot be read");
  }
  std::string cell(row.substr(header, length));
  row.remove_prefix(header + length);
  return cell;
}

bool IsEnd(std::string_view packet) {
  constexpr size_t kLongestEnd = 8;
  return static_cast<uint8_t>(packet.front()) == kEndPacket && packet.size() <= kLongestEnd;
}

Result<std::vector<sql::NamedValue>> ReadRows(PacketSocket& socket) {
  ASSIGN_OR_RETURN(const std::string count, socket.Read());
  RETURN_IF_ERROR(CheckNotError(count));
  for (;;) {  // columns
    ASSIGN_OR_RETURN(const std::string packet, socket.Read());
    if (IsEnd(packet)) {
      break;
    }
  }
  std::vector<sql::NamedValue> rows;
  for (;;) {
    ASSIGN_OR_RETURN(const std::string packet, socket.Read());
    if (IsEnd(packet)) {
      return rows;
    }
    RETURN_IF_ERROR(CheckNotError(packet));
    std::string_view rest = packet;
    ASSIGN_OR_RETURN(std::string name, ReadCell(rest));
    ASSIGN_OR_RETURN(std::string value, ReadCell(rest));
    rows.push_back({std::move(name), std::move(value)});
  }
}

}  // namespace

Result<std::vector<sql::NamedValue>> AskStatus(const ListenAddress& address) {
  ASSIGN_OR_RETURN(const int fd, address.is_unix() ? ConnectUnix(address.unix_path) : ConnectTcp(address));
  PacketSocket socket(fd);
  RETURN_IF_ERROR(LogIn(socket));
  socket.StartCommand();
  RETURN_IF_ERROR(socket.Write("\x03SHOW STATUS"));
  return ReadRows(socket);
}

}  // namespace stoa::daemon
