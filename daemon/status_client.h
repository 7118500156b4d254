#pragma once

#include <vector>

#include "daemon/listen_address.h"
#include "sql/server_view.h"
#include "storage/base/result.h"

namespace stoa::daemon {

// Connects to a running server as a MySQL client and asks SHOW STATUS. Waits at most a few seconds.
Result<std::vector<sql::NamedValue>> AskStatus(const ListenAddress& address);

}  // namespace stoa::daemon
