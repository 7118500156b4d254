#include "knn/search/index_search.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "knn/search/code_scan.h"

namespace stoa::knn {

namespace {

// Costs in units of one comparison of a scan, whose codes come one after the other: a walk's codes lie
// anywhere.
constexpr double kCostOfWalkedCode = 2.5;
// Codes that a walk without filter compares for each node of its beam, and before it is there.
constexpr double kCodesPerBeam = 10;
constexpr double kCodesToArrive = 300;
// Where fewer pass, a walk steps over those that do not.
constexpr double kMostToStepOver = 0.6;

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

// Rows of the nodes and of the nodes equal to them, each once, nearest first, at most `most`.
std::vector<FoundNode> RowsOf(const IndexSearch& search, const std::vector<FoundNode>& found, size_t most) {
  const HnswIndex& index = search.index;
  const bool everything = search.rows.IsEverything();
  std::vector<FoundNode> rows;
  rows.reserve(std::min(found.size(), most));
  VisitedSet seen;
  if (!index.nodes_are_rows()) {
    seen.Reset(index.node_count() > 0 ? index.RowOf(index.node_count() - 1) + 1 : 0);
  }
  for (const FoundNode& near : found) {
    uint32_t node = near.node;
    for (uint32_t steps = 0; node != Graph::kNone && steps <= index.node_count(); ++steps) {
      if (rows.size() == most) {
        return rows;
      }
      const uint32_t row = index.RowOf(node);
      if ((everything || search.rows.Has(RowId(row))) && (index.nodes_are_rows() || seen.Insert(row))) {
        rows.push_back({near.distance, node});
      }
      node = index.duplicates().empty() ? Graph::kNone : index.blocks().NextDuplicate(node);
    }
  }
  return rows;
}

// Whether the walk was worth its cost: false when it had to be given up.
bool Walk(const IndexSearch& search, const CodeScorer& scorer, std::vector<FoundNode>& rows,
          SearchStatistics& statistics) {
  const HnswIndex& index = search.index;
  WalkState& state = ThreadWalkState();
  const uint64_t scored_before = state.beam.scored;
  const GraphWalk walk(index.blocks(), index.upper_levels());
  std::vector<FoundNode> found;
  const bool everything = search.rows.IsEverything();
  const double share =
      static_cast<double>(search.rows.MostRows()) / std::max<uint32_t>(index.node_count(), 1);
  const std::vector<uint64_t> passes = everything ? std::vector<uint64_t>() : PassingNodes(search);
  const WalkFilter filter{.passes = passes,
                          .through = share > kMostToStepOver,
                          .most_scored = search.rows.MostRows() + uint64_t{4096}};
  bool finished = true;
  // A row with several vectors may fill the beam: then once more with a wider one.
  for (size_t beam = search.beam; finished; beam *= 2) {
    if (everything) {
      walk.Search(scorer, beam, state, found);
    } else {
      finished = walk.SearchFiltered(scorer, beam, filter, state, found);
    }
    rows = RowsOf(search, found, search.wanted);
    if (rows.size() >= search.wanted || found.size() < beam) {
      break;
    }
  }
  statistics.distance_computations += state.beam.scored - scored_before;
  // Fewer than there may be: the walk did not get everywhere.
  return finished && (rows.size() >= search.wanted || everything);
}

Status Scan(const IndexSearch& search, const CodeScorer& scorer, std::vector<FoundNode>& rows,
            SearchStatistics& statistics) {
  const HnswIndex& index = search.index;
  const bool arrays = !index.nodes_are_rows();
  // Rows with several vectors: more nodes, so that enough rows are left.
  CodeScan scan(scorer, arrays ? index.node_count() : search.wanted);
  if (!arrays) {
    for (uint32_t word = 0; word < search.rows.word_count(); ++word) {
      if (search.cancel != nullptr && word % 1024 == 0) {
        RETURN_IF_ERROR(search.cancel->Check());
      }
      for (uint64_t bits = search.rows.Word(word); bits != 0; bits &= bits - 1) {
        const uint32_t node = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        scan.Add(node, index.blocks().Code(node));
      }
    }
  } else {
    for (uint32_t node = 0; node < index.node_count(); ++node) {
      if (search.rows.Has(RowId(index.RowOf(node)))) {
        scan.Add(node, index.blocks().Code(node));
      }
    }
  }
  std::vector<FoundNode> found = scan.Take();
  statistics.distance_computations += scan.scored();
  if (!arrays) {
    rows = std::move(found);
    return Status::Ok();
  }
  std::sort(found.begin(), found.end(), [](const FoundNode& a, const FoundNode& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.node < b.node;
  });
  VisitedSet seen;
  seen.Reset(index.node_count() > 0 ? index.RowOf(index.node_count() - 1) + 1 : 0);
  rows.clear();
  for (const FoundNode& near : found) {
    if (rows.size() < search.wanted && seen.Insert(index.RowOf(near.node))) {
      rows.push_back(near);
    }
  }
  return Status::Ok();
}

void AppendCandidates(const IndexSearch& search, const CodeScorer& scorer, const std::vector<FoundNode>& rows,
                      std::vector<Candidate>& candidates) {
  std::vector<const uint8_t*> codes;
  codes.reserve(rows.size());
  for (const FoundNode& found : rows) {
    codes.push_back(search.index.blocks().Code(found.node));
  }
  std::vector<float> distances(rows.size());
  std::vector<float> errors(rows.size());
  scorer.ScoreWithErrors(codes.data(), codes.size(), distances.data(), errors.data());
  for (size_t i = 0; i < rows.size(); ++i) {
    candidates.push_back({.estimate = distances[i],
                          .error = errors[i],
                          .location = {.part = search.part, .row = RowId(search.index.RowOf(rows[i].node))}});
  }
}

}  // namespace

Status FindCandidates(const IndexSearch& search, const CodeScorer& scorer, std::vector<Candidate>& candidates,
                      SearchStatistics& statistics) {
  const uint32_t passing = search.rows.MostRows();
  const double share = static_cast<double>(passing) / std::max<uint32_t>(search.index.node_count(), 1);
  const bool walks = search.index.contents() == IndexContents::kGraph &&
                     WalkCost(search.beam, std::min(share, 1.0)) < passing;
  std::vector<FoundNode> rows;
  if (walks && Walk(search, scorer, rows, statistics)) {
    ++statistics.graph_parts;
  } else {
    RETURN_IF_ERROR(Scan(search, scorer, rows, statistics));
    ++statistics.code_parts;
  }
  AppendCandidates(search, scorer, rows, candidates);
  return search.index.CheckReadable();
}

}  // namespace stoa::knn
