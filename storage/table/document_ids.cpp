#include "storage/table/document_ids.h"

#include <algorithm>

namespace stoa::storage {
namespace {

constexpr int64_t kEpoch = 1556668800;  // 2019-05-01
constexpr int kCounterBits = 24;
constexpr int kServerShift = 56;

bool Exists(DocId id, std::span<const std::shared_ptr<const TableSnapshot>> snapshots) {
  return std::any_of(snapshots.begin(), snapshots.end(), [&](const auto& snapshot) {
    const auto place = snapshot->FindDocument(id);
    // Where it cannot be read, the insert itself will say so.
    return place.ok() && place->has_value();
  });
}

}  // namespace

DocumentIds::DocumentIds(uint32_t server_id, int64_t unix_seconds, uint64_t floor) {
  const uint64_t prefix = uint64_t{server_id & 0x7f} << kServerShift;
  const int64_t seconds = std::clamp<int64_t>(unix_seconds - kEpoch, 1, UINT32_MAX);
  next_ = prefix | (static_cast<uint64_t>(seconds) << kCounterBits);
  if ((floor >> kServerShift) == (prefix >> kServerShift)) {  // else the server_id was changed
    next_ = std::max(next_, floor);
  }
}

std::vector<DocId> DocumentIds::Take(size_t count, std::span<const std::shared_ptr<Table>> tables) {
  std::vector<std::shared_ptr<const TableSnapshot>> snapshots;
  for (const auto& table : tables) {
    snapshots.push_back(table->Peek());
  }
  std::vector<DocId> ids;
  ids.reserve(count);
  MutexLock lock(mutex_);
  while (ids.size() < count) {
    const DocId id(next_++);
    if (!Exists(id, snapshots)) {
      ids.push_back(id);
    }
  }
  return ids;
}

uint64_t DocumentIds::NextFloor() const {
  MutexLock lock(mutex_);
  return ((next_ >> kCounterBits) + 1) << kCounterBits;
}

}  // namespace stoa::storage
