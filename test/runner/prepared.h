#pragma once

#include <mysql.h>

#include <string>

#include "client.h"

namespace stoa::runner {

// Prepares and executes one statement and reads its results by the binary protocol.
Answer RunPrepared(MYSQL* connection, const std::string& sql);

}  // namespace stoa::runner
