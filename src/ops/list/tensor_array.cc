// TensorArrays and stacks with their ops: the containers of version 1 loops. The objects are in
// tensor_array_resource.h, the three forms of their handles in step_handle.h.
#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/list/tensor_array_grad.h"
#include "ops/list/step_handle.h"
#include "ops/list/tensor_array_resource.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

constexpr const char* kArrays = "_tensor_arrays";
constexpr const char* kGradients = "_tensor_array_grads";

// What the attribute says, or else the node's own name, with a number that tells it from all others.
std::string unique_name(const KernelContext& c, const std::string& given, std::atomic<int64_t>& counter) {
  std::string name = !given.empty() ? given : !c.node().name().empty() ? c.node().name() : std::string(c.node().op());
  return cat(name, "_", counter.fetch_add(1));
}

Status run_array(KernelContext& c) {
  static std::atomic<int64_t> counter{0};
  if (c.input(0).rank() != 0) return invalid_argument("TensorArray size must be scalar, but had shape: ", c.input(0).shape());
  const int32_t size = c.input(0).data<int32_t>()[0];
  if (size < 0) return invalid_argument("Size should be >= 0.");
  TensorArray::Options o;
  o.name = unique_name(c, c.attr<std::string>("tensor_array_name"), counter);
  o.dtype = c.attr<DType>("dtype");
  o.size = size;
  o.element_shape = c.attr<PartialShape>("element_shape");
  o.identical_element_shapes = c.node().find_attr("identical_element_shapes") && c.attr<bool>("identical_element_shapes");
  o.dynamic_size = c.attr<bool>("dynamic_size");
  o.clear_after_read = c.attr<bool>("clear_after_read");
  if (c.num_outputs() == 2) c.set_output(1, Tensor::scalar(0.0f));
  return output_step_handle(c, kArrays, std::make_shared<TensorArray>(std::move(o)));
}

// Of TensorArrayGradWithShape only: what is in front of the shapes.
Result<Shape> shape_to_prepend(const KernelContext& c) {
  if (c.num_inputs() < 3) return Shape();
  const Tensor& t = c.input(2);
  if (t.rank() != 1) return invalid_argument("shape must be a vector of {int32,int64}, got shape ", t.shape());
  const auto dims = t.span<int32_t>();
  for (int32_t d : dims) {
    if (d < 0) return invalid_argument("Dimension ", d, " must be >= 0");
  }
  return Shape::make(std::vector<int64_t>(dims.begin(), dims.end()));
}

Status run_gradient(KernelContext& c) {
  if (c.node().input_types()[0] != DType::kResource) {
    WEFT_ASSIGN(auto names, step_handle_names(c, TensorArray::kBadHandle));
    if (names.first != kArrays) return invalid_argument("Input container should be '", kArrays, "',  but received '", names.first, "'");
  }
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, step_handle_input<TensorArray>(c));
  if (array->is_gradient()) return invalid_argument("Wrong input container. ", kGradients, array->name());
  WEFT_ASSIGN(Shape prefix, shape_to_prepend(c));
  WEFT_ASSIGN(std::shared_ptr<TensorArray> gradient, array->gradient(c.attr<std::string>("source"), prefix));
  if (c.num_outputs() == 2) c.set_output(1, Tensor::scalar(0.0f));
  return output_step_handle(c, kGradients, std::move(gradient));
}

Result<int64_t> index_input(const KernelContext& c) {
  if (c.input(1).rank() != 0) return invalid_argument("TensorArray index must be scalar, but had shape: ", c.input(1).shape());
  return int64_t(c.input(1).data<int32_t>()[0]);
}

Result<std::vector<int64_t>> indices_input(const KernelContext& c) {
  if (c.input(1).rank() != 1) return invalid_argument("Expected indices to be a vector, but received shape: ", c.input(1).shape());
  const auto indices = c.input(1).span<int32_t>();
  return std::vector<int64_t>(indices.begin(), indices.end());
}

