#include "storage/format/touched_pages.h"

#include <catch2/catch.hpp>
#include <set>

namespace stoa::storage {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kPages = 4096;

// Whose pages come when they are asked for and go when the test says so.
class FakeMapping : public MappedFile {
 public:
  const std::string& path() const override { return path_; }
  std::span<const char> bytes() const override { return {}; }
  Status CheckReadable() const override { return Status::Ok(); }
  void Advise(ByteRange, AccessPattern) const override {}
  bool WillNeed(std::span<const ByteRange> ranges) const override {
    ++asked;
    for (const ByteRange& range : ranges) {
      for (uint64_t page = range.offset / kPage; page * kPage < range.offset + range.length; ++page) {
        resident.insert(page);
      }
    }
    return true;
  }
  void DropBehind(ByteRange) const override {}
  uint64_t ResidentBytes() const override { return resident.size() * kPage; }
  bool IsResident(uint64_t offset) const override { return resident.contains(offset / kPage); }

  mutable int asked = 0;
  mutable std::set<uint64_t> resident;

 private:
  std::string path_ = "fake";
};

std::vector<ByteRange> EveryThirdPage(size_t count) {
  std::vector<ByteRange> ranges;
  for (size_t i = 0; i < count; ++i) {
    ranges.push_back({i * 3 * kPage + 100, 500});
  }
  return ranges;
}

}  // namespace

TEST_CASE("pages that were asked for are not asked for again", "[storage]") {
  FakeMapping mapping;
  TouchedPages touched(kPages * kPage);
  const std::vector<ByteRange> ranges = EveryThirdPage(100);
  touched.WillNeed(mapping, 0, kPages * kPage, ranges);
  CHECK(mapping.resident.size() == 100);
  touched.WillNeed(mapping, 0, kPages * kPage, ranges);
  touched.WillNeed(mapping, 0, kPages * kPage, std::span(ranges).first(2));
  CHECK(mapping.asked == 1);
}

TEST_CASE("a batch whose pages the kernel took back is asked for as a whole", "[storage]") {
  FakeMapping mapping;
  TouchedPages touched(kPages * kPage);
  const std::vector<ByteRange> ranges = EveryThirdPage(100);
  touched.WillNeed(mapping, kPage, kPages * kPage, ranges);
  const std::set<uint64_t> wanted = mapping.resident;
  mapping.resident.clear();
  touched.WillNeed(mapping, kPage, kPages * kPage, ranges);
  CHECK(mapping.resident == wanted);
  CHECK(mapping.asked == 2);
}

}  // namespace stoa::storage
