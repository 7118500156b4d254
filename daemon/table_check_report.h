#pragma once

#include <string>

namespace stoa::daemon {

// --check-table: reads all files of the table and prints what was found; the exit code.
int PrintTableCheck(const std::string& data_dir, const std::string& table);

}  // namespace stoa::daemon
