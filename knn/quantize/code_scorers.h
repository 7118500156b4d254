#pragma once

#include <memory>
#include <vector>

#include "knn/quantize/quantizer.h"
#include "knn/quantize/vector_frame.h"

namespace stoa::knn {

// Cosines of the angles that 0 … padded_dims different signs of padded_dims stand for.
std::shared_ptr<const std::vector<float>> SignCosines(uint32_t padded_dims);

std::unique_ptr<CodeScorer> NewFloatScorer(std::shared_ptr<const VectorFrame> frame);
std::unique_ptr<CodeScorer> New8BitScorer(std::shared_ptr<const VectorFrame> frame);
std::unique_ptr<CodeScorer> New4BitScorer(std::shared_ptr<const VectorFrame> frame);
std::unique_ptr<CodeScorer> New1BitScorer(std::shared_ptr<const VectorFrame> frame,
                                          std::shared_ptr<const std::vector<float>> cosines);
std::unique_ptr<CodeScorer> NewSignScorer(std::shared_ptr<const VectorFrame> frame,
                                          std::shared_ptr<const std::vector<float>> cosines);

}  // namespace stoa::knn
