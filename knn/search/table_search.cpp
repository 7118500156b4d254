#include "knn/search/table_search.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "knn/metric.h"
#include "knn/search/candidate.h"
#include "knn/search/exact_scan.h"
#include "knn/search/index_search.h"
#include "knn/search/nearest_rows.h"
#include "knn/search/part_rows.h"
#include "knn/search/rescoring.h"
#include "knn/search/segment_search.h"

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
    uint64_t rows = 0;
    for (const auto& part : snapshot.parts) {
      rows += part->row_count();
    }
    const double wanted = rescores_ ? std::ceil(request_.oversampling * request_.k) : request_.k;
    wanted_ = static_cast<size_t>(std::min(wanted, static_cast<double>(rows)));
    beam_ = std::max({wanted_, static_cast<size_t>(std::min<uint64_t>(request_.ef, rows)), kNarrowestBeam});
  }

  Result<std::vector<SearchHit>> Run();

 private:
  Status SearchPart(uint32_t part);
  Status SearchChunk(uint32_t part, PartRows& rows);
  Status SearchSegment(uint32_t part, const PartRows& rows);
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
  size_t beam_ = 0;
  NearestRows nearest_;  // by exact distances
  std::vector<Candidate> candidates_;
  std::vector<std::pair<uint64_t, std::unique_ptr<CodeScorer>>> scorers_;  // by the quantiser's id
};

Result<std::vector<SearchHit>> TableSearch::Run() {
  if (request_.k == 0) {
    return std::vector<SearchHit>();
  }
  for (uint32_t part = 0; part < snapshot_.parts.size(); ++part) {
    RETURN_IF_ERROR(SearchPart(part));
    if (candidates_.size() > 2 * wanted_) {  // many parts and a large k do not pile up
      KeepNearest(candidates_, wanted_);
    }
  }
  // One cut over all parts, before any vector is read.
  KeepNearest(candidates_, wanted_);
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
  PartRows rows(table_part, filtered ? &filter : nullptr);
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
  return table_part.is_disk_chunk() ? SearchChunk(part, rows) : SearchSegment(part, rows);
}

Status TableSearch::SearchChunk(uint32_t part, PartRows& rows) {
  const TablePart& chunk = *snapshot_.parts[part];
  const auto* index = dynamic_cast<const HnswIndex*>(chunk.vector_index(*request_.column));
  if (index == nullptr || index->contents() == IndexContents::kNothing) {
    return CompareAll(part, rows);
  }
  const std::vector<RowId> patched = chunk.PatchedRows(request_.column->id);
  RETURN_IF_ERROR(ComparePatched(part, patched, rows));
  rows.LeaveOut(patched);
  const IndexSearch search{
      .index = *index, .rows = rows, .part = part, .wanted = wanted_, .beam = beam_, .cancel = cancel_};
  return FindCandidates(search, ScorerOf(*index->codec()), candidates_, statistics_);
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
