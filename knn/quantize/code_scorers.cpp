#include "knn/quantize/code_scorers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "knn/kernels/code_distance.h"
#include "knn/kernels/float_distance.h"
#include "knn/quantize/component_kernels.h"
#include "knn/quantize/residual_coder.h"

namespace stoa::knn {
namespace {

constexpr size_t kBlock = 64;
constexpr double kLargestUnit = 1e25;

CodeHead HeadOf(const uint8_t* code) {
  CodeHead head;
  std::memcpy(&head, code, sizeof(head));
  return head;
}

// Requests the heads of a block, whose payloads the kernels request themselves.
void PayloadsOf(const uint8_t* const* codes, size_t count, const uint8_t** payloads) {
  for (size_t i = 0; i < count; ++i) {
    __builtin_prefetch(codes[i]);
    payloads[i] = codes[i] + sizeof(CodeHead);
  }
}

// Splits the codes into blocks, so that nothing is allocated.
class BlockScorer : public CodeScorer {
 public:
  void Score(const uint8_t* const* codes, size_t count, float* distances) const final {
    for (size_t done = 0; done < count; done += kBlock) {
      ScoreBlock(codes + done, std::min(kBlock, count - done), distances + done, nullptr);
    }
  }

  void ScoreWithErrors(const uint8_t* const* codes, size_t count, float* distances,
                       float* errors) const final {
    for (size_t done = 0; done < count; done += kBlock) {
      ScoreBlock(codes + done, std::min(kBlock, count - done), distances + done, errors + done);
    }
  }

 protected:
  // Up to kBlock codes; errors may be nullptr.
  virtual void ScoreBlock(const uint8_t* const* codes, size_t count, float* distances,
                          float* errors) const = 0;
};

class FloatScorer final : public BlockScorer {
 public:
  explicit FloatScorer(std::shared_ptr<const VectorFrame> frame)
      : frame_(std::move(frame)), copy_(frame_->dims()), query_(copy_.data()) {}

  void SetQuery(const float* query) override {
    std::copy_n(query, copy_.size(), copy_.data());
    query_ = copy_.data();
  }

  void SetQueryCode(const uint8_t* code) override {
    query_ = reinterpret_cast<const float*>(code + sizeof(CodeHead));
  }

 protected:
  void ScoreBlock(const uint8_t* const* codes, size_t count, float* distances, float* errors) const override {
    const float* vectors[kBlock] = {};
    for (size_t i = 0; i < count; ++i) {
      vectors[i] = reinterpret_cast<const float*>(codes[i] + sizeof(CodeHead));
    }
    if (frame_->metric() == Metric::kL2) {
      SquaredDistances(query_, vectors, count, copy_.size(), distances);
    } else {
      DotProducts(query_, vectors, count, copy_.size(), distances);
      for (size_t i = 0; i < count; ++i) {
        distances[i] = 1 - distances[i];
      }
    }
    // Products too large for floats, of both signs, have no sum: as far away as can be.
    constexpr float kFarthest = std::numeric_limits<float>::infinity();
    std::replace_if(
        distances, distances + count, [](float value) { return std::isnan(value); }, kFarthest);
    if (errors != nullptr) {
      std::fill_n(errors, count, 0.0F);
    }
  }

 private:
  std::shared_ptr<const VectorFrame> frame_;
  std::vector<float> copy_;
  const float* query_;
};

// What a query adds to the estimate: see CodeHead; `spare` is the factor of the code's spare.
struct QueryTerms {
  float add = 0;
  float scale = 0;
  float offset = 0;
  float spare = 0;
  float error = 0;
};

// The estimates of 8, 4 and 1 bits: linear in the integer sum of the kernels.
class LinearScorer : public BlockScorer {
 public:
  explicit LinearScorer(std::shared_ptr<const VectorFrame> frame)
      : frame_(std::move(frame)), rotated_(frame_->padded_dims()) {}

  void SetQuery(const float* query) final {
    const RotatedResidual residual = frame_->Rotate(query, rotated_.data());
    terms_ = {};
    if (residual.squared > 0) {
      EncodeQuery(residual, rotated_.data());
    } else {
      ClearQuery();
    }
    terms_.add = BoundedFloat(frame_->OwnTerm(residual));
  }

