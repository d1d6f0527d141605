// TensorLists: lists of tensors as values, with which loops keep and pass on what they make.
#include <algorithm>
#include <numeric>

#include "op/api_traits.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/tensor_list.h"
#include "ops/all.h"
#include "ops/list/tensor_list_grad.h"
#include "ops/list/tensor_list_util.h"

namespace weft_engine::ops {
namespace {

// ---- Making lists ----

Status run_empty(KernelContext& c) {
  const Tensor& most = c.input(1);
  if (most.rank() != 0) return invalid_argument("max_num_elements expected to be a scalar but got shape: ", most.shape());
  auto list = std::make_shared<TensorList>();
  WEFT_ASSIGN(list->element_shape, shape_input(c.input(0)));
  list->element_dtype = c.attr<DType>("element_dtype");
  list->max_num_elements = most.data<int32_t>()[0];
  set_list(c, 0, std::move(list));
  return {};
}

// A list this long is refused before its slots are made: each takes memory even while it is empty.
Status check_length(int64_t n) {
  constexpr int64_t kMost = int64_t(1) << 28;
  return n <= kMost ? Status() : resource_exhausted("a tensor list of ", n, " elements is too long");
}

Status run_reserve(KernelContext& c) {
  const Tensor& count = c.input(1);
  if (count.rank() != 0) return invalid_argument("The num_elements to reserve must be a tensor size 1, but got ", count.shape());
  const int64_t n = count.data<int32_t>()[0];
  if (n < 0) return invalid_argument("The num_elements to reserve must be a non negative number, but got ", n);
  WEFT_RETURN_IF_ERROR(check_length(n));
  auto list = std::make_shared<TensorList>();
  WEFT_ASSIGN(list->element_shape, shape_input(c.input(0)));
  list->element_dtype = c.attr<DType>("element_dtype");
  list->tensors.resize(size_t(n));
  set_list(c, 0, std::move(list));
  return {};
}

Status run_from_tensor(KernelContext& c) {
  const Tensor& t = c.input(0);
  auto list = std::make_shared<TensorList>();
  WEFT_ASSIGN(list->element_shape, shape_input(c.input(1)));
  list->element_dtype = t.dtype();
  if (t.rank() < 1) return invalid_argument("Tensor must be at least a vector, but saw shape: ", t.shape());
  if (!list->element_shape.compatible_with(t.shape().slice(1, t.rank())))
    return invalid_argument("Specified a list with shape ", list->element_shape, " from a tensor with shape ", t.shape().slice(1, t.rank()));
  for (int64_t i = 0; i < t.dim(0); ++i) {
    WEFT_ASSIGN(Tensor row, row_copy(t, i));
    list->tensors.push_back(std::move(row));
  }
  set_list(c, 0, std::move(list));
  return {};
}

// ---- One element ----

Status run_push_back(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, typed_list_input(c, 0));
  const Tensor& t = c.input(1);
  if (!list->element_shape.compatible_with(t.shape()))
    return invalid_argument("Tried to append a tensor with incompatible shape to a list. Op element shape: ", t.shape(),
                            " list shape: ", list->element_shape);
  if (list->max_num_elements != -1 && int64_t(list->tensors.size()) >= list->max_num_elements)
    return invalid_argument("Tried to push item into a full list list size: ", list->tensors.size(), " max_num_elements: ", list->max_num_elements);
  auto out = list_to_change(c, 0, list);
  out->tensors.push_back(t);
  set_changed_list(c, 0, std::move(out));
  return {};
}

// The value of an element that was never set: zeros, if the shape is known.
Result<Tensor> zeros_for(const TensorList& list, const PartialShape& asked, std::string_view error, std::string_view tail) {
  WEFT_ASSIGN(PartialShape shape, merged_element_shape(list, asked));
  if (!shape.fully_known()) return invalid_argument(error, shape, tail);
  WEFT_ASSIGN(Shape concrete, Shape::make(shape.dims()));
  return Tensor::zeros(list.element_dtype, concrete);
}

Status run_pop_back(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, typed_list_input(c, 0));
  if (list->tensors.empty()) return invalid_argument("Trying to pop from an empty list.");
  WEFT_ASSIGN(PartialShape asked, shape_input(c.input(1)));
  Tensor last = list->tensors.back();
  if (!last.valid()) {
    WEFT_ASSIGN(last, zeros_for(*list, asked, "Trying to read an uninitialized tensor but element_shape is not fully defined.", ""));
  }
  auto out = list_to_change(c, 0, list);
  out->tensors.pop_back();
  set_changed_list(c, 0, std::move(out));
  c.set_output(1, std::move(last));
  return {};
}

