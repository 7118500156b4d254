#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "float_codes.h"
#include "knn/graph/graph_builder.h"
#include "knn/graph/graph_walk.h"
#include "knn/graph/node_blocks.h"

namespace stoa::knn {
namespace {

// A graph in its blocks, as a file has it.
struct Built {
  Built(const CodeArray& codes, const Quantizer& quantizer, const GraphOptions& options,
        const GraphSeed* seed = nullptr)
      : graph(*BuildGraph(codes, quantizer, options, seed, nullptr, nullptr)),
        layout(NodeLayout::For(codes.count, options.m, quantizer.code_bytes())),
        bytes(uint64_t{codes.count} * layout.stride() + 64) {
    auto* base = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(bytes.data()) + 63) / 64 * 64);
    for (uint32_t node = 0; node < codes.count; ++node) {
      WriteNodeBlock(&graph, node, codes[node], layout, base + uint64_t{node} * layout.stride());
    }
    blocks = NodeBlocks(base, codes.count, layout);
    upper = UpperLevels::Of(graph);
  }

  Graph graph;
  NodeLayout layout;
  std::vector<uint8_t> bytes;
  NodeBlocks blocks;
  UpperLevels upper;
};

std::vector<uint32_t> Exact(const CodeArray& codes, const CodeScorer& scorer, size_t k,
                            const std::vector<uint64_t>* passes = nullptr) {
  std::vector<std::pair<float, uint32_t>> all;
  for (uint32_t node = 0; node < codes.count; ++node) {
    if (passes != nullptr && ((*passes)[node / 64] >> (node % 64) & 1) == 0) {
      continue;
    }
    const uint8_t* code = codes[node];
    float distance = 0;
    scorer.Score(&code, 1, &distance);
    all.emplace_back(distance, node);
  }
  std::sort(all.begin(), all.end());
  std::vector<uint32_t> nodes;
  for (size_t i = 0; i < std::min(k, all.size()); ++i) {
    nodes.push_back(all[i].second);
  }
  return nodes;
}

// Of 10 nearest.
double Recall(RandomCodes& codes, const Built& built, size_t beam,
              const std::vector<uint64_t>* passes = nullptr, bool through = true) {
  constexpr size_t k = 10;
  RandomCodes queries(50, codes.quantizer.options().dims, 77);
  const auto scorer = codes.quantizer.NewScorer();
  const GraphWalk walk(built.blocks, built.upper);
  WalkState state;
  std::vector<FoundNode> found;
  size_t right = 0;
  for (uint32_t q = 0; q < 50; ++q) {
    scorer->SetQuery(queries.at(q));
    if (passes == nullptr) {
      walk.Search(*scorer, beam, state, found);
    } else {
      REQUIRE(walk.SearchFiltered(*scorer, beam, {.passes = *passes, .through = through}, state, found));
    }
    const std::vector<uint32_t> exact = Exact(codes.array, *scorer, k, passes);
    for (size_t i = 0; i < std::min(k, found.size()); ++i) {
      right += static_cast<size_t>(std::count(exact.begin(), exact.end(), found[i].node));
    }
  }
  return static_cast<double>(right) / static_cast<double>(50 * k);
}

std::vector<bool> Reached(const Built& built) {
  std::vector<bool> reached(built.graph.node_count);
  std::vector<uint32_t> open{built.graph.entry};
  reached[built.graph.entry] = true;
  while (!open.empty()) {
    const uint32_t node = open.back();
    open.pop_back();
    for (uint32_t next = built.graph.next_duplicate[node]; next != Graph::kNone;
         next = built.graph.next_duplicate[next]) {
      reached[next] = true;
    }
    for (const uint32_t link : built.graph.Links(node)) {
      if (!reached[link]) {
        reached[link] = true;
        open.push_back(link);
      }
    }
  }
  return reached;
}

TEST_CASE("a walk finds nearly all of the nearest nodes", "[knn]") {
  RandomCodes codes(3000, 16, 1);
  const Built built(codes.array, codes.quantizer, {});
  CHECK(Recall(codes, built, 64) > 0.97);
  CHECK(Recall(codes, built, 400) > 0.995);
}

