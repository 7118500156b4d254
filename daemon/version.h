#pragma once

namespace stoa::daemon {

constexpr const char* kProductVersion = STOA_VERSION;
constexpr const char* kMysqlVersion = "8.0.40-stoa-" STOA_VERSION;

}  // namespace stoa::daemon
