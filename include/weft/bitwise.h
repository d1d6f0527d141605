// tf.bitwise: functions of the bits of integers; two tensors broadcast.
#pragma once

#include "weft/tensor.h"

namespace weft::bitwise {

// The bits that both have.
WEFT_API Tensor bitwise_and(const Tensor& x, const Tensor& y);
// The bits that one of them has, or both.
WEFT_API Tensor bitwise_or(const Tensor& x, const Tensor& y);
// The bits that exactly one has.
WEFT_API Tensor bitwise_xor(const Tensor& x, const Tensor& y);
// All bits the other way round.
WEFT_API Tensor invert(const Tensor& x);
// x shifted left by y bits. Shifts by less than 0, or by more bits than there are, are the nearest that is possible.
WEFT_API Tensor left_shift(const Tensor& x, const Tensor& y);
// x shifted right by y bits; of signed types the sign stays.
WEFT_API Tensor right_shift(const Tensor& x, const Tensor& y);

}  // namespace weft::bitwise
