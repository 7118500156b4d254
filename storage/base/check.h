#pragma once

namespace stoa {

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace stoa

// A broken promise of our own code: always on, ends the process. Never for user input or bytes from disk.
#define STOA_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::stoa::CheckFailed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define STOA_DCHECK(condition) static_cast<void>(sizeof(condition))
#else
#define STOA_DCHECK(condition) STOA_CHECK(condition)
#endif
