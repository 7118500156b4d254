#include "storage/table/merge_policy.h"

#include <algorithm>
#include <limits>

namespace stoa::storage {
namespace {

constexpr uint64_t kMostPatches = 1'000'000;
constexpr uint64_t kMostRows = std::numeric_limits<uint32_t>::max() - 1;

// The cheapest run of `count` chunks that are not busy and fit in one.
MergeChoice CheapestWindow(std::span<const MergeCandidate> chunks, size_t count) {
  MergeChoice best;
  uint64_t best_bytes = std::numeric_limits<uint64_t>::max();
  for (size_t first = 0; first + count <= chunks.size(); ++first) {
    uint64_t bytes = 0;
    uint64_t rows = 0;
    bool free = true;
    for (const MergeCandidate& chunk : chunks.subspan(first, count)) {
      bytes += chunk.disk_bytes;
      rows += chunk.live_rows;
      free = free && !chunk.busy;
    }
    if (free && rows <= kMostRows && bytes < best_bytes) {
      best = {first, count};
      best_bytes = bytes;
    }
  }
  return best;
}

template <typename Test>
MergeChoice FirstThat(std::span<const MergeCandidate> chunks, const Test& test) {
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (!chunks[i].busy && test(chunks[i])) {
      return {i, 1};
    }
  }
  return {};
}

}  // namespace

MergeChoice ChooseBackgroundMerge(std::span<const MergeCandidate> chunks, size_t cutoff, size_t per_job) {
  const MergeChoice patched =
      FirstThat(chunks, [](const MergeCandidate& chunk) { return chunk.patched_values > kMostPatches; });
  if (patched.count > 0) {
    return patched;
  }
  if (chunks.size() > std::max<size_t>(cutoff, 1)) {
    const size_t count = std::min(std::max<size_t>(per_job, 2), chunks.size());
    if (const MergeChoice choice = CheapestWindow(chunks, count); choice.count > 0) {
      return choice;
    }
    return count > 2 ? CheapestWindow(chunks, 2) : MergeChoice{};
  }
  return FirstThat(chunks, [](const MergeCandidate& chunk) {
    return uint64_t{chunk.live_rows} * 2 < chunk.rows || chunk.patched_values > chunk.rows / 4;
  });
}

MergeChoice ChooseFullMerge(std::span<const MergeCandidate> chunks, size_t cutoff) {
  const size_t wanted = std::max<size_t>(cutoff, 1);
  for (size_t count = chunks.size() > wanted ? chunks.size() - wanted + 1 : 0; count >= 2; --count) {
    if (const MergeChoice choice = CheapestWindow(chunks, count); choice.count > 0) {
      return choice;
    }
  }
  return FirstThat(chunks, [](const MergeCandidate& chunk) {
    return !chunk.fresh && (chunk.live_rows < chunk.rows || chunk.patched_values > 0);
  });
}

MergeChoice ChooseRebuild(std::span<const MergeCandidate> chunks) {
  MergeChoice choice;
  uint32_t most = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (!chunks[i].busy && !chunks[i].fresh && (choice.count == 0 || chunks[i].live_rows > most)) {
      choice = {i, 1};
      most = chunks[i].live_rows;
    }
  }
  return choice;
}

}  // namespace stoa::storage
