#pragma once

#include <memory>
#include <vector>

#include "storage/base/ids.h"
#include "storage/vector/vector_index.h"

namespace stoa::storage {

// The quantisers of a table's vector columns, as one snapshot has them. Immutable and safe to share.
struct TableQuantizers {
  struct Entry {
    ColumnId column;
    std::shared_ptr<const VectorQuantizer> quantizer;
  };
  std::vector<Entry> entries;  // few

  std::shared_ptr<const VectorQuantizer> Find(ColumnId column) const {
    for (const Entry& entry : entries) {
      if (entry.column == column) {
        return entry.quantizer;
      }
    }
    return nullptr;
  }
};

}  // namespace stoa::storage
