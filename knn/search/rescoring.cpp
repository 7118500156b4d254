#include "knn/search/rescoring.h"

#include <algorithm>
#include <functional>
#include <span>

#include "knn/search/exact_distances.h"
#include "knn/search/time_limit.h"

namespace stoa::knn {

using storage::TableSnapshot;

namespace {

// Candidates of a round after the first: enough for the disk to be busy with, few enough that what they find
// spares others.
constexpr size_t kRoundRows = 128;

// Readers of the parts that candidates lie in, opened once.
class PartReaders {
 public:
  PartReaders(const TableSnapshot& snapshot, const storage::ColumnDefinition& column)
      : snapshot_(snapshot), column_(column), entries_(snapshot.parts.size()) {}

  struct Entry {
    std::optional<ExactDistances> exact;
    std::unique_ptr<storage::ColumnReader> ids;
  };
  Result<Entry*> At(uint32_t part) {
    Entry& entry = entries_[part];
    if (!entry.exact) {
      ASSIGN_OR_RETURN(ExactDistances exact, ExactDistances::Open(*snapshot_.parts[part], column_));
      entry.exact.emplace(std::move(exact));
      ASSIGN_OR_RETURN(entry.ids, snapshot_.parts[part]->Column(snapshot_.definition->columns[0]));
    }
    return &entry;
  }

 private:
  const TableSnapshot& snapshot_;
  const storage::ColumnDefinition& column_;
  std::vector<Entry> entries_;
};

// Calls use(part, candidates of the part) for each part, rows ascending.
Status ForParts(std::span<Candidate> candidates,
                const std::function<Status(uint32_t, std::span<const Candidate>)>& use) {
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.location < b.location; });
  for (size_t first = 0; first < candidates.size();) {
    size_t end = first;
    while (end < candidates.size() && candidates[end].location.part == candidates[first].location.part) {
      ++end;
    }
    RETURN_IF_ERROR(use(candidates[first].location.part, candidates.subspan(first, end - first)));
    first = end;
  }
  return Status::Ok();
}

Status AddExact(PartReaders& readers, const SearchContext& context, std::span<Candidate> candidates,
                NearestRows& nearest) {
  return ForParts(candidates, [&](uint32_t part, std::span<const Candidate> of_part) -> Status {
    ASSIGN_OR_RETURN(PartReaders::Entry * entry, readers.At(part));
    std::vector<RowId> rows;
    for (const Candidate& candidate : of_part) {
      rows.push_back(candidate.location.row);
    }
    std::vector<float> distances(rows.size());
    RETURN_IF_ERROR(entry->exact->Of(rows, context.request.query.data(), context.cancel, distances));
    return AddNearest(part, rows, distances, *entry->ids, nearest);
  });
}

}  // namespace

Status Rescore(const SearchContext& context, std::vector<Candidate> candidates, NearestRows& nearest) {
  PartReaders readers(context.snapshot, *context.request.column);
  std::sort(candidates.begin(), candidates.end(), HasSmallerEstimate);
  std::span<Candidate> rest(candidates);
  for (size_t wanted = context.request.k; !rest.empty(); wanted = kRoundRows) {
    if (nearest.full()) {  // else there is no answer yet
      ASSIGN_OR_RETURN(const bool ended, IsOutOfTime(context.cancel, context.statistics));
      if (ended) {
        break;
      }
    }
    const std::span<Candidate> round = rest.first(std::min(wanted, rest.size()));
    rest = rest.subspan(round.size());
    const auto end = std::partition(round.begin(), round.end(), [&](const Candidate& candidate) {
      return nearest.MayEnter(candidate.estimate - candidate.error);
    });
    const auto entering = static_cast<size_t>(end - round.begin());
    context.statistics.rescored += entering;
    RETURN_IF_ERROR(AddExact(readers, context, round.first(entering), nearest));
  }
  return Status::Ok();
}

Status AddEstimates(const TableSnapshot& snapshot, std::vector<Candidate> candidates, NearestRows& nearest) {
  return ForParts(candidates, [&](uint32_t part, std::span<const Candidate> of_part) -> Status {
    ASSIGN_OR_RETURN(const std::unique_ptr<storage::ColumnReader> ids,
                     snapshot.parts[part]->Column(snapshot.definition->columns[0]));
    std::vector<RowId> rows;
    std::vector<float> distances;
    for (const Candidate& candidate : of_part) {
      rows.push_back(candidate.location.row);
      distances.push_back(candidate.estimate);
    }
    return AddNearest(part, rows, distances, *ids, nearest);
  });
}

}  // namespace stoa::knn
