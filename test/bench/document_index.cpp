// Lookups a second in a document index of 5 million rows, on one thread: ids of consecutive, spread and
// random numbers; documents that are there, in the order of ids and at random, and ids between them that are
// not.
//
//   g++ -std=c++20 -O2 -I. test/bench/document_index.cpp <build>/libstorage.a <build>/libbase.a -l... &&
//   ./a.out FOLDER

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "storage/base/env.h"
#include "storage/chunk/document_index.h"

namespace {

using namespace stoa;           // NOLINT(google-build-using-namespace): a program of one file
using namespace stoa::storage;  // NOLINT(google-build-using-namespace)

constexpr uint32_t kRows = 5'000'000;
constexpr uint32_t kLookups = 2'000'000;

class IdInput : public ColumnInput {
 public:
  explicit IdInput(const std::vector<uint64_t>& ids) : ids_(ids) {}
  uint32_t row_count() const override { return static_cast<uint32_t>(ids_.size()); }
  Status Rewind() override {
    done_ = 0;
    return Status::Ok();
  }
  Result<const ColumnValues*> Next() override {
    const size_t count = std::min<size_t>(65'536, ids_.size() - done_);
    const auto first = ids_.begin() + static_cast<ptrdiff_t>(done_);
    piece_.ints.assign(first, first + static_cast<ptrdiff_t>(count));
    done_ += count;
    return count == 0 ? nullptr : &piece_;
  }

 private:
  const std::vector<uint64_t>& ids_;
  size_t done_ = 0;
  ColumnValues piece_{.type = ColumnType::kId};
};

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

void Look(const DocumentIndex& index, const std::vector<uint64_t>& ids, const char* what) {
  for (const char* pass : {"first", "warm"}) {
    uint64_t found = 0;
    const auto start = std::chrono::steady_clock::now();
    for (const uint64_t id : ids) {
      found += index.Find(DocId(id)).value().has_value() ? 1 : 0;
    }
    const double seconds = Seconds(start);
    std::printf("  %-22s %-5s %6.1f million/s, %zu ids, %llu found\n", what, pass,
                static_cast<double>(ids.size()) / seconds / 1e6, ids.size(),
                static_cast<unsigned long long>(found));
  }
}

void Measure(const std::string& folder, const char* what, const std::vector<uint64_t>& ids) {
  const std::string path = folder + "/bench.spt";
  IdInput input(ids);
  auto start = std::chrono::steady_clock::now();
  const auto file = Env::Posix().Create(path).value().release();
  if (!DocumentIndex::Write(input, *file, ChunkId(1)).ok() || !file->Close().ok()) {
    std::abort();
  }
  delete file;
  const double write = Seconds(start);
  start = std::chrono::steady_clock::now();
  const auto index = DocumentIndex::Open(Env::Posix(), path, ChunkId(1)).value();
  std::printf("%s: written in %.2f s, opened in %.2f ms, %.2f bytes a row on disk, %.3f in memory\n", what,
              write, Seconds(start) * 1e3, static_cast<double>(index->file().size()) / kRows,
              static_cast<double>(index->ram_bytes()) / kRows);
  std::mt19937_64 random(2);
  std::vector<uint64_t> present;
  std::vector<uint64_t> absent;
  const std::unordered_set<uint64_t> known(ids.begin(), ids.end());
  const uint64_t range = index->max_id().value - index->min_id().value;
  for (uint32_t i = 0; i < kLookups; ++i) {
    present.push_back(ids[random() % ids.size()]);
    const uint64_t id = index->min_id().value + random() % range;
    if (!known.contains(id)) {
      absent.push_back(id);
    }
  }
  Look(*index, present, "present, random");
  std::sort(present.begin(), present.end());
  Look(*index, present, "present, ascending");
  if (!absent.empty()) {
    Look(*index, absent, "absent, random");
  }
  (void)Env::Posix().Remove(path);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  std::vector<uint64_t> ids(kRows);
  for (uint32_t i = 0; i < kRows; ++i) {
    ids[i] = 1'000 + i;
  }
  Measure(folder, "consecutive", ids);
  for (uint32_t i = 0; i < kRows; ++i) {
    ids[i] = 1'000 + uint64_t{i} * 10;
  }
  Measure(folder, "every tenth", ids);
  std::mt19937_64 random(1);
  std::shuffle(ids.begin(), ids.end(), random);
  Measure(folder, "every tenth, shuffled", ids);
  for (uint64_t& id : ids) {
    id = random();
  }
  Measure(folder, "random", ids);
  return 0;
}
