#include "knn/quantize/quantizer.h"

#include <hwy/aligned_allocator.h>
#include <xxhash.h>

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "knn/quantize/code_scorers.h"
#include "knn/quantize/residual_coder.h"
#include "knn/quantize/vector_frame.h"
#include "storage/base/byte_reader.h"
#include "storage/base/byte_writer.h"
#include "storage/base/check.h"

namespace stoa::knn {
namespace {

constexpr uint32_t kFormat = 1;
constexpr uint32_t kMostDims = 65'535;
constexpr uint32_t kLeastCodedDims = 33;
constexpr uint32_t kLeastSignDims = 128;

class FrozenQuantizer final : public Quantizer {
 public:
  FrozenQuantizer(CodeKind kind, std::shared_ptr<const VectorFrame> frame)
      : options_{UsableKind(kind, frame->dims()), frame->metric(), frame->dims(), frame->rotation_seed()},
        frame_(std::move(frame)) {
    code_bytes_ = static_cast<uint32_t>(sizeof(CodeHead)) +
                  PayloadBytes(options_.kind, options_.dims, frame_->padded_dims());
    if (options_.kind == CodeKind::k1Bit || options_.kind == CodeKind::kSign) {
      cosines_ = SignCosines(frame_->padded_dims());
    }
    const std::string bytes = EncodeBytes();
    id_ = XXH64(bytes.data(), bytes.size(), 0);
  }

  uint64_t id() const override { return id_; }
  uint32_t code_bytes() const override { return code_bytes_; }
  const QuantizerOptions& options() const override { return options_; }
  std::string Encode() const override { return EncodeBytes(); }

  std::shared_ptr<const Quantizer> WithKind(CodeKind kind) const override {
    return std::make_shared<FrozenQuantizer>(kind, frame_);
  }

  void EncodeVectors(std::span<const float* const> vectors, uint8_t* codes, size_t stride) const override {
    if (options_.kind == CodeKind::kFloat) {
      CopyVectors(vectors, codes, stride);
      return;
    }
    const auto rotated = hwy::AllocateAligned<float>(frame_->padded_dims());
    for (const float* vector : vectors) {
      const RotatedResidual residual = frame_->Rotate(vector, rotated.get());
      EncodeResidual(options_.kind, *frame_, residual, rotated.get(), codes);
      codes += stride;
    }
  }

  std::unique_ptr<CodeScorer> NewScorer() const override {
    switch (options_.kind) {
      case CodeKind::kFloat:
        return NewFloatScorer(frame_);
      case CodeKind::k8Bit:
        return New8BitScorer(frame_);
      case CodeKind::k4Bit:
        return New4BitScorer(frame_);
      case CodeKind::k1Bit:
        return New1BitScorer(frame_, cosines_);
      case CodeKind::kSign:
        return NewSignScorer(frame_, cosines_);
    }
    STOA_CHECK(false);
  }

 private:
  std::string EncodeBytes() const {
    std::string bytes;
    ByteWriter writer(bytes);
    writer.Write(kFormat);
    writer.Write(static_cast<uint16_t>(options_.kind));
    writer.Write(static_cast<uint16_t>(options_.metric));
    writer.Write(options_.dims);
    writer.Write(options_.rotation_seed);
    for (const float value : frame_->center()) {
      writer.Write(value);
    }
    return bytes;
  }

  void CopyVectors(std::span<const float* const> vectors, uint8_t* codes, size_t stride) const {
    const size_t vector_bytes = options_.dims * sizeof(float);
    for (const float* vector : vectors) {
      std::memset(codes, 0, code_bytes_);
      std::memcpy(codes + sizeof(CodeHead), vector, vector_bytes);
      codes += stride;
    }
  }

