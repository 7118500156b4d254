#include "fvecs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace stoa::bench {

namespace {

struct FileCloser {
  void operator()(FILE* file) const { std::fclose(file); }
};
using FilePointer = std::unique_ptr<FILE, FileCloser>;

size_t RecordBytes(size_t dims) { return sizeof(int32_t) + dims * sizeof(float); }

FilePointer Open(const std::string& path, size_t& dims) {
  FilePointer file(std::fopen(path.c_str(), "rb"));
  int32_t head = 0;
  dims = file != nullptr && std::fread(&head, sizeof(head), 1, file.get()) == 1 && head > 0
             ? static_cast<size_t>(head)
             : 0;
  return file;
}

}  // namespace

size_t CountFvecs(const std::string& path) {
  size_t dims = 0;
  const FilePointer file = Open(path, dims);
  return dims == 0 ? 0 : std::filesystem::file_size(path) / RecordBytes(dims);
}

VectorSet ReadFvecs(const std::string& path, size_t most, size_t first) {
  VectorSet set;
  const size_t count = CountFvecs(path);
  const FilePointer file = Open(path, set.dims);
  if (file == nullptr || set.dims == 0) {
    std::fprintf(stderr, "%s: no vectors\n", path.c_str());
    std::exit(1);
  }
  most = std::min(most, count - std::min(first, count));
  set.floats.resize(most * set.dims);
  std::fseek(file.get(), static_cast<long>(first * RecordBytes(set.dims)), SEEK_SET);
  for (size_t i = 0; i < most; ++i) {
    int32_t dims = 0;
    float* values = set.floats.data() + i * set.dims;
    if (std::fread(&dims, sizeof(dims), 1, file.get()) != 1 || static_cast<size_t>(dims) != set.dims ||
        std::fread(values, sizeof(float), set.dims, file.get()) != set.dims) {
      std::fprintf(stderr, "%s: vector %zu is damaged\n", path.c_str(), first + i);
      std::exit(1);
    }
  }
  return set;
}

}  // namespace stoa::bench
