#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "storage/base/cached_pages.h"
#include "storage/base/status.h"

namespace stoa {

// How a mapping, or a part of it, is going to be read.
enum class AccessPattern : uint8_t { kNormal, kSequential, kRandom };

// A whole file, mapped for reading; the descriptor is not kept. Addresses are stable until the last owner
// lets go, also after the file was removed by name. Nothing is read ahead until Advise() or WillNeed() ask
// for it. Safe to share between threads.
//
// A page that cannot be read (the file shrank, the disk fails) reads as zeros instead of ending the process
// (storage/base/sigbus_guard.h), and from then on CheckReadable() is an error: readers call it after they
// have looked at the bytes and before anything is made of them.
class MappedFile {
 public:
  virtual ~MappedFile() = default;

  virtual const std::string& path() const = 0;
  virtual std::span<const char> bytes() const = 0;
  virtual Status CheckReadable() const = 0;          // one load; kIo with the path
  virtual bool has_failed() const { return false; }  // some page could not be read, ever
  virtual void Advise(ByteRange range, AccessPattern pattern) const = 0;
  // The bytes are going to be read: pages that are not resident are asked of the disk together. Returns at
  // once; false when all of them were.
  virtual bool WillNeed(std::span<const ByteRange> ranges) const = 0;
  virtual void DropBehind(ByteRange range) const = 0;       // as RandomAccessFile::DropBehind
  virtual uint64_t ResidentBytes() const = 0;               // mincore
  virtual bool IsResident(uint64_t) const { return true; }  // the page of an offset; a system call
  virtual CachedPages Cached() const { return {}; }         // the same page by page
  // The pages leave this mapping and, unless somebody else uses them, the page cache; who reads them again
  // waits for the disk.
  virtual void GiveUp(std::span<const ByteRange>) const {}
  // Waits for the pages and maps them all at once, which costs less than a fault each. A hint.
  virtual void MapIn(ByteRange) const {}
};

}  // namespace stoa
