#include "cold_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace stoa::bench {

namespace {

constexpr uint64_t kPage = 4096;

}  // namespace

ColdFile::ColdFile(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  void* address = MAP_FAILED;
  if (descriptor_ >= 0 && fstat(descriptor_, &status) == 0) {
    size_ = static_cast<uint64_t>(status.st_size);
    address = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
  }
  if (address == MAP_FAILED || madvise(address, size_, MADV_RANDOM) != 0) {
    std::perror(path.c_str());
    std::exit(1);
  }
  bytes_ = static_cast<uint8_t*>(address);
}

ColdFile::~ColdFile() {
  munmap(bytes_, size_);
  close(descriptor_);
}

uint64_t ColdFile::Evict() {
  madvise(bytes_, size_, MADV_DONTNEED);
  posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);
  std::vector<unsigned char> pages((size_ + kPage - 1) / kPage);
  if (mincore(bytes_, size_, pages.data()) != 0) {
    std::perror("mincore");
    std::exit(1);
  }
  return static_cast<uint64_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1U) != 0; }));
}

double ColdFile::TouchVectors(uint64_t count, uint64_t vector_bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  const uint64_t vectors = (size_ - kPage) / vector_bytes;
  volatile uint8_t sink = 0;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t begin = kPage + random() % vectors * vector_bytes;
    for (uint64_t page = begin / kPage; page <= (begin + vector_bytes - 1) / kPage; ++page) {
      sink = bytes_[page * kPage];
    }
  }
  static_cast<void>(sink);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace stoa::bench
