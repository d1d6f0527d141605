// What becomes of the engine in the child of a fork, which has the forking thread alone. Locks need nothing: fork_locks.cc sees to all of them.
#pragma once

namespace weft_engine::core {

// How many forks lie between the first process and this one. What lives by threads of its own (an iterator that prefetches, an executor) remembers
// it and fails in a child, where they are not.
int fork_generation();

}  // namespace weft_engine::core