 protected:
  // Sets all terms but `add`.
  virtual void EncodeQuery(const RotatedResidual& residual, const float* rotated) = 0;
  virtual void ClearQuery() = 0;
  virtual void Sum(const uint8_t* const* payloads, size_t count, int32_t* sums) const = 0;

  void ScoreBlock(const uint8_t* const* codes, size_t count, float* distances, float* errors) const override {
    const uint8_t* payloads[kBlock] = {};
    int32_t sums[kBlock];
    PayloadsOf(codes, count, payloads);
    Sum(payloads, count, sums);
    for (size_t i = 0; i < count; ++i) {
      const CodeHead head = HeadOf(codes[i]);
      const float dot =
          terms_.scale * static_cast<float>(sums[i]) + terms_.offset + terms_.spare * head.spare;
      distances[i] = head.add + terms_.add + head.rescale * dot;
      if (errors != nullptr) {
        errors[i] = head.error * terms_.error;
      }
    }
  }

  // |r|² / ⟨y, r⟩: what the levels y of a query are to be multiplied with. Bounded, so that nothing that is
  // added up is infinite.
  static double Unit(const RotatedResidual& residual, const LevelSums& sums) {
    return std::min(kLargestUnit, residual.squared / sums.dot * residual.scale);
  }
  static float QueryError(const RotatedResidual& residual, const LevelSums& sums, double usual_tangent) {
    const double tangent = CodeTangent(residual.squared, sums.dot, sums.squared);
    return BoundedFloat(std::sqrt(residual.squared) * residual.scale *
                        std::max(1.0, tangent / usual_tangent));
  }
  // The same of a code in the role of a query.
  double UnitOf(const CodeHead& head) const {
    return std::min(kLargestUnit, -head.rescale / frame_->dot_factor());
  }
  float QueryErrorOf(const CodeHead& head) const {
    const double norm = head.spare;
    if (!(norm > 0)) {
      return 0;
    }
    const double all = head.error * frame_->spread() / (frame_->dot_factor() * kErrorDeviations * norm);
    const double tangent = std::sqrt(std::max(0.0, all * all - kQueryTangent8 * kQueryTangent8));
    return BoundedFloat(norm * std::max(1.0, tangent / kQueryTangent8));
  }

  std::shared_ptr<const VectorFrame> frame_;
  std::vector<float> rotated_;
  QueryTerms terms_;
};

// Codes of 8 or 4 bits, a query of 8 bits with sign.
class ByteQueryScorer : public LinearScorer {
 public:
  ByteQueryScorer(std::shared_ptr<const VectorFrame> frame, float middle)
      : LinearScorer(std::move(frame)), query_(frame_->padded_dims()), middle_(middle) {}

 protected:
  void EncodeQuery(const RotatedResidual& residual, const float* rotated) final {
    const float step = Step8(residual, rotated, frame_->padded_dims());
    const LevelSums sums =
        Encode8(rotated, query_.size(), 1 / step, 0, reinterpret_cast<uint8_t*>(query_.data()));
    SetScale(Unit(residual, sums), sums.total);
    terms_.error = QueryError(residual, sums, kQueryTangent8);
  }
  void ClearQuery() final { std::fill(query_.begin(), query_.end(), int8_t{0}); }

  // The residual's components are unit · query_; a code's levels are middle_ below what is stored.
  void SetScale(double unit, int32_t total) {
    terms_.scale = static_cast<float>(unit);
    terms_.offset = static_cast<float>(-middle_ * unit * total);
  }
  void SetCodeTerms(const CodeHead& head, double unit, int32_t total) {
    terms_ = {};
    terms_.add = head.add;
    terms_.error = QueryErrorOf(head);
    SetScale(unit, total);
  }

  std::vector<int8_t> query_;

 private:
  float middle_;
};

class EightBitScorer final : public ByteQueryScorer {
 public:
  explicit EightBitScorer(std::shared_ptr<const VectorFrame> frame)
      : ByteQueryScorer(std::move(frame), 128) {}