Status run_get_item(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, typed_list_input(c, 0));
  WEFT_ASSIGN(int64_t index, scalar_int(c.input(1), "index must be a scalar"));
  if (index < 0 || index >= int64_t(list->tensors.size()))
    return invalid_argument("Trying to access element ", index, " in a list with ", list->tensors.size(), " elements.");
  const Tensor& t = list->tensors[size_t(index)];
  if (t.valid()) {
    c.set_output(0, t);
    return {};
  }
  WEFT_ASSIGN(PartialShape asked, shape_input(c.input(2)));
  WEFT_ASSIGN(
      Tensor zeros,
      zeros_for(*list, asked, "Trying to read an uninitialized tensor but element_shape is not fully defined: ", " and no list element is set."));
  c.set_output(0, std::move(zeros));
  return {};
}

Status run_set_item(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, typed_list_input(c, 0));
  WEFT_ASSIGN(int64_t index, scalar_int(c.input(1), "index must be a scalar"));
  const Tensor& t = c.input(2);
  const bool grow = c.attr<bool>("resize_if_index_out_of_bounds");
  if (index < 0 || (index >= int64_t(list->tensors.size()) && !grow))
    return invalid_argument("Trying to modify element ", index, " in a list with ", list->tensors.size(), " elements.");
  if (!list->element_shape.compatible_with(t.shape()))
    return invalid_argument("Tried to set a tensor with incompatible shape at a list index. Item element shape: ", t.shape(),
                            " list shape: ", list->element_shape);
  WEFT_RETURN_IF_ERROR(check_length(index));
  auto out = list_to_change(c, 0, list);
  if (index >= int64_t(out->tensors.size())) out->tensors.resize(size_t(index) + 1);
  out->tensors[size_t(index)] = t;
  set_changed_list(c, 0, std::move(out));
  return {};
}

Status run_resize(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, list_input(c, 0));
  if (c.input(1).rank() != 0) return invalid_argument("size must be a scalar");
  const int64_t size = c.input(1).data<int32_t>()[0];
  if (size < 0) return invalid_argument("TensorListSlice expects size to be non-negative. Got: ", size);
  WEFT_RETURN_IF_ERROR(check_length(size));
  auto out = std::make_shared<TensorList>(*list);
  out->tensors.resize(size_t(size));
  set_list(c, 0, std::move(out));
  return {};
}

Status run_length(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, list_input(c, 0));
  c.set_output(0, Tensor::scalar(int32_t(list->tensors.size())));
  return {};
}

Status run_element_shape(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, list_input(c, 0));
  const PartialShape& s = list->element_shape;
  const bool wide = c.attr<DType>("shape_type") == DType::kInt64;
  std::vector<int64_t> dims = s.has_rank() ? s.dims() : std::vector<int64_t>{-1};
  WEFT_ASSIGN(Tensor* out, c.allocate(0, s.has_rank() ? Shape({int64_t(dims.size())}) : Shape()));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (wide) out->data<int64_t>()[i] = dims[i];
    else out->data<int32_t>()[i] = int32_t(dims[i]);
  }
  return {};
}

