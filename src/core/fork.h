// What becomes of the engine in the child of a fork, which has the forking thread alone.
#pragma once

#include <mutex>

namespace weft::core {

// How many forks lie between the first process and this one. What lives by threads of its own (an iterator that prefetches, an executor) remembers
// it and fails in a child, where they are not.
int fork_generation();

// For the lock of an object that lives for ever (16 at most): the forking thread holds it meanwhile, so that what it guards is whole in the child.
void hold_while_forking(std::mutex& mutex);

}  // namespace weft::core
