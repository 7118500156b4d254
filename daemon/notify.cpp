#include "daemon/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace stoa::daemon {

namespace {

std::string_view SocketName() {
  const char* name = std::getenv("NOTIFY_SOCKET");
  return name == nullptr ? std::string_view() : std::string_view(name);
}

}  // namespace

bool HasServiceManager() { return !SocketName().empty(); }

void NotifyServiceManager(std::string_view message) {
  const std::string_view name = SocketName();
  sockaddr_un address{};
  if (name.empty() || name.size() >= sizeof(address.sun_path)) {
    return;
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name.front() == '@') {  // abstract name
    address.sun_path[0] = '\0';
  }
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return;
  }
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  static_cast<void>(sendto(fd, message.data(), message.size(), MSG_NOSIGNAL,
                           reinterpret_cast<const sockaddr*>(&address), length));
  close(fd);
}

}  // namespace stoa::daemon