// ---- All elements at once ----

// Elements `indices` of the list, one row each.
Status stack_rows(KernelContext& c, const TensorList& list, const std::vector<int64_t>& indices, const PartialShape& element) {
  WEFT_ASSIGN(Shape row, Shape::make(element.dims()));
  Shape shape = row;
  shape.insert_dim(0, int64_t(indices.size()));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  const int64_t n = row.num_elements();
  for (size_t i = 0; i < indices.size(); ++i) {
    const Tensor& t = list.tensors[size_t(indices[i])];
    if (t.valid()) copy_elements(t, 0, *out, int64_t(i) * n, n);
    else if (is_simple(out->dtype()))
      std::memset(out->data<char>() + size_t(int64_t(i) * n) * dtype_size(out->dtype()), 0, size_t(n) * dtype_size(out->dtype()));
  }
  return {};
}

bool any_set(const TensorList& list) {
  return std::any_of(list.tensors.begin(), list.tensors.end(), [](const Tensor& t) { return t.valid(); });
}

Status run_stack(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, typed_list_input(c, 0));
  const int64_t expected = c.attr<int64_t>("num_elements");
  if (expected >= 0 && expected != int64_t(list->tensors.size()))
    return invalid_argument("Operation expected a list with ", expected, " elements but got a list with ", list->tensors.size(), " elements.");
  WEFT_ASSIGN(PartialShape asked, shape_input(c.input(1)));
  WEFT_ASSIGN(PartialShape element, merged_element_shape(*list, asked));
  if (!element.fully_known()) {
    if (list->tensors.empty()) return invalid_argument("Tried to stack elements of an empty list with non-fully-defined element_shape: ", element);
    return invalid_argument("Tried to stack list which only contains uninitialized tensors and has a non-fully-defined element_shape: ", element);
  }
  for (const Tensor& t : list->tensors) {
    if (t.valid()) WEFT_RETURN_IF_ERROR(merge_shapes(element, t.shape()).status());
  }
  std::vector<int64_t> all(list->tensors.size());
  std::iota(all.begin(), all.end(), 0);
  return stack_rows(c, *list, all, element);
}

Status run_gather(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, typed_list_input(c, 0));
  WEFT_ASSIGN(PartialShape asked, shape_input(c.input(2)));
  WEFT_ASSIGN(PartialShape element, merged_element_shape(*list, asked));
  std::vector<int64_t> indices;
  for (int32_t i : c.input(1).span<int32_t>()) {
    if (i < 0 || size_t(i) >= list->tensors.size())
      return invalid_argument("Index ", i, " out o range; list only has ", list->tensors.size(), " elements.");
    indices.push_back(i);
  }
  if (!element.fully_known()) {
    if (indices.empty()) return invalid_argument("Tried to gather 0-elements from a list with non-fully-defined shape: ", element);
    return invalid_argument("Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: ", element);
  }
  for (int64_t i : indices) {
    const Tensor& t = list->tensors[size_t(i)];
    if (t.valid()) WEFT_RETURN_IF_ERROR(merge_shapes(element, t.shape()).status());
  }
  return stack_rows(c, *list, indices, element);
}

Status scatter_into(TensorList& list, const Tensor& t, const Tensor& indices) {
  if (t.rank() < 1) return invalid_argument("Tensor must be at least a vector, but saw shape: ", t.shape());
  if (indices.num_elements() != t.dim(0))
    return invalid_argument("Invalid number of rows in input tensor. Expected: ", indices.num_elements(), " Actual: ", t.dim(0));
  if (!list.element_shape.compatible_with(t.shape().slice(1, t.rank())))
    return invalid_argument("Specified a list with shape ", list.element_shape, " from a tensor with shape ", t.shape().slice(1, t.rank()));
  int64_t highest = -1;
  for (int32_t i : indices.span<int32_t>()) {
    if (i < 0) return invalid_argument("Indices in TensorListScatter must all be non-negative.");
    highest = std::max<int64_t>(highest, i);
  }
  if (highest >= int64_t(list.tensors.size())) {
    WEFT_RETURN_IF_ERROR(check_length(highest));
    list.tensors.resize(size_t(highest) + 1);
  }
  for (int64_t k = 0; k < indices.num_elements(); ++k) {
    WEFT_ASSIGN(list.tensors[size_t(indices.data<int32_t>()[k])], row_copy(t, k));
  }
  return {};
}

