#include "storage/table/local_catalog.h"

namespace stoa::storage {

Status LocalCatalog::FlushRamChunk(std::string_view) { return UnsupportedError("not supported yet"); }
Status LocalCatalog::Optimize(std::string_view, const OptimizeRequest&) {
  return UnsupportedError("not supported yet");
}
Result<std::vector<std::string>> LocalCatalog::Freeze(std::string_view) {
  return UnsupportedError("not supported yet");
}
Status LocalCatalog::Unfreeze(std::string_view) { return UnsupportedError("not supported yet"); }
Result<std::string> LocalCatalog::Backup(const std::vector<std::string>&, const std::string&) {
  return UnsupportedError("not supported yet");
}
Status LocalCatalog::Import(std::string_view, const std::string&) {
  return UnsupportedError("not supported yet");
}
TableStatistics LocalCatalog::Statistics(const Table&) const { return {}; }
std::vector<MaintenanceJob> LocalCatalog::Jobs() const { return {}; }
WaitHistogram LocalCatalog::waits() const { return {}; }

}  // namespace stoa::storage
