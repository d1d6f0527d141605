// What the parts of the library that stands in for NVIDIA's share.
#pragma once

#include <functional>

namespace weft_stand_in {

// Counts a call of a function of the library; true if it is to fail.
bool counted(const char* name);
// Does work on the device's memory when it is queued, or records it.
int queue(void* stream, std::function<int()> work);

}  // namespace weft_stand_in
