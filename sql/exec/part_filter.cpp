#include "sql/exec/part_filter.h"

#include <algorithm>

#include "sql/exec/block_rows.h"
#include "sql/exec/scan.h"

namespace stoa::sql {
namespace {

constexpr uint32_t kBlockWords = storage::kBlockRows / 64;

// Block `block` of the part becomes `block_bits`.
void SetBlock(const storage::BlockBits& block_bits, uint32_t block, knn::RowBits& bits) {
  const size_t first = size_t{block} * kBlockWords;
  const size_t words = std::min<size_t>(kBlockWords, bits.words.size() - first);
  std::copy_n(block_bits.begin(), words, bits.words.begin() + static_cast<std::ptrdiff_t>(first));
  bits.count += CountBits(block_bits);
}

}  // namespace

PartFilter::PartFilter(const RowSource& source, const std::vector<SlotInfo>& slots, const Expr* filter,
                       CancelToken& cancel)
    : readers_(source), slots_(slots), filter_(filter, slots), cancel_(cancel) {}

Result<PartFilter> PartFilter::Make(const RowSource& source, const std::vector<SlotInfo>& slots,
                                    const Expr* filter, const std::vector<DocId>* documents,
                                    CancelToken& cancel) {
  PartFilter made(source, slots, filter, cancel);
  if (documents != nullptr) {
    ASSIGN_OR_RETURN(made.documents_, FindDocuments(source, *documents));
    made.filter_.TestAllHere();
  }
  return made;
}

Result<knn::RowBits> PartFilter::RowsOf(size_t part) {
  readers_.Close();
  knn::RowBits bits;
  bits.words.resize((size_t{readers_.source().row_count(part)} + 63) / 64);
  RETURN_IF_ERROR(documents_ ? SelectDocuments(part, bits) : SelectBlocks(part, bits));
  return bits;
}

Status PartFilter::SelectBlocks(size_t part, knn::RowBits& bits) {
  const uint32_t blocks = BlockCount(readers_.source(), part);
  rows_.clear();
  for (uint32_t block = 0; block < blocks; ++block) {
    RETURN_IF_ERROR(cancel_.Check());
    out_of_time_ = out_of_time_ || cancel_.DeadlinePassed();
    if (out_of_time_) {
      break;
    }
    storage::BlockBits selected = LiveRows(readers_.source(), part, block);
    RETURN_IF_ERROR(filter_.SelectInBlock(readers_, part, block, selected));
    if (!filter_.has_rest()) {
      SetBlock(selected, block, bits);
      continue;
    }
    if (rows_.size() + CountBits(selected) > kBatchRows) {
      RETURN_IF_ERROR(AddPassing(part, bits));
    }
    AppendRows(selected, block, rows_);
  }
  return AddPassing(part, bits);
}

Status PartFilter::SelectDocuments(size_t part, knn::RowBits& bits) {
  rows_.clear();
  for (const RowRef& document : *documents_) {
    if (document.part == part) {
      rows_.push_back(document.row);
    }
    if (rows_.size() == kBatchRows) {
      RETURN_IF_ERROR(cancel_.Check());
      RETURN_IF_ERROR(AddPassing(part, bits));
    }
  }
  return AddPassing(part, bits);
}

Status PartFilter::AddPassing(size_t part, knn::RowBits& bits) {
  if (rows_.empty()) {
    return Status::Ok();
  }
  ScanBatch batch(readers_, slots_);
  batch.Reset(part, rows_);
  RETURN_IF_ERROR(filter_.KeepPassing(batch));
  for (const RowId row : batch.rows()) {
    bits.words[row.value / 64] |= uint64_t{1} << (row.value % 64);
  }
  bits.count += static_cast<uint32_t>(batch.size());
  rows_.clear();
  return Status::Ok();
}

}  // namespace stoa::sql