  void SetQueryCode(const uint8_t* code) override {
    const CodeHead head = HeadOf(code);
    const int32_t total = LevelsOf8(code + sizeof(head), query_.size(), query_.data());
    SetCodeTerms(head, UnitOf(head), total);
  }

 protected:
  void Sum(const uint8_t* const* payloads, size_t count, int32_t* sums) const override {
    DotCodes8(query_.data(), payloads, count, query_.size(), sums);
  }
};

class FourBitScorer final : public ByteQueryScorer {
 public:
  explicit FourBitScorer(std::shared_ptr<const VectorFrame> frame)
      : ByteQueryScorer(std::move(frame), 7.5F) {}

  void SetQueryCode(const uint8_t* code) override {
    const CodeHead head = HeadOf(code);
    const int32_t total = LevelsOf4(code + sizeof(head), query_.size(), query_.data());
    SetCodeTerms(head, UnitOf(head) / 2, total);
  }

 protected:
  void Sum(const uint8_t* const* payloads, size_t count, int32_t* sums) const override {
    DotCodes4(query_.data(), payloads, count, query_.size(), sums);
  }
};

// The angle between two vectors of signs, from the number of different ones.
class SignQuery {
 public:
  SignQuery(const VectorFrame& frame, std::shared_ptr<const std::vector<float>> cosines)
      : bits_(frame.padded_dims() / 64),
        cosines_(std::move(cosines)),
        deviation_(kErrorDeviations * kSignDeviation / frame.spread()) {}

  uint64_t* bits() { return bits_.data(); }
  // norm: of the query's residual.
  void SetTerms(float add, float norm) {
    add_ = add;
    norm_ = norm;
  }
  // scaled_norm: of a code, multiplied with the factor of the dot.
  void Score(const uint8_t* const* codes, size_t count, float* distances, float* errors,
             const auto& scaled_norm) const {
    const uint8_t* payloads[kBlock] = {};
    int32_t different[kBlock];
    PayloadsOf(codes, count, payloads);
    HammingDistances(bits_.data(), payloads, count, bits_.size() * 64, different);
    for (size_t i = 0; i < count; ++i) {
      const CodeHead head = HeadOf(codes[i]);
      const float norms = scaled_norm(head) * norm_;
      distances[i] = head.add + add_ - norms * (*cosines_)[static_cast<size_t>(different[i])];
      if (errors != nullptr) {
        errors[i] = norms * static_cast<float>(deviation_);
      }
    }
  }

 private:
  std::vector<uint64_t> bits_;
  std::shared_ptr<const std::vector<float>> cosines_;
  double deviation_;
  float add_ = 0;
  float norm_ = 0;
};

// Codes of 1 bit; the query has 4 bits, or 1 if it is itself a code.
class OneBitScorer final : public LinearScorer {
 public:
  OneBitScorer(std::shared_ptr<const VectorFrame> frame, std::shared_ptr<const std::vector<float>> cosines)
      : LinearScorer(std::move(frame)),
        planes_(frame_->padded_dims() / 16),
        signs_(*frame_, std::move(cosines)) {}

  void SetQueryCode(const uint8_t* code) override {
    const CodeHead head = HeadOf(code);
    std::memcpy(signs_.bits(), code + sizeof(head), frame_->padded_dims() / 8);
    signs_.SetTerms(head.add, ScaledNorm(head) / static_cast<float>(frame_->dot_factor()));
    by_signs_ = true;
  }

 protected:
  void EncodeQuery(const RotatedResidual& residual, const float* rotated) override {
    const uint32_t padded_dims = frame_->padded_dims();
    const LevelSums sums =
        EncodePlanes(rotated, padded_dims, 1 / Step4(residual, padded_dims), planes_.data());
    // Σ ±1 · (u − 7.5) with u of the planes = 2 · Σ over set bits of u − Σ u − 7.5 · (2 · set bits − dims).
    const double unit = Unit(residual, sums);
    terms_.scale = static_cast<float>(2 * unit);
    terms_.offset = static_cast<float>(unit * (7.5 * padded_dims - sums.total));
    terms_.spare = static_cast<float>(-15 * unit);
    terms_.error = QueryError(residual, sums, kQueryTangent4);
    by_signs_ = false;
  }

