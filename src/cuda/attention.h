// Attention, softmax(q k' * scale) v, and its gradient by cuDNN: the scores never lie in memory.
#pragma once

#include <array>

#include "core/dtype.h"
#include "cuda/cudnn_graph.h"
#include "ir/attention.h"

namespace weft_engine::cuda {

// Whether cuDNN has kernels for it. They are made now: a kAttention has no other way to be computed.
bool attends(Gpu& gpu, const ir::Attention& a);

// Pointers to the operands and results of the instruction, in order. An error if cuDNN has nothing for it after all.
core::Status attend(Gpu& gpu, const Queue& queue, const ir::Attention& a, std::span<const DevicePtr> at);

// The graph of an attention or its gradient; `numbers`: of the operands, the results, then what is `beside` them: numbers by value (scale, 1, what a score that
// does not count becomes) and memory for what goes from one kernel to the next.
struct AttentionGraph {
  Descriptor graph;
  std::vector<int64_t> numbers;
  std::vector<float> values;
  std::vector<int64_t> value_numbers, memory_numbers, memory_bytes;
};
core::Result<AttentionGraph> graph_of(const Cudnn& dnn, const DnnTarget& target, const ir::Attention& a);

}  // namespace weft_engine::cuda
