#include "knn/search/segment_search.h"

#include <bit>

#include "knn/search/code_scan.h"
#include "knn/search/time_limit.h"

namespace stoa::knn {

using storage::CodeBlock;
using storage::kBlockRows;

namespace {

constexpr uint32_t kBlockWords = kBlockRows / 64;

const uint8_t* CodeOf(const std::vector<CodeBlock>& blocks, uint32_t row) {
  const CodeBlock& block = blocks[row / kBlockRows];
  return block.codes + size_t{row % kBlockRows} * block.stride;
}

}  // namespace

Result<bool> FindCandidates(const SegmentSearch& search, const std::shared_ptr<const Quantizer>& quantizer,
                            const CodeScorer& scorer, std::vector<Candidate>& candidates,
                            SearchStatistics& statistics) {
  std::vector<CodeBlock> blocks;
  CodeScan scan(scorer, search.wanted);
  for (uint32_t word = 0; word < search.rows.word_count(); ++word) {
    const uint32_t block = word / kBlockWords;
    if (word % kBlockWords == 0) {
      ASSIGN_OR_RETURN(const bool ended, IsOutOfTime(search.cancel, statistics));
      if (ended) {
        break;
      }
      blocks.push_back(search.segment.Codes(search.column, block, quantizer));
      if (blocks.back().rows == 0) {
        return false;
      }
    }
    for (uint64_t bits = search.rows.Word(word) & blocks[block].present[word % kBlockWords]; bits != 0;
         bits &= bits - 1) {
      const uint32_t row = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      scan.Add(row, CodeOf(blocks, row));
    }
  }
  std::vector<const uint8_t*> codes;
  std::vector<RowId> rows;
  for (const FoundNode& found : scan.TakeSorted()) {
    codes.push_back(CodeOf(blocks, found.node));
    rows.push_back(RowId(found.node));
  }
  statistics.distance_computations += scan.scored();
  AppendCandidates(scorer, codes, search.part, rows, candidates);
  return true;
}

}  // namespace stoa::knn
