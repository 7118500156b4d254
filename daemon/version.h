#pragma once

namespace stoa::daemon {

extern const char* const kProductVersion;
extern const char* const kMysqlVersion;  // of the MySQL handshake

}  // namespace stoa::daemon
