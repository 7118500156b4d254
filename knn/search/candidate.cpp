#include "knn/search/candidate.h"

namespace stoa::knn {

void AppendCandidates(const CodeScorer& scorer, std::span<const uint8_t* const> codes, uint32_t part,
                      std::span<const RowId> rows, std::vector<Candidate>& candidates) {
  std::vector<float> distances(codes.size());
  std::vector<float> errors(codes.size());
  scorer.ScoreWithErrors(codes.data(), codes.size(), distances.data(), errors.data());
  for (size_t i = 0; i < codes.size(); ++i) {
    candidates.push_back(
        {.estimate = distances[i], .error = errors[i], .location = {.part = part, .row = rows[i]}});
  }
}

}  // namespace stoa::knn
