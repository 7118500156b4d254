#pragma once

#include <optional>
#include <vector>

#include "knn/search/table_search.h"
#include "sql/exec/scan_filter.h"
#include "storage/base/cancel_token.h"

namespace stoa::sql {

// Finds the live rows of whole parts that pass a WHERE, for a search that wants them as bits. The source, the
// slots and the filter must outlive it. One thread at a time.
class PartFilter {
 public:
  // `documents`: only these may pass; nullptr: all.
  static Result<PartFilter> Make(const RowSource& source, const std::vector<SlotInfo>& slots,
                                 const Expr* filter, const std::vector<DocId>* documents,
                                 CancelToken& cancel);

  Result<knn::RowBits> RowsOf(size_t part);
  // The deadline of the cancel token passed: rows are missing.
  bool out_of_time() const { return out_of_time_; }

 private:
  PartFilter(const RowSource& source, const std::vector<SlotInfo>& slots, const Expr* filter,
             CancelToken& cancel);
  Status SelectBlocks(size_t part, knn::RowBits& bits);
  Status SelectDocuments(size_t part, knn::RowBits& bits);
  // Sets the bits of those of rows_ that pass what is left to test.
  Status AddPassing(size_t part, knn::RowBits& bits);

  SourceReaders readers_;
  const std::vector<SlotInfo>& slots_;
  ScanFilter filter_;
  CancelToken& cancel_;
  std::optional<std::vector<RowRef>> documents_;
  bool out_of_time_ = false;
  std::vector<RowId> rows_;
};

}  // namespace stoa::sql
