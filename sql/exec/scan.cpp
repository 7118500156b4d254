#include "sql/exec/scan.h"

#include <algorithm>
#include <tuple>

namespace stoa::sql {
namespace {

// The live rows of a part from `next` on, up to a batch.
void CollectLiveRows(const RowSource& source, size_t part, uint32_t& next, std::vector<RowId>& rows) {
  const storage::DeleteMap& deleted = source.deleted(part);
  const uint32_t end = source.row_count(part);
  rows.clear();
  if (deleted.count() == 0) {
    const uint32_t stop = end - next > kBatchRows ? next + static_cast<uint32_t>(kBatchRows) : end;
    for (; next < stop; ++next) {
      rows.push_back(RowId(next));
    }
    return;
  }
  for (; next < end && rows.size() < kBatchRows; ++next) {
    if (!deleted.Contains(RowId(next))) {
      rows.push_back(RowId(next));
    }
  }
}

// Rows of `batch` for which the filter is true.
Status SelectRows(const Expr& filter, ScanBatch& batch, Vector& scratch, std::vector<RowId>& selected) {
  RETURN_IF_ERROR(filter.Evaluate(batch, scratch));
  selected.clear();
  const auto passes = scratch.ints();
  for (size_t i = 0; i < batch.size(); ++i) {
    if (passes[i] != 0 && !scratch.IsNull(i)) {
      selected.push_back(batch.rows()[i]);
    }
  }
  return Status::Ok();
}

class Scanner {
 public:
  Scanner(const ScanInput& input, const ScanConsumer& consume) : input_(input), consume_(consume) {}

  // kStop when no more is wanted.
  Result<ScanStep> Visit(size_t part, std::span<const RowId> rows) {
    RETURN_IF_ERROR(input_.cancel.Check());
    if (input_.cancel.DeadlinePassed()) {
      return ScanStep::kStop;
    }
    ScanBatch batch(input_.source, input_.slots, part, rows);
    if (input_.filter == nullptr) {
      return consume_(batch);
    }
    RETURN_IF_ERROR(SelectRows(*input_.filter, batch, scratch_, selected_));
    if (selected_.empty()) {
      return ScanStep::kContinue;
    }
    if (selected_.size() == rows.size()) {
      return consume_(batch);
    }
    ScanBatch passed(input_.source, input_.slots, part, selected_);
    return consume_(passed);
  }

 private:
  const ScanInput& input_;
  const ScanConsumer& consume_;
  Vector scratch_;
  std::vector<RowId> selected_;
};

Result<bool> ScanDocuments(const ScanInput& input, Scanner& scanner) {
  std::vector<RowRef> found;
  for (const DocId id : *input.documents) {
    ASSIGN_OR_RETURN(const bool searched, input.source.FindDocument(id, found));
    static_cast<void>(searched);
  }
  std::sort(found.begin(), found.end(), [](const RowRef& a, const RowRef& b) {
    return std::tie(a.part, a.row) < std::tie(b.part, b.row);
  });
  std::vector<RowId> rows;
  for (size_t begin = 0; begin < found.size();) {
    const uint32_t part = found[begin].part;
    rows.clear();
    while (begin < found.size() && found[begin].part == part && rows.size() < kBatchRows) {
      rows.push_back(found[begin++].row);
    }
    ASSIGN_OR_RETURN(const ScanStep step, scanner.Visit(part, rows));
    if (step == ScanStep::kStop) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<bool> RunScan(const ScanInput& input, const ScanConsumer& consume) {
  Scanner scanner(input, consume);
  if (input.documents != nullptr) {
    return ScanDocuments(input, scanner);
  }
  std::vector<RowId> rows;
  for (size_t part = 0; part < input.source.part_count(); ++part) {
    const uint32_t end = input.source.row_count(part);
    for (uint32_t next = 0; next < end;) {
      CollectLiveRows(input.source, part, next, rows);
      if (rows.empty()) {
        continue;
      }
      ASSIGN_OR_RETURN(const ScanStep step, scanner.Visit(part, rows));
      if (step == ScanStep::kStop) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace stoa::sql
