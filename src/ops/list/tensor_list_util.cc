#include "ops/list/tensor_list_util.h"

namespace weft_engine::ops {

Result<std::shared_ptr<const TensorList>> list_input(KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  if (t.rank() != 0) return invalid_argument("Input list must be a scalar saw: ", t.shape());
  const Variant& v = t.data<Variant>()[0];
  if (auto list = v.share<TensorList>()) return list;
  return invalid_argument("Input handle is not a list. Saw: '", v.type_name(), "'");
}

Result<std::shared_ptr<const TensorList>> typed_list_input(KernelContext& c, int i) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, list_input(c, i));
  const DType wanted = c.attr<DType>("element_dtype");
  if (list->element_dtype != wanted)
    return invalid_argument("Invalid data types; op elements ", dtype_name(wanted), " but list elements ", dtype_name(list->element_dtype));
  return list;
}

std::shared_ptr<TensorList> list_to_change(KernelContext& c, int i, const std::shared_ptr<const TensorList>& list) {
  // One reference is the variant's, the other the caller's.
  if (c.input_donated(i) && c.input(i).unique() && list.use_count() == 2) return std::const_pointer_cast<TensorList>(list);
  return std::make_shared<TensorList>(*list);
}

void set_changed_list(KernelContext& c, int i, std::shared_ptr<TensorList> list) {
  if (c.input_donated(i) && c.input(i).unique() && c.input(i).data<Variant>()[0].get<TensorList>() == list.get())
    c.output(0).take_memory(const_cast<Tensor&>(c.input(i)), DType::kVariant);
  else set_list(c, 0, std::move(list));
}

void set_list(KernelContext& c, int i, std::shared_ptr<const TensorList> list) { c.set_output(i, Tensor::scalar(Variant(std::move(list)))); }

Result<PartialShape> shape_input(const Tensor& t) {
  std::vector<int64_t> dims;
  if (t.dtype() == DType::kInt32) dims.assign(t.span<int32_t>().begin(), t.span<int32_t>().end());
  else if (t.dtype() == DType::kInt64) dims.assign(t.span<int64_t>().begin(), t.span<int64_t>().end());
  else return invalid_argument("a shape must be of type int32 or int64, got ", dtype_name(t.dtype()));
  if (t.rank() == 0) {
    if (dims[0] == -1) return PartialShape::unknown();
    return invalid_argument("The only valid scalar shape tensor is the fully unknown shape specified as -1.");
  }
  if (t.rank() != 1) return invalid_argument("shape must be at most rank 1 but is rank ", t.rank());
  if (dims.size() > size_t(kMaxRank)) return invalid_argument("a shape may have at most ", kMaxRank, " dimensions");
  for (int64_t d : dims) {
    if (d < -1) return invalid_argument("Dimension ", d, " must be >= -1");
  }
  return PartialShape(std::move(dims));
}

Result<PartialShape> merge_shapes(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  if (a.rank() != b.rank()) return invalid_argument("PartialTensorShape: Incompatible ranks during merge: ", a.rank(), " vs. ", b.rank());
  PartialShape out = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) < 0) out.set_dim(i, b.dim(i));
    else if (b.dim(i) >= 0 && a.dim(i) != b.dim(i)) return invalid_argument("PartialTensorShape: Incompatible shapes during merge: ", a, " vs. ", b);
  }
  return out;
}

Result<PartialShape> merged_element_shape(const TensorList& list, const PartialShape& shape) {
  WEFT_ASSIGN(PartialShape merged, merge_shapes(shape, list.element_shape));
  if (merged.fully_known()) return merged;
  for (const Tensor& t : list.tensors) {
    if (!t.valid()) continue;
    WEFT_ASSIGN(PartialShape next, merge_shapes(merged, t.shape()));
    merged = std::move(next);
  }
  return merged;
}

Result<int64_t> scalar_int(const Tensor& t, std::string_view error) {
  if (t.num_elements() != 1) return invalid_argument(error);
  return t.dtype() == DType::kInt32 ? int64_t(t.data<int32_t>()[0]) : t.data<int64_t>()[0];
}

Result<Tensor> row_copy(const Tensor& t, int64_t i) {
  const Shape shape = t.shape().slice(1, t.rank());
  WEFT_ASSIGN(Tensor row, Tensor::allocate(t.dtype(), shape));
  copy_elements(t, i * shape.num_elements(), row, 0, shape.num_elements());
  return row;
}

}  // namespace weft_engine::ops
