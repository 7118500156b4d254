#include "daemon/table_check_report.h"

#include <algorithm>
#include <cstdio>

#include "daemon/command_line.h"
#include "knn/index/hnsw_format.h"
#include "storage/table/table_check.h"

namespace stoa::daemon {

namespace {

std::string LowerCase(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}

}  // namespace

int PrintTableCheck(const std::string& data_dir, const std::string& table) {
  const std::string name = LowerCase(table);
  // Indexes are read from their files: nothing of them is loaded.
  const auto format = std::make_shared<const knn::HnswFormat>(std::make_shared<knn::IndexMemory>(0));
  const auto report = storage::CheckTable(Env::Posix(), data_dir, name, format);
  if (!report.ok()) {
    std::printf("table %s: %s\n", name.c_str(), report.status().text().c_str());
    return kExitFailed;
  }
  if (!report->note.empty()) {
    std::printf("not locked, checked as the files are now: %s\n", report->note.c_str());
  }
  std::printf("table %s: %llu chunks, %llu rows, no fault\n", name.c_str(),
              static_cast<unsigned long long>(report->chunks), static_cast<unsigned long long>(report->rows));
  return kExitOk;
}

}  // namespace stoa::daemon
