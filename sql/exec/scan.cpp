#include "sql/exec/scan.h"

#include <algorithm>

#include "sql/exec/block_rows.h"
#include "sql/exec/scan_filter.h"

namespace stoa::sql {
namespace {

using storage::BlockBits;

// Runs one scan. Rows that storage found are gathered over several blocks of a part, so that batches are well
// filled.
class Scanner {
 public:
  Scanner(const ScanInput& input, const ScanConsumer& consume, ScanStep first)
      : input_(input),
        consume_(consume),
        readers_(input.source),
        filter_(input.filter, input.slots),
        batch_(readers_, input.slots),
        step_(first) {
    rows_.reserve(kBatchRows);
  }

  Result<ScanEnd> Run() {
    if (input_.rows != nullptr) {
      RETURN_IF_ERROR(ScanRows(*input_.rows));
    } else if (input_.documents != nullptr) {
      ASSIGN_OR_RETURN(const std::vector<RowRef> rows, FindDocuments(input_.source, *input_.documents));
      RETURN_IF_ERROR(ScanRows(rows));
    } else {
      for (size_t part = 0; part < input_.source.part_count(); ++part) {
        RETURN_IF_ERROR(ScanPart(part));
      }
    }
    end_.complete = step_ != ScanStep::kStop;
    return end_;
  }

 private:
  Status ScanPart(size_t part) {
    const uint32_t blocks = BlockCount(input_.source, part);
    readers_.Close();
    for (uint32_t block = 0; block < blocks && step_ != ScanStep::kStop; ++block) {
      RETURN_IF_ERROR(CheckTime());
      BlockBits bits = LiveRows(input_.source, part, block);
      RETURN_IF_ERROR(filter_.SelectInBlock(readers_, part, block, bits));
      const uint32_t count = CountBits(bits);
      if (step_ == ScanStep::kCount && !filter_.has_rest()) {
        end_.only_counted += count;
        continue;
      }
      if (rows_.size() + count > kBatchRows) {
        RETURN_IF_ERROR(Flush(part));
      }
      AppendRows(bits, block, rows_);
    }
    return Flush(part);
  }

  // `rows` ascend.
  Status ScanRows(const std::vector<RowRef>& rows) {
    filter_.TestAllHere();
    for (size_t i = 0; i < rows.size() && step_ != ScanStep::kStop; ++i) {
      rows_.push_back(rows[i].row);
      const bool last_of_part = i + 1 == rows.size() || rows[i + 1].part != rows[i].part;
      if (last_of_part || rows_.size() == kBatchRows) {
        RETURN_IF_ERROR(CheckTime());
        RETURN_IF_ERROR(Flush(rows[i].part));
      }
    }
    return Status::Ok();
  }

  Status CheckTime() {
    if (input_.cancel.DeadlinePassed()) {
      step_ = ScanStep::kStop;
    }
    return input_.cancel.Check();
  }

  // Hands the gathered rows on.
  Status Flush(size_t part) {
    if (!rows_.empty() && step_ != ScanStep::kStop) {
      batch_.Reset(part, rows_);
      RETURN_IF_ERROR(filter_.KeepPassing(batch_));
      if (step_ == ScanStep::kCount) {
        end_.only_counted += batch_.size();
      } else if (batch_.size() > 0) {
        ASSIGN_OR_RETURN(step_, consume_(batch_));
      }
    }
    rows_.clear();
    return Status::Ok();
  }

  const ScanInput& input_;
  const ScanConsumer& consume_;
  SourceReaders readers_;
  ScanFilter filter_;
  ScanBatch batch_;
  ScanStep step_;
  ScanEnd end_;
  std::vector<RowId> rows_;
};

}  // namespace

Result<std::vector<RowRef>> FindDocuments(const RowSource& source, const std::vector<DocId>& documents) {
  std::vector<RowRef> found;
  for (const DocId id : documents) {
    ASSIGN_OR_RETURN(const bool searched, source.FindDocument(id, found));
    static_cast<void>(searched);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<ScanEnd> RunScan(const ScanInput& input, const ScanConsumer& consume, ScanStep first) {
  return Scanner(input, consume, first).Run();
}

}  // namespace stoa::sql