Status run_scatter(KernelContext& c) {
  auto list = std::make_shared<TensorList>();
  list->element_dtype = c.input(0).dtype();
  WEFT_ASSIGN(list->element_shape, shape_input(c.input(2)));
  const Tensor& indices = c.input(1);
  if (c.num_inputs() == 4) {  // V2: the length is given, or -1
    const int64_t n = c.input(3).num_elements() == 1 ? c.input(3).data<int32_t>()[0] : -1;
    if (n < -1) return invalid_argument("TensorListScatter expects num_elements >= -1, found: ", n);
    for (int32_t i : indices.span<int32_t>()) {
      if (n >= 0 && i >= n) return invalid_argument("TensorListScatter: Trying to scatter at index ", i, " in list with size ", n);
    }
    if (n >= 0) {
      WEFT_RETURN_IF_ERROR(check_length(n));
      list->tensors.resize(size_t(n));
    }
  }
  WEFT_RETURN_IF_ERROR(scatter_into(*list, c.input(0), indices));
  set_list(c, 0, std::move(list));
  return {};
}

Status run_scatter_into(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, typed_list_input(c, 0));
  auto out = std::make_shared<TensorList>(*list);
  WEFT_RETURN_IF_ERROR(scatter_into(*out, c.input(1), c.input(2)));
  set_list(c, 0, std::move(out));
  return {};
}

Status run_concat(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorList> list, typed_list_input(c, 0));
  PartialShape asked;
  if (c.num_inputs() == 3) {
    WEFT_ASSIGN(asked, shape_input(c.input(1)));
  } else {
    asked = c.attr<PartialShape>("element_shape");
  }
  // The first dimension may differ from element to element; the others must agree.
  const auto tail_of = [](const PartialShape& s) { return s.has_rank() ? s.slice(std::min(1, s.rank()), s.rank()) : s; };
  WEFT_ASSIGN(PartialShape merged, merge_shapes(asked, list->element_shape));
  if (merged.has_rank() && merged.rank() < 1) return invalid_argument("Concat requires elements to be at least vectors, found scalars instead.");
  PartialShape tail = tail_of(merged);
  for (const Tensor& t : list->tensors) {
    if (!t.valid()) continue;
    if (t.rank() < 1) return invalid_argument("Concat requires elements to be at least vectors, found scalars instead.");
    WEFT_ASSIGN(PartialShape next, merge_shapes(tail, t.shape().slice(1, t.rank())));
    tail = std::move(next);
  }
  if (!tail.fully_known()) {
    if (!any_set(*list) && list->tensors.empty())
      return invalid_argument("All except the first dimension must be fully defined when concating an empty tensor list. element_shape: ", merged);
    return invalid_argument("All except the first dimension must be fully defined when concating uninitialized elements. element_shape: ", merged);
  }
  const std::span<const int64_t> leading = c.num_inputs() == 3 ? c.input(2).span<int64_t>() : std::span<const int64_t>();
  const int64_t first = merged.has_rank() ? merged.dim(0) : -1;
  std::vector<int64_t> lengths;
  int64_t total = 0;
  for (size_t i = 0; i < list->tensors.size(); ++i) {
    const Tensor& t = list->tensors[i];
    int64_t n;
    if (t.valid()) {
      n = t.dim(0);
      if (first >= 0 && n != first)
        return invalid_argument("First entry of element_shape input does not match the first dim of list element at index: ", i, " Expected: ", first,
                                " Actual: ", n);
    } else if (i < leading.size()) {
      n = leading[i];
    } else if (first >= 0) {
      n = first;
    } else {  // as long as those that are set, which must then agree
      n = -1;
      for (const Tensor& other : list->tensors) {
        if (!other.valid()) continue;
        if (n >= 0 && n != other.dim(0))
          return invalid_argument("List contains uninitialized tensor at index ", i, " but leading_dims has only ", leading.size(), " elements.");
        n = other.dim(0);
      }
      if (n < 0)
        return invalid_argument("List contains uninitialized tensor at index ", i, " but leading_dims has only ", leading.size(), " elements.");
    }
    if (n < 0) return invalid_argument("leading dimension ", n, " of element ", i, " is negative");
    lengths.push_back(n);
    if (__builtin_add_overflow(total, n, &total)) return invalid_argument("the list is too long to concatenate");
  }
  WEFT_ASSIGN(Shape shape, Shape::make(tail.dims()));
  const int64_t row = shape.num_elements();
  shape.insert_dim(0, total);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (is_simple(out->dtype()) && out->byte_size()) std::memset(out->raw(), 0, out->byte_size());
  int64_t at = 0;
  for (size_t i = 0; i < list->tensors.size(); ++i) {
    if (list->tensors[i].valid()) copy_elements(list->tensors[i], 0, *out, at * row, lengths[i] * row);
    at += lengths[i];
  }
  c.set_output(1, Tensor::vector(lengths));
  return {};
}