Result<std::vector<int64_t>> all_indices(int64_t size) {
  // An element costs memory even where it holds nothing.
  constexpr int64_t kMost = int64_t(1) << 24;
  if (size > kMost) return resource_exhausted("a TensorArray of ", size, " elements is too large for one tensor");
  std::vector<int64_t> indices(static_cast<size_t>(size));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

Status check_write_type(const TensorArray& array, const Tensor& value) {
  if (array.dtype() == value.dtype()) return {};
  return invalid_argument("TensorArray dtype is ", array.dtype(), " but Op is trying to write dtype ", value.dtype(), ".");
}

Status check_read_type(const TensorArray& array, DType dtype) {
  if (array.dtype() == dtype) return {};
  return invalid_argument("TensorArray dtype is ", array.dtype(), " but Op requested dtype ", dtype, ".");
}

Status run_write(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, step_handle_input<TensorArray>(c));
  WEFT_ASSIGN(int64_t index, index_input(c));
  WEFT_RETURN_IF_ERROR(check_write_type(*array, c.input(2)));
  WEFT_RETURN_IF_ERROR(array->write(index, c.input(2), c.pool()));
  c.set_output(0, c.input(3));
  return {};
}

Status run_read(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, step_handle_input<TensorArray>(c));
  WEFT_ASSIGN(int64_t index, index_input(c));
  WEFT_RETURN_IF_ERROR(check_read_type(*array, c.attr<DType>("dtype")));
  std::vector<Tensor> values;
  WEFT_RETURN_IF_ERROR(array->read_many({index}, values));
  c.set_output(0, std::move(values[0]));
  return {};
}

Status run_gather(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, step_handle_input<TensorArray>(c));
  WEFT_RETURN_IF_ERROR(check_read_type(*array, c.attr<DType>("dtype")));
  const PartialShape& wanted = c.attr<PartialShape>("element_shape");
  WEFT_RETURN_IF_ERROR(array->merge_element_shape(wanted));
  std::vector<int64_t> indices;
  if (c.num_inputs() == 2) {  // TensorArrayPack
    WEFT_ASSIGN(int64_t size, array->size());
    WEFT_ASSIGN(indices, all_indices(size));
  } else {
    WEFT_ASSIGN(indices, indices_input(c));
  }
  if (indices.empty()) {
    const auto known = wanted.concrete();
    if (!known)
      return unimplemented("TensorArray has size zero, but element shape ", wanted,
                           " is not fully defined. Currently only static shapes are supported when packing zero-size TensorArrays.");
    return c.allocate(0, Shape({0}).concat(*known)).status();
  }
  std::vector<Tensor> values;
  WEFT_RETURN_IF_ERROR(array->read_many(indices, values));
  const Shape& element = values[0].shape();
  if (!wanted.compatible_with(element))
    return invalid_argument("TensorArray was passed element_shape ", wanted, " which does not match the Tensor at index 0: ", element);
  for (size_t i = 1; i < values.size(); ++i) {
    if (values[i].shape() != element)
      return invalid_argument("TensorArray has inconsistent shapes.  Index 0 has shape: ", element, " but index ", i,
                              " has shape: ", values[i].shape());
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({int64_t(values.size())}).concat(element)));
  const int64_t n = element.num_elements();
  for (size_t i = 0; i < values.size(); ++i) copy_elements(values[i], 0, *out, int64_t(i) * n, n);
  return {};
}

Status concat_of_nothing(KernelContext& c, const PartialShape& except0) {
  const auto known = except0.concrete();
  if (!known)
    return unimplemented("TensorArray has size zero, but element_shape_except0 ", except0,
                         " is not fully defined. Currently only static shapes are supported when concatenating zero-size TensorArrays.");
  WEFT_RETURN_IF_ERROR(c.allocate(0, Shape({0}).concat(*known)).status());
  return c.allocate(1, Shape({0})).status();
}

// The shape of the values, one behind the other.
Result<Shape> concat_shape(const std::vector<Tensor>& values, const PartialShape& except0) {
  Shape first;
  int64_t total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const Shape& shape = values[i].shape();
    if (shape.rank() < 1)
      return invalid_argument("Concat saw a scalar shape at index ", i, " but requires at least vectors.  Did you mean to call pack?");
    const Shape tail = shape.slice(1, shape.rank());
    if (i == 0) {
      first = tail;
      if (!except0.compatible_with(first))
        return invalid_argument("TensorArray was passed element_shape_except0 ", except0, " but index 0 has (excepting dimension 0) shape: ", first,
                                " which does not match.");
    } else if (tail != first) {
      return invalid_argument("TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: ", first, " but index ", i,
                              " has (excepting dimension 0) shape: ", tail);
    }
    if (__builtin_add_overflow(total, shape.dim(0), &total)) return invalid_argument("the elements are too many to concatenate");
  }
  return Shape({total}).concat(first);
}

