// How good and how fast the codes of vectors are (ninja quantizer_rates):
//   quantizer_rates recall BASE.fvecs QUERY.fvecs NEIGHBOURS.ivecs l2|ip|cosine [QUERIES [DIMS]]
//   quantizer_rates speed DIMS
// `recall` prints, for each kind, the part of the nearest 10 and 100 that is among the best estimates, all
// vectors being scored; vectors are filled up with zeros to DIMS. `speed` prints the processor time of one
// thread.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "knn/quantize/quantizer.h"

namespace {

using namespace stoa::knn;  // NOLINT(google-build-using-namespace): a program of one file

constexpr CodeKind kKinds[] = {CodeKind::kFloat, CodeKind::k8Bit, CodeKind::k4Bit, CodeKind::k1Bit,
                               CodeKind::kSign};
constexpr const char* kNames[] = {"float", "8 bits", "4 bits", "1 bit", "signs"};

double Seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Records of a count and that many values of four bytes.
template <typename T>
std::vector<std::vector<T>> ReadRecords(const char* path, size_t most, size_t least_length) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::vector<T>> records;
  int32_t count = 0;
  while (records.size() < most && file.read(reinterpret_cast<char*>(&count), 4)) {
    std::vector<T> record(static_cast<size_t>(count));
    file.read(reinterpret_cast<char*>(record.data()), static_cast<std::streamsize>(record.size() * 4));
    record.resize(std::max(record.size(), least_length));
    records.push_back(std::move(record));
  }
  if (records.empty()) {
    std::fprintf(stderr, "nothing in %s\n", path);
    std::exit(1);
  }
  return records;
}

void Normalise(std::vector<std::vector<float>>& vectors) {
  for (auto& vector : vectors) {
    const double squared = std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0);
    for (float& value : vector) {
      value = static_cast<float>(value / std::max(1e-30, std::sqrt(squared)));
    }
  }
}

struct Data {
  std::vector<std::vector<float>> base;
  std::vector<std::vector<float>> queries;
  std::vector<std::vector<int32_t>> nearest;
};

// Of how many of the first `wanted` neighbours the rank among the estimates is below wanted × 1, 2, 3, 5, 10.
void CountRanks(const std::vector<int32_t>& nearest, const std::vector<uint32_t>& ranks, size_t wanted,
                double* found) {
  constexpr size_t kMultiples[] = {1, 2, 3, 5, 10};
  for (size_t i = 0; i < wanted; ++i) {
    for (size_t m = 0; m < 5; ++m) {
      found[m] += ranks[static_cast<size_t>(nearest[i])] < wanted * kMultiples[m] ? 1 : 0;
    }
  }
}

void PrintFound(const double* found, size_t queries, size_t wanted) {
  for (size_t m = 0; m < 5; ++m) {
    std::printf(" %.4f", found[m] / static_cast<double>(queries * wanted));
  }
}

void MeasureRecall(const Data& data, CodeKind kind, Metric metric) {
  std::vector<const float*> vectors(data.base.size());
  for (size_t i = 0; i < vectors.size(); ++i) {
    vectors[i] = data.base[i].data();
  }
  const auto dims = static_cast<uint32_t>(data.base[0].size());
  const size_t sample = std::min<size_t>(vectors.size(), 20'000);
  const auto quantizer = Quantizer::Train({kind, metric, dims, 1}, {vectors.data(), sample});
  const size_t stride = quantizer->code_bytes();
  std::vector<uint8_t> bytes(stride * vectors.size());
  quantizer->EncodeVectors(vectors, bytes.data(), stride);
  std::vector<const uint8_t*> codes(vectors.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    codes[i] = bytes.data() + i * stride;
  }
  const auto scorer = quantizer->NewScorer();
  std::vector<float> distances(codes.size());
  std::vector<uint32_t> order(codes.size());
  std::vector<uint32_t> ranks(codes.size());
  double found10[5] = {};
  double found100[5] = {};
  for (size_t q = 0; q < data.queries.size(); ++q) {
    scorer->SetQuery(data.queries[q].data());
    scorer->Score(codes.data(), codes.size(), distances.data());
    std::iota(order.begin(), order.end(), 0);
    const size_t kept = std::min<size_t>(order.size(), 1000);
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept), order.end(),
                      [&](uint32_t a, uint32_t b) { return distances[a] < distances[b]; });
    std::fill(ranks.begin(), ranks.end(), UINT32_MAX);
    for (size_t i = 0; i < kept; ++i) {
      ranks[order[i]] = static_cast<uint32_t>(i);
    }
    CountRanks(data.nearest[q], ranks, 10, found10);
    CountRanks(data.nearest[q], ranks, 100, found100);
  }
  std::printf("%-7s %5zu bytes, 10 in 10 20 30 50 100:", kNames[static_cast<int>(quantizer->options().kind)],
              stride);
  PrintFound(found10, data.queries.size(), 10);
  std::printf("; 100 in 100 200 300 500 1000:");
  PrintFound(found100, data.queries.size(), 100);
  std::printf("\n");
  std::fflush(stdout);
}

