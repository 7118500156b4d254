#pragma once

#include <string_view>

namespace stoa::daemon {

// True when a service manager waits for messages (NOTIFY_SOCKET is set).
bool HasServiceManager();

// Sends "READY=1", "STOPPING=1" or "STATUS=..." to the service manager; does nothing without one. A message
// that cannot be sent is lost: the server runs without it.
void NotifyServiceManager(std::string_view message);

}  // namespace stoa::daemon
