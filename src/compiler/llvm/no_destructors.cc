// LLVM has thousands of static objects whose destructors exit() would run: while another thread compiles, or even while it still loads LLVM and their
// constructors run, which ends in a crash or a hang. Nothing needs these destructors. The library is loaded so that it and LLVM find their symbols here first
// (CompanionLibrary::own_symbols_first), and this is where they register destructors: they are forgotten. Where that cannot be (core::can_bind_deep) the symbol
// of libc is found instead; then functions are compiled in the background only if the environment asks for it.
#include "compiler/llvm/no_destructors.h"

#include <atomic>

namespace {

constinit std::atomic<bool> found{false};  // by constructors that register something

}  // namespace

extern "C" __attribute__((visibility("default"))) int __cxa_atexit(void (*)(void*), void*, void*) {
  found.store(true, std::memory_order_relaxed);
  return 0;
}

namespace weft_engine::compiler {

bool destroyed_at_exit() { return !found.load(std::memory_order_relaxed); }

}  // namespace weft_engine::compiler
