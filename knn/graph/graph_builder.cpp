#include "knn/graph/graph_builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <utility>

#include "knn/graph/beam_search.h"
#include "knn/graph/duplicates.h"
#include "knn/graph/graph_seed.h"
#include "knn/graph/link_table.h"
#include "knn/graph/neighbour_selection.h"
#include "knn/graph/orphans.h"
#include "knn/graph/parallel_for.h"

namespace stoa::knn {

namespace {

constexpr uint32_t kGrain = 32;  // nodes that a thread takes at a time

// The finalizer of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators").
uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Geometrically distributed as in the paper, but a function of the node alone.
uint8_t LevelOf(uint32_t node, const GraphOptions& options) {
  const uint64_t bits = Mix(options.level_seed * 0x9e3779b97f4a7c15u + node + 1);
  const double uniform = (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  const double level = -std::log(uniform) / std::log(std::max<uint32_t>(options.m, 2));
  return static_cast<uint8_t>(std::min<double>(level, Graph::kHighestLevel));
}

bool IsCancelled(const CancelToken* cancel) { return cancel != nullptr && cancel->cancelled(); }

// What one thread needs to insert nodes.
struct Worker {
  Worker(const CodeArray& codes, const Quantizer& quantizer)
      : scorer(quantizer.NewScorer()), selection(codes, quantizer) {}

  std::unique_ptr<CodeScorer> scorer;
  NeighbourSelection selection;
  BeamState beam;
  std::vector<Link> candidates;
};

class Builder {
 public:
  Builder(const CodeArray& codes, const Quantizer& quantizer, const GraphOptions& options,
          Duplicates duplicates, std::vector<uint8_t> levels)
      : codes_(codes),
        quantizer_(quantizer),
        options_(options),
        duplicates_(std::move(duplicates)),
        table_(codes, options.m, std::move(levels)) {
    for (uint32_t thread = 0; thread < options.threads; ++thread) {
      workers_.push_back(std::make_unique<Worker>(codes, quantizer));
    }
  }

  LinkTable& table() { return table_; }
  void SetEntry(uint32_t node) { entry_ = node; }
  // `done`: by node; nodes that are linked already.
  Status InsertAll(const std::vector<bool>& done, const CancelToken* cancel,
                   const std::function<void(uint64_t)>& progress);
  // kCancelled.
  Result<Graph> Finish(const CancelToken* cancel);

 private:
  void PruneAll(const CancelToken* cancel);
  void Insert(uint32_t node, Worker& worker);
  void LinkOnLevel(uint32_t node, int level, Worker& worker);
  // A list is never full when this returns: there is always room for one more.
  void AddLink(LinkTable::Header& list, const Link& link, int level, Worker& worker);
  void Prune(LinkTable::Header& list, int level, Worker& worker);

  const CodeArray codes_;
  const Quantizer& quantizer_;
  const GraphOptions options_;
  Duplicates duplicates_;
  LinkTable table_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex entry_mutex_;  // of entry_; held while a node of a new highest level is inserted
  uint32_t entry_ = Graph::kNone;
};

Status Builder::InsertAll(const std::vector<bool>& done, const CancelToken* cancel,
                          const std::function<void(uint64_t)>& progress) {
  std::atomic<uint64_t> inserted{0};
  std::mutex progress_mutex;
  ParallelFor(options_.threads, 0, codes_.count, kGrain, [&](uint32_t thread, uint32_t node) {
    if (duplicates_.representative[node] == node && !done[node]) {
      Insert(node, *workers_[thread]);
    }
    const uint64_t count = inserted.fetch_add(1, std::memory_order_relaxed) + 1;
    if (count % 1024 != 0) {
      return true;
    }
    if (progress != nullptr) {
      const std::lock_guard lock(progress_mutex);
      progress(count);
    }
    return !IsCancelled(cancel);
  });
  return cancel == nullptr ? Status::Ok() : cancel->Check();
}

void Builder::Insert(uint32_t node, Worker& worker) {
  std::unique_lock entry_lock(entry_mutex_);
  const uint32_t first = entry_;
  const int level = table_.level(node);
  if (first == Graph::kNone) {
    entry_ = node;
    return;
  }
  const int top = table_.level(first);
  if (level <= top) {
    entry_lock.unlock();
  }
  worker.scorer->SetQueryCode(codes_[node]);
  uint32_t entry = first;
  for (int upper = top; upper > level; --upper) {
    entry = GreedySearch(table_, upper, *worker.scorer, entry, worker.beam);
  }
  for (int lower = std::min(level, top); lower >= 0; --lower) {
    const uint32_t entries[] = {entry};
    BeamSearch(table_, lower, *worker.scorer, entries, options_.ef_construction, worker.beam);
    entry = worker.beam.pool.node(0);
    LinkOnLevel(node, lower, worker);
  }
  if (level > top) {
    entry_ = node;
  }
}

void Builder::LinkOnLevel(uint32_t node, int level, Worker& worker) {
  worker.candidates.clear();
  for (size_t i = 0; i < worker.beam.pool.size(); ++i) {
    if (worker.beam.pool.node(i) != node) {
      worker.candidates.push_back({worker.beam.pool.distance(i), worker.beam.pool.node(i)});
    }
  }
  const std::vector<Link> links = worker.selection.Select(worker.candidates, options_.m);
  // Others may have linked back meanwhile.
  table_.Edit(node, level, [&](LinkTable::Header& list) {
    for (const Link& link : links) {
      AddLink(list, link, level, worker);
    }
  });
  for (const Link& link : links) {
    table_.Edit(link.node, level, [&](LinkTable::Header& list) {
      AddLink(list, {link.distance, node}, level, worker);
    });
  }
}

void Builder::AddLink(LinkTable::Header& list, const Link& link, int level, Worker& worker) {
  if (list.Has(link.node)) {
    return;
  }
  list.links()[list.count++] = link;
  if (list.count == table_.Capacity(level)) {
    std::sort(list.links(), list.links() + list.count);
    Prune(list, level, worker);
  }
}

void Builder::PruneAll(const CancelToken* cancel) {
  ParallelFor(options_.threads, 0, codes_.count, kGrain, [&](uint32_t thread, uint32_t node) {
    for (int level = 0; level <= table_.level(node); ++level) {
      table_.Edit(node, level, [&](LinkTable::Header& list) {
        std::sort(list.links(), list.links() + list.count);
        if (list.count > table_.MostLinks(level)) {
          Prune(list, level, *workers_[thread]);
        }
      });
    }
    return !IsCancelled(cancel);
  });
}

void Builder::Prune(LinkTable::Header& list, int level, Worker& worker) {
  const std::vector<Link>& kept =
      worker.selection.Select({list.links(), list.count}, table_.MostLinks(level));
  std::copy(kept.begin(), kept.end(), list.links());
  list.count = static_cast<uint32_t>(kept.size());
}

Result<Graph> Builder::Finish(const CancelToken* cancel) {
  PruneAll(cancel);
  ConnectOrphans(table_, duplicates_, entry_, quantizer_, cancel);
  if (cancel != nullptr) {
    RETURN_IF_ERROR(cancel->Check());
  }
  Graph graph;
  graph.m = options_.m;
  graph.node_count = codes_.count;
  graph.entry = entry_;
  graph.levels = table_.levels();
  graph.next_duplicate = std::move(duplicates_.next);
  const uint32_t most = table_.MostLinks(0);
  graph.links.assign(uint64_t{codes_.count} * most, 0);
  graph.degrees.assign(codes_.count, 0);
  graph.upper_start.assign(codes_.count, 0);
  for (uint32_t node = 0; node < codes_.count; ++node) {
    graph.upper_start[node] = static_cast<uint32_t>(graph.upper.size());
    for (int level = 1; level <= graph.levels[node]; ++level) {
      const std::vector<Link> links = table_.Copy(node, level);
      graph.upper.push_back(static_cast<uint32_t>(links.size()));
      for (const Link& link : links) {
        graph.upper.push_back(link.node);
      }
      graph.upper.resize(graph.upper.size() + options_.m - links.size());
    }
    const std::vector<Link> links = table_.Copy(node, 0);
    graph.degrees[node] = static_cast<uint16_t>(links.size());
    std::transform(links.begin(), links.end(),
                   graph.links.begin() + static_cast<std::ptrdiff_t>(uint64_t{node} * most),
                   [](const Link& link) { return link.node; });
  }
  return graph;
}

}  // namespace

Result<Graph> BuildGraph(const CodeArray& codes, const Quantizer& quantizer, const GraphOptions& given,
                         const GraphSeed* seed, const CancelToken* cancel,
                         const std::function<void(uint64_t done)>& progress) {
  GraphOptions options = given;
  options.threads = std::max<uint32_t>(options.threads, 1);
  Duplicates duplicates = FindDuplicates(codes, quantizer.code_bytes());
  std::vector<uint8_t> levels(codes.count);
  for (uint32_t node = 0; node < codes.count; ++node) {
    levels[node] = duplicates.representative[node] == node ? LevelOf(node, options) : uint8_t{0};
  }
  std::vector<bool> done(codes.count);
  SeedNodes taken;
  if (seed != nullptr) {
    taken = TakeSeedNodes(*seed, duplicates, options.m);
    for (const SeedNodes::Node& node : taken.nodes) {
      levels[node.node] = node.level;
    }
  }
  Builder builder(codes, quantizer, options, std::move(duplicates), std::move(levels));
  if (!taken.nodes.empty()) {
    LinkSeedNodes(*seed, taken, quantizer, options.threads, builder.table(), cancel);
    builder.SetEntry(taken.entry);
    // Those of whose links nothing lives are inserted like new ones.
    for (const SeedNodes::Node& node : taken.nodes) {
      done[node.node] = node.node == taken.entry || builder.table().HasLinks(node.node);
    }
  }
  RETURN_IF_ERROR(builder.InsertAll(done, cancel, progress));
  return builder.Finish(cancel);
}

}  // namespace stoa::knn
