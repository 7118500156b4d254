#include "server_usage.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace stoa::bench {

namespace {

std::ifstream OpenProc(int pid, const char* name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "%s cannot be read\n", path.c_str());
    std::exit(1);
  }
  return file;
}

}  // namespace

ServerUsage ServerUsage::Of(int pid) {
  ServerUsage usage;
  std::string line;
  std::ifstream stat = OpenProc(pid, "stat");
  std::getline(stat, line);
  std::istringstream fields(line.substr(line.rfind(')') + 2));  // from the third field on
  std::string field;
  double ticks = 0;
  for (int number = 3; fields >> field && number <= 15; ++number) {
    if (number == 12) {
      usage.major_faults = std::stod(field);
    } else if (number == 14 || number == 15) {
      ticks += std::stod(field);
    }
  }
  usage.cpu_seconds = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream io = OpenProc(pid, "io");
  while (io >> field) {
    double value = 0;
    io >> value;
    if (field == "read_bytes:") {
      usage.read_bytes = value;
    }
  }
  return usage;
}

ServerUsage ServerUsage::Since(const ServerUsage& start) const {
  return {cpu_seconds - start.cpu_seconds, major_faults - start.major_faults, read_bytes - start.read_bytes};
}

}  // namespace stoa::bench