Status run_concat(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, step_handle_input<TensorArray>(c));
  WEFT_RETURN_IF_ERROR(check_read_type(*array, c.attr<DType>("dtype")));
  const PartialShape& except0 = c.attr<PartialShape>("element_shape_except0");
  WEFT_ASSIGN(int64_t size, array->size());
  if (size == 0) return concat_of_nothing(c, except0);
  // Each missing element becomes a tensor of zeros, which costs memory even where it holds nothing.
  constexpr int64_t kMostMissing = int64_t(1) << 24;
  if (const int64_t missing = array->count_missing(); missing > kMostMissing)
    return resource_exhausted("TensorArray ", array->name(), " has ", missing, " elements that were never written, too many to concatenate");
  // One by one, so that the first that cannot be read ends it.
  std::vector<Tensor> values;
  for (int64_t i = 0; i < size; ++i) WEFT_RETURN_IF_ERROR(array->read_many({i}, values));
  WEFT_ASSIGN(Shape shape, concat_shape(values, except0));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  WEFT_ASSIGN(Tensor* lengths, c.allocate(1, Shape({size})));
  int64_t at = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    lengths->data<int64_t>()[i] = values[i].dim(0);
    copy_elements(values[i], 0, *out, at, values[i].num_elements());
    at += values[i].num_elements();
  }
  return {};
}

// TensorArrayScatter and TensorArrayUnpack: the latter has no indices.
Status run_scatter(KernelContext& c) {
  const bool unpack = c.num_inputs() == 3;
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, step_handle_input<TensorArray>(c));
  const Tensor& value = c.input(unpack ? 1 : 2);
  WEFT_RETURN_IF_ERROR(check_write_type(*array, value));
  if (value.rank() < 1) return invalid_argument("Input value for unpack must be at least a vector but received shape: ", value.shape());
  WEFT_ASSIGN(int64_t size, array->size());
  const int64_t n = value.dim(0);
  std::vector<int64_t> indices;
  if (unpack) {
    WEFT_ASSIGN(indices, all_indices(n));
    if (array->dynamic_size()) size = std::max(size, n);
    if (size != n) return invalid_argument("Input value must have first dimension equal to the array size (", n, " vs. ", size, ")");
  } else {
    WEFT_ASSIGN(indices, indices_input(c));
    if (int64_t(indices.size()) != n) return invalid_argument("Expected len(indices) == values.shape[0], but saw: ", indices.size(), " vs. ", n);
    const int64_t highest = indices.empty() ? -1 : *std::max_element(indices.begin(), indices.end());
    if (!array->dynamic_size() && highest >= size) return invalid_argument("Max scatter index must be < array size (", highest, " vs. ", size, ")");
  }
  const Shape element = value.shape().slice(1, value.rank());
  std::vector<Tensor> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(value.slice_rows(i, i + 1).reshaped(element));
  WEFT_RETURN_IF_ERROR(array->write_many(indices, values, c.pool()));
  c.set_output(0, c.input(c.num_inputs() - 1));
  return {};
}

Status run_split(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, step_handle_input<TensorArray>(c));
  const Tensor &value = c.input(1), &lengths = c.input(2);
  WEFT_RETURN_IF_ERROR(check_write_type(*array, value));
  if (lengths.rank() != 1) return invalid_argument("Expected lengths to be a vector, received shape: ", lengths.shape());
  const int64_t n = lengths.dim(0);
  if (n > std::numeric_limits<int32_t>::max()) return invalid_argument("Expected lengths to have < max int32 entries");
  if (value.rank() < 1) return invalid_argument("Expected value to be at least a vector, but received shape: ", value.shape());
  int64_t total = 0;
  for (int64_t length : lengths.span<int64_t>()) {
    if (length < 0) return invalid_argument("Invalid value in lengths: ", length, ". Lengths must be non-negative.");
    if (__builtin_add_overflow(total, length, &total)) return invalid_argument("the sum of lengths is out of range");
  }
  if (total != value.dim(0))
    return invalid_argument("Expected sum of lengths to be equal to values.shape[0], but sum of lengths is ", total,
                            " and value's shape is: ", value.shape());
  WEFT_ASSIGN(int64_t size, array->size());
  if (array->dynamic_size()) size = std::max(size, n);
  if (size != n)
    return invalid_argument("TensorArray's size is not equal to the size of lengths (", size, " vs. ", n,
                            "), and the TensorArray is not marked as dynamically resizeable");
  std::vector<int64_t> indices;
  std::vector<Tensor> values;
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t length = lengths.data<int64_t>()[i];
    indices.push_back(i);
    values.push_back(value.slice_rows(at, at + length));
    at += length;
  }
  WEFT_RETURN_IF_ERROR(array->write_many(indices, values, c.pool()));
  c.set_output(0, c.input(3));
  return {};
}

