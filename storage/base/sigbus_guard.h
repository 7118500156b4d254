#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace stoa {

// While it lives, a page of [begin, begin + length) that cannot be read (SIGBUS: the file shrank, the disk
// fails) is replaced by a page of zeros, and failed() is true from then on. The range is a mapping of whole
// pages for reading; unmap it after the guard is gone. Safe to share; at most one guard an address.
//
// The first guard installs the process's handler for SIGBUS. A fault elsewhere goes to the handler that was
// there before, by default the end of the process. A system call that is handed such a page fails with EFAULT
// instead.
class SigbusGuard {
 public:
  SigbusGuard(const void* begin, size_t length);
  ~SigbusGuard();
  SigbusGuard(const SigbusGuard&) = delete;
  SigbusGuard& operator=(const SigbusGuard&) = delete;

  // Ask after the bytes were read: a thread that saw zeros sees the failure.
  bool failed() const {
    std::atomic_thread_fence(std::memory_order_acquire);
    return slot_->failed.load(std::memory_order_relaxed);
  }

  // One guarded range; `version` is odd while the others change. Never freed, but used again.
  struct Slot {
    std::atomic<uint32_t> version{0};
    std::atomic<uintptr_t> begin{0};
    std::atomic<uintptr_t> end{0};
    std::atomic<bool> failed{false};
  };

 private:
  Slot* const slot_;
};

}  // namespace stoa
