// library_bench BASE.fvecs QUERIES.fvecs l2|cosine [K=10] [QUERIES=1000] [PEERS=hnswlib,faiss]
// [KINDS=float,8bit,4bit,1bit] HNSW of this project beside other libraries, one thread, the same M = 16 and
// ef_construction = 200, the same data in the same run: build time, then for each width of the beam queries/s
// and recall@K against exact search, and queries/s at recall 0.95 and 0.99 by interpolation. Quantised kinds
// are rescored with the floats.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "knn/graph/graph_builder.h"
#include "knn/graph/graph_walk.h"
#include "knn/index/page_buffer.h"
#include "knn/kernels/float_distance.h"
#include "knn/quantize/quantizer.h"
#include "peer.h"

namespace stoa::bench {

using knn::BuildGraph;
using knn::CodeArray;
using knn::CodeKind;
using knn::CodeScorer;
using knn::DotProducts;
using knn::FoundNode;
using knn::Graph;
using knn::GraphWalk;
using knn::Metric;
using knn::NodeBlocks;
using knn::NodeLayout;
using knn::PageBuffer;
using knn::PlainDotProduct;
using knn::Quantizer;
using knn::SquaredDistances;
using knn::UpperLevels;
using knn::WalkState;
using knn::WriteNodeBlock;

namespace {

constexpr size_t kM = 16;
constexpr size_t kEfConstruction = 200;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Normalise(VectorSet& set) {
  for (size_t i = 0; i < set.size(); ++i) {
    float* vector = set.floats.data() + i * set.dims;
    const double norm = std::sqrt(PlainDotProduct(vector, vector, set.dims));
    for (size_t d = 0; d < set.dims && norm > 0; ++d) {
      vector[d] = static_cast<float>(vector[d] / norm);
    }
  }
}

void Distances(const VectorSet& base, bool inner_product, const float* query,
               const std::vector<const float*>& vectors, std::vector<float>& out) {
  out.resize(vectors.size());
  if (inner_product) {
    DotProducts(query, vectors.data(), vectors.size(), base.dims, out.data());
    for (float& value : out) {
      value = 1 - value;
    }
  } else {
    SquaredDistances(query, vectors.data(), vectors.size(), base.dims, out.data());
  }
}

// This project's library, as the server uses it: codes, graph, node blocks, walk, rescoring with bounds.
class Stoa : public Peer {
 public:
  Stoa(CodeKind kind, double oversampling) : kind_(kind), oversampling_(oversampling) {}

  std::string name() const override {
    static const char* const kNames[] = {"float", "8bit", "4bit", "1bit", "1bitsimple"};
    std::string name = std::string("stoa ") + kNames[static_cast<int>(kind_)];
    if (kind_ != CodeKind::kFloat) {
      char text[16];
      std::snprintf(text, sizeof(text), " x%.1f", oversampling_);
      name += text;
    }
    return name;
  }

  void Build(const VectorSet& base, bool inner_product, size_t m, size_t ef_construction) override {
    base_ = &base;
    inner_product_ = inner_product;
    std::vector<const float*> vectors;
    for (size_t i = 0; i < base.size(); ++i) {
      vectors.push_back(base.at(i));
    }
    std::vector<const float*> sample;
    for (size_t i = 0; i < base.size(); i += std::max<size_t>(1, base.size() / 16384)) {
      sample.push_back(base.at(i));
    }
    quantizer_ = Quantizer::Train({.kind = kind_,
                                   .metric = inner_product ? Metric::kCosine : Metric::kL2,
                                   .dims = static_cast<uint32_t>(base.dims)},
                                  sample);
    const double start = Now();
    const bool self =
        quantizer_->options().kind == CodeKind::kFloat || quantizer_->options().kind == CodeKind::k8Bit;
    const std::shared_ptr<const Quantizer> linker = self ? quantizer_ : quantizer_->WithKind(CodeKind::k8Bit);
    PageBuffer codes(base.size() * quantizer_->code_bytes());
    PageBuffer linker_codes(self ? 1 : base.size() * linker->code_bytes());
    quantizer_->EncodeVectors(vectors, codes.data(), quantizer_->code_bytes());
    if (!self) {
      linker->EncodeVectors(vectors, linker_codes.data(), linker->code_bytes());
    }
    const double encoded = Now();
    const CodeArray array{.data = self ? codes.data() : linker_codes.data(),
                          .stride = linker->code_bytes(),
                          .count = static_cast<uint32_t>(base.size())};
    Result<Graph> graph =
        BuildGraph(array, *linker,
                   {.m = static_cast<uint32_t>(m), .ef_construction = static_cast<uint32_t>(ef_construction)},
                   nullptr, nullptr, nullptr);
    if (!graph.ok()) {
      std::exit(1);
    }
    const double linked = Now();
    const NodeLayout layout =
        NodeLayout::For(array.count, static_cast<uint32_t>(m), quantizer_->code_bytes());
    nodes_ = PageBuffer(uint64_t{array.count} * layout.stride());
    for (uint32_t node = 0; node < array.count; ++node) {
      WriteNodeBlock(&*graph, node, codes.data() + uint64_t{node} * quantizer_->code_bytes(), layout,
                     nodes_.data() + uint64_t{node} * layout.stride());
    }
    blocks_ = NodeBlocks(nodes_.data(), array.count, layout);
    upper_ = UpperLevels::Of(*graph);
    scorer_ = quantizer_->NewScorer();
    std::printf("  encode %.1f s, link %.1f s; %.1f bytes a vector in memory\n", encoded - start,
                linked - encoded,
                static_cast<double>(uint64_t{array.count} * layout.stride() +
                                    4 * (upper_.nodes.size() + upper_.starts.size() + upper_.lists.size())) /
                    array.count);
  }

