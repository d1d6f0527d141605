// Tensors passed on and looked at: constants, identities, reshapes, shapes as values.

#include "core/error_notes.h"
#include "op/api_traits.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/placed_kernel.h"
#include "ops/all.h"
#include "ops/array/array_util.h"
#include "wire/file.h"

namespace weft_engine::ops {

namespace {

// ---- constants and copies ------------------------------------------------------------------------

struct Const {
  static Result<Const> make(const NodeInfo& node) {
    const Tensor& value = node.attr<Tensor>("value");
    const DType dtype = node.attr<DType>("dtype");
    if (value.dtype() != dtype)
      return invalid_argument("Type mismatch between value (", dtype_name(value.dtype()), ") and dtype (", dtype_name(dtype), ")");
    return Const{value};
  }
  Status run(KernelContext& c) const {
    c.set_output(0, value);
    return {};
  }
  Tensor value;
};

Status const_shape(ShapeContext& c) {
  c.output(0, c.attr<Tensor>("value").shape());
  return {};
}

Status deep_copy(KernelContext& c) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  kernels::copy_run(c.pool(), in.dtype(), in.raw(), out->raw(), in.num_elements());
  return {};
}

Status run_identity_n(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.set_output(i, c.input(i));
  return {};
}

Status identity_n_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.output(i, c.input(i));
  return {};
}

Status identity_shape(ShapeContext& c) {
  c.output(0, c.input(0));
  if (const auto* h = c.handle(0)) c.output_handle(0, *h);
  return {};
}

// Reads a tensor from a file that holds exactly its bytes.
Status run_immutable_const(KernelContext& c) {
  const std::string& path = c.attr<std::string>("memory_region_name");
  const auto shape = c.attr<PartialShape>("shape").concrete();
  if (!shape) return invalid_argument("ImmutableConst needs a shape that is fully known");
  if (!is_simple(c.output_type(0)))
    return invalid_argument("Sorry, ImmutableConst does not support the type ", dtype_enum_name(c.output_type(0)), ".");
  int64_t size = 0;
  WEFT_ASSIGN(std::unique_ptr<core::RandomAccessFile> file, wire::open_to_read(path, size));
  if (multiply_without_overflow(shape->num_elements(), int64_t(dtype_size(c.output_type(0)))) > size)
    return invalid_argument("Memory region ", path, " has ", size, " bytes, too few for shape ", *shape);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, *shape));
  return wire::read_at(*file, 0, out->raw(), out->byte_size());
}

Status shape_attr(ShapeContext& c) {
  c.output(0, c.attr<PartialShape>("shape"));
  return {};
}

Status run_placeholder(KernelContext& c) {
  const PartialShape& shape = c.attr<PartialShape>("shape");
  std::string tail = shape.rank() > 0 ? cat(" and shape ", shape) : "";
  return invalid_argument("You must feed a value for placeholder tensor '", node_name(c.node()), "' with dtype ", dtype_name(c.output_type(0)), tail);
}

Status placeholder_with_default_shape(ShapeContext& c) {
  const PartialShape& shape = c.attr<PartialShape>("shape");
  WEFT_RETURN_IF_ERROR(c.input(0).merge_with(shape).status());
  // What is fed instead of the default need only fit the attribute.
  c.output(0, shape);
  return {};
}

// ---- shapes as values --------------------------------------------------------------------------------

Status put_shape(KernelContext& c, int i) {
  const Shape& shape = c.input(i).shape();
  WEFT_ASSIGN(Tensor* out, c.allocate(i, {int64_t(shape.rank())}));
  for (int d = 0; d < shape.rank(); ++d) {
    if (out->dtype() == DType::kInt32 && shape.dim(d) > INT32_MAX)
      return invalid_argument(c.node().op(), " output type is 32-bit ", c.node().op() == "Shape" ? " but dim " : "but shape dim ", d, " is ",
                              shape.dim(d));
    put_int(*out, d, shape.dim(d));
  }
  return {};
}

Status run_shape(KernelContext& c) { return put_shape(c, 0); }

Status run_shape_n(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(put_shape(c, i));
  return {};
}

Status shape_n_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) c.output(i, PartialShape::vector(c.input(i).has_rank() ? c.input(i).rank() : kUnknownDim));
  return {};
}

Status run_size(KernelContext& c) {
  const int64_t n = c.input(0).num_elements();
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {}));
  if (out->dtype() == DType::kInt32 && n > INT32_MAX)
    return invalid_argument("Number of elements was larger than representable by 32-bit output type");
  put_int(*out, 0, n);
  return {};
}

