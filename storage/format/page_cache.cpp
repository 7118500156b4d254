#include "storage/format/page_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <utility>

namespace stoa::storage {
namespace {

constexpr size_t kShards = 16;
constexpr size_t kLooks = 64;  // pages that are looked at to find one that may go
constexpr uint64_t kGhostsPerFrame = 16;
constexpr uint64_t kFrameStride = PageCache::kPageBytes + PageCache::kReadableBehind;
constexpr uint64_t kMemoryPage = 4096;

uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 32)) * 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9;
  return value ^ (value >> 32);
}

uint64_t HashOf(const PageKey& key) { return Mix(Mix(Mix(key.file) + key.section) + key.page); }

struct HashOfKey {
  size_t operator()(const PageKey& key) const { return HashOf(key); }
};

}  // namespace

// The memory: frames of one size in a reserved stretch of addresses. Free ones are a stack. Lives until the
// last pin is gone.
class PageCache::Arena {
 public:
  explicit Arena(uint64_t frames) : frames_(frames) {
    void* const base = frames == 0 ? MAP_FAILED
                                   : ::mmap(nullptr, frames * kFrameStride, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
      frames_ = 0;
      return;
    }
    base_ = static_cast<char*>(base);
    static_cast<void>(::madvise(base_, frames * kFrameStride, MADV_DONTDUMP));
    // First use of a frame is a part of a cold scan: few faults, of many pages each.
    static_cast<void>(::madvise(base_, frames * kFrameStride, MADV_HUGEPAGE));
  }
  ~Arena() {
    if (base_ != nullptr) {
      ::munmap(base_, frames_ * kFrameStride);
    }
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  uint64_t frames() const { return frames_; }

  char* Take() {
    MutexLock lock(mutex_);
    if (!free_.empty()) {
      char* const frame = free_.back();
      free_.pop_back();
      ++used_;
      return frame;
    }
    if (touched_ == frames_) {
      return nullptr;
    }
    ++used_;
    return base_ + touched_++ * kFrameStride;
  }
  void PutBack(char* frame) {
    MutexLock lock(mutex_);
    free_.push_back(frame);
    --used_;
  }
  bool HasFree() {
    MutexLock lock(mutex_);
    return !free_.empty() || touched_ < frames_;
  }
  uint64_t used() {
    MutexLock lock(mutex_);
    return used_;
  }
  // Gives the memory of free frames back; their addresses stay.
  void Trim() {
    MutexLock lock(mutex_);
    for (char* const frame : free_) {
      // Whole pages of the memory within the frame: neighbours may be in use.
      const auto offset = static_cast<uint64_t>(frame - base_);
      const uint64_t begin = (offset + kMemoryPage - 1) / kMemoryPage * kMemoryPage;
      const uint64_t end = (offset + kPageBytes) / kMemoryPage * kMemoryPage;
      static_cast<void>(::madvise(base_ + begin, end - begin, MADV_DONTNEED));
    }
  }

 private:
  uint64_t frames_;
  char* base_ = nullptr;
  Mutex mutex_;
  uint64_t touched_ GUARDED_BY(mutex_) = 0;  // frames that were ever used
  uint64_t used_ GUARDED_BY(mutex_) = 0;
  std::vector<char*> free_ GUARDED_BY(mutex_);
};

// The pages of a part of the keys. Time is counted in looks for pages.
class PageCache::Shard {
 public:
  explicit Shard(uint64_t ghosts) : ghosts_(ghosts) {}

  Pin Find(const PageKey& key) {
    MutexLock lock(mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) {
      return nullptr;
    }
    Entry& entry = entries_[found->second];
    entry.last_wanted = ++now_;
    return entry.page;
  }

  bool Has(const PageKey& key) {
    MutexLock lock(mutex_);
    return index_.contains(key);
  }

  // Notes that the page was missed; whether it may take the place of another.
  bool Miss(const PageKey& key, uint64_t hash) {
    MutexLock lock(mutex_);
    ++now_;
    Ghost& ghost = GhostOf(hash);
    const bool known = ghost.last_wanted != 0 && ghost.tag == hash;
    const uint64_t distance = now_ - ghost.last_wanted;
    ghost = {hash, now_};
    if (!known || entries_.empty() || index_.contains(key)) {
      return false;
    }
    const std::optional<size_t> oldest = Oldest();
    return oldest.has_value() && now_ - entries_[*oldest].last_wanted > distance + distance / 4;
  }

  // The page that was not wanted for longest goes. Not under the lock: pins are let go of by the caller.
  Pin GiveUpOne() {
    MutexLock lock(mutex_);
    const std::optional<size_t> oldest = Oldest();
    return oldest.has_value() ? Remove(*oldest) : nullptr;
  }

  // What is not needed after it: the frame, when the page is there already.
  Pin Insert(const PageKey& key, Pin page) {
    MutexLock lock(mutex_);
    const auto [place, is_new] = index_.try_emplace(key, entries_.size());
    if (!is_new) {
      return page;
    }
    entries_.push_back({key, std::move(page), ++now_});
    return nullptr;
  }