Status run_size(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, step_handle_input<TensorArray>(c));
  WEFT_ASSIGN(int64_t size, array->size());
  c.set_output(0, Tensor::scalar(int32_t(size)));
  return {};
}

Status run_close(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, step_handle_input<TensorArray>(c));
  array->close();
  return {};
}

Status run_stack(KernelContext& c) {
  static std::atomic<int64_t> counter{0};
  int32_t max_size = -1;
  if (c.num_inputs() > 0) {
    if (c.input(0).rank() != 0) return invalid_argument("Stack size must be a scalar, but had shape: ", c.input(0).shape());
    max_size = c.input(0).data<int32_t>()[0];
  }
  return output_step_handle(
      c, "_stacks", std::make_shared<Stack>(unique_name(c, c.attr<std::string>("stack_name"), counter), c.attr<DType>("elem_type"), max_size));
}

Status run_stack_push(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Stack> stack, step_handle_input<Stack>(c));
  if (c.input(1).dtype() != stack->dtype()) return invalid_argument("Must have type ", int(stack->dtype()), " but got ", int(c.input(1).dtype()));
  WEFT_RETURN_IF_ERROR(stack->push(c.input(1)));
  c.set_output(0, c.input(1));
  return {};
}

Status run_stack_pop(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Stack> stack, step_handle_input<Stack>(c));
  WEFT_ASSIGN(Tensor t, stack->pop());
  if (t.dtype() != c.output_type(0)) return invalid_argument("Type mismatch: actual ", t.dtype(), " vs. expect ", c.output_type(0));
  c.set_output(0, std::move(t));
  return {};
}

Status run_stack_close(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Stack> stack, step_handle_input<Stack>(c));
  stack->close();
  return {};
}

// ---- shape rules: of handles that are resources, and of handles that are two strings; version 1 tells nothing

Status array_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  c.output_handle(0, {c.attr<DType>("dtype"), c.attr<PartialShape>("element_shape")});
  return shapes::scalar(c);
}

// Input 0: a scalar resource, or two strings.
Status check_handle(ShapeContext& c) {
  if (c.node().input_types()[0] == DType::kResource) return c.with_rank(0, 0).status();
  WEFT_ASSIGN(PartialShape handle, c.with_rank(0, 1));
  if (handle.dim(0) != kUnknownDim && handle.dim(0) != 2) return invalid_argument("Dimension must be 2 but is ", handle.dim(0));
  return {};
}

Status handle_and_scalars(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handle(c));
  for (int i = 1; i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return shapes::scalar(c);
}

Status grad_with_shape_shape(ShapeContext& c) {
  for (int i = 0; i < 2; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return shapes::scalar(c);
}

Status named_array_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  c.output(0, PartialShape::vector(2));
  return {};
}

Status named_gradient_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handle(c));
  c.output(0, PartialShape::vector(2));
  return {};
}

Status named_size_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handle(c));
  return shapes::scalar(c);
}

// All but the value, which is at `value`, are scalars.
template <int kValue>
Status write_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handle(c));
  for (int i = 1; i < c.num_inputs(); ++i) {
    const bool vector = (kValue == 1 && i == 2) || (kValue == 3 && i == 1);  // lengths of a split, indices of a scatter
    if (i != (kValue == 3 ? 2 : kValue)) WEFT_RETURN_IF_ERROR(c.with_rank(i, vector ? 1 : 0).status());
  }
  return shapes::scalar(c);
}

Status read_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handle(c));
  for (int i = 1; i < 3; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  c.output(0, c.handle(0) ? c.handle(0)->shape : PartialShape::unknown());
  return {};
}

