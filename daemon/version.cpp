#include "daemon/version.h"

namespace stoa::daemon {

const char* const kProductVersion = STOA_VERSION;
const char* const kMysqlVersion = "8.0.40-stoa-" STOA_VERSION;

}  // namespace stoa::daemon
