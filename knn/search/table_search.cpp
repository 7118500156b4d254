#include "knn/search/table_search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "knn/metric.h"
#include "knn/search/candidate.h"
#include "knn/search/exact_scan.h"
#include "knn/search/index_search.h"
#include "knn/search/nearest_rows.h"
#include "knn/search/part_rows.h"
#include "knn/search/rescoring.h"
#include "knn/search/segment_search.h"
#include "knn/search/time_limit.h"

namespace stoa::knn {

using storage::TablePart;
using storage::TableSnapshot;

namespace {

// A walk is at least so wide: a narrow one loses its way, and costs hardly less.
constexpr size_t kNarrowestBeam = 64;

// Adds the time it lived to `seconds`.
class StageTimer {
 public:
  explicit StageTimer(double& seconds) : seconds_(seconds), start_(Clock::now()) {}
  ~StageTimer() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point start_;
};

// The rows of a part that may be found.
struct SearchedPart {
  SearchedPart(const TablePart& part, uint32_t place, RowBits bits, bool filtered)
      : number(place), filter(std::move(bits)), rows(part, filtered ? &filter : nullptr) {}
  SearchedPart(const SearchedPart&) = delete;
  SearchedPart& operator=(const SearchedPart&) = delete;

  const uint32_t number;  // of the part
  const RowBits filter;
  PartRows rows;
  // The farthest of its candidates, when it was asked for its share of them only.
  float farthest = 0;
};

// One search: its query encoded once for each quantiser, what it has found so far.
class TableSearch {
 public:
  TableSearch(const TableSnapshot& snapshot, SearchRequest request, const CancelToken* cancel,
              SearchStatistics& statistics)
      : snapshot_(snapshot),
        request_(std::move(request)),
        cancel_(cancel),
        statistics_(statistics),
        context_{snapshot, request_, cancel, statistics},
        nearest_(request_.k) {
    // Without quantisation distances are exact, whatever the walk goes by.
    rescores_ = request_.rescore || request_.column->knn->quantization == "none";
    // More than there is need not be looked for, however much is asked for.
    for (const auto& part : snapshot.parts) {
      rows_ += part->row_count();
    }
    const double wanted = rescores_ ? std::ceil(request_.oversampling * request_.k) : request_.k;
    wanted_ = static_cast<size_t>(std::min(wanted, static_cast<double>(rows_)));
    narrowest_beam_ = std::max(static_cast<size_t>(std::min<uint64_t>(request_.ef, rows_)), kNarrowestBeam);
  }

  Result<std::vector<SearchHit>> Run();

 private:
  Status SearchPart(uint32_t part);
  Status SearchChunk(std::unique_ptr<SearchedPart> chunk);
  size_t ShareOf(const TablePart& part) const;
  Status FindInIndex(const SearchedPart& chunk, size_t wanted);
  Status WidenShares();
  Status SearchSegment(uint32_t part, const PartRows& rows);
  const HnswIndex* IndexOf(uint32_t part) const;
  Status CompareAll(uint32_t part, const PartRows& rows);
  Status ComparePatched(uint32_t part, const std::vector<RowId>& patched, const PartRows& rows);
  const CodeScorer& ScorerOf(const Quantizer& quantizer);
  Result<std::vector<SearchHit>> DropFiltered(std::vector<SearchHit> hits);

