#include "knn/quantize/quantizer.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "knn/every_target.h"
#include "knn/quantize/rotation.h"

namespace stoa::knn {
namespace {

constexpr CodeKind kKinds[] = {CodeKind::kFloat, CodeKind::k8Bit, CodeKind::k4Bit, CodeKind::k1Bit,
                               CodeKind::kSign};
constexpr Metric kMetrics[] = {Metric::kL2, Metric::kInnerProduct, Metric::kCosine};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Vectors of one length, one behind the other.
struct Vectors {
  uint32_t dims;
  std::vector<float> values;

  size_t size() const { return values.size() / dims; }
  float* at(size_t i) { return values.data() + i * dims; }
  const float* at(size_t i) const { return values.data() + i * dims; }
  std::vector<const float*> pointers() const {
    std::vector<const float*> result(size());
    for (size_t i = 0; i < size(); ++i) {
      result[i] = at(i);
    }
    return result;
  }
};

void Normalise(Vectors& vectors) {
  for (size_t i = 0; i < vectors.size(); ++i) {
    float* v = vectors.at(i);
    const double squared = std::inner_product(v, v + vectors.dims, v, 0.0);
    for (uint32_t j = 0; j < vectors.dims; ++j) {
      v[j] = static_cast<float>(v[j] / std::sqrt(squared));
    }
  }
}

// Around `centers` points that lie off the origin; components grow smaller one after the other, as in most
// real data.
Vectors Clustered(size_t count, uint32_t dims, size_t centers, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> middles(centers * dims);
  for (float& value : middles) {
    value = 0.3F + normal(random);
  }
  Vectors vectors{dims, std::vector<float>(count * dims)};
  for (size_t i = 0; i < count; ++i) {
    const float* middle = middles.data() + random() % centers * dims;
    for (uint32_t j = 0; j < dims; ++j) {
      const float size = 1 / std::sqrt(1 + 8.0F * static_cast<float>(j) / static_cast<float>(dims));
      vectors.at(i)[j] = size * (middle[j] + 0.7F * normal(random));
    }
  }
  return vectors;
}

// Few components make most of a vector, and lengths differ much.
Vectors HeavyTailed(size_t count, uint32_t dims, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::student_t_distribution<float> tailed(2.5F);
  std::normal_distribution<float> normal;
  std::vector<float> sizes(dims);
  std::generate(sizes.begin(), sizes.end(), [&] { return std::exp(normal(random)); });
  Vectors vectors{dims, std::vector<float>(count * dims)};
  for (size_t i = 0; i < count; ++i) {
    const float length = std::exp(0.3F * normal(random));
    for (uint32_t j = 0; j < dims; ++j) {
      vectors.at(i)[j] = length * sizes[j] * tailed(random);
    }
  }
  return vectors;
}

double Exact(Metric metric, const float* a, const float* b, uint32_t dims) {
  double squared = 0;
  double dot = 0;
  for (uint32_t j = 0; j < dims; ++j) {
    const double difference = static_cast<double>(a[j]) - b[j];
    squared += difference * difference;
    dot += static_cast<double>(a[j]) * b[j];
  }
  return metric == Metric::kL2 ? squared : 1 - dot;
}

// Codes of some vectors, at 16 bytes.
struct Codes {
  std::vector<uint8_t> bytes;
  std::vector<const uint8_t*> pointers;

  Codes(const Quantizer& quantizer, const Vectors& vectors)
      : bytes(vectors.size() * quantizer.code_bytes()), pointers(vectors.size()) {
    quantizer.EncodeVectors(vectors.pointers(), bytes.data(), quantizer.code_bytes());
    for (size_t i = 0; i < pointers.size(); ++i) {
      pointers[i] = bytes.data() + i * quantizer.code_bytes();
    }
  }
};

struct Estimates {
  std::vector<float> distances;
  std::vector<float> errors;