  void Search(const float* query, size_t k, size_t ef, std::vector<uint32_t>& found) override {
    scorer_->SetQuery(query);
    const GraphWalk walk(blocks_, upper_);
    const auto wanted = static_cast<size_t>(std::ceil(oversampling_ * static_cast<double>(k)));
    const bool exact = quantizer_->options().kind == CodeKind::kFloat;
    walk.Search(*scorer_, std::max(ef, exact ? k : wanted), state_, nodes_found_);
    found.clear();
    if (exact) {
      for (size_t i = 0; i < std::min(k, nodes_found_.size()); ++i) {
        found.push_back(nodes_found_[i].node);
      }
      return;
    }
    Rescore(query, k, wanted, found);
  }

  uint64_t scored() const { return state_.beam.scored; }
  uint64_t rescored() const { return rescored_; }

 private:
  void Rescore(const float* query, size_t k, size_t wanted, std::vector<uint32_t>& found) {
    nodes_found_.resize(std::min(wanted, nodes_found_.size()));
    std::vector<const uint8_t*> codes;
    for (const FoundNode& node : nodes_found_) {
      codes.push_back(blocks_.Code(node.node));
    }
    std::vector<float> estimates(codes.size());
    std::vector<float> errors(codes.size());
    scorer_->ScoreWithErrors(codes.data(), codes.size(), estimates.data(), errors.data());
    std::vector<std::pair<float, uint32_t>> nearest;  // a heap, the farthest in front
    const size_t first = std::min(k, nodes_found_.size());
    const auto add = [&](const std::vector<uint32_t>& nodes) {
      std::vector<const float*> vectors;
      for (const uint32_t node : nodes) {
        vectors.push_back(base_->at(node));
      }
      Distances(*base_, inner_product_, query, vectors, distances_);
      rescored_ += nodes.size();
      for (size_t i = 0; i < nodes.size(); ++i) {
        nearest.emplace_back(distances_[i], nodes[i]);
        std::push_heap(nearest.begin(), nearest.end());
        if (nearest.size() > k) {
          std::pop_heap(nearest.begin(), nearest.end());
          nearest.pop_back();
        }
      }
    };
    std::vector<uint32_t> round;
    for (size_t i = 0; i < first; ++i) {
      round.push_back(nodes_found_[i].node);
    }
    add(round);
    round.clear();
    for (size_t i = first; i < nodes_found_.size(); ++i) {
      if (estimates[i] - errors[i] <= nearest.front().first) {
        round.push_back(nodes_found_[i].node);
      }
    }
    add(round);
    for (const auto& [distance, node] : nearest) {
      found.push_back(node);
    }
  }

