#pragma once

#include "knn/graph/duplicates.h"
#include "knn/graph/link_table.h"
#include "knn/quantize/quantizer.h"
#include "storage/base/cancel_token.h"

namespace stoa::knn {

// Gives every node that cannot be reached from `entry` on level 0 a link from a near one that can: pruning
// may take the last link to a node. Lists have at most MostLinks(0) links, and keep to it. Nodes that only
// repeat another one's code have no links of their own. Stops when `cancel` (may be nullptr) says so.
void ConnectOrphans(LinkTable& table, const Duplicates& duplicates, uint32_t entry,
                    const Quantizer& quantizer, const CancelToken* cancel);

}  // namespace stoa::knn
