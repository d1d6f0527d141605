// What the TensorList ops share: reading handles and shapes, merging shapes in TensorFlow's words.
#pragma once

#include "op/kernel.h"
#include "op/tensor_list.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT

Result<std::shared_ptr<const TensorList>> list_input(KernelContext& c, int i);
// The list of input i, which must hold elements of the op's element_dtype.
Result<std::shared_ptr<const TensorList>> typed_list_input(KernelContext& c, int i);
void set_list(KernelContext& c, int i, std::shared_ptr<const TensorList> list);
// The list of input i to change: itself where nobody else has it, so that loops grow their lists in place; else a
// copy. After this the op must not fail; it ends with set_changed_list.
std::shared_ptr<TensorList> list_to_change(KernelContext& c, int i, const std::shared_ptr<const TensorList>& list);
// Output 0 is the list that came from input i and was changed.
void set_changed_list(KernelContext& c, int i, std::shared_ptr<TensorList> list);

// A shape input: a vector of dims of which -1 is unknown, or the scalar -1.
Result<PartialShape> shape_input(const Tensor& t);
Result<PartialShape> merge_shapes(const PartialShape& a, const PartialShape& b);
// What all initialised elements, the list and `shape` agree on.
Result<PartialShape> merged_element_shape(const TensorList& list, const PartialShape& shape);
Result<int64_t> scalar_int(const Tensor& t, std::string_view error);
// Row i of a tensor as a tensor of its own memory.
Result<Tensor> row_copy(const Tensor& t, int64_t i);

}  // namespace weft_engine::ops
