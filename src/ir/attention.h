// Attention as one instruction: softmax(q k' * scale) v without a matrix of scores in memory, where someone (cuDNN) has that.
#pragma once

#include <array>
#include <functional>

#include "ir/ir.h"

namespace weft_engine::ir {

// Whether it is read by kGets alone: kSort, kAttention, kAttentionGrad, kWhile, kIf.
bool has_results(Op op);

// What a kAttention or a kAttentionGrad computes. Operands are parts of larger tensors: q, k, v, and for the gradient o, the gradient of o, and the logarithms. Results: o as
// [batch, queries, heads, size] and the logarithms of the sums of exponentials, float [batch, heads, queries]; of the gradient one, [batch, keys, 3, heads, size]: of q, k and v.
struct Attention {
  struct View {
    int64_t offset = 0;  // elements
    std::array<int64_t, 4> strides{};  // of [batch, heads, rows, size]
    auto operator<=>(const View&) const = default;
  };
  DType dtype = DType::kInvalid;
  bool gradient = false, causal = false;  // causal: keys behind a query do not count
  double scale = 1;
  int64_t batch = 0, heads = 0, queries = 0, keys = 0, size = 0;
  std::vector<View> views;  // of q, k, v, o; of the gradient q, k, v, o, that of o; those of q, k, v in the result
  bool operator<(const Attention& other) const;
};
Attention attention_of(const Instr& i);

// Makes such instructions of products and softmaxes where `serves` says so, and of their gradients where all of these can be; whether there were any.
bool fuse_attention(Module& m, const std::function<bool(const Attention&)>& serves);

}  // namespace weft_engine::ir
