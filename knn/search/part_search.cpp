#include "knn/search/part_search.h"

#include <algorithm>
#include <span>

#include "knn/search/rescoring.h"
#include "knn/search/segment_search.h"
#include "knn/search/time_limit.h"

namespace stoa::knn {

using storage::TablePart;

namespace {

// The usual bound is exceeded by some in a hundred. Where a filter leaves rows that are nearer to one another
// than estimates are exact, each of them would be lost; elsewhere hardly any candidate is that far.
constexpr float kWiderError = 1.5F;

void WidenErrors(std::span<Candidate> candidates) {
  for (Candidate& candidate : candidates) {
    candidate.error *= kWiderError;
  }
}

}  // namespace

Status PartSearch::Search(std::unique_ptr<SearchedPart> part) {
  // What would all be rescored anyway is compared at once.
  if (plan_.request.full_scan || (plan_.rescores && part->rows.MostRows() <= plan_.wanted)) {
    return CompareAll(*part);
  }
  RETURN_IF_ERROR(plan_.snapshot.parts[part->number]->is_disk_chunk() ? SearchChunk(std::move(part))
                                                                      : SearchSegment(*part));
  if (candidates_.size() > 2 * plan_.kept) {  // many parts and a large k do not pile up
    KeepNearest(candidates_, plan_.kept);
  }
  return Status::Ok();
}

void PartSearch::Take(PartSearch& other) {
  for (const SearchHit& hit : other.nearest_.TakeSorted()) {
    nearest_.Add(hit);
  }
  candidates_.insert(candidates_.end(), other.candidates_.begin(), other.candidates_.end());
  std::move(other.shares_.begin(), other.shares_.end(), std::back_inserter(shares_));
  std::move(other.scans_.begin(), other.scans_.end(), std::back_inserter(scans_));
}

// nullptr: the chunk has none, or one without codes.
const HnswIndex* PartSearch::IndexOf(uint32_t part) const {
  const auto* index =
      dynamic_cast<const HnswIndex*>(plan_.snapshot.parts[part]->vector_index(*plan_.request.column));
  return index == nullptr || index->contents() == IndexContents::kNothing ? nullptr : index;
}

IndexSearch PartSearch::SearchOf(const SearchedPart& chunk, size_t share) const {
  return {.index = *IndexOf(chunk.number),
          .rows = chunk.rows,
          .part = chunk.number,
          .wanted = plan_.kept,
          .share = share,
          .beam = std::max(share, plan_.narrowest_beam),
          .range = {},
          .cancel = plan_.cancel};
}

Status PartSearch::SearchChunk(std::unique_ptr<SearchedPart> chunk) {
  if (IndexOf(chunk->number) == nullptr) {
    return CompareAll(*chunk);
  }
  const TablePart& part = *plan_.snapshot.parts[chunk->number];
  const std::vector<RowId> patched = part.PatchedRows(plan_.request.column->id);
  RETURN_IF_ERROR(ComparePatched(*chunk, patched));
  chunk->rows.LeaveOut(patched);
  const size_t share = plan_.ShareOf(part);
  const size_t before = candidates_.size();
  const IndexSearch search = SearchOf(*chunk, share);
  ASSIGN_OR_RETURN(const bool walked,
                   FindCandidates(search, ScorerOf(*search.index.codec()), candidates_, context_.statistics));
  ++(walked ? context_.statistics.graph_parts : context_.statistics.code_parts);
  const size_t found = candidates_.size() - before;
  if (!walked && plan_.is_filtered()) {
    WidenErrors(std::span(candidates_).subspan(before));
  }
  const bool may_have_more =
      walked ? share < plan_.wanted && found == share : plan_.kept > plan_.wanted && found == plan_.kept;
  if (may_have_more) {
    const Candidate farthest = *std::max_element(candidates_.begin() + static_cast<std::ptrdiff_t>(before),
                                                 candidates_.end(), HasSmallerEstimate);
    (walked ? shares_ : scans_).push_back({std::move(chunk), farthest});
  }
  return Status::Ok();
}

Status PartSearch::SearchSegment(const SearchedPart& segment) {
  const storage::ColumnDefinition& column = *plan_.request.column;
  const auto quantizer = std::dynamic_pointer_cast<const Quantizer>(plan_.snapshot.quantizer(column.id));
  if (quantizer == nullptr || column.type != storage::ColumnType::kFloatVector) {
    return CompareAll(segment);
  }
  const SegmentSearch search{.segment = *plan_.snapshot.parts[segment.number],
                             .column = column,
                             .rows = segment.rows,
                             .part = segment.number,
                             .wanted = plan_.kept,
                             .cancel = plan_.cancel};
  ASSIGN_OR_RETURN(const bool has_codes,
                   FindCandidates(search, quantizer, ScorerOf(*quantizer), candidates_, context_.statistics));
  if (!has_codes) {
    return CompareAll(segment);
  }
  ++context_.statistics.code_parts;
  return Status::Ok();
}

Status PartSearch::CompareAll(const SearchedPart& part) {
  ++context_.statistics.exact_parts;
  return ScanExactly(context_, part.number, part.rows, nearest_);
}

Status PartSearch::ComparePatched(const SearchedPart& chunk, const std::vector<RowId>& patched) {
  if (patched.empty()) {
    return Status::Ok();
  }
  RowBits only{.words = std::vector<uint64_t>(chunk.rows.word_count()),
               .count = static_cast<uint32_t>(patched.size())};
  for (const RowId row : patched) {
    only.words[row.value / 64] |= uint64_t{chunk.rows.Has(row)} << (row.value % 64);
  }
  const PartRows live(*plan_.snapshot.parts[chunk.number], &only);
  return ScanExactly(context_, chunk.number, live, nearest_);
}

Status PartSearch::CutCandidates() {
  while (true) {
    KeepNearest(candidates_, plan_.kept);
    if (candidates_.size() == plan_.kept && plan_.kept > 0) {
      cut_ = std::max_element(candidates_.begin(), candidates_.end(), HasSmallerEstimate)->estimate;
    }
    const auto cut_short = std::find_if(shares_.begin(), shares_.end(), [&](const CutShort& share) {
      return share.farthest.estimate <= cut_;
    });
    if (cut_short == shares_.end()) {
      return Status::Ok();
    }
    const std::unique_ptr<SearchedPart> chunk = std::move(cut_short->chunk);
    shares_.erase(cut_short);
    std::erase_if(candidates_,
                  [&](const Candidate& candidate) { return candidate.location.part == chunk->number; });
    const IndexSearch search = SearchOf(*chunk, plan_.wanted);
    RETURN_IF_ERROR(
        FindCandidates(search, ScorerOf(*search.index.codec()), candidates_, context_.statistics).status());
  }
}

Result<std::vector<SearchHit>> PartSearch::Finish() {
  if (plan_.rescores) {
    RETURN_IF_ERROR(Rescore(context_, std::move(candidates_), nearest_));
    RETURN_IF_ERROR(WidenScans());
  } else {
    RETURN_IF_ERROR(AddEstimates(plan_.snapshot, std::move(candidates_), nearest_));
  }
  return nearest_.TakeSorted();
}

// A filter may pass only rows that are all about equally far away, nearer to one another than estimates are
// exact: then the answer is not among the nearest estimates. By the bounds it is seen which chunks may have
// more of it.
Status PartSearch::WidenScans() {
  for (CutShort& scan : scans_) {
    ASSIGN_OR_RETURN(const bool ended, IsOutOfTime(plan_.cancel, context_.statistics));
    if (ended) {
      break;
    }
    scan.farthest.estimate = std::min(scan.farthest.estimate, cut_);
    if (nearest_.MayEnter(scan.farthest.estimate - scan.farthest.error)) {
      RETURN_IF_ERROR(WidenScan(scan));
    }
  }
  return Status::Ok();
}

Status PartSearch::WidenScan(const CutShort& scan) {
  const SearchedPart& chunk = *scan.chunk;
  IndexSearch search = SearchOf(chunk, 0);
  if (search.index.rows_repeat()) {
    return Status::Ok();
  }
  search.range.above = scan.farthest.estimate;
  if (nearest_.full()) {
    search.range.upto = nearest_.largest().distance + scan.farthest.error;
  }
  // Comparing so many of the rows takes as long as comparing all.
  search.wanted = chunk.rows.MostRows() / 4 + 1;
  std::vector<Candidate> more;
  RETURN_IF_ERROR(ScanCandidates(search, ScorerOf(*search.index.codec()), more, context_.statistics));
  WidenErrors(more);
  if (more.size() < search.wanted) {
    return Rescore(context_, std::move(more), nearest_);
  }
  nearest_.RemoveIf(
      [&](const SearchHit& hit) {  // not rows that were changed since, which are compared already
        return hit.location.part == chunk.number && chunk.rows.Has(hit.location.row);
      });
  return ScanExactly(context_, chunk.number, chunk.rows, nearest_);
}

const CodeScorer& PartSearch::ScorerOf(const Quantizer& quantizer) {
  for (const auto& [id, scorer] : scorers_) {
    if (id == quantizer.id()) {
      return *scorer;
    }
  }
  scorers_.emplace_back(quantizer.id(), quantizer.NewScorer());
  scorers_.back().second->SetQuery(plan_.request.query.data());
  return *scorers_.back().second;
}

}  // namespace stoa::knn