Status gather_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handle(c));
  WEFT_ASSIGN(PartialShape indices, c.with_rank(1, 1));
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 0).status());
  const PartialShape& element = c.attr<PartialShape>("element_shape");
  const bool known = element.has_rank() && c.node().input_types()[0] == DType::kResource;
  c.output(0, known ? PartialShape::vector(indices.dim(0)).concat(element) : PartialShape::unknown());
  return {};
}

Status concat_rule(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handle(c));
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  c.output(0, PartialShape::unknown());
  c.output(1, {kUnknownDim});
  return {};
}

Status named_stack_shape(ShapeContext& c) {
  c.output(0, PartialShape::vector(2));
  return {};
}

Status push_shape(ShapeContext& c) {
  c.output(0, c.input(1));
  return {};
}

// ---- the ops, each in the forms of its handle ----------------------------------------------------------

constexpr const char *kResource = "handle: resource", *kNamed = "handle: string", *kRef = "handle: Ref(string)";

OpBuilder write(OpBuilder b, const char* handle) {
  return b.doc("Writes one element of an array.")
      .on_gpu(OnGpu::kNever)
      .in(handle)
      .in("index: int32")
      .in("value: T")
      .in("flow_in: float")
      .out("flow_out: float")
      .attr("T: type")
      .shape(handle == kRef ? shapes::unknown : write_shape<2>)
      .grad(array_write_grad)
      .cpu(run_write);
}

OpBuilder read(OpBuilder b, const char* handle) {
  return b.doc("Reads one element of an array.")
      .on_gpu(OnGpu::kNever)
      .in(handle)
      .in("index: int32")
      .in("flow_in: float")
      .out("value: dtype")
      .attr("dtype: type")
      .shape(handle == kRef ? shapes::unknown : read_shape)
      .grad(array_read_grad)
      .cpu(run_read);
}

OpBuilder gather(OpBuilder b, const char* handle) {
  return b.doc("Stacks chosen elements of an array.")
      .on_gpu(OnGpu::kNever)
      .in(handle)
      .in("indices: int32")
      .in("flow_in: float")
      .out("value: dtype")
      .attr("dtype: type")
      .attr("element_shape: shape = <unknown>")
      .shape(handle == kRef ? shapes::unknown : gather_shape)
      .grad(array_gather_grad)
      .cpu(run_gather);
}

OpBuilder scatter(OpBuilder b, const char* handle) {
  return b.doc("Writes the rows of a tensor to chosen places of an array.")
      .on_gpu(OnGpu::kNever)
      .in(handle)
      .in("indices: int32")
      .in("value: T")
      .in("flow_in: float")
      .out("flow_out: float")
      .attr("T: type")
      .shape(handle == kRef ? shapes::unknown : write_shape<3>)
      .grad(array_scatter_grad)
      .cpu(run_scatter);
}

OpBuilder concat(OpBuilder b, const char* handle) {
  return b.doc("Joins all elements of an array along their first dimension; also their lengths.")
      .on_gpu(OnGpu::kNever)
      .in(handle)
      .in("flow_in: float")
      .out("value: dtype")
      .out("lengths: int64")
      .attr("dtype: type")
      .attr("element_shape_except0: shape = <unknown>")
      .shape(handle == kRef ? shapes::unknown : concat_rule)
      .grad(array_concat_grad)
      .cpu(run_concat);
}

OpBuilder split(OpBuilder b, const char* handle) {
  return b.doc("Writes a tensor, cut into pieces of the given lengths, to an array.")
      .on_gpu(OnGpu::kNever)
      .in(handle)
      .in("value: T")
      .in("lengths: int64")
      .in("flow_in: float")
      .out("flow_out: float")
      .attr("T: type")
      .shape(handle == kRef ? shapes::unknown : write_shape<1>)
      .grad(array_split_grad)
      .cpu(run_split);
}

OpBuilder size(OpBuilder b, const char* handle) {
  return b.doc("Gives the number of elements of an array.")
      .on_gpu(OnGpu::kNever)
      .in(handle)
      .in("flow_in: float")
      .out("size: int32")
      .shape(handle == kRef     ? shapes::unknown
             : handle == kNamed ? named_size_shape
                                : handle_and_scalars)
      .no_grad()
      .cpu(run_size);
}

OpBuilder close(OpBuilder b, const char* handle) {
  return b.doc("Empties an array for good.").in(handle).shape(handle == kRef ? shapes::unknown : handle_and_scalars).no_grad().cpu(run_close);
}

