// Where PrintV2 writes what goes to the process's streams.
#pragma once

#include <atomic>
#include <string_view>

namespace weft_engine::ops {

// A front end with streams of its own (Python's) puts a function here; it gives false to leave the text to the process's.
using PrintHook = bool (*)(bool to_stderr, std::string_view text);
std::atomic<PrintHook>& print_hook();

}  // namespace weft_engine::ops
