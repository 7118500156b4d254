#include "storage/table/table_snapshot.h"

namespace stoa::storage {

uint64_t TableSnapshot::live_count() const {
  uint64_t count = 0;
  for (const auto& part : parts) {
    count += part->live_count();
  }
  return count;
}

Result<std::optional<RowLocation>> TableSnapshot::FindDocument(DocId id) const {
  // Newest first: documents written lately are asked for most.
  for (size_t i = parts.size(); i-- > 0;) {
    ASSIGN_OR_RETURN(const std::optional<RowId> row, parts[i]->FindDocument(id));
    if (row.has_value()) {
      return std::optional(RowLocation{static_cast<uint32_t>(i), *row});
    }
  }
  return std::optional<RowLocation>();
}

}  // namespace stoa::storage
