// Speed of the kernels of the knn layer (ninja kernels_bench):
//   kernels_bench [BYTES IN MEMORY: 1 GB] [VECTORS A CALL: 32] [BYTES BEFORE A CODE IN ITS RECORD: 16]
//                 [HUGE PAGES: 1] [BEGINNING OF KERNELS' NAMES]
// Records are multiples of 64 bytes.
// Nanoseconds of processor time of one thread for a vector, and GB a second of vectors read: from a set that
// stays in the first-level cache, and in random order from memory.
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <string_view>
#include <vector>

#include "knn/kernels/code_distance.h"
#include "knn/kernels/float_distance.h"

namespace {

using namespace stoa::knn;  // NOLINT(google-build-using-namespace): a program of one file

double Now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

constexpr size_t kCacheBytes = 24 << 10;  // less than a first-level cache
constexpr double kSeconds = 0.15;         // for each figure

struct Kernel {
  const char* name;
  size_t head;                              // bytes before each vector
  std::function<size_t(size_t dims)> size;  // bytes of a vector
  std::function<void(const std::vector<const uint8_t*>& vectors, size_t first, size_t count, size_t dims)>
      run;
};

class Benchmark {
 public:
  Benchmark(size_t bytes, size_t batch, bool huge_pages)
      : bytes_(bytes), batch_(batch), memory_(static_cast<uint8_t*>(std::aligned_alloc(1 << 21, bytes))) {
    madvise(memory_.get(), bytes, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::mt19937_64 random(1);
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
      // Two numbers in bfloat16 or float, neither large nor tiny.
      const uint64_t bits = (random() & 0x80ff80ff80ff80ff) | 0x3f003f003f003f00;
      std::copy_n(reinterpret_cast<const uint8_t*>(&bits), 8, memory_.get() + i);
    }
  }

  void Run(const Kernel& kernel, size_t dims) const {
    const size_t size = kernel.size(dims);
    const size_t stride = (size + kernel.head + 63) / 64 * 64;
    const size_t cached = std::max<size_t>(4, std::min<size_t>(kCacheBytes / stride / 4 * 4, 64));
    const double near = Measure(kernel, stride, cached, cached, dims);
    const double far = Measure(kernel, stride, bytes_ / stride, batch_, dims);
    const auto bytes = static_cast<double>(size);
    std::printf("%-22s %5zu %9.1f ns %7.1f GB/s %9.1f ns %7.1f GB/s\n", kernel.name, dims, near, bytes / near,
                far, bytes / far);
  }

 private:
  // Nanoseconds a vector; each of `vectors` is used once before one is used again.
  double Measure(const Kernel& kernel, size_t stride, size_t vectors, size_t batch, size_t dims) const {
    std::vector<const uint8_t*> at(vectors);
    for (size_t i = 0; i < vectors; ++i) {
      at[i] = memory_.get() + i * stride + kernel.head;
    }
    std::shuffle(at.begin(), at.end(), std::mt19937_64(2));
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
      const double start = Now();
      double seconds = 0;
      size_t done = 0;
      size_t first = 0;
      while (seconds < kSeconds / 3) {
        for (int call = 0; call < 64; ++call) {
          first = first + batch <= vectors ? first : 0;
          kernel.run(at, first, batch, dims);
          first += batch;
          done += batch;
        }
        seconds = Now() - start;
      }
      best = std::min(best, seconds / static_cast<double>(done) * 1e9);
    }
    return best;
  }

  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  size_t bytes_;
  size_t batch_;
  std::unique_ptr<uint8_t, Free> memory_;
};

template <typename T>
const T* const* As(const std::vector<const uint8_t*>& vectors, size_t first) {
  return reinterpret_cast<const T* const*>(vectors.data() + first);
}

}  // namespace

int main(int argc, char** argv) {
  const size_t bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : size_t{1} << 30;
  const size_t batch = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 32;
  const size_t head = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 16;
  const bool huge_pages = argc <= 4 || std::strtoull(argv[4], nullptr, 10) != 0;
  const std::string_view wanted = argc > 5 ? argv[5] : "";
  constexpr size_t kMostDims = 4096;
  const std::vector<float> query(kMostDims, 0.5f);
  const std::vector<int8_t> small_query(kMostDims, 77);
  const std::vector<uint64_t> bit_query(kMostDims / 16, 0x123456789abcdef0);
  std::vector<float> sums(std::max<size_t>(batch, 64));
  std::vector<int32_t> counts(std::max<size_t>(batch, 64));
  const auto padded = [](size_t dims) { return (dims + 63) / 64 * 64; };
  const auto floats = [](size_t dims) { return dims * 4; };
  const auto shorts = [](size_t dims) { return dims * 2; };
  const auto codes8 = [&](size_t dims) { return padded(dims); };
  const auto codes4 = [&](size_t dims) { return padded(dims) / 2; };
  const auto codes1 = [&](size_t dims) { return padded(dims) / 8; };
  const Kernel kernels[] = {
      {"SquaredDistances", 0, floats,
       [&](const auto& vectors, size_t first, size_t count, size_t dims) {
         SquaredDistances(query.data(), As<float>(vectors, first), count, dims, sums.data());
       }},
      {"DotProducts", 0, floats,
       [&](const auto& vectors, size_t first, size_t count, size_t dims) {
         DotProducts(query.data(), As<float>(vectors, first), count, dims, sums.data());
       }},
      {"SquaredDistancesBf16", 0, shorts,
       [&](const auto& vectors, size_t first, size_t count, size_t dims) {
         SquaredDistancesBf16(query.data(), As<uint16_t>(vectors, first), count, dims, sums.data());
       }},
      {"DotProductsBf16", 0, shorts,
       [&](const auto& vectors, size_t first, size_t count, size_t dims) {
         DotProductsBf16(query.data(), As<uint16_t>(vectors, first), count, dims, sums.data());
       }},
      {"DotCodes8", head, codes8,
       [&](const auto& vectors, size_t first, size_t count, size_t dims) {
         DotCodes8(small_query.data(), vectors.data() + first, count, padded(dims), counts.data());
       }},
      {"DotCodes4", head, codes4,
       [&](const auto& vectors, size_t first, size_t count, size_t dims) {
         DotCodes4(small_query.data(), vectors.data() + first, count, padded(dims), counts.data());
       }},
      {"DotCodes1", head, codes1,
       [&](const auto& vectors, size_t first, size_t count, size_t dims) {
         DotCodes1(bit_query.data(), vectors.data() + first, count, padded(dims), counts.data());
       }},
      {"HammingDistances", head, codes1,
       [&](const auto& vectors, size_t first, size_t count, size_t dims) {
         HammingDistances(bit_query.data(), vectors.data() + first, count, padded(dims), counts.data());
       }},
  };
  const Benchmark benchmark(bytes, batch, huge_pages);
  std::printf("%-22s %5s %25s %25s\n", "kernel", "dims", "first-level cache", "memory");
  for (const Kernel& kernel : kernels) {
    if (!std::string_view(kernel.name).starts_with(wanted)) {
      continue;
    }
    for (const size_t dims : {128, 784, 1536}) {
      benchmark.Run(kernel, dims);
    }
  }
  return 0;
}
