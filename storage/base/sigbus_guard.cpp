#include "storage/base/sigbus_guard.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <vector>

#include "storage/base/check.h"
#include "storage/base/mutex.h"

namespace stoa {
namespace {

using Slot = SigbusGuard::Slot;
constexpr size_t kSlotsPerBlock = 256;

// Blocks are only ever added, so the handler walks them without a lock.
struct Block {
  Slot slots[kSlotsPerBlock];
  std::atomic<Block*> next{nullptr};
};

static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<Block*>::is_always_lock_free);

// Process-wide by nature, as the signal is.
constinit Block first_block;
constinit struct sigaction previous_action {};
constinit std::atomic<uintptr_t> page_bytes{0};

struct Registry {
  Mutex mutex;
  std::vector<Slot*> free GUARDED_BY(mutex);
  Block* last GUARDED_BY(mutex) = nullptr;
};

Registry& GetRegistry() {
  static Registry* const registry = new Registry;  // never destroyed: files may be unmapped at exit
  return *registry;
}

// A slot that changes while it is read is not the one of a fault: the thread that faults holds its mapping.
bool Contains(const Slot& slot, uintptr_t address) {
  const uint32_t before = slot.version.load(std::memory_order_acquire);
  const bool inside = address >= slot.begin.load(std::memory_order_acquire) &&
                      address < slot.end.load(std::memory_order_acquire);
  return inside && before % 2 == 0 && slot.version.load(std::memory_order_relaxed) == before;
}

Slot* FindSlot(uintptr_t address) {
  for (Block* block = &first_block; block != nullptr; block = block->next.load(std::memory_order_acquire)) {
    for (Slot& slot : block->slots) {
      if (Contains(slot, address)) {
        return &slot;
      }
    }
  }
  return nullptr;
}

bool MapZeros(uintptr_t address) {
  const uintptr_t size = page_bytes.load(std::memory_order_relaxed);
  const uintptr_t page = address & ~(size - 1);
  // Straight to the kernel: what sanitizers put around mmap() is not made for signal handlers.
  const long mapped =
      ::syscall(SYS_mmap, page, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  return mapped == static_cast<long>(page);
}

void CallPrevious(int signal, siginfo_t* info, void* context) {
  if ((previous_action.sa_flags & SA_SIGINFO) != 0 && previous_action.sa_sigaction != nullptr) {
    previous_action.sa_sigaction(signal, info, context);
    return;
  }
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal);
    return;
  }
  if (previous_action.sa_handler == SIG_IGN && info->si_code <= 0) {
    return;  // sent by a process, which was ignored before
  }
  // The default action: the faulting instruction runs again and ends the process; a sent signal is repeated.
  ::signal(signal, SIG_DFL);
  if (info->si_code <= 0) {
    ::raise(signal);
  }
}

void OnSigbus(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (info->si_code > 0) {
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    if (Slot* slot = FindSlot(address); slot != nullptr) {
      // Before the zeros are there, so that whoever reads them sees the failure too.
      slot->failed.store(true, std::memory_order_seq_cst);
      if (MapZeros(address)) {
        errno = saved_errno;
        return;
      }
    }
  }
  CallPrevious(signal, info, context);
  errno = saved_errno;
}

void InstallHandler() {
  page_bytes.store(static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE)), std::memory_order_relaxed);
  STOA_CHECK(::sigaction(SIGBUS, nullptr, &previous_action) == 0);
  struct sigaction action {};
  action.sa_sigaction = OnSigbus;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  STOA_CHECK(::sigaction(SIGBUS, &action, nullptr) == 0);
}

void AddSlots(Registry& registry, Block& block) REQUIRES(registry.mutex) {
  for (size_t i = kSlotsPerBlock; i-- > 0;) {
    registry.free.push_back(&block.slots[i]);
  }
  registry.last = &block;
}

Slot* TakeSlot() {
  Registry& registry = GetRegistry();
  MutexLock lock(registry.mutex);
  if (registry.last == nullptr) {
    InstallHandler();
    AddSlots(registry, first_block);
  } else if (registry.free.empty()) {
    auto* block = new Block;
    registry.last->next.store(block, std::memory_order_release);
    AddSlots(registry, *block);
  }
  Slot* slot = registry.free.back();
  registry.free.pop_back();
  return slot;
}

void SetRange(Slot& slot, uintptr_t begin, uintptr_t end) {
  slot.version.fetch_add(1, std::memory_order_acq_rel);
  slot.begin.store(begin, std::memory_order_release);
  slot.end.store(end, std::memory_order_release);
  slot.version.fetch_add(1, std::memory_order_acq_rel);
}

}  // namespace

SigbusGuard::SigbusGuard(const void* begin, size_t length) : slot_(TakeSlot()) {
  slot_->failed.store(false, std::memory_order_relaxed);
  const auto address = reinterpret_cast<uintptr_t>(begin);
  SetRange(*slot_, address, address + length);
}

SigbusGuard::~SigbusGuard() {
  SetRange(*slot_, 0, 0);
  Registry& registry = GetRegistry();
  MutexLock lock(registry.mutex);
  registry.free.push_back(slot_);
}

}  // namespace stoa
