#pragma once

#include <cstdint>

namespace stoa {

// What one thread has asked of the disk in batches: positioned reads that the page cache could not answer
// (batch_read.h), and pages of mappings that were missing when they were asked for (MappedFile::WillNeed).
// Page faults are not among them. Take the difference of two looks.
struct DiskReads {
  uint64_t batches = 0;
  uint64_t bytes = 0;

  DiskReads& operator+=(const DiskReads& other) {
    batches += other.batches;
    bytes += other.bytes;
    return *this;
  }
  friend DiskReads operator-(const DiskReads& a, const DiskReads& b) {
    return {a.batches - b.batches, a.bytes - b.bytes};
  }
};

// Of the calling thread, since it began.
inline DiskReads& ThreadDiskReads() {
  thread_local DiskReads reads;
  return reads;
}

}  // namespace stoa