  const TableSnapshot& snapshot_;
  SearchRequest request_;
  const CancelToken* cancel_;
  SearchStatistics& statistics_;
  const SearchContext context_;
  bool rescores_ = true;
  size_t wanted_ = 0;
  uint64_t rows_ = 0;
  size_t narrowest_beam_ = 0;
  NearestRows nearest_;  // by exact distances
  std::vector<Candidate> candidates_;
  std::vector<std::unique_ptr<SearchedPart>> shares_;  // chunks that were asked for their share only
  std::vector<std::pair<uint64_t, std::unique_ptr<CodeScorer>>> scorers_;  // by the quantiser's id
};

Result<std::vector<SearchHit>> TableSearch::Run() {
  if (request_.k == 0) {
    return std::vector<SearchHit>();
  }
  for (uint32_t part = 0; part < snapshot_.parts.size(); ++part) {
    ASSIGN_OR_RETURN(const bool ended, IsOutOfTime(cancel_, statistics_));
    if (ended) {
      break;
    }
    RETURN_IF_ERROR(SearchPart(part));
    if (candidates_.size() > 2 * wanted_) {  // many parts and a large k do not pile up
      KeepNearest(candidates_, wanted_);
    }
  }
  // One cut over all parts, before any vector is read.
  RETURN_IF_ERROR(WidenShares());
  statistics_.candidates += candidates_.size();
  {
    const StageTimer timer(statistics_.rescore_seconds);
    const DiskReads before = ThreadDiskReads();
    RETURN_IF_ERROR(rescores_ ? Rescore(context_, std::move(candidates_), nearest_)
                              : AddEstimates(snapshot_, std::move(candidates_), nearest_));
    statistics_.disk += ThreadDiskReads() - before;
  }
  std::vector<SearchHit> hits = nearest_.TakeSorted();
  return request_.filter && !request_.prefilter ? DropFiltered(std::move(hits)) : std::move(hits);
}

Status TableSearch::SearchPart(uint32_t part) {
  const TablePart& table_part = *snapshot_.parts[part];
  const bool filtered = request_.filter && request_.prefilter;
  RowBits filter;
  if (filtered) {
    const StageTimer timer(statistics_.filter_seconds);
    ASSIGN_OR_RETURN(filter, request_.filter(part));
  }
  auto searched = std::make_unique<SearchedPart>(table_part, part, std::move(filter), filtered);
  PartRows& rows = searched->rows;
  if (request_.excluded && request_.excluded->part == part) {
    const RowId excluded[] = {request_.excluded->row};
    rows.LeaveOut(excluded);
  }
  if (rows.MostRows() == 0) {
    return Status::Ok();
  }
  const StageTimer timer(statistics_.walk_seconds);
  // What would all be rescored anyway is compared at once.
  if (request_.full_scan || (rescores_ && rows.MostRows() <= wanted_)) {
    return CompareAll(part, rows);
  }
  return table_part.is_disk_chunk() ? SearchChunk(std::move(searched)) : SearchSegment(part, rows);
}

// nullptr: the chunk has none, or one without codes.
const HnswIndex* TableSearch::IndexOf(uint32_t part) const {
  const auto* index = dynamic_cast<const HnswIndex*>(snapshot_.parts[part]->vector_index(*request_.column));
  return index == nullptr || index->contents() == IndexContents::kNothing ? nullptr : index;
}

Status TableSearch::SearchChunk(std::unique_ptr<SearchedPart> chunk) {
  if (IndexOf(chunk->number) == nullptr) {
    return CompareAll(chunk->number, chunk->rows);
  }
  const std::vector<RowId> patched = snapshot_.parts[chunk->number]->PatchedRows(request_.column->id);
  RETURN_IF_ERROR(ComparePatched(chunk->number, patched, chunk->rows));
  chunk->rows.LeaveOut(patched);
  const size_t share = ShareOf(*snapshot_.parts[chunk->number]);
  const size_t before = candidates_.size();
  RETURN_IF_ERROR(FindInIndex(*chunk, share));
  if (share < wanted_ && candidates_.size() - before >= share) {
    chunk->farthest = std::max_element(candidates_.begin() + static_cast<std::ptrdiff_t>(before),
                                       candidates_.end(), HasSmallerEstimate)
                          ->estimate;
    shares_.push_back(std::move(chunk));
  }
  return Status::Ok();
}

// How many of the candidates lie in a part if they are spread evenly, and hardly ever more: a binomial
// distribution's mean and three deviations (as Lucene divides k over segments).
size_t TableSearch::ShareOf(const TablePart& part) const {
  const double share = static_cast<double>(part.row_count()) / static_cast<double>(rows_);
  const auto wanted = static_cast<double>(wanted_);
  const double most = wanted * share + 3 * std::sqrt(wanted * share * (1 - share)) + 1;
  return std::min(wanted_, static_cast<size_t>(most));
}

Status TableSearch::FindInIndex(const SearchedPart& chunk, size_t wanted) {
  const HnswIndex& index = *IndexOf(chunk.number);
  const IndexSearch search{.index = index,
                           .rows = chunk.rows,
                           .part = chunk.number,
                           .wanted = wanted,
                           .beam = std::max(wanted, narrowest_beam_),
                           .cancel = cancel_};
  return FindCandidates(search, ScorerOf(*index.codec()), candidates_, statistics_);
}

// Cuts the candidates to the nearest. A chunk all of whose share is among them may have more of them and is
// searched again, for as many as are wanted.
Status TableSearch::WidenShares() {
  while (true) {
    KeepNearest(candidates_, wanted_);
    const bool is_full = candidates_.size() == wanted_;
    const float cut =
        is_full ? std::max_element(candidates_.begin(), candidates_.end(), HasSmallerEstimate)->estimate
                : std::numeric_limits<float>::infinity();
    const auto cut_short = std::find_if(shares_.begin(), shares_.end(),
                                        [&](const auto& chunk) { return chunk->farthest <= cut; });
    if (cut_short == shares_.end()) {
      return Status::Ok();
    }
    const std::unique_ptr<SearchedPart> chunk = std::move(*cut_short);
    shares_.erase(cut_short);
    std::erase_if(candidates_,
                  [&](const Candidate& candidate) { return candidate.location.part == chunk->number; });
    const StageTimer timer(statistics_.walk_seconds);
    RETURN_IF_ERROR(FindInIndex(*chunk, wanted_));
  }
}

Status TableSearch::SearchSegment(uint32_t part, const PartRows& rows) {
  const auto quantizer = std::dynamic_pointer_cast<const Quantizer>(snapshot_.quantizer(request_.column->id));
  if (quantizer == nullptr || request_.column->type != storage::ColumnType::kFloatVector) {
    return CompareAll(part, rows);
  }
  const SegmentSearch search{.segment = *snapshot_.parts[part],
                             .column = *request_.column,
                             .rows = rows,
                             .part = part,
                             .wanted = wanted_,
                             .cancel = cancel_};
  ASSIGN_OR_RETURN(const bool has_codes,
                   FindCandidates(search, quantizer, ScorerOf(*quantizer), candidates_, statistics_));
  if (!has_codes) {
    return CompareAll(part, rows);
  }
  ++statistics_.code_parts;
  return Status::Ok();
}

Status TableSearch::CompareAll(uint32_t part, const PartRows& rows) {
  ++statistics_.exact_parts;
  return ScanExactly(context_, part, rows, nearest_);
}

Status TableSearch::ComparePatched(uint32_t part, const std::vector<RowId>& patched, const PartRows& rows) {
  if (patched.empty()) {
    return Status::Ok();
  }
  RowBits only{.words = std::vector<uint64_t>(rows.word_count()),
               .count = static_cast<uint32_t>(patched.size())};
  for (const RowId row : patched) {
    only.words[row.value / 64] |= uint64_t{rows.Has(row)} << (row.value % 64);
  }
  const PartRows live(*snapshot_.parts[part], &only);
  return ScanExactly(context_, part, live, nearest_);
}

const CodeScorer& TableSearch::ScorerOf(const Quantizer& quantizer) {
  for (const auto& [id, scorer] : scorers_) {
    if (id == quantizer.id()) {
      return *scorer;
    }
  }
  scorers_.emplace_back(quantizer.id(), quantizer.NewScorer());
  scorers_.back().second->SetQuery(request_.query.data());
  return *scorers_.back().second;
}

Result<std::vector<SearchHit>> TableSearch::DropFiltered(std::vector<SearchHit> hits) {
  const StageTimer timer(statistics_.filter_seconds);
  std::vector<std::optional<RowBits>> filters(snapshot_.parts.size());
  std::vector<SearchHit> kept;
  for (const SearchHit& hit : hits) {
    std::optional<RowBits>& filter = filters[hit.location.part];
    if (!filter) {
      ASSIGN_OR_RETURN(filter, request_.filter(hit.location.part));
    }
    if (PartRows(*snapshot_.parts[hit.location.part], &*filter).Has(hit.location.row)) {
      kept.push_back(hit);
    }
  }
  return kept;
}

}  // namespace

Result<std::vector<SearchHit>> SearchTable(const TableSnapshot& snapshot, const SearchRequest& given,
                                           const CancelToken* cancel, SearchStatistics& statistics) {
  SearchRequest request = given;
  if (MetricOf(request.column->knn->similarity) == Metric::kCosine) {
    Normalise(request.query);
  }
  return TableSearch(snapshot, std::move(request), cancel, statistics).Run();
}

}  // namespace stoa::knn