Status run_split(KernelContext& c) {
  const Tensor& t = c.input(0);
  const Tensor& lengths = c.input(2);
  WEFT_ASSIGN(PartialShape element, shape_input(c.input(1)));
  if (lengths.rank() != 1) return invalid_argument("Expected lengths to be a vector, received shape: ", lengths.shape());
  if (t.rank() < 1) return invalid_argument("Tensor must be at least a vector, but saw shape: ", t.shape());
  if (element.has_rank() && element.rank() < 1)
    return invalid_argument("TensorListSplit requires element_shape to be at least of rank 1, but saw: ", element);
  PartialShape whole = t.shape();
  whole.set_dim(0, -1);
  if (!element.compatible_with(whole)) {
    PartialShape shown = element;
    if (shown.has_rank()) shown.set_dim(0, -1);
    return invalid_argument("tensor shape ", t.shape(), " is not compatible with element_shape ", shown);
  }
  auto list = std::make_shared<TensorList>();
  list->element_dtype = t.dtype();
  list->element_shape = element;
  const int64_t row = t.shape().elements_in(1, t.rank());
  int64_t at = 0;
  for (int64_t n : lengths.span<int64_t>()) {
    if (n < 0) return invalid_argument("Invalid value in lengths: ", n);
    if (n > t.dim(0) - at) return invalid_argument("Attempting to slice [", at, ", ", at + n, "] from tensor with length ", t.dim(0));
    Shape shape = t.shape();
    shape.set_dim(0, n);
    WEFT_ASSIGN(Tensor part, Tensor::allocate(t.dtype(), shape));
    copy_elements(t, at * row, part, 0, n * row);
    list->tensors.push_back(std::move(part));
    at += n;
  }
  if (at != t.dim(0)) return invalid_argument("Unused values in tensor. Length of tensor: ", t.dim(0), " Values used: ", at);
  set_list(c, 0, std::move(list));
  return {};
}

