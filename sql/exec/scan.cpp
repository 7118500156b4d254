#include "sql/exec/scan.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "sql/exec/scan_filter.h"

namespace stoa::sql {
namespace {

using storage::BlockBits;
using storage::kBlockRows;

BlockBits LiveRows(const RowSource& source, size_t part, uint32_t block) {
  constexpr uint32_t kWords = kBlockRows / 64;
  const storage::DeleteMap& deleted = source.deleted(part);
  const uint32_t first = block * kBlockRows;
  const uint32_t rows = std::min(kBlockRows, source.row_count(part) - first);
  BlockBits bits{};
  for (uint32_t word = 0; word * 64 < rows; ++word) {
    const uint32_t present = std::min(64u, rows - word * 64);
    bits[word] = present == 64 ? ~uint64_t{0} : (uint64_t{1} << present) - 1;
    if (deleted.count() > 0) {
      bits[word] &= ~deleted.Word(block * kWords + word);
    }
  }
  return bits;
}

uint32_t CountBits(const BlockBits& bits) {
  uint32_t count = 0;
  for (const uint64_t word : bits) {
    count += static_cast<uint32_t>(std::popcount(word));
  }
  return count;
}

void AppendRows(const BlockBits& bits, uint32_t block, std::vector<RowId>& rows) {
  for (uint32_t word = 0; word < bits.size(); ++word) {
    const uint32_t first = block * kBlockRows + word * 64;
    if (bits[word] == ~uint64_t{0}) {
      for (uint32_t i = 0; i < 64; ++i) {
        rows.push_back(RowId(first + i));
      }
      continue;
    }
    for (uint64_t left = bits[word]; left != 0; left &= left - 1) {
      rows.push_back(RowId(first + static_cast<uint32_t>(std::countr_zero(left))));
    }
  }
}

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
    if (input_.documents != nullptr) {
      RETURN_IF_ERROR(ScanDocuments());
    }
    for (size_t part = 0; part < input_.source.part_count() && input_.documents == nullptr; ++part) {
      RETURN_IF_ERROR(ScanPart(part));
    }
    end_.complete = step_ != ScanStep::kStop;
    return end_;
  }

 private:
  Status ScanPart(size_t part) {
    const uint32_t row_count = input_.source.row_count(part);
    const uint32_t blocks = row_count / kBlockRows + (row_count % kBlockRows != 0 ? 1 : 0);
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

  // Live documents have one row in one part.
  Status ScanDocuments() {
    filter_.TestAllHere();
    std::vector<RowRef> found;
    for (const DocId id : *input_.documents) {
      ASSIGN_OR_RETURN(const bool searched, input_.source.FindDocument(id, found));
      static_cast<void>(searched);
    }
    std::sort(found.begin(), found.end(), [](const RowRef& a, const RowRef& b) {
      return std::tie(a.part, a.row) < std::tie(b.part, b.row);
    });
    for (size_t i = 0; i < found.size(); ++i) {
      rows_.push_back(found[i].row);
      const bool last_of_part = i + 1 == found.size() || found[i + 1].part != found[i].part;
      if (last_of_part || rows_.size() == kBatchRows) {
        RETURN_IF_ERROR(CheckTime());
        RETURN_IF_ERROR(Flush(found[i].part));
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

Result<ScanEnd> RunScan(const ScanInput& input, const ScanConsumer& consume, ScanStep first) {
  return Scanner(input, consume, first).Run();
}

}  // namespace stoa::sql
