// How labels, predictions and weights are brought to one rank, and weighted numbers to one: shared by losses and metrics.
#pragma once

#include "api/nn/train_ops.h"
#include "weft/losses.h"

namespace weft::nn {

// Keras' rule: where the ranks differ by one and the longer shape ends in 1, that 1 is added to or taken from the other.
inline void same_rank(Tensor& a, Tensor& b, bool expand_rank_1 = true) {
  const int ra = rank_of(a), rb = rank_of(b);
  if (ra == rb + 1 && dim_of(a, -1) == 1) {
    if (rb == 1 && expand_rank_1) b = expand_dims(b, -1);
    else a = squeeze(a, -1);
  } else if (rb == ra + 1 && dim_of(b, -1) == 1) {
    if (ra == 1 && expand_rank_1) a = expand_dims(a, -1);
    else b = squeeze(b, -1);
  }
}

// Weights with a mask put into them. Where the mean is taken over all, what is left weighs more.
Tensor masked_weights(Tensor weights, const Tensor& mask, DType dtype, losses::Reduction reduction);

}  // namespace weft::nn
