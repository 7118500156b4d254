#include "knn/search/table_search.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "knn/metric.h"
#include "knn/search/part_search.h"
#include "knn/search/search_threads.h"
#include "knn/search/time_limit.h"
#include "storage/base/thread_pool.h"

namespace stoa::knn {

using storage::TablePart;
using storage::TableSnapshot;

namespace {

// A part is worth waking another thread for if its search compares so many vectors or codes.
constexpr uint64_t kWorthAThread = 4000;
constexpr uint64_t kCodesPerBeam = 10;  // that a walk compares, about

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

// About how many vectors or codes the search of a part compares.
uint64_t WorkOf(const SearchPlan& plan, const SearchedPart& part) {
  const uint64_t rows = part.rows.MostRows();
  const TablePart& table_part = *plan.snapshot.parts[part.number];
  if (plan.request.full_scan || table_part.vector_index(*plan.request.column) == nullptr) {
    return rows;
  }
  return std::min(rows, std::max(plan.narrowest_beam, plan.ShareOf(table_part)) * kCodesPerBeam);
}

void Add(const SearchStatistics& part, SearchStatistics& all) {
  all.distance_computations += part.distance_computations;
  all.exact_parts += part.exact_parts;
  all.graph_parts += part.graph_parts;
  all.code_parts += part.code_parts;
  all.out_of_time = all.out_of_time || part.out_of_time;
}

// One search.
class TableSearch {
 public:
  TableSearch(const SearchPlan& plan, SearchStatistics& statistics)
      : plan_(plan), statistics_(statistics), found_(plan, statistics) {}

  Result<std::vector<SearchHit>> Run();

 private:
  // What one thread beside the first finds.
  struct Worker {
    explicit Worker(const SearchPlan& plan) : found(plan, statistics) {}
    SearchStatistics statistics;
    PartSearch found;
    Status status;
  };

  Status FindParts();
  Status SearchParts();
  Status SearchOnThreads();
  Result<std::vector<SearchHit>> DropFiltered(std::vector<SearchHit> hits);

  const SearchPlan& plan_;
  SearchStatistics& statistics_;
  PartSearch found_;
  std::vector<std::unique_ptr<SearchedPart>> parts_;  // to search
};

Result<std::vector<SearchHit>> TableSearch::Run() {
  if (plan_.request.k == 0) {
    return std::vector<SearchHit>();
  }
  RETURN_IF_ERROR(FindParts());
  RETURN_IF_ERROR(SearchParts());
  statistics_.candidates += found_.candidate_count();
  std::vector<SearchHit> hits;
  {
    const StageTimer timer(statistics_.rescore_seconds);
    const DiskReads before = ThreadDiskReads();
    ASSIGN_OR_RETURN(hits, found_.Finish());
    statistics_.disk += ThreadDiskReads() - before;
  }
  return plan_.request.filter && !plan_.request.prefilter ? DropFiltered(std::move(hits)) : std::move(hits);
}

// Filters run on this thread.
Status TableSearch::FindParts() {
  const StageTimer timer(statistics_.filter_seconds);
  for (uint32_t part = 0; part < plan_.snapshot.parts.size(); ++part) {
    RowBits filter;
    if (plan_.is_filtered()) {
      ASSIGN_OR_RETURN(const bool ended, IsOutOfTime(plan_.cancel, statistics_));
      if (ended) {
        break;
      }
      ASSIGN_OR_RETURN(filter, plan_.request.filter(part));
    }
    auto searched = std::make_unique<SearchedPart>(plan_, part, std::move(filter));
    if (plan_.request.excluded && plan_.request.excluded->part == part) {
      const RowId excluded[] = {plan_.request.excluded->row};
      searched->rows.LeaveOut(excluded);
    }
    if (searched->rows.MostRows() > 0) {
      parts_.push_back(std::move(searched));
    }
  }
  return Status::Ok();
}

// Several threads, if at least two parts are worth it. One cut over all parts, before any vector is read.
Status TableSearch::SearchParts() {
  const StageTimer timer(statistics_.walk_seconds);
  const auto worth = std::count_if(parts_.begin(), parts_.end(), [this](const auto& part) {
    return WorkOf(plan_, *part) >= kWorthAThread;
  });
  if (worth > 1) {
    RETURN_IF_ERROR(SearchOnThreads());
    return found_.CutCandidates();
  }
  for (std::unique_ptr<SearchedPart>& part : parts_) {
    RETURN_IF_ERROR(found_.Search(std::move(part)));
    ASSIGN_OR_RETURN(const bool ended, IsOutOfTime(plan_.cancel, statistics_));
    if (ended) {
      break;
    }
  }
  return found_.CutCandidates();
}

Status TableSearch::SearchOnThreads() {
  // The largest first, so that no thread begins it when the others are done.
  std::stable_sort(parts_.begin(), parts_.end(),
                   [this](const auto& a, const auto& b) { return WorkOf(plan_, *a) > WorkOf(plan_, *b); });
  std::vector<std::unique_ptr<Worker>> workers(std::min(MostWorkers(), parts_.size()));
  for (std::unique_ptr<Worker>& worker : workers) {
    worker = std::make_unique<Worker>(plan_);
  }
  RunOnThreads(parts_.size(), workers.size(), [&](size_t worker, size_t task) {
    Worker& own = *workers[worker];
    if (own.status.ok() && !own.statistics.out_of_time) {
      own.status = CatchAll([&]() -> Status {
        RETURN_IF_ERROR(own.found.Search(std::move(parts_[task])));
        return IsOutOfTime(plan_.cancel, own.statistics).status();
      });
    }
  });
  for (const std::unique_ptr<Worker>& worker : workers) {
    RETURN_IF_ERROR(worker->status);
    Add(worker->statistics, statistics_);
    found_.Take(worker->found);
  }
  return Status::Ok();
}

Result<std::vector<SearchHit>> TableSearch::DropFiltered(std::vector<SearchHit> hits) {
  const StageTimer timer(statistics_.filter_seconds);
  std::vector<std::optional<RowBits>> filters(plan_.snapshot.parts.size());
  std::vector<SearchHit> kept;
  for (const SearchHit& hit : hits) {
    std::optional<RowBits>& filter = filters[hit.location.part];
    if (!filter) {
      ASSIGN_OR_RETURN(filter, plan_.request.filter(hit.location.part));
    }
    if (PartRows(*plan_.snapshot.parts[hit.location.part], &*filter).Has(hit.location.row)) {
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
  const SearchPlan plan(snapshot, std::move(request), cancel);
  return TableSearch(plan, statistics).Run();
}

}  // namespace stoa::knn