Status run_rank(KernelContext& c) {
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {}));
  out->data<int32_t>()[0] = c.input(0).rank();
  return {};
}

// ---- the same elements under another shape -------------------------------------------------------------

Status run_ensure_shape(KernelContext& c) {
  const PartialShape& want = c.attr<PartialShape>("shape");
  if (!want.compatible_with(c.input(0).shape()))
    return invalid_argument("Shape of tensor input ", c.input(0).shape(), " is not compatible with expected shape ", want, ".");
  return pass_through(c);
}

Status ensure_shape_shape(ShapeContext& c) {
  const PartialShape& wanted = c.attr<PartialShape>("shape");
  if (wanted.has_rank()) WEFT_RETURN_IF_ERROR(c.with_rank(0, wanted.rank()).status());
  WEFT_ASSIGN(PartialShape s, c.input(0).merge_with(wanted));
  c.output(0, std::move(s));
  return {};
}

Status run_reshape(KernelContext& c) {
  const Tensor &in = c.input(0), &sizes = c.input(1);
  if (sizes.rank() > 1) return invalid_argument("sizes input must be 1-D, not ", sizes.shape());
  if (sizes.num_elements() > kMaxRank) return invalid_argument("too many dimensions: must be < 254, but received ", sizes.num_elements());
  std::vector<int64_t> dims = ints_of(sizes);
  int unknown = -1;
  int64_t product = 1;
  bool has_zero = false;
  for (int i = 0; i < int(dims.size()); ++i) {
    const int64_t d = dims[size_t(i)];
    if (d == -1) {
      if (unknown >= 0) return invalid_argument("Only one input size may be -1, not both ", unknown, " and ", i);
      unknown = i;
    } else if (d < 0) {
      return invalid_argument("Size ", i, " must be non-negative, not ", d);
    } else if (d == 0) {
      has_zero = true;  // left out of the product, so that the unknown size can still be found
    } else {
      const int64_t next = multiply_without_overflow(product, d);
      if (next < 0) return invalid_argument("Encountered overflow when multiplying ", product, " with ", d, ", result: -1");
      product = next;
    }
  }
  if (unknown >= 0) {
    int64_t n = 1;
    bool skipped_zero = false;
    for (int64_t d : in.shape().dims()) {
      if (d > 0 || !has_zero) n = multiply_without_overflow(n, d);
      else skipped_zero = true;
      if (n < 0) return invalid_argument("Input to reshape has too many values: ", in.shape());
    }
    if (!skipped_zero && n % product != 0)
      return invalid_argument("Input to reshape is a tensor with ", n, " values, but the requested shape requires a multiple of ", product);
    dims[size_t(unknown)] = n / product;
  }
  Shape shape(dims);
  if (shape.num_elements() != in.num_elements())
    return invalid_argument("Input to reshape is a tensor with ", in.num_elements(), " values, but the requested shape has ", shape.num_elements());
  share_as(c, 0, in, std::move(shape));
  return {};
}

// The known sizes multiplied, and which one is not known: -1 if none, -2 if several.
int64_t known_product(const PartialShape& s, int& unknown) {
  int64_t product = 1;
  unknown = -1;
  for (int i = 0; i < s.rank(); ++i) {
    if (s.dim(i) >= 0) product = shapes::mul_dim(product, s.dim(i));
    else unknown = unknown == -1 ? i : -2;
  }
  return s.num_elements().value_or(product);  // a size of 0 settles it
}

Status reshape_shape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (c.input(1).rank() == 0) {  // a scalar stands for a vector of one
    const auto n = c.constant_int(1);
    c.output(0, PartialShape::vector(n && *n >= 0 ? *n : in.num_elements().value_or(kUnknownDim)));
    return {};
  }
  if (c.input(1).has_rank() && c.input(1).rank() != 1) return {};
  WEFT_ASSIGN(PartialShape out, c.constant_shape(1));
  if (!out.has_rank() || !in.has_rank()) {
    c.output(0, std::move(out));
    return {};
  }
  int in_unknown, out_unknown;
  const int64_t in_known = known_product(in, in_unknown), out_known = known_product(out, out_unknown);
  auto divided = [](int64_t n, int64_t by) -> Result<int64_t> {
    if (n % by != 0) return invalid_argument("Dimension size must be evenly divisible by ", by, " but is ", n);
    return n / by;
  };
  if (in_unknown == -1 && out_unknown == -1) {
    if (in_known != out_known)
      return invalid_argument("Cannot reshape a tensor with ", in_known, " elements to shape ", out, " (", out_known, " elements)");
  } else if (in_unknown == -1 && out_unknown >= 0 && out_known > 0 && in_known >= 0) {
    WEFT_ASSIGN(int64_t size, divided(in_known, out_known));
    out.set_dim(out_unknown, size);
  } else if (in_unknown >= 0 && out_unknown == -1 && in_known > 0 && out_known >= 0) {
    WEFT_RETURN_IF_ERROR(divided(out_known, in_known).status());
  }
  c.output(0, std::move(out));
  return {};
}

