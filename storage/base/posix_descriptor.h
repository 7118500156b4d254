#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "storage/base/mapped_file.h"
#include "storage/base/random_access_file.h"
#include "storage/base/result.h"

// What the files of Env::Posix() share. Only for env_posix.cpp and posix_*.cpp.
namespace stoa {

// "{path}: cannot {action}: {reason}", kNotFound for ENOENT, else kIo.
Status PosixError(const std::string& path, const char* action, int error);

// Owns one file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { static_cast<void>(Close()); }

  static Result<Descriptor> Open(const std::string& path, int flags);

  int get() const { return number_; }
  // 0 or the error number. Linux frees the descriptor even on an error.
  int Close();

 private:
  int number_;
};

// Reads until `to` is full or the file ends; returns how many bytes came.
Result<size_t> ReadFully(const std::string& path, int descriptor, uint64_t offset, std::span<char> to);
// The file ended before `wanted` bytes at `offset`.
Status FileEndsEarly(const std::string& path, uint64_t offset, uint64_t wanted);
// kIo for anything but a regular file.
Result<uint64_t> SizeOf(const std::string& path, int descriptor);

// mincore() of a mapping of whole pages.
void AppendCachedPages(char* address, uint64_t length, CachedPages& cached);

Result<std::shared_ptr<const RandomAccessFile>> OpenPosixRandomAccess(const std::string& path);
Result<std::shared_ptr<const MappedFile>> MapPosixFile(const std::string& path);

}  // namespace stoa