  CodeKind kind_;
  double oversampling_;
  const VectorSet* base_ = nullptr;
  bool inner_product_ = false;
  std::shared_ptr<const Quantizer> quantizer_;
  PageBuffer nodes_;
  NodeBlocks blocks_;
  UpperLevels upper_;
  std::unique_ptr<CodeScorer> scorer_;
  WalkState state_;
  std::vector<FoundNode> nodes_found_;
  std::vector<float> distances_;
  uint64_t rescored_ = 0;
};

// The k-th smallest distance of each query.
std::vector<float> ExactBounds(const VectorSet& base, const VectorSet& queries, bool inner_product,
                               size_t k) {
  std::vector<const float*> vectors;
  for (size_t i = 0; i < base.size(); ++i) {
    vectors.push_back(base.at(i));
  }
  std::vector<float> bounds;
  std::vector<float> distances;
  for (size_t q = 0; q < queries.size(); ++q) {
    Distances(base, inner_product, queries.at(q), vectors, distances);
    std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(k - 1),
                     distances.end());
    bounds.push_back(distances[k - 1]);
  }
  return bounds;
}

struct Point {
  size_t ef;
  double recall;
  double rate;
};

struct Task {
  const VectorSet& base;
  const VectorSet& queries;
  bool inner_product;
  size_t k;
  std::vector<float> bounds;  // exact distance of the k-th, by query
};

Point Measure(Peer& peer, const Task& task, size_t ef) {
  const auto& [base, queries, inner_product, k, bounds] = task;
  std::vector<std::vector<uint32_t>> found(queries.size());
  double best = 1e30;
  for (int round = 0; round < 3; ++round) {
    const double start = Now();
    for (size_t q = 0; q < queries.size(); ++q) {
      peer.Search(queries.at(q), k, ef, found[q]);
    }
    best = std::min(best, Now() - start);
  }
  size_t right = 0;
  std::vector<float> distances;
  for (size_t q = 0; q < queries.size(); ++q) {
    std::vector<const float*> vectors;
    for (const uint32_t node : found[q]) {
      vectors.push_back(base.at(node));
    }
    Distances(base, inner_product, queries.at(q), vectors, distances);
    // Ties count: right is what is not farther than the k-th.
    const float slack = std::abs(bounds[q]) * 1e-5f + 1e-6f;
    right += static_cast<size_t>(
        std::count_if(distances.begin(), distances.end(), [&](float d) { return d <= bounds[q] + slack; }));
  }
  return {ef, static_cast<double>(right) / static_cast<double>(queries.size() * k),
          static_cast<double>(queries.size()) / best};
}

double RateAt(const std::vector<Point>& points, double recall) {
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i].recall < recall) {
      continue;
    }
    if (i == 0) {
      return points[0].rate;
    }
    const double share = (recall - points[i - 1].recall) / (points[i].recall - points[i - 1].recall);
    return points[i - 1].rate + share * (points[i].rate - points[i - 1].rate);
  }
  return 0;
}

void Run(Peer& peer, const Task& task) {
  std::printf("%s\n", peer.name().c_str());
  const double start = Now();
  peer.Build(task.base, task.inner_product, kM, kEfConstruction);
  std::printf("  build %.1f s\n", Now() - start);
  std::vector<Point> points;
  for (const size_t ef : {10, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 800}) {
    if (ef < task.k) {
      continue;
    }
    points.push_back(Measure(peer, task, ef));
    std::printf("  ef %4zu  recall %.4f  %9.0f queries/s\n", ef, points.back().recall, points.back().rate);
    if (points.back().recall > 0.998) {
      break;
    }
  }
  std::printf("  at recall 0.95: %.0f queries/s, at 0.99: %.0f\n", RateAt(points, 0.95),
              RateAt(points, 0.99));
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "library_bench BASE QUERIES l2|cosine [K] [QUERIES] [PEERS] [KINDS]\n");
    return 2;
  }
  const bool inner_product = std::strcmp(argv[3], "cosine") == 0;
  const size_t k = argc > 4 ? std::stoul(argv[4]) : 10;
  const size_t query_count = argc > 5 ? std::stoul(argv[5]) : 1000;
  const std::string peers = argc > 6 ? argv[6] : "hnswlib,faiss";
  const std::string kinds = argc > 7 ? argv[7] : "float,8bit,4bit,1bit";
  VectorSet base = ReadFvecs(argv[1], 1u << 30);
  VectorSet queries = ReadFvecs(argv[2], query_count);
  if (inner_product) {
    Normalise(base);
    Normalise(queries);
  }
  std::printf("%zu vectors of %zu dims, %zu queries, k = %zu, %s\n", base.size(), base.dims, queries.size(),
              k, argv[3]);
  const Task task{base, queries, inner_product, k, ExactBounds(base, queries, inner_product, k)};
  const auto has = [](const std::string& list, const char* name) {
    return ("," + list + ",").find("," + std::string(name) + ",") != std::string::npos;
  };
  if (has(peers, "hnswlib")) {
    Run(*MakeHnswlib(), task);
  }
  if (has(peers, "faiss")) {
    Run(*MakeFaiss(), task);
  }
  const std::pair<const char*, CodeKind> all[] = {{"float", CodeKind::kFloat},
                                                  {"8bit", CodeKind::k8Bit},
                                                  {"4bit", CodeKind::k4Bit},
                                                  {"1bit", CodeKind::k1Bit},
                                                  {"1bitsimple", CodeKind::kSign}};
  for (const auto& [name, kind] : all) {
    if (has(kinds, name)) {
      Stoa stoa(kind, 3.0);
      Run(stoa, task);
    }
  }
  return 0;
}

}  // namespace
}  // namespace stoa::bench

int main(int argc, char** argv) { return stoa::bench::Main(argc, argv); }