  std::vector<Pin> RemoveFile(uint64_t file) {
    MutexLock lock(mutex_);
    std::vector<Pin> pages;
    for (size_t i = entries_.size(); i > 0; --i) {
      if (entries_[i - 1].key.file == file) {
        pages.push_back(Remove(i - 1));
      }
    }
    return pages;
  }

 private:
  struct Entry {
    PageKey key;
    Pin page;
    uint64_t last_wanted = 0;
  };
  // A page that is not here any more, or never was. One slot for several, the last one stays.
  struct Ghost {
    uint64_t tag = 0;
    uint64_t last_wanted = 0;
  };

  Ghost& GhostOf(uint64_t hash) REQUIRES(mutex_) { return ghosts_[hash / kShards % ghosts_.size()]; }

  // Of those that nobody holds, among the next few.
  std::optional<size_t> Oldest() REQUIRES(mutex_) {
    std::optional<size_t> oldest;
    for (size_t looks = std::min(kLooks, entries_.size()); looks > 0; --looks) {
      hand_ = hand_ + 1 < entries_.size() ? hand_ + 1 : 0;
      const Entry& entry = entries_[hand_];
      if (entry.page.use_count() == 1 &&
          (!oldest.has_value() || entry.last_wanted < entries_[*oldest].last_wanted)) {
        oldest = hand_;
      }
    }
    return oldest;
  }

  Pin Remove(size_t index) REQUIRES(mutex_) {
    Entry& entry = entries_[index];
    const uint64_t hash = HashOf(entry.key);
    GhostOf(hash) = {hash, entry.last_wanted};
    index_.erase(entry.key);
    Pin page = std::move(entry.page);
    if (index + 1 < entries_.size()) {
      entry = std::move(entries_.back());
      index_[entry.key] = index;
    }
    entries_.pop_back();
    return page;
  }

  Mutex mutex_;
  uint64_t now_ GUARDED_BY(mutex_) = 0;
  size_t hand_ GUARDED_BY(mutex_) = 0;
  std::vector<Entry> entries_ GUARDED_BY(mutex_);
  std::unordered_map<PageKey, size_t, HashOfKey> index_ GUARDED_BY(mutex_);
  std::vector<Ghost> ghosts_ GUARDED_BY(mutex_);
};

PageCache::PageCache(uint64_t budget) : arena_(std::make_shared<Arena>(budget / kPageBytes)) {
  const uint64_t ghosts = std::bit_ceil(arena_->frames() * kGhostsPerFrame / kShards + 1);
  for (size_t i = 0; i < kShards; ++i) {
    shards_.push_back(std::make_unique<Shard>(ghosts));
  }
}

PageCache::~PageCache() = default;

PageCache::Shard& PageCache::ShardOf(uint64_t hash) const { return *shards_[hash % kShards]; }

uint64_t PageCache::NewFile() { return next_file_.fetch_add(1, std::memory_order_relaxed); }

void PageCache::Forget(uint64_t file) {
  for (const auto& shard : shards_) {
    shard->RemoveFile(file).clear();
  }
  arena_->Trim();
}

PageCache::Found PageCache::Find(const PageKey& key) {
  const uint64_t hash = HashOf(key);
  Shard& shard = ShardOf(hash);
  if (Pin page = shard.Find(key)) {
    return {std::move(page), false};
  }
  const bool displaces = shard.Miss(key, hash);
  return {nullptr, displaces || arena_->HasFree()};
}

PageCache::Pin PageCache::FindOnly(const PageKey& key) { return ShardOf(HashOf(key)).Find(key); }

bool PageCache::Has(const PageKey& key) { return ShardOf(HashOf(key)).Has(key); }

PageCache::Frame PageCache::Take(const PageKey& key) {
  char* memory = arena_->Take();
  if (memory == nullptr) {
    ShardOf(HashOf(key)).GiveUpOne().reset();
    memory = arena_->Take();
  }
  if (memory == nullptr) {
    return nullptr;
  }
  return {memory, [arena = arena_](char* frame) { arena->PutBack(frame); }};
}

void PageCache::Keep(const PageKey& key, Frame frame) {
  ShardOf(HashOf(key)).Insert(key, std::move(frame)).reset();
}

uint64_t PageCache::budget() const { return arena_->frames() * kPageBytes; }

uint64_t PageCache::used_bytes() const { return arena_->used() * kPageBytes; }

namespace {

struct SharedCache {
  Mutex mutex;
  std::shared_ptr<PageCache> cache GUARDED_BY(mutex);
};

SharedCache& Shared() {
  static SharedCache* const shared = new SharedCache;  // never destroyed: files may close at exit
  return *shared;
}

}  // namespace

std::shared_ptr<PageCache> ColumnarPageCache() {
  MutexLock lock(Shared().mutex);
  return Shared().cache;
}

void SetColumnarPageCache(std::shared_ptr<PageCache> cache) {
  MutexLock lock(Shared().mutex);
  Shared().cache = std::move(cache);
}

}  // namespace stoa::storage