  QuantizerOptions options_;
  std::shared_ptr<const VectorFrame> frame_;
  std::shared_ptr<const std::vector<float>> cosines_;
  uint32_t code_bytes_ = 0;
  uint64_t id_ = 0;
};

std::vector<float> MeanOf(uint32_t dims, std::span<const float* const> sample) {
  std::vector<double> sums(dims);
  for (const float* vector : sample) {
    for (uint32_t i = 0; i < dims; ++i) {
      sums[i] += std::isfinite(vector[i]) ? vector[i] : 0;
    }
  }
  std::vector<float> mean(dims);
  for (uint32_t i = 0; i < dims; ++i) {
    mean[i] = static_cast<float>(sums[i] / static_cast<double>(sample.size()));
  }
  return mean;
}

Result<QuantizerOptions> ReadOptions(ByteReader& reader) {
  ASSIGN_OR_RETURN(const uint32_t format, reader.Read<uint32_t>());
  if (format != kFormat) {
    return CorruptError("quantiser has format {}, expected {}", format, kFormat);
  }
  QuantizerOptions options;
  ASSIGN_OR_RETURN(const uint16_t kind, reader.Read<uint16_t>());
  ASSIGN_OR_RETURN(const uint16_t metric, reader.Read<uint16_t>());
  ASSIGN_OR_RETURN(options.dims, reader.Read<uint32_t>());
  ASSIGN_OR_RETURN(options.rotation_seed, reader.Read<uint64_t>());
  if (kind > static_cast<uint16_t>(CodeKind::kSign)) {
    return CorruptError("quantiser has unknown kind {}", kind);
  }
  if (metric > static_cast<uint16_t>(Metric::kCosine)) {
    return CorruptError("quantiser has unknown metric {}", metric);
  }
  if (options.dims == 0 || options.dims > kMostDims) {
    return CorruptError("quantiser has {} dims, expected 1 to {}", options.dims, kMostDims);
  }
  options.kind = static_cast<CodeKind>(kind);
  options.metric = static_cast<Metric>(metric);
  if (UsableKind(options.kind, options.dims) != options.kind) {
    return CorruptError("quantiser of {} dims has kind {}, which needs more", options.dims, kind);
  }
  return options;
}

}  // namespace

CodeKind UsableKind(CodeKind kind, uint32_t dims) {
  if (dims < kLeastCodedDims) {
    return CodeKind::kFloat;
  }
  const bool signs = kind == CodeKind::k1Bit || kind == CodeKind::kSign;
  return signs && dims < kLeastSignDims ? CodeKind::k4Bit : kind;
}

std::shared_ptr<const Quantizer> Quantizer::Train(const QuantizerOptions& options,
                                                  std::span<const float* const> sample) {
  STOA_CHECK(options.dims > 0 && options.dims <= kMostDims && !sample.empty());
  auto frame =
      std::make_shared<VectorFrame>(options.metric, MeanOf(options.dims, sample), options.rotation_seed);
  return std::make_shared<FrozenQuantizer>(options.kind, std::move(frame));
}

Result<std::shared_ptr<const Quantizer>> Quantizer::Decode(std::string_view bytes) {
  ByteReader reader(bytes);
  ASSIGN_OR_RETURN(const QuantizerOptions options, ReadOptions(reader));
  if (reader.remaining() != options.dims * sizeof(float)) {
    return CorruptError("quantiser of {} dims has {} bytes of centre", options.dims, reader.remaining());
  }
  std::vector<float> center(options.dims);
  for (float& value : center) {
    ASSIGN_OR_RETURN(value, reader.Read<float>());
    if (!std::isfinite(value)) {
      return CorruptError("quantiser has a centre that is not finite at offset {}",
                          reader.offset() - sizeof(float));
    }
  }
  auto frame = std::make_shared<VectorFrame>(options.metric, std::move(center), options.rotation_seed);
  return std::shared_ptr<const Quantizer>(std::make_shared<FrozenQuantizer>(options.kind, std::move(frame)));
}

}  // namespace stoa::knn
