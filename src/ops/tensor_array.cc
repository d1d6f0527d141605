// TensorArrayV3 and StackV2 with their ops: the containers of version 1 loops. The objects are in
// tensor_array_resource.h.
#include <algorithm>
#include <atomic>
#include <limits>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/tensor_array_grad.h"
#include "ops/tensor_array_resource.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

constexpr const char* kArrays = "_tensor_arrays";
constexpr const char* kGradients = "_tensor_array_grads";

Tensor array_handle(const KernelContext& c, const char* container, std::shared_ptr<TensorArray> array) {
  std::string name = array->name();
  return make_handle(c.device().name(), container, std::move(name), TensorArray::kTypeName, std::move(array), true);
}

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
  o.identical_element_shapes = c.attr<bool>("identical_element_shapes");
  o.dynamic_size = c.attr<bool>("dynamic_size");
  o.clear_after_read = c.attr<bool>("clear_after_read");
  c.set_output(0, array_handle(c, kArrays, std::make_shared<TensorArray>(std::move(o))));
  c.set_output(1, Tensor::scalar(0.0f));
  return {};
}

// Of TensorArrayGradWithShape only: what stands in front of the shapes.
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
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, c.resource<TensorArray>(0));
  if (array->is_gradient()) return invalid_argument("Wrong input container. ", kGradients, array->name());
  WEFT_ASSIGN(Shape prefix, shape_to_prepend(c));
  WEFT_ASSIGN(std::shared_ptr<TensorArray> gradient, array->gradient(c.attr<std::string>("source"), prefix));
  c.set_output(0, array_handle(c, kGradients, std::move(gradient)));
  c.set_output(1, Tensor::scalar(0.0f));
  return {};
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

Status check_write_type(const TensorArray& array, const Tensor& value) {
  if (array.dtype() == value.dtype()) return {};
  return invalid_argument("TensorArray dtype is ", array.dtype(), " but Op is trying to write dtype ", value.dtype(), ".");
}

Status check_read_type(const TensorArray& array, DType dtype) {
  if (array.dtype() == dtype) return {};
  return invalid_argument("TensorArray dtype is ", array.dtype(), " but Op requested dtype ", dtype, ".");
}

Status run_write(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, c.resource<TensorArray>(0));
  WEFT_ASSIGN(int64_t index, index_input(c));
  WEFT_RETURN_IF_ERROR(check_write_type(*array, c.input(2)));
  WEFT_RETURN_IF_ERROR(array->write(index, c.input(2), c.pool()));
  c.set_output(0, c.input(3));
  return {};
}

Status run_read(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, c.resource<TensorArray>(0));
  WEFT_ASSIGN(int64_t index, index_input(c));
  WEFT_RETURN_IF_ERROR(check_read_type(*array, c.attr<DType>("dtype")));
  std::vector<Tensor> values;
  WEFT_RETURN_IF_ERROR(array->read_many({index}, values));
  c.set_output(0, std::move(values[0]));
  return {};
}

Status run_gather(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, c.resource<TensorArray>(0));
  WEFT_RETURN_IF_ERROR(check_read_type(*array, c.attr<DType>("dtype")));
  const PartialShape& wanted = c.attr<PartialShape>("element_shape");
  WEFT_RETURN_IF_ERROR(array->merge_element_shape(wanted));
  WEFT_ASSIGN(std::vector<int64_t> indices, indices_input(c));
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
      return invalid_argument("TensorArray has inconsistent shapes.  Index 0 has shape: ", element, " but index ", i, " has shape: ", values[i].shape());
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
    if (shape.rank() < 1) return invalid_argument("Concat saw a scalar shape at index ", i, " but requires at least vectors.  Did you mean to call pack?");
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
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, c.resource<TensorArray>(0));
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