  Estimates(const CodeScorer& scorer, const Codes& codes)
      : distances(codes.pointers.size()), errors(codes.pointers.size()) {
    scorer.ScoreWithErrors(codes.pointers.data(), codes.pointers.size(), distances.data(), errors.data());
    std::vector<float> alone(codes.pointers.size());
    scorer.Score(codes.pointers.data(), codes.pointers.size(), alone.data());
    REQUIRE(std::equal(alone.begin(), alone.end(), distances.begin(), distances.end(),
                       [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }));
  }
};

std::shared_ptr<const Quantizer> Trained(CodeKind kind, Metric metric, const Vectors& sample,
                                         uint64_t seed = 1) {
  return Quantizer::Train({kind, metric, sample.dims, seed}, sample.pointers());
}

// How many of the `wanted` nearest are among the `taken` best estimates.
double Recall(const Quantizer& quantizer, const Vectors& base, const Vectors& queries, size_t wanted,
              size_t taken) {
  const Codes codes(quantizer, base);
  const auto scorer = quantizer.NewScorer();
  size_t found = 0;
  for (size_t q = 0; q < queries.size(); ++q) {
    std::vector<std::pair<double, size_t>> exact(base.size());
    std::vector<std::pair<float, size_t>> estimated(base.size());
    scorer->SetQuery(queries.at(q));
    const Estimates estimates(*scorer, codes);
    for (size_t i = 0; i < base.size(); ++i) {
      exact[i] = {Exact(quantizer.options().metric, queries.at(q), base.at(i), base.dims), i};
      estimated[i] = {estimates.distances[i], i};
    }
    std::sort(exact.begin(), exact.end());
    std::sort(estimated.begin(), estimated.end());
    for (size_t i = 0; i < wanted; ++i) {
      found += static_cast<size_t>(
          std::count_if(estimated.begin(), estimated.begin() + static_cast<ptrdiff_t>(taken),
                        [&](const auto& entry) { return entry.second == exact[i].second; }));
    }
  }
  return static_cast<double>(found) / static_cast<double>(wanted * queries.size());
}

}  // namespace

TEST_CASE("a rotation keeps lengths and angles and spreads single components", "[knn]") {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  for (const uint32_t dims : {64U, 128U, 192U, 320U, 768U, 832U, 1024U, 1536U, 4096U}) {
    INFO("dims " << dims);
    const Rotation rotation(dims, 7);
    std::vector<float> a(dims);
    std::vector<float> one(dims);
    std::generate(a.begin(), a.end(), [&] { return normal(random); });
    one[random() % dims] = 1;
    const double dot = std::inner_product(a.begin(), a.end(), one.begin(), 0.0);
    const double squared = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
    rotation.Apply(a.data());
    rotation.Apply(one.data());
    CHECK(std::inner_product(a.begin(), a.end(), a.begin(), 0.0) == Approx(squared).epsilon(1e-5));
    CHECK(std::inner_product(one.begin(), one.end(), one.begin(), 0.0) == Approx(1).epsilon(1e-5));
    CHECK(std::inner_product(a.begin(), a.end(), one.begin(), 0.0) == Approx(dot).margin(1e-5));
    const float largest = *std::max_element(one.begin(), one.end());
    CHECK(largest * std::sqrt(static_cast<float>(dims)) < 5);
  }
}

TEST_CASE("estimates are right on average over rotations, for each metric and kind", "[knn]") {
  constexpr int kRotations = 300;
  for (const Metric metric : kMetrics) {
    Vectors vectors = Clustered(12, 150, 3, 5);
    if (metric == Metric::kCosine) {
      Normalise(vectors);
    }
    for (const CodeKind kind : {CodeKind::k8Bit, CodeKind::k4Bit, CodeKind::k1Bit, CodeKind::kSign}) {
      INFO("metric " << static_cast<int>(metric) << ", kind " << static_cast<int>(kind));
      std::vector<double> sums(vectors.size());
      std::vector<double> squares(vectors.size());
      for (int seed = 0; seed < kRotations; ++seed) {
        const auto quantizer = Trained(kind, metric, vectors, static_cast<uint64_t>(seed));
        const auto scorer = quantizer->NewScorer();
        scorer->SetQuery(vectors.at(0));
        const Estimates estimates(*scorer, Codes(*quantizer, vectors));
        for (size_t i = 1; i < vectors.size(); ++i) {
          const double error =
              estimates.distances[i] - Exact(metric, vectors.at(0), vectors.at(i), vectors.dims);
          sums[i] += error;
          squares[i] += error * error;
        }
      }
      for (size_t i = 1; i < vectors.size(); ++i) {
        // The average of an unbiased estimate is within 4 of its own standard deviations; angles from signs
        // are biased by a small part of theirs.
        const double deviation = std::sqrt(squares[i] / kRotations);
        CHECK(std::abs(sums[i] / kRotations) <
              deviation * (4 / std::sqrt(kRotations) + (kind == CodeKind::kSign ? 0.1 : 0)));
      }
    }
  }
}

TEST_CASE("the error that comes with an estimate is not exceeded by 95 of 100", "[knn]") {
  for (const Metric metric : kMetrics) {
    for (const bool tailed : {false, true}) {
      Vectors vectors = tailed ? HeavyTailed(1000, 200, 3) : Clustered(1000, 200, 20, 3);
      if (metric == Metric::kCosine) {
        Normalise(vectors);
      }
      for (const CodeKind kind : kKinds) {
        INFO("metric " << static_cast<int>(metric) << ", kind " << static_cast<int>(kind) << ", tailed "
                       << tailed);
        const auto quantizer = Trained(kind, metric, vectors);
        const Codes codes(*quantizer, vectors);
        const auto scorer = quantizer->NewScorer();
        size_t inside = 0;
        double ratio = 0;
        constexpr size_t kQueries = 20;
        for (size_t q = 0; q < kQueries; ++q) {
          scorer->SetQuery(vectors.at(q));
          const Estimates estimates(*scorer, codes);
          for (size_t i = kQueries; i < vectors.size(); ++i) {
            const double exact = Exact(metric, vectors.at(q), vectors.at(i), vectors.dims);
            const double error = std::abs(estimates.distances[i] - exact);
            inside += error <= estimates.errors[i] + 1e-5 * std::abs(exact) ? 1 : 0;
            ratio += estimates.errors[i] > 0 ? error / estimates.errors[i] : 0;
          }
        }
        const double pairs = static_cast<double>(kQueries * (vectors.size() - kQueries));
        CHECK(static_cast<double>(inside) / pairs >= 0.95);
        // Nor is it far too large: a normal distribution has 0.8 of its deviation on average.
        if (kind != CodeKind::kFloat) {
          CHECK(ratio / pairs > (kind == CodeKind::kSign ? 0.1 : 0.25));
        }
      }
    }
  }
}

TEST_CASE("the nearest vectors are among the best estimates", "[knn]") {
  struct Case {
    CodeKind kind;
    double first;   // of the 10 nearest, those among the 10 best estimates
    double thirds;  // and among the 30 best
  };
  for (const Case& expected :
       {Case{CodeKind::kFloat, 0.999, 1}, Case{CodeKind::k8Bit, 0.97, 1}, Case{CodeKind::k4Bit, 0.75, 0.98},
        Case{CodeKind::k1Bit, 0.4, 0.7}, Case{CodeKind::kSign, 0.3, 0.55}}) {
    for (const uint32_t dims : {64U, 200U, 784U}) {
      for (const Metric metric : {Metric::kL2, Metric::kCosine}) {
        for (const bool tailed : {false, true}) {
          Vectors base = tailed ? HeavyTailed(2020, dims, 9) : Clustered(2020, dims, 30, 9);
          if (metric == Metric::kCosine) {
            Normalise(base);
          }
          Vectors queries{dims, {base.at(2000), base.at(2000) + 20 * dims}};
          base.values.resize(2000 * dims);
          const auto quantizer = Trained(expected.kind, metric, base);
          INFO("kind " << static_cast<int>(expected.kind) << ", dims " << dims << ", metric "
                       << static_cast<int>(metric) << ", tailed " << tailed);
          const double first = Recall(*quantizer, base, queries, 10, 10);
          const double thirds = Recall(*quantizer, base, queries, 10, 30);
          UNSCOPED_INFO("recall " << first << " " << thirds);
          CHECK(first >= expected.first);
          CHECK(thirds >= expected.thirds);
        }
      }
    }
  }
}

TEST_CASE("quantisers of all dims give sound estimates and read back what they wrote", "[knn]") {
  for (uint32_t dims = 1; dims <= 200; ++dims) {
    for (const CodeKind kind : kKinds) {
      INFO("dims " << dims << ", kind " << static_cast<int>(kind));
      const Metric metric = kMetrics[dims % 3];
      Vectors vectors = Clustered(30, dims, 5, dims);
      if (metric == Metric::kCosine) {
        Normalise(vectors);
      }
      const auto quantizer = Trained(kind, metric, vectors);
      CHECK(quantizer->options().kind == UsableKind(kind, dims));
      CHECK(quantizer->code_bytes() % 16 == 0);
      const auto again = Quantizer::Decode(quantizer->Encode());
      REQUIRE(again.ok());
      CHECK((*again)->id() == quantizer->id());
      const Codes codes(*quantizer, vectors);
      CHECK(Codes(**again, vectors).bytes == codes.bytes);
      const auto scorer = (*again)->NewScorer();
      size_t outside = 0;
      for (size_t q = 0; q < 10; ++q) {
        scorer->SetQuery(vectors.at(q));
        const Estimates estimates(*scorer, codes);
        for (size_t i = 10; i < vectors.size(); ++i) {
          const double exact = Exact(metric, vectors.at(q), vectors.at(i), dims);
          outside += std::abs(estimates.distances[i] - exact) > estimates.errors[i] + 1e-4 ? 1 : 0;
        }
      }
      CHECK(outside <= 25);  // of 200
    }
  }
}

TEST_CASE("few dims get more bits than were asked for", "[knn]") {
  CHECK(UsableKind(CodeKind::k8Bit, 32) == CodeKind::kFloat);
  CHECK(UsableKind(CodeKind::k8Bit, 33) == CodeKind::k8Bit);
  CHECK(UsableKind(CodeKind::k1Bit, 127) == CodeKind::k4Bit);
  CHECK(UsableKind(CodeKind::kSign, 127) == CodeKind::k4Bit);
  CHECK(UsableKind(CodeKind::k1Bit, 128) == CodeKind::k1Bit);
  CHECK(UsableKind(CodeKind::kFloat, 1000) == CodeKind::kFloat);
}

TEST_CASE("odd vectors have estimates as well", "[knn]") {
  constexpr uint32_t kDims = 130;
  std::vector<std::vector<float>> odd = {
      std::vector<float>(kDims, 0.0F),         std::vector<float>(kDims, 1.0F),
      std::vector<float>(kDims, -3.0F),        std::vector<float>(kDims, 1e-40F),
      std::vector<float>(kDims, 1e-30F),       std::vector<float>(kDims, 1e30F),
      std::vector<float>(kDims, 3e38F),        std::vector<float>(kDims, -3e38F),
      std::vector<float>(kDims, kInfinity),    std::vector<float>(kDims, -kInfinity),
      std::vector<float>(kDims, std::nanf(""))};
  std::vector<float> one_hot(kDims, 0.0F);
  one_hot[17] = 1;
  odd.push_back(one_hot);
  Vectors vectors{kDims, {}};
  for (const auto& vector : odd) {
    vectors.values.insert(vectors.values.end(), vector.begin(), vector.end());
  }
  const Vectors samples[] = {{kDims, std::vector<float>(kDims, 0.0F)},
                             {kDims, std::vector<float>(kDims, 1.0F)},
                             {kDims, std::vector<float>(kDims, 1e-42F)},
                             vectors};
  for (const CodeKind kind : kKinds) {
    for (const Metric metric : kMetrics) {
      for (const Vectors& sample : samples) {
        const auto quantizer = Trained(kind, metric, sample);
        REQUIRE(Quantizer::Decode(quantizer->Encode()).ok());
        const Codes codes(*quantizer, vectors);
        const auto scorer = quantizer->NewScorer();
        for (size_t q = 0; q < vectors.size(); ++q) {
          INFO("kind " << static_cast<int>(kind) << ", metric " << static_cast<int>(metric) << ", query "
                       << q);
          scorer->SetQuery(vectors.at(q));
          const Estimates estimates(*scorer, codes);
          CHECK(std::none_of(estimates.distances.begin(), estimates.distances.end(),
                             [](float x) { return std::isnan(x); }));
          CHECK(
              std::all_of(estimates.errors.begin(), estimates.errors.end(), [](float x) { return x >= 0; }));
          scorer->SetQueryCode(codes.pointers[q]);
          const Estimates by_code(*scorer, codes);
          CHECK(std::none_of(by_code.distances.begin(), by_code.distances.end(),
                             [](float x) { return std::isnan(x); }));
        }
      }
    }
  }
}

TEST_CASE("distances from and to the centre are exact", "[knn]") {
  const Vectors sample = Clustered(1, 150, 1, 2);
  const Vectors vectors = Clustered(20, 150, 3, 4);
  for (const CodeKind kind : {CodeKind::k8Bit, CodeKind::k4Bit, CodeKind::k1Bit, CodeKind::kSign}) {
    for (const Metric metric : kMetrics) {
      INFO("kind " << static_cast<int>(kind) << ", metric " << static_cast<int>(metric));
      const auto quantizer = Trained(kind, metric, sample);
      const Codes codes(*quantizer, vectors);
      const Codes center(*quantizer, sample);
      const auto scorer = quantizer->NewScorer();
      for (const bool by_code : {false, true}) {
        by_code ? scorer->SetQueryCode(center.pointers[0]) : scorer->SetQuery(sample.at(0));
        const Estimates estimates(*scorer, codes);
        scorer->SetQuery(vectors.at(3));
        const Estimates back(*scorer, center);
        CHECK(estimates.errors[3] == 0);
        CHECK(back.errors[0] == 0);
        const double exact = Exact(metric, sample.at(0), vectors.at(3), 150);
        CHECK(estimates.distances[3] == Approx(exact).epsilon(1e-5).margin(1e-4));
        CHECK(back.distances[0] == Approx(exact).epsilon(1e-5).margin(1e-4));
      }
    }
  }
}

TEST_CASE("a code as the query gives nearly what its vector gives", "[knn]") {
  for (const Metric metric : kMetrics) {
    for (const uint32_t dims : {40U, 150U, 784U}) {
      Vectors vectors = Clustered(300, dims, 10, 6);
      if (metric == Metric::kCosine) {
        Normalise(vectors);
      }
      for (const CodeKind kind : kKinds) {
        INFO("kind " << static_cast<int>(kind) << ", metric " << static_cast<int>(metric) << ", dims "
                     << dims);
        const auto quantizer = Trained(kind, metric, vectors);
        const Codes codes(*quantizer, vectors);
        const auto scorer = quantizer->NewScorer();
        size_t outside = 0;
        for (size_t q = 0; q < 10; ++q) {
          scorer->SetQueryCode(codes.pointers[q]);
          const Estimates by_code(*scorer, codes);
          scorer->SetQuery(vectors.at(q));
          const Estimates estimates(*scorer, codes);
          for (size_t i = 10; i < vectors.size(); ++i) {
            const double exact = Exact(metric, vectors.at(q), vectors.at(i), dims);
            outside += std::abs(by_code.distances[i] - exact) > by_code.errors[i] + 1e-4 ? 1 : 0;
            const bool close =
                by_code.distances[i] == Approx(estimates.distances[i]).margin(1.5 * estimates.errors[i]);
            CHECK((close || quantizer->options().kind != CodeKind::k8Bit));
          }
        }
        CHECK(outside < 10 * 290 / 20);
      }
    }
  }
}

TEST_CASE("all instruction sets give the same estimates", "[knn]") {
  const Vectors vectors = Clustered(40, 200, 4, 8);
  for (const CodeKind kind : kKinds) {
    const auto quantizer = Trained(kind, Metric::kL2, vectors);
    const Codes expected_codes(*quantizer, vectors);
    const auto scorer = quantizer->NewScorer();
    scorer->SetQuery(vectors.at(0));
    const Estimates expected(*scorer, expected_codes);
    scorer->SetQueryCode(expected_codes.pointers[0]);
    const Estimates expected_by_code(*scorer, expected_codes);
    OnEveryTarget([&] {
      INFO("kind " << static_cast<int>(kind));
      const Codes codes(*quantizer, vectors);
      scorer->SetQuery(vectors.at(0));
      const Estimates estimates(*scorer, codes);
      scorer->SetQueryCode(codes.pointers[0]);
      const Estimates by_code(*scorer, codes);
      for (size_t i = 0; i < vectors.size(); ++i) {
        // A component at the edge of two levels may fall to either side.
        const float margin = 0.05F * expected.errors[i] + 1e-3F;
        CHECK(estimates.distances[i] == Approx(expected.distances[i]).margin(margin));
        CHECK(by_code.distances[i] == Approx(expected_by_code.distances[i]).margin(margin));
      }
    });
  }
}

TEST_CASE("ids follow kind, metric, seed and centre", "[knn]") {
  const Vectors sample = Clustered(50, 140, 4, 8);
  const auto quantizer = Trained(CodeKind::k1Bit, Metric::kL2, sample);
  CHECK(Trained(CodeKind::k1Bit, Metric::kL2, sample)->id() == quantizer->id());
  CHECK(Trained(CodeKind::k4Bit, Metric::kL2, sample)->id() != quantizer->id());
  CHECK(Trained(CodeKind::k1Bit, Metric::kCosine, sample)->id() != quantizer->id());
  CHECK(Trained(CodeKind::k1Bit, Metric::kL2, sample, 2)->id() != quantizer->id());
  CHECK(Trained(CodeKind::k1Bit, Metric::kL2, Clustered(50, 140, 4, 9))->id() != quantizer->id());
  CHECK(quantizer->WithKind(CodeKind::k8Bit)->id() == Trained(CodeKind::k8Bit, Metric::kL2, sample)->id());
  CHECK(quantizer->WithKind(CodeKind::k8Bit)->WithKind(CodeKind::k1Bit)->id() == quantizer->id());
}

TEST_CASE("bytes that no quantiser wrote are refused", "[knn]") {
  const Vectors sample = Clustered(5, 70, 2, 8);
  const auto quantizer = Trained(CodeKind::k8Bit, Metric::kInnerProduct, sample);
  const std::string bytes = quantizer->Encode();
  for (size_t length = 0; length < bytes.size(); ++length) {
    const auto cut = Quantizer::Decode(std::string_view(bytes).substr(0, length));
    REQUIRE_FALSE(cut.ok());
    CHECK(cut.status().code() == StatusCode::kCorrupt);
  }
  CHECK_FALSE(Quantizer::Decode(bytes + "x").ok());
  const auto changed = [&](size_t at, char value) {
    std::string copy = bytes;
    copy[at] = value;
    return Quantizer::Decode(copy);
  };
  CHECK_FALSE(changed(0, 2).ok());   // format
  CHECK_FALSE(changed(4, 5).ok());   // kind
  CHECK_FALSE(changed(4, 3).ok());   // 1 bit of 70 dims
  CHECK_FALSE(changed(5, 1).ok());   // kind, high byte
  CHECK_FALSE(changed(6, 3).ok());   // metric
  CHECK_FALSE(changed(8, 71).ok());  // dims
  CHECK_FALSE(changed(10, 1).ok());  // dims beyond the most
  CHECK(changed(12, 9).ok());        // seed
  std::string infinite = bytes;
  infinite.replace(20, 4, std::string("\x00\x00\x80\x7f", 4));
  CHECK_FALSE(Quantizer::Decode(infinite).ok());
}

}  // namespace stoa::knn
