// What killed writers leave of checkpoints, and getting rid of it.
#pragma once

#include <string_view>

namespace weft::wire {

// Removes unfinished files, data without an index, and data of an earlier checkpoint under the same prefix. Looks at the
// checkpoint PREFIX, and with `numbered` also at PREFIX-1, PREFIX-2 ... and the state file beside them. What another writer is
// writing now, and what cannot be removed, stays.
void remove_leftovers(std::string_view prefix, bool numbered);

}  // namespace weft::wire
