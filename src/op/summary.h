// Ops and attribute values as TensorFlow shows them in its messages.
#pragma once

#include <string>

#include "op/op_spec.h"

namespace weft_engine::op {

// "Op<name=Neg; signature=x:T -> y:T; attr=T:type,allowed=[DT_FLOAT, ...]>"
std::string summarize_op(const OpSpec& spec);
// As AttrValue::to_string, but long texts, lists and tensors are cut.
std::string summarize_attr(const AttrValue& value);
// "1 2 3...": a tensor's elements, at most `limit` of them.
std::string summarize_values(const Tensor& value, int64_t limit);

}  // namespace weft_engine::op
