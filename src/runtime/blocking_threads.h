// BlockingThreads: threads for work that may wait (a call of a function, say), so that no pool thread
// ever does. As many as there is such work at once; idle ones are kept a while for the next.
#pragma once

#include <functional>

namespace weft_engine::runtime {

// Runs the task on a thread of its own. Where the system gives no more threads, on the caller's.
void run_on_blocking_thread(std::function<void()> task);
// The same, but false where the system gives no more threads; the task is the caller's again then.
bool try_run_on_blocking_thread(std::function<void()>& task);

}  // namespace weft_engine::runtime
