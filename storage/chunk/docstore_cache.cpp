#include <algorithm>
#include <atomic>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/chunk/docstore.h"

namespace stoa::storage {
namespace {

constexpr uint64_t kBytesPerShard = 4u << 20;
constexpr uint64_t kMaxShards = 16;
constexpr uint64_t kEntryOverhead = 160;  // what a block costs besides its bytes

struct Key {
  uint64_t file = 0;
  uint64_t block = 0;
  friend bool operator==(const Key&, const Key&) = default;
};

uint64_t HashOf(const Key& key) {
  const uint64_t mixed = (key.file * 0x9E3779B97F4A7C15u ^ key.block) * 0xD6E8FEB86659FD93u;
  return mixed ^ (mixed >> 32);
}

struct KeyHash {
  size_t operator()(const Key& key) const { return static_cast<size_t>(HashOf(key)); }
};

// A part of the cache with a lock of its own. Safe to share.
class Shard {
 public:
  explicit Shard(uint64_t capacity) : capacity_(capacity) {}

  std::shared_ptr<const std::string> Find(const Key& key) {
    MutexLock lock(mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) {
      return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->bytes;
  }

  void Add(const Key& key, std::shared_ptr<const std::string> bytes) {
    const uint64_t cost = bytes->size() + kEntryOverhead;
    std::list<Entry> dropped;  // freed without the lock
    MutexLock lock(mutex_);
    if (cost > capacity_ || index_.contains(key)) {
      return;
    }
    while (bytes_ + cost > capacity_) {
      DropTo(dropped, std::prev(entries_.end()));
    }
    entries_.push_front({key, std::move(bytes)});
    index_[key] = entries_.begin();
    bytes_ += cost;
  }

  void Forget(uint64_t file) {
    std::list<Entry> dropped;
    MutexLock lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto next = std::next(entry);
      if (entry->key.file == file) {
        DropTo(dropped, entry);
      }
      entry = next;
    }
  }

  uint64_t bytes() {
    MutexLock lock(mutex_);
    return bytes_;
  }

 private:
  struct Entry {
    Key key;
    std::shared_ptr<const std::string> bytes;
  };

  void DropTo(std::list<Entry>& dropped, std::list<Entry>::iterator entry) REQUIRES(mutex_) {
    bytes_ -= entry->bytes->size() + kEntryOverhead;
    index_.erase(entry->key);
    dropped.splice(dropped.begin(), entries_, entry);
  }

  const uint64_t capacity_;
  Mutex mutex_;
  std::list<Entry> entries_ GUARDED_BY(mutex_);  // most recently used first
  std::unordered_map<Key, std::list<Entry>::iterator, KeyHash> index_ GUARDED_BY(mutex_);
  uint64_t bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

struct DocstoreCache::State {
  std::vector<std::unique_ptr<Shard>> shards;
  std::atomic<uint64_t> next_file{1};

  Shard& ShardOf(const Key& key) const { return *shards[(HashOf(key) >> 16) % shards.size()]; }
};

DocstoreCache::DocstoreCache(uint64_t capacity) : state_(std::make_unique<State>()) {
  const uint64_t count = std::clamp<uint64_t>(capacity / kBytesPerShard, 1, kMaxShards);
  for (uint64_t i = 0; i < count; ++i) {
    state_->shards.push_back(std::make_unique<Shard>(capacity / count));
  }
}

DocstoreCache::~DocstoreCache() = default;

uint64_t DocstoreCache::NewFile() { return state_->next_file.fetch_add(1, std::memory_order_relaxed); }

std::shared_ptr<const std::string> DocstoreCache::Find(uint64_t file, uint64_t block) const {
  const Key key{file, block};
  return state_->ShardOf(key).Find(key);
}

void DocstoreCache::Add(uint64_t file, uint64_t block, std::shared_ptr<const std::string> bytes) {
  const Key key{file, block};
  state_->ShardOf(key).Add(key, std::move(bytes));
}

void DocstoreCache::Forget(uint64_t file) {
  for (const auto& shard : state_->shards) {
    shard->Forget(file);
  }
}

uint64_t DocstoreCache::bytes() const {
  uint64_t sum = 0;
  for (const auto& shard : state_->shards) {
    sum += shard->bytes();
  }
  return sum;
}

}  // namespace stoa::storage
