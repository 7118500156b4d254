#include "storage/format/page_cache.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace stoa::storage {
namespace {

constexpr uint64_t kPage = PageCache::kPageBytes;

PageKey Key(uint64_t page, uint64_t file = 1) { return {.file = file, .section = 2, .page = page}; }

void Fill(char* to, const PageKey& key) {
  const uint64_t mark = key.file * 1'000'003 + key.page;
  for (uint64_t at = 0; at < kPage; at += sizeof(mark)) {
    std::memcpy(to + at, &mark, sizeof(mark));
  }
}

bool IsFilled(const char* from, const PageKey& key) {
  const uint64_t mark = key.file * 1'000'003 + key.page;
  for (uint64_t at = 0; at < kPage; at += sizeof(mark)) {
    if (std::memcmp(from + at, &mark, sizeof(mark)) != 0) {
      return false;
    }
  }
  return true;
}

// As a reader does: whether the page was there.
bool Read(PageCache& cache, const PageKey& key) {
  const auto [page, is_wanted] = cache.Find(key);
  if (page != nullptr) {
    return true;
  }
  if (PageCache::Frame frame = is_wanted ? cache.Take(key) : nullptr) {
    Fill(frame.get(), key);
    cache.Keep(key, std::move(frame));
  }
  return false;
}

int HitsOfScan(PageCache& cache, uint64_t pages, uint64_t file) {
  int hits = 0;
  for (uint64_t page = 0; page < pages; ++page) {
    hits += Read(cache, Key(page, file)) ? 1 : 0;
  }
  return hits;
}

}  // namespace

TEST_CASE("a page that is kept is found with its bytes and zeros behind them", "[storage]") {
  PageCache cache(1 << 20);
  CHECK_FALSE(Read(cache, Key(3)));
  CHECK(cache.Has(Key(3)));
  CHECK_FALSE(cache.Has(Key(4)));
  CHECK_FALSE(cache.Has(Key(3, 2)));
  const PageCache::Pin page = cache.Find(Key(3)).page;
  REQUIRE(page != nullptr);
  CHECK(IsFilled(page.get(), Key(3)));
  CHECK(reinterpret_cast<uintptr_t>(page.get()) % 64 == 0);
  for (uint64_t i = 0; i < PageCache::kReadableBehind; ++i) {
    CHECK(page.get()[kPage + i] == '\0');
  }
}

TEST_CASE("the budget holds, pinned pages included", "[storage]") {
  PageCache cache(16 * kPage + 1000);
  CHECK(cache.budget() == 16 * kPage);
  std::vector<PageCache::Pin> pins;
  for (uint64_t page = 0; page < 16; ++page) {
    Read(cache, Key(page));
    pins.push_back(cache.FindOnly(Key(page)));
    REQUIRE(pins.back() != nullptr);
  }
  for (int round = 0; round < 5; ++round) {
    CHECK(HitsOfScan(cache, 20, 2) == 0);
    CHECK(cache.Take(Key(99)) == nullptr);
    CHECK(cache.used_bytes() == 16 * kPage);
  }
  for (uint64_t page = 0; page < 16; ++page) {
    CHECK(IsFilled(pins[page].get(), Key(page)));
  }
}

TEST_CASE("a pinned page outlives its place, its file and the cache", "[storage]") {
  auto cache = std::make_unique<PageCache>(4 * kPage);
  Read(*cache, Key(0));
  Read(*cache, Key(0, 2));
  const PageCache::Pin pin = cache->FindOnly(Key(0));
  cache->Forget(1);
  CHECK_FALSE(cache->Has(Key(0)));
  CHECK(cache->Has(Key(0, 2)));
  CHECK(cache->used_bytes() == 2 * kPage);
  for (int round = 0; round < 3; ++round) {
    HitsOfScan(*cache, 8, 3);
  }
  CHECK(IsFilled(pin.get(), Key(0)));
  cache.reset();
  CHECK(IsFilled(pin.get(), Key(0)));
}

TEST_CASE("a page whose read failed is not there and its memory is free again", "[storage]") {
  PageCache cache(kPage);
  { const PageCache::Frame frame = cache.Take(Key(0)); }
  CHECK_FALSE(cache.Has(Key(0)));
  CHECK(cache.used_bytes() == 0);
  Read(cache, Key(1));
  CHECK(cache.Has(Key(1)));
}

TEST_CASE("a scan of more than the budget finds its share each time", "[storage]") {
  PageCache cache(256 * kPage);
  HitsOfScan(cache, 768, 1);
  for (int round = 0; round < 5; ++round) {
    CHECK(HitsOfScan(cache, 768, 1) >= 230);
  }
}

TEST_CASE("what is read twice displaces what is not read any more, what is read once does not", "[storage]") {
  PageCache cache(256 * kPage);
  HitsOfScan(cache, 200, 1);
  HitsOfScan(cache, 5000, 2);  // once
  CHECK(HitsOfScan(cache, 200, 1) >= 190);
  HitsOfScan(cache, 200, 3);
  HitsOfScan(cache, 200, 3);
  CHECK(HitsOfScan(cache, 200, 3) >= 160);  // a page only displaces pages of its part of the cache
}

TEST_CASE("no budget keeps nothing", "[storage]") {
  PageCache cache(kPage - 1);
  CHECK_FALSE(cache.Find(Key(0)).wanted);
  CHECK(cache.Take(Key(0)) == nullptr);
}

TEST_CASE("threads read, displace and forget pages at once", "[storage][threads]") {
  PageCache cache(64 * kPage);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      std::mt19937 random(number);
      for (int i = 0; i < 4000; ++i) {
        const PageKey key = Key(random() % 120, 1 + random() % 2);
        Read(cache, key);
        const PageCache::Pin page = cache.FindOnly(key);
        wrong += page != nullptr && !IsFilled(page.get(), key) ? 1 : 0;
        if (number == 0 && i % 500 == 0) {
          cache.Forget(2);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(wrong == 0);
  CHECK(cache.used_bytes() <= cache.budget());
}

}  // namespace stoa::storage
