#include "storage/chunk/segment_codes.h"

#include <algorithm>

#include "storage/chunk/block_codes.h"

namespace stoa::storage {
namespace {

uint32_t BlockCount(const TablePart& part) { return (part.row_count() + kBlockRows - 1) / kBlockRows; }

// Calls `visit(segment, column, block, quantizer)` as long as it returns true; false when it did not.
template <typename Visit>
bool ForEachCodedBlock(const TableSnapshot& snapshot, const Visit& visit) {
  if (snapshot.quantizers == nullptr) {
    return true;
  }
  for (const TableQuantizers::Entry& entry : snapshot.quantizers->entries) {
    const int index = snapshot.definition->IndexOf(entry.column);
    for (const auto& part : snapshot.parts) {
      if (index < 0 || part->is_disk_chunk()) {
        continue;
      }
      const auto& segment = static_cast<const SegmentView&>(*part);
      const ColumnDefinition& column = snapshot.definition->columns[static_cast<size_t>(index)];
      for (uint32_t block = 0; block < BlockCount(*part); ++block) {
        if (!visit(segment, column, block, entry.quantizer)) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

// nullptr: none of its rows has a value.
const ColumnBlock* SegmentView::BlockOf(const ColumnDefinition& column, uint32_t block) const {
  const StoredColumn* const stored = state_.directory->Find(column.id);
  return stored != nullptr && block < stored->blocks.size() ? stored->blocks[block].get() : nullptr;
}

uint32_t SegmentView::RowsOfBlock(uint32_t block) const {
  const uint32_t first = block * kBlockRows;
  return state_.row_count > first ? std::min(kBlockRows, state_.row_count - first) : 0;
}

bool SegmentView::HasCodes(const ColumnDefinition& column, uint32_t block,
                           const VectorQuantizer& quantizer) const {
  const ColumnBlock* const cells = BlockOf(column, block);
  return cells == nullptr || cells->code_cell() == nullptr ||
         cells->code_cell()->Has(quantizer, std::min(RowsOfBlock(block), cells->capacity()));
}

CodeBlock SegmentView::Codes(const ColumnDefinition& column, uint32_t block,
                             const std::shared_ptr<const VectorQuantizer>& quantizer) const {
  CodeBlock result;
  const ColumnBlock* const cells = BlockOf(column, block);
  if (quantizer == nullptr || !column.knn.has_value() ||
      (cells != nullptr && cells->code_cell() == nullptr)) {
    return result;
  }
  result.rows = RowsOfBlock(block);
  result.quantizer_id = quantizer->id();
  if (cells == nullptr) {
    return result;
  }
  const uint32_t rows = std::min(result.rows, cells->capacity());
  const auto codes =
      cells->code_cell()->Make({quantizer, column.knn->dims, state_.segment->code_bytes()}, *cells, rows);
  result.codes = codes->codes();
  result.stride = codes->stride();
  result.present = codes->Present(rows);
  result.owner = codes;
  return result;
}

bool MissCodes(const TableSnapshot& snapshot) {
  return !ForEachCodedBlock(
      snapshot, [](const SegmentView& segment, const ColumnDefinition& column, uint32_t block,
                   const auto& quantizer) { return segment.HasCodes(column, block, *quantizer); });
}

void MakeCodes(const TableSnapshot& snapshot, const std::function<bool()>& go_on) {
  ForEachCodedBlock(snapshot, [&](const SegmentView& segment, const ColumnDefinition& column, uint32_t block,
                                  const auto& quantizer) {
    segment.Codes(column, block, quantizer);
    return go_on();
  });
}

}  // namespace stoa::storage
