#pragma once

namespace stoa {

// Gives back to the system what the allocator holds and nobody uses. Takes milliseconds with much of it: for
// background threads, once large things have gone. Safe to share.
void ReleaseFreeMemory();

}  // namespace stoa
