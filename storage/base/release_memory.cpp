#include "storage/base/release_memory.h"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace stoa {

void ReleaseFreeMemory() {
#ifdef __GLIBC__
  // glibc keeps freed memory in one arena a thread, and gives back by itself only what is at their ends.
  malloc_trim(0);
#endif
}

}  // namespace stoa