TEST_CASE("one thread builds the same graph every time, several one as good", "[knn]") {
  RandomCodes codes(2000, 12, 3);
  const Built one(codes.array, codes.quantizer, {});
  const Built again(codes.array, codes.quantizer, {});
  CHECK(one.graph.links == again.graph.links);
  CHECK(one.graph.upper == again.graph.upper);
  const Built four(codes.array, codes.quantizer, {.threads = 4});
  CHECK(Recall(codes, four, 64) > 0.97);
}

TEST_CASE("every node can be reached, also among thousands of equal vectors", "[knn]") {
  RandomCodes codes(5000, 8, 5);
  for (uint32_t node = 0; node < 5000; ++node) {
    if (node % 5 != 0) {
      std::fill(codes.at(node), codes.at(node) + 8, 0.25f);
    }
  }
  const Built built(codes.array, codes.quantizer, {});
  const std::vector<bool> reached = Reached(built);
  CHECK(std::count(reached.begin(), reached.end(), false) == 0);
  const auto scorer = codes.quantizer.NewScorer();
  const GraphWalk walk(built.blocks, built.upper);
  WalkState state;
  std::vector<FoundNode> found;
  int missed = 0;
  for (uint32_t node = 0; node < 5000; node += 5) {
    scorer->SetQuery(codes.at(node));
    walk.Search(*scorer, 10, state, found);
    missed += found.empty() || found[0].distance != 0;
  }
  CHECK(missed <= 10);
}

TEST_CASE("a walk with a filter returns passing nodes only, and the nearest of them", "[knn]") {
  RandomCodes codes(4000, 12, 6);
  const Built built(codes.array, codes.quantizer, {});
  for (const uint32_t every : {2u, 10u, 50u}) {
    std::vector<uint64_t> passes(4000 / 64 + 1);
    for (uint32_t node = 0; node < 4000; node += every) {
      passes[node / 64] |= uint64_t{1} << (node % 64);
    }
    CHECK(Recall(codes, built, 64, &passes, true) > 0.97);
    CHECK(Recall(codes, built, 64, &passes, false) > 0.9);
  }
}

TEST_CASE("a walk with a filter gives up when it compares more than it may", "[knn]") {
  RandomCodes codes(4000, 12, 8);
  const Built built(codes.array, codes.quantizer, {});
  std::vector<uint64_t> passes(4000 / 64 + 1);
  passes[7] = 1;
  const auto scorer = codes.quantizer.NewScorer();
  scorer->SetQuery(codes.at(0));
  WalkState state;
  std::vector<FoundNode> found;
  CHECK_FALSE(GraphWalk(built.blocks, built.upper)
                  .SearchFiltered(*scorer, 10, {.passes = passes, .most_scored = 100}, state, found));
}

TEST_CASE("a merge takes over the living nodes of the old graph", "[knn]") {
  RandomCodes old_codes(3000, 12, 9);
  const Built old_graph(old_codes.array, old_codes.quantizer, {});
  // Every third node is gone, 500 are new.
  GraphSeed seed{.graph = &old_graph.graph, .new_nodes = std::vector<uint32_t>(3000, Graph::kNone)};
  RandomCodes codes(2500, 12, 10);
  uint32_t next = 0;
  for (uint32_t node = 0; node < 3000; ++node) {
    if (node % 3 != 0) {
      std::copy(old_codes.at(node), old_codes.at(node) + 12, codes.at(next));
      seed.new_nodes[node] = next++;
    }
  }
  const Built merged(codes.array, codes.quantizer, {}, &seed);
  CHECK(Recall(codes, merged, 64) > 0.96);
  const std::vector<bool> reached = Reached(merged);
  CHECK(std::count(reached.begin(), reached.end(), false) == 0);
}

