#include "storage/base/memory_limit.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"

namespace stoa {
namespace {

void Write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("the lowest memory limit of a group and those above it counts, in both versions", "[base]") {
  TemporaryFolder folder;
  const std::string groups = folder / "cgroup";
  const std::string mount = folder / "fs";
  CHECK(MemoryLimitOfGroup(groups, mount) == UINT64_MAX);
  Write(groups, "4:cpu,memory:/a/b\n2:cpuset:/c\n0::/d/e\nbroken\n");
  CHECK(MemoryLimitOfGroup(groups, mount) == UINT64_MAX);
  Write(mount + "/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write(mount + "/memory/a/memory.limit_in_bytes", "5000000\n");
  Write(mount + "/memory/a/b/memory.limit_in_bytes", "7000000\n");
  Write(mount + "/memory/c/memory.limit_in_bytes", "1000\n");
  CHECK(MemoryLimitOfGroup(groups, mount) == 5'000'000);
  Write(mount + "/d/e/memory.max", "max\n");
  CHECK(MemoryLimitOfGroup(groups, mount) == 5'000'000);
  Write(mount + "/d/memory.max", "4000000\n");
  CHECK(MemoryLimitOfGroup(groups, mount) == 4'000'000);
}

}  // namespace stoa