Status run_concat_lists(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  const DType wanted = c.attr<DType>("element_dtype");
  if (a.shape() != b.shape()) return invalid_argument("input_a and input_b must have the same shape, but saw ", a.shape(), " and ", b.shape());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, a.shape()));
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const auto la = a.data<Variant>()[i].share<TensorList>(), lb = b.data<Variant>()[i].share<TensorList>();
    if (!la) return invalid_argument("input_a[", i, "] is not a list.  Saw: '", a.data<Variant>()[i].type_name(), "'");
    if (!lb) return invalid_argument("input_b[", i, "] is not a list.  Saw: '", b.data<Variant>()[i].type_name(), "'");
    if (la->element_dtype != wanted)
      return invalid_argument("input_a[", i, "].dtype != element_dtype.  Saw: ", dtype_name(la->element_dtype), " vs. ", dtype_name(wanted));
    if (lb->element_dtype != wanted)
      return invalid_argument("input_b[", i, "].dtype != element_dtype.  Saw: ", dtype_name(lb->element_dtype), " vs. ", dtype_name(wanted));
    if (!(la->element_shape == lb->element_shape))
      return invalid_argument("input_a and input_b TensorList element shapes are not identical at index ", i, ".  Saw ", la->element_shape, " vs. ",
                              lb->element_shape);
    auto joined = std::make_shared<TensorList>(*la);
    joined->tensors.insert(joined->tensors.end(), lb->tensors.begin(), lb->tensors.end());
    out->data<Variant>()[i] = Variant(std::move(joined));
  }
  return {};
}

Status run_push_back_batch(KernelContext& c) {
  const Tensor &handles = c.input(0), &t = c.input(1);
  const DType wanted = c.attr<DType>("element_dtype");
  if (t.rank() < 1) return invalid_argument("Expected tensor to be at least a vector, but saw shape: ", t.shape());
  if (t.dim(0) != handles.num_elements())
    return invalid_argument("Expected tensor.shape[0] == input_handles.size, but saw ", t.dim(0), " vs. ", handles.num_elements());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, handles.shape()));
  const Shape element = t.shape().slice(1, t.rank());
  for (int64_t i = 0; i < handles.num_elements(); ++i) {
    const auto list = handles.data<Variant>()[i].share<TensorList>();
    if (!list) return invalid_argument("Input handle at index ", i, " is not a list. Saw: '", handles.data<Variant>()[i].type_name(), "'");
    if (!list->element_shape.compatible_with(element))
      return invalid_argument("Tried to append a tensor with incompatible shape to a list at index ", i, ". Op element shape: ", element,
                              " list shape: ", list->element_shape);
    if (list->element_dtype != wanted)
      return invalid_argument("Invalid data type at index ", i, "; op elements ", dtype_name(wanted), " but list elements ",
                              dtype_name(list->element_dtype));
    auto longer = std::make_shared<TensorList>(*list);
    WEFT_ASSIGN(Tensor row, row_copy(t, i));
    longer->tensors.push_back(std::move(row));
    out->data<Variant>()[i] = Variant(std::move(longer));
  }
  return {};
}

// ---- Shape rules ----

Status item_shape(ShapeContext& c, int shape_at, int output) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(shape_at));
  c.output(output, std::move(s));
  return {};
}
Status get_item_shape(ShapeContext& c) { return item_shape(c, 2, 0); }
Status pop_back_shape(ShapeContext& c) {
  c.output(0, PartialShape::scalar());
  return item_shape(c, 1, 1);
}
Status stack_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(1));
  const int64_t n = c.attr<int64_t>("num_elements");
  c.output(0, PartialShape::vector(n < 0 ? -1 : n).concat(s));
  return {};
}
Status gather_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(2));
  c.output(0, c.input(1).concat(s));
  return {};
}
Status concat_shape(ShapeContext& c) {
  PartialShape s;
  if (c.num_inputs() == 3) {
    WEFT_ASSIGN(s, c.constant_shape(1));
  } else {
    s = c.attr<PartialShape>("element_shape");
  }
  if (s.has_rank() && s.rank() >= 1) s.set_dim(0, -1);
  c.output(0, s.has_rank() && s.rank() == 0 ? PartialShape::unknown() : s);
  c.output(1, PartialShape::vector(-1));
  return {};
}
Status element_shape_shape(ShapeContext& c) {
  c.output(0, PartialShape::unknown());
  return {};
}

}  // namespace

