#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/base/mutex.h"

namespace stoa::storage {

// Which page: of which open file (PageCache::NewFile), of which of its sections, which one of that.
struct PageKey {
  uint64_t file = 0;
  uint32_t section = 0;
  uint64_t page = 0;
  friend bool operator==(const PageKey&, const PageKey&) = default;
};

// Verified pages of the columnar files that are read by position, for all readers of the server: what is read
// again and again is not copied from the kernel again and again. Never larger than its budget, pinned pages
// included; a reader that gets no memory here uses its own. Safe from any thread.
//
// A page that is missed takes free memory. When there is none, it takes that of a page which has not been
// wanted for longer than the new one was last seen ago, and otherwise it is not kept: a scan of more than the
// budget that goes round and round finds the same part of its pages each time instead of none, and what is
// read once displaces nothing.
class PageCache {
 public:
  static constexpr uint64_t kPageBytes = 64 << 10;
  static constexpr uint64_t kReadableBehind = 128;  // zeros behind the bytes of a page

  // Keeps the bytes where they are, also after the cache gave the page up or was destroyed.
  using Pin = std::shared_ptr<const char>;
  using Frame = std::shared_ptr<char>;  // kPageBytes to fill

  struct Found {
    Pin page;             // nullptr: it is not here
    bool wanted = false;  // then: whether it would be kept
  };

  explicit PageCache(uint64_t budget);
  ~PageCache();
  PageCache(const PageCache&) = delete;
  PageCache& operator=(const PageCache&) = delete;

  uint64_t NewFile();              // a number for PageKey, never used again
  void Forget(uint64_t file);      // gives the pages of a file up, and their memory back
  Found Find(const PageKey& key);  // for a reader of whole pages: what is missed now is known the next time
  Pin FindOnly(const PageKey& key);
  bool Has(const PageKey& key);
  // Memory for a page that was wanted; another page may go for it. nullptr: there is none.
  Frame Take(const PageKey& key);
  // `frame` holds the page now. Who fails to read it just lets go of the frame.
  void Keep(const PageKey& key, Frame frame);

  uint64_t budget() const;
  uint64_t used_bytes() const;  // of pages that are kept or pinned

 private:
  class Arena;
  class Shard;

  Shard& ShardOf(uint64_t hash) const;

  const std::shared_ptr<Arena> arena_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<uint64_t> next_file_{1};
};

// The server's, nullptr without one; set at the start, before files are opened.
std::shared_ptr<PageCache> ColumnarPageCache();
void SetColumnarPageCache(std::shared_ptr<PageCache> cache);

}  // namespace stoa::storage
