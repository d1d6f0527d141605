// Reference variables of version 1 graphs: a ref-typed output points at the variable itself, and ops
// change it in place. Readers may share the memory, so a writer that finds it shared copies first.
#include <mutex>

#include "core/error_notes.h"
#include "kernels/cpu/accumulate.h"
#include "op/gradient.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/step_trace.h"
#include "op/variable.h"
#include "ops/all.h"
#include "ops/list/step_handle.h"
#include "ops/state/sparse_updates.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/
using kernels::Update;

namespace {

Status uninitialized(const KernelContext& c) {
  return failed_precondition("Attempting to use uninitialized value ", c.node().name()).with_payload(core::kNoteUninitialized, "");
}

// The reference in input 0. (Whether it has a value the executor checks before it runs a kernel; but
// others may run one too, so kernels check again.)
Result<RefVariable*> ref_input(const KernelContext& c) {
  RefVariable* ref = c.input_ref(0);
  if (!ref) return failed_precondition("input 0 of ", c.node().op(), " is not a reference");
  return ref;
}

// Changes the value in place under the lock and hands the reference on.
template <class F>
Status change(KernelContext& c, F f) {
  WEFT_ASSIGN(RefVariable* ref, ref_input(c));
  {
    std::unique_lock lock(ref->mutex());
    if (!ref->initialized()) return uninitialized(c);
    if (ref->tensor().dtype() != base_type(c.node().input_types()[0]))
      return invalid_argument("the variable has type ", ref->tensor().dtype(), ", expected ", base_type(c.node().input_types()[0]));
    WEFT_RETURN_IF_ERROR(f(*ref));
  }
  c.set_output_ref(0, ref);
  return {};
}

Status run_variable(KernelContext& c) {
  const auto& shared = c.attr<std::string>("shared_name");
  const auto& declared = c.attr<PartialShape>("shape");
  auto variable = c.resources().find_or_create<RefVariable>(c.attr<std::string>("container"), shared.empty() ? c.node().name() : shared,
                                                            [&]() -> Result<std::shared_ptr<RefVariable>> {
                                                              auto made = std::make_shared<RefVariable>();
                                                              made->declare(declared.concrete());
                                                              return made;
                                                            });
  if (!variable.ok()) return variable.status();
  c.set_output_ref(0, variable->get());  // the manager keeps it
  return {};
}

std::string temporary_name(const KernelContext& c) {
  const auto& name = c.attr<std::string>("var_name");
  return name.empty() ? c.node().name() : name;
}

Status run_temporary_variable(KernelContext& c) {
  const auto shape = c.attr<PartialShape>("shape").concrete();
  if (!shape) return invalid_argument("the shape of a temporary variable must be known, got ", c.attr<PartialShape>("shape"));
  auto made = std::make_shared<RefVariable>();
  WEFT_ASSIGN(made->tensor(), c.temp(c.attr<DType>("dtype"), *shape));
  made->declare(*shape);
  RefVariable* ref = made.get();
  WEFT_RETURN_IF_ERROR(step_resources(c).create(step_container(c), RefVariable::kTypeName, temporary_name(c), std::move(made)));
  c.set_output_ref(0, ref);
  return {};
}

Status run_destroy_temporary_variable(KernelContext& c) {
  WEFT_ASSIGN(RefVariable* ref, ref_input(c));
  {
    std::shared_lock lock(ref->mutex());
    c.set_output(0, ref->tensor());
  }
  return step_resources(c).remove(step_container(c), RefVariable::kTypeName, c.attr<std::string>("var_name"));
}

Status run_assign(KernelContext& c) {
  WEFT_ASSIGN(RefVariable* ref, ref_input(c));
  const Tensor& value = c.input(1);
  {
    Tensor old;
    std::unique_lock lock(ref->mutex());
    const Shape* now = ref->initialized() ? &ref->tensor().shape() : ref->declared_shape() ? &*ref->declared_shape() : nullptr;
    if (c.attr<bool>("validate_shape") && now && *now != value.shape())
      return invalid_argument("Assign requires shapes of both tensors to match. lhs shape= ", *now, " rhs shape= ", value.shape());
    std::swap(old, ref->tensor());
    ref->tensor() = value;
  }
  c.set_output_ref(0, ref);
  return {};
}

template <bool kSubtract>
Status run_assign_update(KernelContext& c) {
  const Tensor& value = c.input(1);
  return change(c, [&](RefVariable& ref) {
    if (ref.tensor().shape() != value.shape()) return invalid_argument("Parameters and update must be the same size");
    WEFT_RETURN_IF_ERROR(ref.make_writable());
    if (!kernels::accumulate(value.dtype(), ref.tensor().raw(), value.raw(), value.num_elements(), kSubtract, c.pool()))
      return unimplemented("no kernel for type ", value.dtype());
    return Status();
  });
}

Status run_count_up_to(KernelContext& c) {
  const int64_t limit = c.attr<int64_t>("limit");
  WEFT_ASSIGN(RefVariable* ref, ref_input(c));
  std::unique_lock lock(ref->mutex());
  if (!ref->initialized()) return uninitialized(c);
  Tensor before = ref->tensor();
  if (before.rank() != 0) return invalid_argument("input is not a scalar: ", before.shape());
  if (before.dtype() != c.output_type(0)) return invalid_argument("the counter has type ", before.dtype(), ", expected ", c.output_type(0));
  WEFT_RETURN_IF_ERROR((dispatch<int32_t, int64_t>(before.dtype(), [&]<class T>(Tag<T>) {
    const T count = before.data<T>()[0];
    if (count >= limit) return out_of_range("Reached limit of ", limit);
    ref->tensor() = Tensor::scalar(T(uint64_t(count) + 1));
    return Status();
  })));
  c.set_output(0, std::move(before));
  return {};
}

Status run_is_initialized(KernelContext& c) {
  WEFT_ASSIGN(RefVariable* ref, ref_input(c));
  std::shared_lock lock(ref->mutex());
  c.set_output(0, Tensor::scalar(ref->initialized()));
  return {};
}

Status run_ref_identity(KernelContext& c) {
  WEFT_ASSIGN(RefVariable* ref, ref_input(c));
  c.set_output_ref(0, ref);
  return {};
}

template <Update kUpdate>
Status run_scatter(KernelContext& c) {
  const Tensor &indices = c.input(1), &updates = c.input(2);
  return change(c, [&](RefVariable& ref) {
    const Shape& params = ref.tensor().shape();
    if (params.rank() < 1) return invalid_argument("params must be at least 1-D, got shape ", params);
    if (updates.rank() != 0 && updates.shape() != indices.shape().concat(params.slice(1, params.rank())))
      return invalid_argument("Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape ", updates.shape(),
                              ", indices.shape ", indices.shape(), ", params.shape ", params);
    WEFT_RETURN_IF_ERROR(ref.make_writable());
    return scatter_rows(c, kUpdate, ref.tensor(), indices, updates);
  });
}

template <Update kUpdate>
Status run_scatter_nd(KernelContext& c) {
  return change(c, [&](RefVariable& ref) {
    WEFT_RETURN_IF_ERROR(ref.make_writable());
    return scatter_tuples(c, kUpdate, ref.tensor(), c.input(1), c.input(2));
  });
}

Status run_assign_slice(KernelContext& c) {
  return change(c, [&](RefVariable& ref) {
    WEFT_RETURN_IF_ERROR(ref.make_writable());
    return assign_slice(c, ref.tensor(), c.input(4));
  });
}

// ---- shape rules ----

Status variable_shape(ShapeContext& c) {
  c.output(0, c.attr<PartialShape>("shape"));
  return {};
}

// The old form cannot tell an unknown shape from a scalar.
Status variable_v1_shape(ShapeContext& c) {
  const auto& shape = c.attr<PartialShape>("shape");
  if (shape.rank() != 0) c.output(0, shape);
  return {};
}

Status assign_shape(ShapeContext& c) {
  if (!c.attr<bool>("validate_shape")) {
    c.output(0, c.input(1));
    return {};
  }
  return shapes::merge_all(c);
}

Status count_up_to_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.with_rank(0, 0));
  c.output(0, std::move(s));
  return {};
}