void tensor_list(Registry& r) {
  r.add("EmptyTensorList")
      .in("element_shape: shape_type")
      .in("max_num_elements: int32")
      .out("handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}")
      .doc("Makes a list without elements.")
      .traits({.role = Role::kEmptyList, .made = Made::kAlways, .differs_by_row = true})
      .shape(shapes::scalar)
      .cpu(run_empty);

  r.add("TensorListConcat")
      .in("input_handle: variant")
      .out("tensor: element_dtype")
      .out("lengths: int64")
      .attr("element_dtype: type")
      .attr("element_shape: shape = <unknown>")
      .doc("Joins the elements of a list along their first dimension; also their lengths.")
      .shape(concat_shape)
      .grad(list_concat_grad)
      .cpu(run_concat);

  r.add("TensorListConcatLists")
      .in("input_a: variant")
      .in("input_b: variant")
      .out("output: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .doc("Joins two lists into one, or two arrays of lists pairwise.")
      .shape(shapes::unchanged)
      .no_grad()
      .cpu(run_concat_lists);

  r.add("TensorListConcatV2")
      .in("input_handle: variant")
      .in("element_shape: shape_type")
      .in("leading_dims: int64")
      .out("tensor: element_dtype")
      .out("lengths: int64")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}")
      .doc("Joins the elements of a list along their first dimension; lengths of elements never set may be given.")
      .shape(concat_shape)
      .grad(list_concat_grad)
      .cpu(run_concat);

  r.add("TensorListElementShape")
      .in("input_handle: variant")
      .out("element_shape: shape_type")
      .attr("shape_type: {int32, int64}")
      .doc("Gives the shape that a list demands of its elements; -1 where it is unknown.")
      .traits({.metadata = true})
      .shape(element_shape_shape)
      .no_grad()
      .cpu(run_element_shape);

  r.add("TensorListFromTensor")
      .in("tensor: element_dtype")
      .in("element_shape: shape_type")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}")
      .doc("Makes a list of the rows of a tensor.")
      .traits({.role = Role::kListFromTensor})
      .shape(shapes::scalar)
      .grad(list_from_tensor_grad)
      .cpu(run_from_tensor);

  r.add("TensorListGather")
      .in("input_handle: variant")
      .in("indices: int32")
      .in("element_shape: int32")
      .out("values: element_dtype")
      .attr("element_dtype: type")
      .doc("Stacks the elements at the given indices into one tensor.")
      .shape(gather_shape)
      .grad(list_gather_grad)
      .cpu(run_gather);

  r.add("TensorListGetItem")
      .in("input_handle: variant")
      .in("index: int32")
      .in("element_shape: Tshape")
      .out("item: element_dtype")
      .attr("element_dtype: type")
      .attr("Tshape: {int32, int64} = DT_INT32")
      .doc("Reads one element of a list; one never set reads as zeros.")
      .traits({.role = Role::kListGet})
      .shape(get_item_shape)
      .grad(list_get_item_grad)
      .cpu(run_get_item);

  r.add("TensorListLength")
      .in("input_handle: variant")
      .out("length: int32")
      .doc("Tells how many elements a list has.")
      .traits({.metadata = true})
      .shape(shapes::scalar)
      .no_grad()
      .cpu(run_length);

  r.add("TensorListPopBack")
      .in("input_handle: variant")
      .in("element_shape: int32")
      .out("output_handle: variant")
      .out("tensor: element_dtype")
      .attr("element_dtype: type")
      .doc("Takes the last element off a list.")
      .traits({.role = Role::kListPop, .made = Made::kAlways})
      .shape(pop_back_shape)
      .grad(list_pop_back_grad)
      .cpu(run_pop_back);

  r.add("TensorListPushBack")
      .in("input_handle: variant")
      .in("tensor: element_dtype")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .doc("Puts an element at the end of a list.")
      .traits({.role = Role::kListPush, .made = Made::kAlways})
      .shape(shapes::scalar)
      .grad(list_push_back_grad)
      .cpu(run_push_back);

  r.add("TensorListPushBackBatch")
      .in("input_handles: variant")
      .in("tensor: element_dtype")
      .out("output_handles: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .doc("Puts one row of a tensor at the end of each list of an array.")
      .shape(shapes::unchanged)
      .no_grad()
      .cpu(run_push_back_batch);

  r.add("TensorListReserve")
      .in("element_shape: shape_type")
      .in("num_elements: int32")
      .out("handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}")
      .doc("Makes a list with a number of elements that are not set yet.")
      .shape(shapes::scalar)
      .traits({.role = Role::kListReserve, .made = Made::kAlways, .differs_by_row = true})
      .cpu(run_reserve);

  r.add("TensorListResize")
      .in("input_handle: variant")
      .in("size: int32")
      .out("output_handle: variant")
      .doc("Cuts a list, or lengthens it by elements that are not set.")
      .shape(shapes::scalar)
      .grad(list_resize_grad)
      .cpu(run_resize);

  r.add("TensorListScatter")
      .in("tensor: element_dtype")
      .in("indices: int32")
      .in("element_shape: shape_type")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}")
      .doc("Makes a list whose elements at the given indices are the rows of a tensor.")
      .shape(shapes::scalar)
      .grad(list_scatter_grad)
      .cpu(run_scatter);

  r.add("TensorListScatterIntoExistingList")
      .in("input_handle: variant")
      .in("tensor: element_dtype")
      .in("indices: int32")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .doc("Sets elements of a list to the rows of a tensor.")
      .shape(shapes::scalar)
      .grad(list_scatter_into_grad)
      .cpu(run_scatter_into);

  r.add("TensorListScatterV2")
      .in("tensor: element_dtype")
      .in("indices: int32")
      .in("element_shape: shape_type")
      .in("num_elements: int32")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}")
      .doc("Makes a list of given length whose elements at the given indices are the rows of a tensor.")
      .shape(shapes::scalar)
      .grad(list_scatter_grad)
      .cpu(run_scatter);

  r.add("TensorListSetItem")
      .in("input_handle: variant")
      .in("index: int32")
      .in("item: element_dtype")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("resize_if_index_out_of_bounds: bool = false")
      .traits({.role = Role::kListSet, .made = Made::kAlways})
      .doc("Sets one element of a list.")
      .shape(shapes::scalar)
      .grad(list_set_item_grad)
      .cpu(run_set_item);

  r.add("TensorListSplit")
      .in("tensor: element_dtype")
      .in("element_shape: shape_type")
      .in("lengths: int64")
      .out("output_handle: variant")
      .full_type("ARRAY(TENSOR(VAR:element_dtype))")
      .attr("element_dtype: type")
      .attr("shape_type: {int32, int64}")
      .doc("Cuts a tensor along its first dimension into the elements of a list.")
      .shape(shapes::scalar)
      .grad(list_split_grad)
      .cpu(run_split);

  r.add("TensorListStack")
      .in("input_handle: variant")
      .in("element_shape: int32")
      .out("tensor: element_dtype")
      .attr("element_dtype: type")
      .attr("num_elements: int = -1")
      .traits({.role = Role::kListStack, .made = Made::kAlways})
      .doc("Stacks all elements of a list into one tensor.")
      .shape(stack_shape)
      .grad(list_stack_grad)
      .cpu(run_stack);

  set_api_trait(r, {"TensorListConcatV2", "TensorListGather", "TensorListGetItem", "TensorListPopBack", "TensorListStack"}, ApiTrait::kUnchecked);
}

}  // namespace weft_engine::ops
