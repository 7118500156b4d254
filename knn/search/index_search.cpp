#include "knn/search/index_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "knn/search/code_scan.h"
#include "knn/search/time_limit.h"

namespace stoa::knn {

namespace {

// Costs in units of one comparison of a scan, whose codes come one after the other: a walk's codes lie
// anywhere.
constexpr double kCostOfWalkedCode = 2.5;
// Codes that a walk without filter compares for each node of its beam, and before it is there.
constexpr double kCodesPerBeam = 10;
constexpr uint32_t kCodesToArrive = 300;
// Where fewer pass, a walk steps over those that do not.
constexpr double kMostToStepOver = 0.6;
// Keeping more nodes in order costs more than a scan.
constexpr size_t kWidestBeam = 8192;
constexpr uint32_t kStepsPerCheck = 4096;  // of the cancel token

WalkState& ThreadWalkState() {
  thread_local WalkState state;  // its memory grows to what the largest graph needs, and is used again
  return state;
}

double WalkCost(size_t beam, double passing_share) {
  // A filter that passes a share s makes a walk compare about 1 / sqrt(s) as many.
  return (static_cast<double>(beam) * kCodesPerBeam + kCodesToArrive) * kCostOfWalkedCode /
         std::sqrt(std::max(passing_share, 1e-4));
}

// By node of the graph, whether it or one of its equals may be returned.
std::vector<uint64_t> PassingNodes(const IndexSearch& search) {
  const HnswIndex& index = search.index;
  std::vector<uint64_t> passes((index.node_count() + 63) / 64);
  if (index.nodes_are_rows()) {
    for (uint32_t word = 0; word < passes.size(); ++word) {
      passes[word] = search.rows.Word(word);
    }
  } else {
    for (uint32_t node = 0; node < index.node_count(); ++node) {
      passes[node / 64] |= uint64_t{search.rows.Has(RowId(index.RowOf(node)))} << (node % 64);
    }
  }
  for (const auto& [node, representative] : index.duplicates()) {
    if ((passes[node / 64] >> (node % 64) & 1) != 0) {
      passes[representative / 64] |= uint64_t{1} << (representative % 64);
    }
  }
  return passes;
}

// Nodes by row: the first of each row stays, at most `most`.
class FirstOfRows {
 public:
  FirstOfRows(const HnswIndex& index, size_t most) : index_(index), most_(most) {
    if (index.rows_repeat()) {
      seen_.Reset(index.row_count());
    }
  }
  void Add(const FoundNode& found) {
    if (!full() && (!index_.rows_repeat() || seen_.Insert(index_.RowOf(found.node)))) {
      nodes_.push_back(found);
    }
  }
  bool full() const { return nodes_.size() == most_; }
  std::vector<FoundNode> Take() { return std::move(nodes_); }