Status run_expand_dims(KernelContext& c) {
  const Tensor &in = c.input(0), &dim = c.input(1);
  if (dim.num_elements() != 1) return invalid_argument("'dim' must be a tensor with a single value");
  const int64_t axis = int_at(dim, 0);
  if (axis < -1 - in.rank() || axis > in.rank())
    return invalid_argument("Tried to expand dim index ", axis, " for tensor with ", in.rank(), " dimensions.");
  Shape shape = in.shape();
  shape.insert_dim(int(axis < 0 ? axis + in.rank() + 1 : axis), 1);
  share_as(c, 0, in, std::move(shape));
  return {};
}

Status expand_dims_shape(ShapeContext& c) {
  const Tensor* dim = c.constant(1);
  if (dim && dim->num_elements() != 1) return invalid_argument("'dim' input must be a tensor with a single value");
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return {};
  if (!dim) {
    c.output(0, PartialShape::unknown_of_rank(in.rank() + 1));
    return {};
  }
  int64_t axis = int_at(*dim, 0);
  if (axis < -1 - in.rank() || axis > in.rank())
    return invalid_argument("dim ", axis, " not in the interval [", -1 - in.rank(), ", ", in.rank(), "].");
  if (axis < 0) axis += in.rank() + 1;
  c.output(0, in.slice(0, int(axis)).concat({1}).concat(in.slice(int(axis), in.rank())));
  return {};
}

Status run_squeeze(KernelContext& c) {
  const Tensor& in = c.input(0);
  const auto& dims = c.attr<std::vector<int64_t>>("squeeze_dims");
  std::vector<bool> gone(size_t(in.rank()), dims.empty());
  for (size_t i = dims.size(); i-- > 0;) {  // from the last, so that of several bad ones the same is named as in TensorFlow
    const int64_t d = dims[i];
    if (d < -in.rank() || d >= in.rank()) return invalid_argument("Tried to squeeze dim index ", d, " for tensor with ", in.rank(), " dimensions.");
    gone[size_t(d < 0 ? d + in.rank() : d)] = true;
  }
  std::vector<int64_t> left;
  for (int i = 0; i < in.rank(); ++i) {
    if (!gone[size_t(i)] || (dims.empty() && in.dim(i) != 1)) left.push_back(in.dim(i));
    else if (in.dim(i) != 1) return invalid_argument("Can not squeeze dim[", i, "], expected a dimension of 1, got ", in.dim(i));
  }
  share_as(c, 0, in, Shape(left));
  return {};
}

Status squeeze_shape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  const auto& dims = c.attr<std::vector<int64_t>>("squeeze_dims");
  if (!in.has_rank()) return {};
  std::vector<bool> gone(size_t(in.rank()), false);
  for (int64_t d : dims) {
    if (d < -in.rank() || d >= in.rank()) return invalid_argument("squeeze_dims[", d, "] not in [", -in.rank(), ",", in.rank(), ").");
    gone[size_t(d < 0 ? d + in.rank() : d)] = true;
  }
  std::vector<int64_t> left;
  for (int i = 0; i < in.rank(); ++i) {
    if (dims.empty()) {
      if (in.dim(i) < 0) return {};  // may or may not stay
      if (in.dim(i) != 1) left.push_back(in.dim(i));
    } else if (!gone[size_t(i)]) {
      left.push_back(in.dim(i));
    } else if (in.dim(i) >= 0 && in.dim(i) != 1) {
      return invalid_argument("Can not squeeze dim[", i, "], expected a dimension of 1, got ", in.dim(i));
    }
  }
  c.output(0, PartialShape(std::move(left)));
  return {};
}

Grads identity_n_grad(const GradContext& g) {
  Grads grads;
  for (int i = 0; i < g.num_outputs(); ++i) grads.push_back(g.raw_dy(i));
  return grads;
}

}  // namespace

