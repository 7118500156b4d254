#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stoa::storage {

// The server's settings of merges, defaults filled in. Tables may have a cutoff of their own.
struct MergeSettings {
  uint32_t auto_optimize = 1;  // 0: off; N: the cutoff is multiplied by it
  uint32_t cutoff = 1;
  uint32_t parallel = 1;
  uint32_t chunks_per_job = 2;
  uint32_t knn_parallel_build = 1;  // threads that build a vector index
};

// What the policy looks at, one a disk chunk, in the order of their rows.
struct MergeCandidate {
  uint32_t rows = 0;  // dead ones included
  uint32_t live_rows = 0;
  uint64_t disk_bytes = 0;
  uint64_t patched_values = 0;
  bool busy = false;   // part of a merge that runs
  bool fresh = false;  // made since OPTIMIZE began: not worth rewriting on its own
};

// Chunks [first, first + count) become one. count 0: nothing to do; 1: the chunk is written anew.
struct MergeChoice {
  size_t first = 0;
  size_t count = 0;
};

// Only neighbours are merged: rows keep the order of insertion. Of all windows of chunks that are not busy
// the one with the fewest bytes is taken.

// A background merge: first a chunk with very many patches, which are in memory; then, when there are more
// than `cutoff` chunks, at most `per_job` of them; else a chunk of which more than half is dead, or that has
// more patches than a quarter of its rows.
MergeChoice ChooseBackgroundMerge(std::span<const MergeCandidate> chunks, size_t cutoff, size_t per_job);
// OPTIMIZE TABLE: as many as bring the number to `cutoff` at once; else a chunk with dead rows or patches.
MergeChoice ChooseFullMerge(std::span<const MergeCandidate> chunks, size_t cutoff);
// REBUILD KNN: the chunk with the most live rows that is neither busy nor fresh. What is learnt of it holds
// for the others.
MergeChoice ChooseRebuild(std::span<const MergeCandidate> chunks);

}  // namespace stoa::storage