 private:
  const HnswIndex& index_;
  size_t most_;
  VisitedSet seen_;
  std::vector<FoundNode> nodes_;
};

// Of the found nodes and of those equal to them those that may be returned, one a row, nearest first.
std::vector<FoundNode> RowsOf(const IndexSearch& search, const std::vector<FoundNode>& found) {
  const HnswIndex& index = search.index;
  const bool everything = search.rows.IsEverything();
  FirstOfRows rows(index, search.share);
  for (const FoundNode& near : found) {
    // The chain was sound when the index was opened; a page that was lost since may lead in a circle.
    size_t steps = 0;
    for (uint32_t node = near.node;
         node != Graph::kNone && steps <= index.duplicates().size() && !rows.full();
         node = index.blocks().NextDuplicate(node), ++steps) {
      if (everything || search.rows.Has(RowId(index.RowOf(node)))) {
        rows.Add({near.distance, node});
      }
    }
  }
  return rows.Take();
}

// Of the rows of the chunk, how many pass, about.
double PassingShare(const IndexSearch& search) {
  return static_cast<double>(search.rows.MostRows()) / search.index.row_count();
}

// Whether the walk was worth its cost: false when it had to be given up.
bool Walk(const IndexSearch& search, const CodeScorer& scorer, std::vector<FoundNode>& rows,
          SearchStatistics& statistics) {
  const HnswIndex& index = search.index;
  WalkState& state = ThreadWalkState();
  const uint64_t scored_before = state.beam.scored;
  const GraphWalk walk(index.blocks(), index.upper_levels());
  const bool everything = search.rows.IsEverything();
  const std::vector<uint64_t> passes = everything ? std::vector<uint64_t>() : PassingNodes(search);
  const double share = PassingShare(search);
  const WalkFilter filter{.passes = passes,
                          .through = share > kMostToStepOver,
                          .most_scored = static_cast<uint64_t>(share * index.node_count()) + kCodesToArrive,
                          .cancel = search.cancel};
  std::vector<FoundNode> found;
  bool finished = true;
  // Rows with several vectors may fill the beam: then once more with a wider one.
  for (size_t beam = search.beam; finished && beam <= kWidestBeam; beam *= 2) {
    if (everything) {
      walk.Search(scorer, beam, state, found);
    } else {
      finished = walk.SearchFiltered(scorer, beam, filter, state, found);
    }
    rows = RowsOf(search, found);
    if (rows.size() == search.share || found.size() < beam) {
      break;
    }
  }
  statistics.distance_computations += state.beam.scored - scored_before;
  // Fewer than wanted: there may be more where the walk did not get to.
  return finished && rows.size() == search.share;
}

Status Scan(const IndexSearch& search, const CodeScorer& scorer, std::vector<FoundNode>& rows,
            SearchStatistics& statistics) {
  const HnswIndex& index = search.index;
  // Enough nodes that enough rows are left.
  CodeScan scan(scorer, index.rows_repeat() ? index.node_count() : search.wanted, search.range);
  const uint32_t steps = index.nodes_are_rows() ? search.rows.word_count() : index.node_count();
  for (uint32_t step = 0; step < steps; ++step) {
    if (step % kStepsPerCheck == 0) {
      ASSIGN_OR_RETURN(const bool ended, IsOutOfTime(search.cancel, statistics));
      if (ended) {
        break;
      }
    }
    if (index.nodes_are_rows()) {
      search.rows.ForRowsOf(step, [&](RowId row) { scan.Add(row.value, index.blocks().Code(row.value)); });
    } else if (search.rows.Has(RowId(index.RowOf(step)))) {
      scan.Add(step, index.blocks().Code(step));
    }
  }
  FirstOfRows first(index, search.wanted);
  for (const FoundNode& found : scan.TakeSorted()) {
    first.Add(found);
  }
  rows = first.Take();
  statistics.distance_computations += scan.scored();
  return Status::Ok();
}

Status AppendNodes(const IndexSearch& search, const CodeScorer& scorer, const std::vector<FoundNode>& found,
                   std::vector<Candidate>& candidates) {
  const HnswIndex& index = search.index;
  std::vector<const uint8_t*> codes;
  std::vector<RowId> rows;
  for (const FoundNode& near : found) {
    codes.push_back(index.blocks().Code(near.node));
    rows.push_back(RowId(index.RowOf(near.node)));
  }
  const size_t first = candidates.size();
  AppendCandidates(scorer, codes, search.part, rows, candidates);
  if (index.rows_repeat()) {
    // The bound is of the vector with the smallest estimate; another one of the row may be nearer.
    for (size_t i = first; i < candidates.size(); ++i) {
      candidates[i].error = std::numeric_limits<float>::infinity();
    }
  }
  return index.CheckReadable();
}

}  // namespace

Result<bool> FindCandidates(const IndexSearch& search, const CodeScorer& scorer,
                            std::vector<Candidate>& candidates, SearchStatistics& statistics) {
  const HnswIndex& index = search.index;
  const double passing_nodes = PassingShare(search) * index.node_count();
  const bool walks = index.contents() == IndexContents::kGraph && search.beam <= kWidestBeam &&
                     WalkCost(search.beam, PassingShare(search)) < passing_nodes;
  std::vector<FoundNode> found;
  if (!walks || !Walk(search, scorer, found, statistics)) {
    RETURN_IF_ERROR(ScanCandidates(search, scorer, candidates, statistics));
    return false;
  }
  RETURN_IF_ERROR(AppendNodes(search, scorer, found, candidates));
  return true;
}

Status ScanCandidates(const IndexSearch& search, const CodeScorer& scorer, std::vector<Candidate>& candidates,
                      SearchStatistics& statistics) {
  std::vector<FoundNode> found;
  RETURN_IF_ERROR(Scan(search, scorer, found, statistics));
  return AppendNodes(search, scorer, found, candidates);
}

}  // namespace stoa::knn
