// What killed writers leave of checkpoints, and getting rid of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft_engine::wire {

// Removes unfinished files and folders, data without an index, and data of an earlier checkpoint under the same prefix. Looks at the
// checkpoint PREFIX, and with `numbered` also at PREFIX-1, PREFIX-2 ... and the state file beside them. What another writer is
// writing now, and what cannot be removed, stays.
void remove_leftovers(std::string_view prefix, bool numbered);

// The prefixes PREFIX-1, PREFIX-2 ... that have an index, in no order.
std::vector<std::string> numbered_checkpoints(std::string_view prefix);

// The index or a data file of the checkpoint PREFIX.
bool is_file_of_checkpoint(std::string_view name, std::string_view prefix);

// Removes the checkpoint PREFIX: its index first, so that what a death leaves of it is no checkpoint.
void remove_checkpoint(const std::string& prefix);

}  // namespace weft_engine::wire
