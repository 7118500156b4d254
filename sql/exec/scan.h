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
};

// What a consumer wants after a batch.
enum class ScanStep : uint8_t { kContinue, kStop };

// Gives every batch of live rows that pass the filter, in storage order, to `consume`. Returns whether the
// whole input was read: false when the deadline of the cancel token passed or the consumer stopped.
using ScanConsumer = std::function<Result<ScanStep>(ScanBatch& batch)>;
Result<bool> RunScan(const ScanInput& input, const ScanConsumer& consume);

}  // namespace stoa::sql