template <typename Work>
double MicrosecondsOf(const Work& work) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const double start = Seconds();
    size_t times = 0;
    double used = 0;
    for (; used < 0.02; used = Seconds() - start) {
      for (int i = 0; i < 20; ++i, ++times) {
        work();
      }
    }
    best = std::min(best, used / static_cast<double>(times));
  }
  return best * 1e6;
}

void MeasureSpeed(uint32_t dims) {
  constexpr size_t kCount = 64;
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(dims * kCount);
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  std::vector<const float*> vectors(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    vectors[i] = values.data() + i * dims;
  }
  std::printf("dims %u; microseconds:  encode  SetQuery  SetQueryCode  Score of one in 64\n", dims);
  for (const CodeKind kind : kKinds) {
    const auto quantizer = Quantizer::Train({kind, Metric::kL2, dims, 1}, vectors);
    const size_t stride = quantizer->code_bytes();
    std::vector<uint8_t> bytes(stride * kCount);
    std::vector<const uint8_t*> codes(kCount);
    for (size_t i = 0; i < kCount; ++i) {
      codes[i] = bytes.data() + i * stride;
    }
    const auto scorer = quantizer->NewScorer();
    float distances[kCount];
    const double encode =
        MicrosecondsOf([&] { quantizer->EncodeVectors(vectors, bytes.data(), stride); }) / kCount;
    const double code_query = MicrosecondsOf([&] { scorer->SetQueryCode(codes[0]); });
    const double query = MicrosecondsOf([&] { scorer->SetQuery(values.data()); });
    const double score = MicrosecondsOf([&] { scorer->Score(codes.data(), kCount, distances); }) / kCount;
    std::printf("%-7s %8.3f %8.3f %8.3f %8.4f\n", kNames[static_cast<int>(quantizer->options().kind)], encode,
                query, code_query, score);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::strcmp(arguments[1], "speed") == 0) {
    MeasureSpeed(static_cast<uint32_t>(std::atoi(arguments[2])));
    return 0;
  }
  const auto metric = count >= 6 ? MetricOf(arguments[5]) : std::nullopt;
  if (!metric || std::strcmp(arguments[1], "recall") != 0) {
    std::fprintf(stderr, "see the first lines of the source\n");
    return 1;
  }
  const size_t queries = count > 6 ? static_cast<size_t>(std::atoi(arguments[6])) : 200;
  const size_t dims = count > 7 ? static_cast<size_t>(std::atoi(arguments[7])) : 0;
  Data data{ReadRecords<float>(arguments[2], SIZE_MAX, dims), ReadRecords<float>(arguments[3], queries, dims),
            ReadRecords<int32_t>(arguments[4], queries, 0)};
  if (*metric == Metric::kCosine) {
    Normalise(data.base);
    Normalise(data.queries);
  }
  for (const CodeKind kind : kKinds) {
    MeasureRecall(data, kind, *metric);
  }
  return 0;
}
