#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "knn/metric.h"
#include "storage/base/result.h"
#include "storage/vector/vector_index.h"

namespace stoa::knn {

// What a code holds of a vector. Values are stored in files.
enum class CodeKind : uint8_t {
  kFloat = 0,  // the vector itself: estimates are the exact distances
  k8Bit = 1,   // 8 bits a component, on both sides
  k4Bit = 2,   // 4 bits; the query has 8
  k1Bit = 3,   // signs; the query is encoded with 4 bits
  kSign = 4,   // signs on both sides ("1bitsimple")
};

// The kind that is really used where `kind` was asked for. Codes of few components say too little, and save
// nothing either beside links and head: up to 32 dims vectors stay as they are, and below 128 dims 4 bits
// stand in for 1.
CodeKind UsableKind(CodeKind kind, uint32_t dims);

// Every code begins with these four floats, then follows the payload (dims floats, or padded_dims components
// of 8, 4 or 1 bits as in kernels/code_distance.h). With `ip` as the kernels give it between code and query:
//   distance ≈ add + query.add + rescale · (query.scale · ip + query.offset + query.spare · spare)
// and |distance − estimate| ≤ error · query.error in all but few cases. kSign has the cosine of the angle
// that the different bits stand for instead of the bracket. What the numbers are: residual_coder.h.
struct CodeHead {
  float add;
  float rescale;
  float error;
  float spare;
};
static_assert(sizeof(CodeHead) == 16);

struct QuantizerOptions {
  CodeKind kind = CodeKind::kFloat;
  Metric metric = Metric::kL2;
  uint32_t dims = 0;
  uint64_t rotation_seed = 1;
};

// Estimates distances from one query, or one stored vector in the role of the query, to many codes of one
// quantiser; codes are aligned to 4 bytes. One thread at a time; make one a thread and reuse it.
class CodeScorer {
 public:
  virtual ~CodeScorer() = default;

  // `query` has dims floats and is normalised for cosine; it is copied.
  virtual void SetQuery(const float* query) = 0;
  // Takes a code of the same quantiser as the query: quick, nothing is rotated. kFloat and k8Bit give nearly
  // what SetQuery with the vector gives, k4Bit somewhat more noise; k1Bit compares as kSign does. The code
  // must outlive its use.
  virtual void SetQueryCode(const uint8_t* code) = 0;
  // distances[i]: estimate for codes[i], in the units of the metric. Codes are read in this order, the next
  // ones are prefetched.
  virtual void Score(const uint8_t* const* codes, size_t count, float* distances) const = 0;
  // As Score, when only estimates up to `bound` matter: a code that a part of it shows to be farther may have
  // +infinity. Of estimates up to the bound one of some thousands is lost.
  virtual void ScoreNear(const uint8_t* const* codes, size_t count, float /*bound*/, float* distances) const {
    Score(codes, count, distances);
  }
  // errors[i]: how far the exact distance may be from distances[i]; true of at least 95 of 100 vectors.
  virtual void ScoreWithErrors(const uint8_t* const* codes, size_t count, float* distances,
                               float* errors) const = 0;
};

// The frozen quantiser of one vector column: a random rotation and a centre; each component of the rotated
// residual is coded with 8, 4 or 1 bits and a scale of the vector's own, so that all kinds share one
// estimator. RaBitQ: Gao, Long, "RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error Bound",
// SIGMOD 2024, sections 3.1 to 3.3; more bits: Gao et al., "Practical and Asymptotically Optimal Quantization
// of High-Dimensional Vectors", 2025.
//
// Estimates are never NaN, whatever the vectors: components that are not finite count as 0, and terms beyond
// 1e37 are cut there, so that distances of such a size are estimated as some large number or infinity.
class Quantizer : public storage::VectorQuantizer {
 public:
  // `sample`: vectors of the column, at least one, from which the centre is taken. options().kind of what is
  // made is UsableKind of what was asked for.
  static std::shared_ptr<const Quantizer> Train(const QuantizerOptions& options,
                                                std::span<const float* const> sample);
  // The same rotation and centre with another kind: what graphs are built with.
  virtual std::shared_ptr<const Quantizer> WithKind(CodeKind kind) const = 0;
  // kCorrupt without a path: the caller knows it.
  static Result<std::shared_ptr<const Quantizer>> Decode(std::string_view bytes);
  virtual std::string Encode() const = 0;

  virtual const QuantizerOptions& options() const = 0;
  virtual std::unique_ptr<CodeScorer> NewScorer() const = 0;
};

}  // namespace stoa::knn