  void ClearQuery() override {
    std::fill(planes_.begin(), planes_.end(), uint64_t{0});
    by_signs_ = false;
  }

  void Sum(const uint8_t* const* payloads, size_t count, int32_t* sums) const override {
    DotCodes1(planes_.data(), payloads, count, frame_->padded_dims(), sums);
  }

  void ScoreBlock(const uint8_t* const* codes, size_t count, float* distances, float* errors) const override {
    if (by_signs_) {
      signs_.Score(codes, count, distances, errors,
                   [this](const CodeHead& head) { return ScaledNorm(head); });
    } else {
      LinearScorer::ScoreBlock(codes, count, distances, errors);
    }
  }

 private:
  // Heads have no norm of their own; it follows from the lengths of code and error, a right angle apart.
  float ScaledNorm(const CodeHead& head) const {
    const double along = head.rescale * std::sqrt(static_cast<double>(frame_->padded_dims()));
    const double across = head.error * frame_->spread() / kErrorDeviations;
    constexpr double kRest = 1 - kQueryTangent4 * kQueryTangent4;
    return BoundedFloat(std::sqrt(std::max(0.0, (along * along - across * across) / kRest)));
  }

  std::vector<uint64_t> planes_;
  SignQuery signs_;
  bool by_signs_ = false;
};

class SignScorer final : public BlockScorer {
 public:
  SignScorer(std::shared_ptr<const VectorFrame> frame, std::shared_ptr<const std::vector<float>> cosines)
      : frame_(std::move(frame)), rotated_(frame_->padded_dims()), signs_(*frame_, std::move(cosines)) {}

  void SetQuery(const float* query) override {
    const RotatedResidual residual = frame_->Rotate(query, rotated_.data());
    EncodeSigns(rotated_.data(), rotated_.size(), reinterpret_cast<uint8_t*>(signs_.bits()));
    signs_.SetTerms(BoundedFloat(frame_->OwnTerm(residual)),
                    BoundedFloat(std::sqrt(residual.squared) * residual.scale));
  }

  void SetQueryCode(const uint8_t* code) override {
    const CodeHead head = HeadOf(code);
    std::memcpy(signs_.bits(), code + sizeof(head), rotated_.size() / 8);
    signs_.SetTerms(head.add, head.spare);
  }

 protected:
  void ScoreBlock(const uint8_t* const* codes, size_t count, float* distances, float* errors) const override {
    signs_.Score(codes, count, distances, errors, [](const CodeHead& head) { return -head.rescale; });
  }

 private:
  std::shared_ptr<const VectorFrame> frame_;
  std::vector<float> rotated_;
  SignQuery signs_;
};

}  // namespace

std::shared_ptr<const std::vector<float>> SignCosines(uint32_t padded_dims) {
  auto cosines = std::make_shared<std::vector<float>>(padded_dims + 1);
  for (uint32_t i = 0; i <= padded_dims; ++i) {
    (*cosines)[i] = static_cast<float>(std::cos(std::numbers::pi * i / padded_dims));
  }
  return cosines;
}

std::unique_ptr<CodeScorer> NewFloatScorer(std::shared_ptr<const VectorFrame> frame) {
  return std::make_unique<FloatScorer>(std::move(frame));
}

std::unique_ptr<CodeScorer> New8BitScorer(std::shared_ptr<const VectorFrame> frame) {
  return std::make_unique<EightBitScorer>(std::move(frame));
}

std::unique_ptr<CodeScorer> New4BitScorer(std::shared_ptr<const VectorFrame> frame) {
  return std::make_unique<FourBitScorer>(std::move(frame));
}

std::unique_ptr<CodeScorer> New1BitScorer(std::shared_ptr<const VectorFrame> frame,
                                          std::shared_ptr<const std::vector<float>> cosines) {
  return std::make_unique<OneBitScorer>(std::move(frame), std::move(cosines));
}

std::unique_ptr<CodeScorer> NewSignScorer(std::shared_ptr<const VectorFrame> frame,
                                          std::shared_ptr<const std::vector<float>> cosines) {
  return std::make_unique<SignScorer>(std::move(frame), std::move(cosines));
}

}  // namespace stoa::knn