void array_ops(Registry& r) {
  r.add("TensorArray")
      .doc("Makes an array of tensors, each written once, behind a version 1 handle.")
      .in("size: int32")
      .out("handle: Ref(string)")
      .attr("dtype: type")
      .attr("dynamic_size: bool = false")
      .attr("clear_after_read: bool = true")
      .attr("tensor_array_name: string = ''")
      .attr("element_shape: shape = <unknown>")
      .stateful()
      .effect_free()
      .deprecated(16, "Use TensorArrayV3")
      .shape(shapes::unknown)
      .no_grad()
      .cpu(run_array);

  r.add("TensorArrayV2")
      .doc("Makes an array of tensors, each written once, that two strings name.")
      .in("size: int32")
      .out("handle: string")
      .attr("dtype: type")
      .attr("element_shape: shape = <unknown>")
      .attr("dynamic_size: bool = false")
      .attr("clear_after_read: bool = true")
      .attr("tensor_array_name: string = ''")
      .stateful()
      .effect_free()
      .deprecated(26, "Use TensorArrayV3")
      .shape(named_array_shape)
      .no_grad()
      .cpu(run_array);

  r.add("TensorArrayV3")
      .doc("Makes an array of tensors, each written once.")
      .in("size: int32")
      .out("handle: resource")
      .out("flow: float")
      .attr("dtype: type")
      .attr("element_shape: shape = <unknown>")
      .attr("dynamic_size: bool = false")
      .attr("clear_after_read: bool = true")
      .attr("identical_element_shapes: bool = false")
      .attr("tensor_array_name: string = ''")
      .stateful()
      .effect_free()
      .shape(array_shape)
      .no_grad()
      .cpu(run_array);

  close(r.add("TensorArrayClose"), kRef).deprecated(16, "Use TensorArrayCloseV3");
  close(r.add("TensorArrayCloseV2"), kNamed).deprecated(26, "Use TensorArrayCloseV3").traits({.impure = true});
  close(r.add("TensorArrayCloseV3"), kResource).stateful();
  concat(r.add("TensorArrayConcat"), kRef).deprecated(16, "Use TensorArrayGradV3");
  concat(r.add("TensorArrayConcatV2"), kNamed).traits({.impure = true});
  concat(r.add("TensorArrayConcatV3"), kResource).stateful();
  gather(r.add("TensorArrayGather"), kRef).deprecated(16, "Use TensorArrayGatherV3");
  gather(r.add("TensorArrayGatherV2"), kNamed).deprecated(26, "Use TensorArrayGatherV3").traits({.impure = true});
  gather(r.add("TensorArrayGatherV3"), kResource).stateful();
  read(r.add("TensorArrayRead"), kRef).deprecated(16, "Use TensorArrayReadV3");
  read(r.add("TensorArrayReadV2"), kNamed).deprecated(26, "Use TensorArrayReadV3").traits({.impure = true});
  read(r.add("TensorArrayReadV3"), kResource).stateful();
  scatter(r.add("TensorArrayScatter"), kRef).deprecated(19, "Use TensorArrayGradV3");
  scatter(r.add("TensorArrayScatterV2"), kNamed).deprecated(26, "Use TensorArrayScatterV3").traits({.impure = true});
  scatter(r.add("TensorArrayScatterV3"), kResource).stateful();
  size(r.add("TensorArraySize"), kRef).deprecated(16, "Use TensorArraySizeV3");
  size(r.add("TensorArraySizeV2"), kNamed).deprecated(26, "Use TensorArraySizeV3").traits({.impure = true});
  size(r.add("TensorArraySizeV3"), kResource).stateful().effect_free().traits({.metadata = true});
  split(r.add("TensorArraySplit"), kRef).deprecated(16, "Use TensorArraySplitV3");
  split(r.add("TensorArraySplitV2"), kNamed).deprecated(26, "Use TensorArraySplitV3").traits({.impure = true});
  split(r.add("TensorArraySplitV3"), kResource).stateful();
  write(r.add("TensorArrayWrite"), kRef).deprecated(16, "Use TensorArrayWriteV3");
  write(r.add("TensorArrayWriteV2"), kNamed).deprecated(26, "Use TensorArrayWriteV3").traits({.impure = true});
  write(r.add("TensorArrayWriteV3"), kResource).stateful();

  r.add("TensorArrayGrad")
      .doc("Makes or finds the array that collects the gradients of another for one source, behind a version 1 handle.")
      .in("handle: string")
      .in("flow_in: float")
      .out("grad_handle: Ref(string)")
      .attr("source: string")
      .stateful()
      .deprecated(16, "Use TensorArrayGradV3")
      .shape(shapes::unknown)
      .no_grad()
      .cpu(run_gradient);

  r.add("TensorArrayGradV2")
      .doc("Makes or finds the array that collects the gradients of another for one source, both named by two strings.")
      .in("handle: string")
      .in("flow_in: float")
      .out("grad_handle: string")
      .attr("source: string")
      .stateful()
      .deprecated(26, "Use TensorArrayGradV3")
      .shape(named_gradient_shape)
      .no_grad()
      .cpu(run_gradient);

  r.add("TensorArrayGradV3")
      .doc("Makes or finds the array that collects the gradients of another for one source.")
      .in("handle: resource")
      .in("flow_in: float")
      .out("grad_handle: resource")
      .out("flow_out: float")
      .attr("source: string")
      .stateful()
      .shape(handle_and_scalars)
      .no_grad()
      .cpu(run_gradient);

  r.add("TensorArrayGradWithShape")
      .doc("Makes or finds the array that collects the gradients of another, with more dimensions in front.")
      .in("handle: resource")
      .in("flow_in: float")
      .in("shape_to_prepend: int32")
      .out("grad_handle: resource")
      .out("flow_out: float")
      .attr("source: string")
      .stateful()
      .shape(grad_with_shape_shape)
      .no_grad()
      .cpu(run_gradient);

  r.add("TensorArrayPack")
      .doc("Stacks all elements of an array.")
      .in("handle: Ref(string)")
      .in("flow_in: float")
      .out("value: dtype")
      .attr("dtype: type")
      .attr("element_shape: shape = <unknown>")
      .deprecated(16, "Use TensorArrayGatherV3 with RangeOp")
      .shape(shapes::unknown)
      .cpu(run_gather);

  r.add("TensorArrayUnpack")
      .doc("Writes the rows of a tensor to an array, which then has as many elements.")
      .in("handle: Ref(string)")
      .in("value: T")
      .in("flow_in: float")
      .out("flow_out: float")
      .attr("T: type")
      .deprecated(20, "Use TensorArrayScatterV3 with RangeOp")
      .shape(shapes::unknown)
      .cpu(run_scatter);
}