Status scatter_shape(ShapeContext& c) {
  const PartialShape &ref = c.input(0), &indices = c.input(1), &updates = c.input(2);
  if (ref.has_rank() && ref.rank() < 1) return invalid_argument("Shape must be at least rank 1 but is rank 0");
  if (ref.has_rank() && indices.has_rank() && updates.rank() > 0)
    WEFT_RETURN_IF_ERROR(updates.merge_with(indices.concat(ref.slice(1, ref.rank()))).status());
  c.output(0, ref);
  return {};
}

}  // namespace

void state_ref(Registry& r) {
  r.add("Assign")
      .in("ref: Ref(T)")
      .in("value: T")
      .out("output_ref: Ref(T)")
      .attr("T: type")
      .attr("validate_shape: bool = true")
      .attr("use_locking: bool = true")
      .allows_uninitialized_input()
      .doc("Gives a reference variable a new value.")
      .traits({.role = Role::kAssignVariable})
      .shape(assign_shape)
      .no_grad()
      .cpu(run_assign);

  r.add("AssignAdd")
      .in("ref: Ref(T)")
      .in("value: T")
      .out("output_ref: Ref(T)")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .doc("Adds a tensor of the same shape to a reference variable.")
      .shape(shapes::merge_all)
      .no_grad()
      .cpu(run_assign_update<false>, types<WEFT_NUMBERS>("T"));

  r.add("AssignSub")
      .in("ref: Ref(T)")
      .in("value: T")
      .out("output_ref: Ref(T)")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .doc("Subtracts a tensor of the same shape from a reference variable.")
      .shape(shapes::merge_all)
      .no_grad()
      .cpu(run_assign_update<true>, types<WEFT_NUMBERS>("T"));

  r.add("CountUpTo")
      .in("ref: Ref(T)")
      .out("output: T")
      .attr("limit: int")
      .attr("T: {int32, int64}")
      .doc("Gives the value of a counter and increments it, or fails at the limit.")
      .shape(count_up_to_shape)
      .cpu(run_count_up_to);

  r.add("DestroyTemporaryVariable")
      .in("ref: Ref(T)")
      .out("value: T")
      .attr("T: type")
      .attr("var_name: string")
      .doc("Gives the last value of a temporary variable and removes it.")
      .shape(shapes::unchanged)
      .cpu(run_destroy_temporary_variable);

  r.add("IsVariableInitialized")
      .in("ref: Ref(dtype)")
      .out("is_initialized: bool")
      .attr("dtype: type")
      .allows_uninitialized_input()
      .doc("Says whether a reference variable has a value.")
      .traits({.role = Role::kIsInitialized})
      .shape(shapes::scalar)
      .cpu(run_is_initialized);

  r.add("RefIdentity")
      .in("input: Ref(T)")
      .out("output: Ref(T)")
      .attr("T: type")
      .allows_uninitialized_input()
      .doc("The same reference.")
      .traits({.forwards_inputs = true})
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.raw_dy()}; })
      .cpu(run_ref_identity);

  r.add("ScatterAdd")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .doc("Adds updates to rows of a reference variable.")
      .shape(scatter_shape)
      .no_grad()
      .cpu(run_scatter<Update::kAdd>, types<WEFT_NUMBERS>("T"));

  r.add("ScatterDiv")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .doc("Divides rows of a reference variable by updates.")
      .shape(scatter_shape)
      .no_grad()
      .cpu(run_scatter<Update::kDiv>, types<WEFT_NUMBERS>("T"));

  r.add("ScatterMax")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {half, bfloat16, float, double, int32, int64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .doc("Takes the maximum of rows of a reference variable and updates.")
      .shape(scatter_shape)
      .cpu(run_scatter<Update::kMax>);

  r.add("ScatterMin")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {half, bfloat16, float, double, int32, int64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .doc("Takes the minimum of rows of a reference variable and updates.")
      .shape(scatter_shape)
      .cpu(run_scatter<Update::kMin>);

  r.add("ScatterMul")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .doc("Multiplies rows of a reference variable by updates.")
      .shape(scatter_shape)
      .no_grad()
      .cpu(run_scatter<Update::kMul>, types<WEFT_NUMBERS>("T"));

  r.add("ScatterSub")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .doc("Subtracts updates from rows of a reference variable.")
      .shape(scatter_shape)
      .no_grad()
      .cpu(run_scatter<Update::kSub>, types<WEFT_NUMBERS>("T"));

  r.add("ScatterUpdate")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .doc("Replaces rows of a reference variable.")
      .shape(scatter_shape)
      .cpu(run_scatter<Update::kAssign>, types<WEFT_NUMBERS, bool, tstring, ResourceHandle, Variant>("T"));

  r.add("ScatterNdAdd")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("bad_indices_policy: string = ''")
      .doc("Adds updates at places of a reference variable that index tuples address.")
      .shape(shapes::unchanged)
      .no_grad()
      .cpu(run_scatter_nd<Update::kAdd>, types<WEFT_NUMBERS>("T"));

  r.add("ScatterNdSub")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("bad_indices_policy: string = ''")
      .doc("Subtracts updates at places of a reference variable that index tuples address.")
      .shape(shapes::unchanged)
      .no_grad()
      .cpu(run_scatter_nd<Update::kSub>, types<WEFT_NUMBERS>("T"));

  r.add("ScatterNdMin")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("bad_indices_policy: string = ''")
      .doc("Takes the minimum at places of a reference variable that index tuples address.")
      .shape(shapes::unchanged)
      .cpu(run_scatter_nd<Update::kMin>, types<WEFT_REALS>("T"));

  r.add("ScatterNdMax")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("bad_indices_policy: string = ''")
      .doc("Takes the maximum at places of a reference variable that index tuples address.")
      .shape(shapes::unchanged)
      .cpu(run_scatter_nd<Update::kMax>, types<WEFT_REALS>("T"));

  r.add("ScatterNdUpdate")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''")
      .doc("Replaces slices of a reference variable that index tuples address.")
      .shape(shapes::unchanged)
      .no_grad()
      .cpu(run_scatter_nd<Update::kAssign>, types<WEFT_NUMBERS, bool, tstring>("T"));

  r.add("StridedSliceAssign")
      .in("ref: Ref(T)")
      .in("begin: Index")
      .in("end: Index")
      .in("strides: Index")
      .in("value: T")
      .out("output_ref: Ref(T)")
      .attr("T: type")
      .attr("Index: {int32, int64}")
      .attr("begin_mask: int = 0")
      .attr("end_mask: int = 0")
      .attr("ellipsis_mask: int = 0")
      .attr("new_axis_mask: int = 0")
      .attr("shrink_axis_mask: int = 0")
      .doc("Assigns to a strided slice of a reference variable.")
      .shape(shapes::unchanged)
      .cpu(run_assign_slice);

  r.add("TemporaryVariable")
      .out("ref: Ref(dtype)")
      .attr("shape: shape")
      .attr("dtype: type")
      .attr("var_name: string = ''")
      .stateful()
      .doc("A reference variable that lives for one step.")
      .shape(variable_shape)
      .cpu(run_temporary_variable);

  r.add("Variable")
      .out("ref: Ref(dtype)")
      .attr("shape: shape")
      .attr("dtype: type")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .doc("A reference variable.")
      .traits({.role = Role::kRefVariable})
      .shape(variable_v1_shape)
      .cpu(run_variable);

  r.add("VariableV2")
      .out("ref: Ref(dtype)")
      .attr("shape: shape")
      .attr("dtype: type")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .doc("A reference variable.")
      .traits({.role = Role::kRefVariable})
      .shape(variable_shape)
      .cpu(run_variable);
}

}  // namespace weft_engine::ops
