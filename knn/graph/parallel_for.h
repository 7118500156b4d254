#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace stoa::knn {

// Calls work(thread, index) for every index in [first, end), in order by one thread, else each index by one
// of `threads` threads (numbered from 0; 0 is the caller) that take `grain` at a time. A false result ends
// all, and so does what `work` throws (no memory): the first of it is thrown to the caller.
void ParallelFor(uint32_t threads, uint32_t first, uint32_t end, uint32_t grain,
                 const std::function<bool(uint32_t thread, uint32_t index)>& work);

}  // namespace stoa::knn