OpBuilder stack_close(OpBuilder b, const char* handle) {
  return b.doc("Empties a stack for good.").in(handle).shape(shapes::no_outputs).cpu(run_stack_close);
}

OpBuilder stack_pop(OpBuilder b, const char* handle) {
  return b.doc("Takes the last tensor off a stack.")
      .on_gpu(OnGpu::kNever)
      .in(handle)
      .out("elem: elem_type")
      .attr("elem_type: type")
      .shape(shapes::unknown)
      .cpu(run_stack_pop);
}

OpBuilder stack_push(OpBuilder b, const char* handle) {
  return b.doc("Puts a tensor on a stack and passes it on.")
      .on_gpu(OnGpu::kNever)
      .in(handle)
      .in("elem: T")
      .out("output: T")
      .attr("T: type")
      .attr("swap_memory: bool = false")
      .shape(push_shape)
      .cpu(run_stack_push);
}

}  // namespace

void tensor_array(Registry& r) {
  array_ops(r);
  stack_close(r.add("StackClose"), kRef).no_grad();
  stack_close(r.add("StackCloseV2"), kResource).stateful();
  stack_pop(r.add("StackPop"), kRef).no_grad();
  stack_pop(r.add("StackPopV2"), kResource).stateful();
  stack_push(r.add("StackPush"), kRef).no_grad();
  stack_push(r.add("StackPushV2"), kResource).stateful();

  r.add("Stack")
      .doc("Makes a stack of tensors, behind a version 1 handle.")
      .out("handle: Ref(string)")
      .attr("elem_type: type")
      .attr("stack_name: string = ''")
      .stateful()
      .effect_free()
      .shape(named_stack_shape)
      .no_grad()
      .cpu(run_stack);

  r.add("StackV2")
      .doc("Makes a stack of tensors, of limited size if max_size is not negative.")
      .in("max_size: int32")
      .out("handle: resource")
      .attr("elem_type: type")
      .attr("stack_name: string = ''")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu(run_stack);
}

}  // namespace weft_engine::ops
