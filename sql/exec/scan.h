#pragma once

#include <functional>
#include <vector>

#include "sql/exec/slot_batch.h"
#include "storage/base/cancel_token.h"

namespace stoa::sql {

// How a scan finds its rows.
struct ScanInput {
  const RowSource& source;
  const std::vector<SlotInfo>& slots;
  const Expr* filter = nullptr;                   // none: every live row
  const std::vector<DocId>* documents = nullptr;  // only these (an id filter), still subject to `filter`
  CancelToken& cancel;
  const std::vector<RowRef>* rows = nullptr;  // only these, which ascend; still subject to `filter`
};

// What a consumer wants after a batch. kCount: of the other rows only their number.
enum class ScanStep : uint8_t { kContinue, kCount, kStop };

struct ScanEnd {
  bool complete = true;       // false: the deadline of the cancel token passed or the consumer stopped
  uint64_t only_counted = 0;  // rows that passed after kCount
};

// Gives every batch of live rows that pass the filter, in storage order, to `consume`, which may read the
// batch until it returns. `first` is the step before the first batch: kCount counts all.
using ScanConsumer = std::function<Result<ScanStep>(ScanBatch& batch)>;
Result<ScanEnd> RunScan(const ScanInput& input, const ScanConsumer& consume,
                        ScanStep first = ScanStep::kContinue);

// The live rows of documents, ascending.
Result<std::vector<RowRef>> FindDocuments(const RowSource& source, const std::vector<DocId>& documents);

}  // namespace stoa::sql
