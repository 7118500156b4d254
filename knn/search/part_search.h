#pragma once

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "knn/search/candidate.h"
#include "knn/search/exact_scan.h"
#include "knn/search/index_search.h"
#include "knn/search/nearest_rows.h"
#include "knn/search/search_plan.h"

namespace stoa::knn {

// Searches parts one after the other, and has what was found in them. The query is encoded once for each
// quantiser. One thread at a time; a search by several threads has one for each.
class PartSearch {
 public:
  PartSearch(const SearchPlan& plan, SearchStatistics& statistics)
      : plan_(plan),
        context_{plan.snapshot, plan.request, plan.cancel, statistics},
        nearest_(plan.request.k) {}
  PartSearch(const PartSearch&) = delete;
  PartSearch& operator=(const PartSearch&) = delete;

  // `part` has rows that may be found.
  Status Search(std::unique_ptr<SearchedPart> part);
  // What another one has found is found here.
  void Take(PartSearch& other);
  // Cuts the candidates to the nearest. A chunk all of whose share is among them may have more of them and is
  // searched again, for as many as are wanted.
  Status CutCandidates();
  size_t candidate_count() const { return candidates_.size(); }
  // The nearest rows, once the candidates were cut: by exact distances, or by estimates when the plan says
  // so.
  Result<std::vector<SearchHit>> Finish();

 private:
  // A chunk that may have more candidates than the one that it gave last.
  struct CutShort {
    std::unique_ptr<SearchedPart> chunk;
    Candidate farthest;
  };

  Status SearchChunk(std::unique_ptr<SearchedPart> chunk);
  Status SearchSegment(const SearchedPart& segment);
  Status CompareAll(const SearchedPart& part);
  Status ComparePatched(const SearchedPart& chunk, const std::vector<RowId>& patched);
  Status WidenScans();
  Status WidenScan(const CutShort& scan);
  const HnswIndex* IndexOf(uint32_t part) const;
  IndexSearch SearchOf(const SearchedPart& chunk, size_t share) const;
  const CodeScorer& ScorerOf(const Quantizer& quantizer);

  const SearchPlan& plan_;
  const SearchContext context_;
  NearestRows nearest_;  // by exact distances
  std::vector<Candidate> candidates_;
  float cut_ = std::numeric_limits<float>::infinity();  // candidates with larger estimates were left out
  std::vector<CutShort> shares_;                        // walked for their share only
  std::vector<CutShort> scans_;                         // scanned under a filter
  std::vector<std::pair<uint64_t, std::unique_ptr<CodeScorer>>> scorers_;  // by the quantiser's id
};

}  // namespace stoa::knn
