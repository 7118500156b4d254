#pragma once

#include <cstddef>
#include <functional>

namespace stoa::knn {

// How many threads may work on one search.
size_t MostWorkers();

// Calls work(worker, task) for all tasks from 0, each once; workers are numbered from 0, which is the calling
// thread, and no two calls of one worker overlap. At most `most_workers` take part: threads of the process
// that wait for such work, as many as there are processors but one, and only while fewer searches than
// processors are running: a busy server is served best by one thread a search. Returns when all tasks are
// done. `work` does not throw. Safe from any thread, not from within `work`.
void RunOnThreads(size_t tasks, size_t most_workers,
                  const std::function<void(size_t worker, size_t task)>& work);

}  // namespace stoa::knn
