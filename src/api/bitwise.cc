#include "weft/bitwise.h"

#include "weft/raw/math.h"

namespace weft::bitwise {

Tensor bitwise_and(const Tensor& x, const Tensor& y) { return raw::BitwiseAnd(x, y); }
Tensor bitwise_or(const Tensor& x, const Tensor& y) { return raw::BitwiseOr(x, y); }
Tensor bitwise_xor(const Tensor& x, const Tensor& y) { return raw::BitwiseXor(x, y); }
Tensor invert(const Tensor& x) { return raw::Invert(x); }
Tensor left_shift(const Tensor& x, const Tensor& y) { return raw::LeftShift(x, y); }
Tensor right_shift(const Tensor& x, const Tensor& y) { return raw::RightShift(x, y); }

}  // namespace weft::bitwise