TEST_CASE("many threads and few links never write behind a list", "[knn]") {
  // Under ASan; every other node has an upper level, on which lists are shortest.
  for (uint32_t round = 0; round < 20; ++round) {
    RandomCodes codes(600, 2, 100 + round);
    const Built built(codes.array, codes.quantizer, {.m = 2, .ef_construction = 30, .threads = 8});
    const std::vector<bool> reached = Reached(built);
    CHECK(std::count(reached.begin(), reached.end(), false) == 0);
  }
}

TEST_CASE("a survivor whose neighbours have all gone is linked anew", "[knn]") {
  RandomCodes old_codes(2000, 6, 16);
  const Built old_graph(old_codes.array, old_codes.quantizer, {});
  const uint32_t survivor = 1234;
  GraphSeed seed{.graph = &old_graph.graph, .new_nodes = std::vector<uint32_t>(2000, Graph::kNone)};
  RandomCodes codes(2000, 6, 17);
  std::copy(old_codes.at(survivor), old_codes.at(survivor) + 6, codes.at(0));
  seed.new_nodes[survivor] = 0;
  const Built merged(codes.array, codes.quantizer, {}, &seed);
  CHECK_FALSE(merged.graph.Links(0).empty());
  const std::vector<bool> reached = Reached(merged);
  CHECK(std::count(reached.begin(), reached.end(), false) == 0);
}

TEST_CASE("a graph survives its way through the blocks", "[knn]") {
  RandomCodes codes(700, 5, 12);
  const Built built(codes.array, codes.quantizer, {.m = 6, .ef_construction = 40});
  CHECK(built.upper.IsSound(700));
  const Graph back = GraphOf(built.blocks, built.upper);
  CHECK(back.degrees == built.graph.degrees);
  CHECK(back.links == built.graph.links);
  CHECK(back.levels == built.graph.levels);
  CHECK(back.next_duplicate == built.graph.next_duplicate);
  for (uint32_t node = 0; node < 700; ++node) {
    for (int level = 1; level <= back.levels[node]; ++level) {
      CHECK(std::ranges::equal(back.UpperLinks(node, level), built.graph.UpperLinks(node, level)));
    }
  }
}

TEST_CASE("graphs of few nodes, one link and equal nodes only are walked", "[knn]") {
  for (const uint32_t count : {1u, 2u, 3u, 40u}) {
    for (const uint32_t m : {1u, 2u, 64u}) {
      RandomCodes codes(count, 3, 13);
      const Built built(codes.array, codes.quantizer, {.m = m, .ef_construction = 1});
      const std::vector<bool> reached = Reached(built);
      CHECK(std::count(reached.begin(), reached.end(), false) == 0);
    }
  }
  RandomCodes equal(40, 3, 14);
  for (uint32_t node = 0; node < 40; ++node) {
    std::fill(equal.at(node), equal.at(node) + 3, 1.0f);
  }
  const Built built(equal.array, equal.quantizer, {});
  CHECK(built.graph.Links(0).empty());
  CHECK(std::ranges::count(Reached(built), true) == 40);
}

TEST_CASE("the upper levels of a damaged file are refused", "[knn]") {
  RandomCodes codes(2000, 4, 15);
  const Built built(codes.array, codes.quantizer, {.m = 4});
  REQUIRE(built.upper.nodes.size() > 10);
  UpperLevels damaged = built.upper;
  damaged.lists[1] = 1u << 30;
  CHECK_FALSE(damaged.IsSound(2000));
  damaged = built.upper;
  damaged.lists[0] = 5;
  CHECK_FALSE(damaged.IsSound(2000));
  damaged = built.upper;
  damaged.nodes[3] = 2000;
  CHECK_FALSE(damaged.IsSound(2000));
  damaged = built.upper;
  std::swap(damaged.nodes[3], damaged.nodes[4]);
  CHECK_FALSE(damaged.IsSound(2000));
  damaged = built.upper;
  damaged.starts[2] += 1;
  CHECK_FALSE(damaged.IsSound(2000));
}

}  // namespace
}  // namespace stoa::knn