Status run_scatter(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, c.resource<TensorArray>(0));
  const Tensor& value = c.input(2);
  WEFT_RETURN_IF_ERROR(check_write_type(*array, value));
  if (value.rank() < 1) return invalid_argument("Input value for unpack must be at least a vector but received shape: ", value.shape());
  WEFT_ASSIGN(int64_t size, array->size());
  WEFT_ASSIGN(std::vector<int64_t> indices, indices_input(c));
  const int64_t n = value.dim(0);
  if (int64_t(indices.size()) != n) return invalid_argument("Expected len(indices) == values.shape[0], but saw: ", indices.size(), " vs. ", n);
  const int64_t highest = indices.empty() ? -1 : *std::max_element(indices.begin(), indices.end());
  if (!array->dynamic_size() && highest >= size) return invalid_argument("Max scatter index must be < array size (", highest, " vs. ", size, ")");
  const Shape element = value.shape().slice(1, value.rank());
  std::vector<Tensor> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(value.slice_rows(i, i + 1).reshaped(element));
  WEFT_RETURN_IF_ERROR(array->write_many(indices, values, c.pool()));
  c.set_output(0, c.input(3));
  return {};
}

Status run_split(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, c.resource<TensorArray>(0));
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
    return invalid_argument("Expected sum of lengths to be equal to values.shape[0], but sum of lengths is ", total, " and value's shape is: ", value.shape());
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
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, c.resource<TensorArray>(0));
  WEFT_ASSIGN(int64_t size, array->size());
  c.set_output(0, Tensor::scalar(int32_t(size)));
  return {};
}

Status run_close(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<TensorArray> array, c.resource<TensorArray>(0));
  array->close();
  return {};
}

Status run_stack(KernelContext& c) {
  static std::atomic<int64_t> counter{0};
  if (c.input(0).rank() != 0) return invalid_argument("Stack size must be a scalar, but had shape: ", c.input(0).shape());
  std::string name = unique_name(c, c.attr<std::string>("stack_name"), counter);
  auto stack = std::make_shared<Stack>(name, c.attr<DType>("elem_type"), c.input(0).data<int32_t>()[0]);
  c.set_output(0, make_handle(c.device().name(), "_stacks", std::move(name), Stack::kTypeName, std::move(stack), true));
  return {};
}

Status run_stack_push(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Stack> stack, c.resource<Stack>(0));
  if (c.input(1).dtype() != stack->dtype()) return invalid_argument("Must have type ", int(stack->dtype()), " but got ", int(c.input(1).dtype()));
  WEFT_RETURN_IF_ERROR(stack->push(c.input(1)));
  c.set_output(0, c.input(1));
  return {};
}

Status run_stack_pop(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Stack> stack, c.resource<Stack>(0));
  WEFT_ASSIGN(Tensor t, stack->pop());
  if (t.dtype() != c.output_type(0)) return invalid_argument("Type mismatch: actual ", t.dtype(), " vs. expect ", c.output_type(0));
  c.set_output(0, std::move(t));
  return {};
}

Status run_stack_close(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Stack> stack, c.resource<Stack>(0));
  stack->close();
  return {};
}

Status array_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  c.output_handle(0, {c.attr<DType>("dtype"), c.attr<PartialShape>("element_shape")});
  return shapes::scalar(c);
}

Status handle_and_scalars(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return shapes::scalar(c);
}

Status grad_with_shape_shape(ShapeContext& c) {
  for (int i = 0; i < 2; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return shapes::scalar(c);
}

// All but the value, which stands at `value`, are scalars.
template <int kValue>
Status write_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    const bool vector = (kValue == 1 && i == 2) || (kValue == 3 && i == 1);  // lengths of a split, indices of a scatter
    if (i != (kValue == 3 ? 2 : kValue)) WEFT_RETURN_IF_ERROR(c.with_rank(i, vector ? 1 : 0).status());
  }
  return shapes::scalar(c);
}

Status read_shape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  c.output(0, c.handle(0) ? c.handle(0)->shape : PartialShape::unknown());
  return {};
}

Status gather_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  WEFT_ASSIGN(PartialShape indices, c.with_rank(1, 1));
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 0).status());
  const PartialShape& element = c.attr<PartialShape>("element_shape");
  c.output(0, element.has_rank() ? PartialShape::vector(indices.dim(0)).concat(element) : PartialShape::unknown());
  return {};
}

Status concat_rule(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  c.output(0, PartialShape::unknown());
  c.output(1, {kUnknownDim});
  return {};
}

