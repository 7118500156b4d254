#pragma once

#include <memory>
#include <span>
#include <vector>

#include "knn/graph/link_table.h"
#include "knn/quantize/quantizer.h"

namespace stoa::knn {

// Chooses links that lead into different directions (Malkov and Yashunin, algorithm 4, nothing of what was
// discarded is kept): a candidate is taken when it is nearer to the node than to every one taken before. One
// a thread.
class NeighbourSelection {
 public:
  NeighbourSelection(const CodeArray& codes, const Quantizer& quantizer)
      : codes_(codes), scorer_(quantizer.NewScorer()) {}

  // `candidates` ascend by distance to the node that is linked. At most `most` of them, in the same order.
  const std::vector<Link>& Select(std::span<const Link> candidates, uint32_t most);

 private:
  bool IsNearerToTaken(const Link& candidate);

  CodeArray codes_;
  std::unique_ptr<CodeScorer> scorer_;
  std::vector<Link> taken_;
  std::vector<const uint8_t*> taken_codes_;
  std::vector<float> distances_;
};

}  // namespace stoa::knn
