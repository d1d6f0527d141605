// Tensors that are laid out over several devices (DTensors). The eager engine only keeps a number with each handle, its layout; who knows what the
// numbers mean runs the ops on such handles in place of their kernels.
#pragma once

#include <algorithm>
#include <atomic>
#include <span>

#include "eager/tensor_handle.h"
#include "op/node_info.h"

namespace weft_engine::eager {

class Op;

// Sets all outputs of the node, as owned pointers.
using LayoutRunner = Status (*)(Op& op, const op::NodeInfo& node, TensorHandle** outputs);

// Null: the program has no layouts.
inline std::atomic<LayoutRunner> layout_runner{nullptr};

// Whether ops of this thread go to the runner even when none of their inputs has a layout.
inline bool& layout_scope() {
  thread_local bool on = false;
  return on;
}

// Whether the op that runs is one that the program called, not one of a gradient or of a function's body.
inline bool& called_by_program() {
  thread_local bool by_program = false;
  return by_program;
}

// The runner for an op on these inputs; null: its kernel runs.
inline LayoutRunner runner_for(std::span<const RefPtr<TensorHandle>> inputs) {
  LayoutRunner runner = layout_runner.load(std::memory_order_relaxed);
  if (!runner) [[likely]]
    return nullptr;
  return layout_scope() || std::any_of(inputs.begin(), inputs.end(), [](const auto& h) { return h->layout() != 0; }) ? runner : nullptr;
}

}  // namespace weft_engine::eager