Status push_shape(ShapeContext& c) {
  c.output(0, c.input(1));
  return {};
}

}  // namespace

void tensor_array(Registry& r) {
  r.add("StackCloseV2")
      .doc("Empties a stack for good.")
      .in("handle: resource")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu(run_stack_close);

  r.add("StackPopV2")
      .doc("Takes the last tensor off a stack.")
      .in("handle: resource")
      .out("elem: elem_type")
      .attr("elem_type: type")
      .stateful()
      .shape(shapes::unknown)
      .cpu(run_stack_pop);

  r.add("StackPushV2")
      .doc("Puts a tensor on a stack and hands it on.")
      .in("handle: resource")
      .in("elem: T")
      .out("output: T")
      .attr("T: type")
      .attr("swap_memory: bool = false")
      .stateful()
      .shape(push_shape)
      .cpu(run_stack_push);

  r.add("StackV2")
      .doc("Makes a stack of tensors, of limited size if max_size is not negative.")
      .in("max_size: int32")
      .out("handle: resource")
      .attr("elem_type: type")
      .attr("stack_name: string = ''")
      .stateful().effect_free().effect_free()
      .shape(shapes::scalar)
      .cpu(run_stack);

  r.add("TensorArrayCloseV3")
      .doc("Empties an array for good.")
      .in("handle: resource")
      .stateful()
      .shape(handle_and_scalars)
      .no_grad()
      .cpu(run_close);

  r.add("TensorArrayConcatV3")
      .doc("Joins all elements of an array along their first dimension and tells how long each was.")
      .in("handle: resource")
      .in("flow_in: float")
      .out("value: dtype")
      .out("lengths: int64")
      .attr("dtype: type")
      .attr("element_shape_except0: shape = <unknown>")
      .stateful()
      .shape(concat_rule)
      .grad(array_concat_grad)
      .cpu(run_concat);

  r.add("TensorArrayGatherV3")
      .doc("Stacks chosen elements of an array.")
      .in("handle: resource")
      .in("indices: int32")
      .in("flow_in: float")
      .out("value: dtype")
      .attr("dtype: type")
      .attr("element_shape: shape = <unknown>")
      .stateful()
      .shape(gather_shape)
      .grad(array_gather_grad)
      .cpu(run_gather);

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

  r.add("TensorArrayReadV3")
      .doc("Reads one element of an array.")
      .in("handle: resource")
      .in("index: int32")
      .in("flow_in: float")
      .out("value: dtype")
      .attr("dtype: type")
      .stateful()
      .shape(read_shape)
      .grad(array_read_grad)
      .cpu(run_read);

  r.add("TensorArrayScatterV3")
      .doc("Writes the rows of a tensor to chosen places of an array.")
      .in("handle: resource")
      .in("indices: int32")
      .in("value: T")
      .in("flow_in: float")
      .out("flow_out: float")
      .attr("T: type")
      .stateful()
      .shape(write_shape<3>)
      .grad(array_scatter_grad)
      .cpu(run_scatter);

  r.add("TensorArraySizeV3")
      .doc("Gives the number of elements of an array.")
      .in("handle: resource")
      .in("flow_in: float")
      .out("size: int32")
      .stateful().effect_free()
      .shape(handle_and_scalars)
      .no_grad()
      .cpu(run_size);

  r.add("TensorArraySplitV3")
      .doc("Writes a tensor, cut into pieces of the given lengths, to an array.")
      .in("handle: resource")
      .in("value: T")
      .in("lengths: int64")
      .in("flow_in: float")
      .out("flow_out: float")
      .attr("T: type")
      .stateful()
      .shape(write_shape<1>)
      .grad(array_split_grad)
      .cpu(run_split);

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
      .stateful().effect_free()
      .shape(array_shape)
      .no_grad()
      .cpu(run_array);

  r.add("TensorArrayWriteV3")
      .doc("Writes one element of an array.")
      .in("handle: resource")
      .in("index: int32")
      .in("value: T")
      .in("flow_in: float")
      .out("flow_out: float")
      .attr("T: type")
      .stateful()
      .shape(write_shape<2>)
      .grad(array_write_grad)
      .cpu(run_write);
}

}  // namespace weft::ops