void array(Registry& r) {
  r.add("Const")
      .out("output: dtype")
      .attr("value: tensor")
      .attr("dtype: type")
      .doc("A tensor that is part of the program.")
      .traits({.role = Role::kConst, .made = Made::kAlways})
      .shape(const_shape)
      .no_grad()
      .cpu<Const>();

  r.add("Copy")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("tensor_name: string = ''")
      .attr("debug_ops_spec: list(string) = []")
      .allows_uninitialized_input()
      .doc("A copy of the input in memory of its own.")
      .traits({.impure = true})
      .shape(shapes::unchanged)
      .cpu(deep_copy);

  r.add("CopyHost")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("tensor_name: string = ''")
      .attr("debug_ops_spec: list(string) = []")
      .allows_uninitialized_input()
      .doc("A copy of the input in host memory.")
      .traits({.impure = true})
      .shape(shapes::unchanged)
      .cpu(deep_copy);

  r.add("DeepCopy")
      .in("x: T")
      .out("y: T")
      .attr("T: type")
      .stateful()
      .doc("A copy that shares no memory with the input.")
      .shape(shapes::unchanged)
      .cpu(deep_copy);

  r.add("EnsureShape")
      .in("input: T")
      .out("output: T")
      .attr("shape: shape")
      .attr("T: type")
      .doc("The input, or an error if its shape does not fit the expected one.")
      .traits({.same_if_same_shape = true})
      .shape(ensure_shape_shape)
      .grad([](const GradContext& g) -> Grads { return {g.dy()}; })
      .cpu(run_ensure_shape);

  r.add("ExpandDims")
      .in("input: T")
      .in("dim: Tdim")
      .out("output: T")
      .attr("T: type")
      .attr("Tdim: {int32, int64} = DT_INT32")
      .doc("The input with a dimension of size 1 put in at the given place.")
      .traits({.reshapes = true})
      .shape(expand_dims_shape)
      .grad([](const GradContext& g) -> Grads { return {reshape_like(g.dy(), g.x()), {}}; })
      .cpu(run_expand_dims);

  r.add("GuaranteeConst")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .stateful()
      .doc("The input, of which the program promises that it never changes.")
      .shape(shapes::unchanged)
      .cpu(pass_through);

  r.add("HostConst")
      .out("output: dtype")
      .attr("value: tensor")
      .attr("dtype: type")
      .doc("A tensor that is part of the program, in host memory.")
      .traits({.role = Role::kConst})
      .shape(const_shape)
      .no_grad()
      .cpu<Const>();

  r.add("Identity")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .doc("The input itself.")
      .traits({.role = Role::kIdentity, .made = Made::kAlways, .forwards_inputs = true, .elementwise = true})
      .shape(identity_shape)
      .grad([](const GradContext& g) -> Grads { return {g.raw_dy()}; })
      .cpu(pass_through);

  r.add("IdentityN")
      .in("input: T")
      .out("output: T")
      .attr("T: list(type) >= 1")
      .doc("The inputs themselves.")
      .traits({.role = Role::kIdentityN, .made = Made::kAlways, .forwards_inputs = true})
      .shape(identity_n_shape)
      .grad(identity_n_grad)
      .cpu(run_identity_n);

  r.add("ImmutableConst")
      .out("tensor: dtype")
      .attr("dtype: type")
      .attr("shape: shape")
      .attr("memory_region_name: string")
      .doc("A tensor read from a file that holds its bytes.")
      .traits({.impure = true})
      .shape(shape_attr)
      .cpu(run_immutable_const);

  r.add("Placeholder")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("shape: shape = <unknown>")
      .doc("A value that has to be fed when the graph runs.")
      .traits({.role = Role::kPlaceholder, .made = Made::kAlways, .impure = true})
      .shape(shape_attr)
      .cpu(run_placeholder);

  r.add("PlaceholderV2")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("shape: shape")
      .deprecated(23, "Placeholder now behaves the same as PlaceholderV2.")
      .doc("A value that has to be fed when the graph runs.")
      .traits({.role = Role::kPlaceholder, .impure = true})
      .shape(shape_attr)
      .cpu(run_placeholder);

  r.add("PlaceholderWithDefault")
      .in("input: dtype")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("shape: shape")
      .doc("The input, unless another value is fed.")
      .traits({.role = Role::kPlaceholderWithDefault, .forwards_inputs = true})
      .shape(placeholder_with_default_shape)
      .grad([](const GradContext& g) -> Grads { return {g.raw_dy()}; })
      .cpu(pass_through);

  r.add("PreventGradient")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("message: string = ''")
      .doc("The input; asking for its gradient is an error.")
      .traits({.forwards_inputs = true, .elementwise = true})
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads {
        return g.fail(
            with_note(not_found("Gradient explicitly disabled. Reason: b'", g.attr<std::string>("message"), "'"), core::kNoteGradientDisabled));
      })
      .cpu(pass_through);

  r.add("Rank")
      .in("input: T")
      .out("output: int32")
      .attr("T: type")
      .doc("The number of dimensions of the input.")
      .traits({.shape_query = ShapeQuery::kRank, .metadata = true})
      .shape(shapes::scalar)
      .no_grad()
      .cpu(run_rank);

  r.add("Reshape")
      .in("tensor: T")
      .in("shape: Tshape")
      .out("output: T")
      .attr("T: type")
      .attr("Tshape: {int32, int64} = DT_INT32")
      .doc("The elements of the input in another shape; one size may be -1 and is worked out.")
      .traits({.reshapes = true, .same_if_same_shape = true})
      .shape(reshape_shape)
      .grad([](const GradContext& g) -> Grads { return {reshape_like(g.dy(), g.x()), {}}; })
      .cpu(run_reshape);

  r.add("Shape")
      .in("input: T")
      .out("output: out_type")
      .full_type("SHAPE_TENSOR(VAR:out_type)")
      .attr("T: type")
      .attr("out_type: {int32, int64} = DT_INT32")
      .doc("The sizes of the input's dimensions.")
      .traits({.shape_query = ShapeQuery::kDims, .metadata = true})
      .shape(shape_n_shape)
      .no_grad()
      .cpu(run_shape);

  r.add("ShapeN")
      .in("input: N * T")
      .out("output: N * out_type")
      .attr("N: int >= 1")
      .attr("T: type")
      .attr("out_type: {int32, int64} = DT_INT32")
      .doc("The sizes of the dimensions of each input.")
      .traits({.shape_query = ShapeQuery::kDims, .metadata = true})
      .shape(shape_n_shape)
      .no_grad()
      .cpu(run_shape_n);

  r.add("Size")
      .in("input: T")
      .out("output: out_type")
      .attr("T: type")
      .attr("out_type: {int32, int64} = DT_INT32")
      .doc("The number of elements of the input.")
      .traits({.shape_query = ShapeQuery::kSize, .metadata = true})
      .shape(shapes::scalar)
      .no_grad()
      .cpu(run_size);

  r.add("Snapshot")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .doc("The input as it is now.")
      .traits({.role = Role::kIdentity, .forwards_inputs = true, .elementwise = true})
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.raw_dy()}; })
      .cpu(pass_through);

  r.add("Squeeze")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("squeeze_dims: list(int) >= 0 = []")
      .doc("The input without dimensions of size 1, all or those listed.")
      .traits({.reshapes = true, .same_if_same_shape = true})
      .shape(squeeze_shape)
      .grad([](const GradContext& g) -> Grads { return {reshape_like(g.dy(), g.x())}; })
      .cpu(run_squeeze);

  r.add("StopGradient")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .doc("The input; gradients do not flow through.")
      .traits({.forwards_inputs = true, .elementwise = true})
      .shape(shapes::unchanged)
      .no_grad()
      .cpu(pass_through);

  r.add("_EagerConst")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .doc("The input, which an eager function takes for a constant.")
      .traits({.forwards_inputs = true})
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.raw_dy()}; })
      .cpu(pass_through);

  for (std::string_view op : {"Identity", "IdentityN", "StopGradient", "PreventGradient", "EnsureShape", "PlaceholderWithDefault", "Snapshot"})
    any_device(r, op);
  any_device(r, "ExpandDims", {"dim"});
  any_device(r, "Reshape", {"shape"});
  any_device(r, "Squeeze");
  for (std::string_view op : {"Rank", "Shape", "ShapeN", "Size"}) any_device(r, op, {"output"});

  set_layout(r, {"Const"}, layouts::kReplicated);
  set_layout(r, {"DeepCopy", "EnsureShape"}, layouts::kElementwise);
  set_layout(r, {"IdentityN"}, layouts::kEachInput);
  set_layout(r, {"Reshape"}, layouts::kReshape);
  set_layout(r, {"ExpandDims"}, layouts::kExpandDims);
  set_layout(r, {"Squeeze"}, layouts::kSqueeze);
  set_api_trait(r, {"Const", "ExpandDims", "Identity", "Placeholder", "Reshape", "Squeeze"}, ApiTrait::kUnchecked);
}

}  // namespace weft_engine::ops
