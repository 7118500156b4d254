#pragma once

#include <vector>

#include "knn/search/candidate.h"
#include "knn/search/exact_scan.h"
#include "knn/search/nearest_rows.h"

namespace stoa::knn {

// Reads the vectors of the candidates, computes exact distances and adds the rows to `nearest`. First the k
// with the smallest estimates, then the others in rounds, nearest estimates first: of each round only those
// whose bound lets them enter the answer that is there by then. A round is read in the order of the file, up
// to 256 vectors at a time; what is not in memory of a batch is asked of the disk together.
Status Rescore(const SearchContext& context, std::vector<Candidate> candidates, NearestRows& nearest);

// Adds the candidates at their estimates.
Status AddEstimates(const storage::TableSnapshot& snapshot, std::vector<Candidate> candidates,
                    NearestRows& nearest);

}  // namespace stoa::knn
