#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void optimizer(Registry& r) {
  r.add("ApplyAdaMax")
      .in("var: Ref(T)")
      .in("m: Ref(T)")
      .in("v: Ref(T)")
      .in("beta1_power: T")
      .in("lr: T")
      .in("beta1: T")
      .in("beta2: T")
      .in("epsilon: T")
      .in("grad: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("ApplyAdadelta")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("accum_update: Ref(T)")
      .in("lr: T")
      .in("rho: T")
      .in("epsilon: T")
      .in("grad: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("ApplyAdagrad")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("lr: T")
      .in("grad: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("update_slots: bool = true");

  r.add("ApplyAdagradDA")
      .in("var: Ref(T)")
      .in("gradient_accumulator: Ref(T)")
      .in("gradient_squared_accumulator: Ref(T)")
      .in("grad: T")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("global_step: int64")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("ApplyAdagradV2")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("lr: T")
      .in("epsilon: T")
      .in("grad: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("update_slots: bool = true");

  r.add("ApplyAdam")
      .in("var: Ref(T)")
      .in("m: Ref(T)")
      .in("v: Ref(T)")
      .in("beta1_power: T")
      .in("beta2_power: T")
      .in("lr: T")
      .in("beta1: T")
      .in("beta2: T")
      .in("epsilon: T")
      .in("grad: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("use_nesterov: bool = false");

  r.add("ApplyAddSign")
      .in("var: Ref(T)")
      .in("m: Ref(T)")
      .in("lr: T")
      .in("alpha: T")
      .in("sign_decay: T")
      .in("beta: T")
      .in("grad: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("ApplyCenteredRMSProp")
      .in("var: Ref(T)")
      .in("mg: Ref(T)")
      .in("ms: Ref(T)")
      .in("mom: Ref(T)")
      .in("lr: T")
      .in("rho: T")
      .in("momentum: T")
      .in("epsilon: T")
      .in("grad: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("ApplyFtrl")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("linear: Ref(T)")
      .in("grad: T")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("lr_power: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("multiply_linear_by_lr: bool = false");

  r.add("ApplyFtrlV2")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("linear: Ref(T)")
      .in("grad: T")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("l2_shrinkage: T")
      .in("lr_power: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("multiply_linear_by_lr: bool = false");

  r.add("ApplyGradientDescent")
      .in("var: Ref(T)")
      .in("alpha: T")
      .in("delta: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("ApplyMomentum")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("lr: T")
      .in("grad: T")
      .in("momentum: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("use_nesterov: bool = false");

  r.add("ApplyPowerSign")
      .in("var: Ref(T)")
      .in("m: Ref(T)")
      .in("lr: T")
      .in("logbase: T")
      .in("sign_decay: T")
      .in("beta: T")
      .in("grad: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("ApplyProximalAdagrad")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("grad: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("ApplyProximalGradientDescent")
      .in("var: Ref(T)")
      .in("alpha: T")
      .in("l1: T")
      .in("l2: T")
      .in("delta: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("ApplyRMSProp")
      .in("var: Ref(T)")
      .in("ms: Ref(T)")
      .in("mom: Ref(T)")
      .in("lr: T")
      .in("rho: T")
      .in("momentum: T")
      .in("epsilon: T")
      .in("grad: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("ResourceApplyAdaMax")
      .in("var: resource")
      .in("m: resource")
      .in("v: resource")
      .in("beta1_power: T")
      .in("lr: T")
      .in("beta1: T")
      .in("beta2: T")
      .in("epsilon: T")
      .in("grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceApplyAdadelta")
      .in("var: resource")
      .in("accum: resource")
      .in("accum_update: resource")
      .in("lr: T")
      .in("rho: T")
      .in("epsilon: T")
      .in("grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceApplyAdagrad")
      .in("var: resource")
      .in("accum: resource")
      .in("lr: T")
      .in("grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("update_slots: bool = true")
      .stateful();

  r.add("ResourceApplyAdagradDA")
      .in("var: resource")
      .in("gradient_accumulator: resource")
      .in("gradient_squared_accumulator: resource")
      .in("grad: T")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("global_step: int64")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceApplyAdagradV2")
      .in("var: resource")
      .in("accum: resource")
      .in("lr: T")
      .in("epsilon: T")
      .in("grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("update_slots: bool = true")
      .stateful();

  r.add("ResourceApplyAdam")
      .in("var: resource")
      .in("m: resource")
      .in("v: resource")
      .in("beta1_power: T")
      .in("beta2_power: T")
      .in("lr: T")
      .in("beta1: T")
      .in("beta2: T")
      .in("epsilon: T")
      .in("grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("use_nesterov: bool = false")
      .stateful();

  r.add("ResourceApplyAdamWithAmsgrad")
      .in("var: resource")
      .in("m: resource")
      .in("v: resource")
      .in("vhat: resource")
      .in("beta1_power: T")
      .in("beta2_power: T")
      .in("lr: T")
      .in("beta1: T")
      .in("beta2: T")
      .in("epsilon: T")
      .in("grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceApplyAddSign")
      .in("var: resource")
      .in("m: resource")
      .in("lr: T")
      .in("alpha: T")
      .in("sign_decay: T")
      .in("beta: T")
      .in("grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceApplyCenteredRMSProp")
      .in("var: resource")
      .in("mg: resource")
      .in("ms: resource")
      .in("mom: resource")
      .in("lr: T")
      .in("rho: T")
      .in("momentum: T")
      .in("epsilon: T")
      .in("grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceApplyFtrl")
      .in("var: resource")
      .in("accum: resource")
      .in("linear: resource")
      .in("grad: T")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("lr_power: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("multiply_linear_by_lr: bool = false")
      .stateful();

  r.add("ResourceApplyFtrlV2")
      .in("var: resource")
      .in("accum: resource")
      .in("linear: resource")
      .in("grad: T")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("l2_shrinkage: T")
      .in("lr_power: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("multiply_linear_by_lr: bool = false")
      .stateful();

  r.add("ResourceApplyGradientDescent")
      .in("var: resource")
      .in("alpha: T")
      .in("delta: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceApplyKerasMomentum")
      .in("var: resource")
      .in("accum: resource")
      .in("lr: T")
      .in("grad: T")
      .in("momentum: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("use_nesterov: bool = false")
      .stateful();

  r.add("ResourceApplyMomentum")
      .in("var: resource")
      .in("accum: resource")
      .in("lr: T")
      .in("grad: T")
      .in("momentum: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .attr("use_nesterov: bool = false")
      .stateful();

  r.add("ResourceApplyPowerSign")
      .in("var: resource")
      .in("m: resource")
      .in("lr: T")
      .in("logbase: T")
      .in("sign_decay: T")
      .in("beta: T")
      .in("grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceApplyProximalAdagrad")
      .in("var: resource")
      .in("accum: resource")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceApplyProximalGradientDescent")
      .in("var: resource")
      .in("alpha: T")
      .in("l1: T")
      .in("l2: T")
      .in("delta: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceApplyRMSProp")
      .in("var: resource")
      .in("ms: resource")
      .in("mom: resource")
      .in("lr: T")
      .in("rho: T")
      .in("momentum: T")
      .in("epsilon: T")
      .in("grad: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceSparseApplyAdadelta")
      .in("var: resource")
      .in("accum: resource")
      .in("accum_update: resource")
      .in("lr: T")
      .in("rho: T")
      .in("epsilon: T")
      .in("grad: T")
      .in("indices: Tindices")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceSparseApplyAdagrad")
      .in("var: resource")
      .in("accum: resource")
      .in("lr: T")
      .in("grad: T")
      .in("indices: Tindices")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("update_slots: bool = true")
      .stateful();

  r.add("ResourceSparseApplyAdagradDA")
      .in("var: resource")
      .in("gradient_accumulator: resource")
      .in("gradient_squared_accumulator: resource")
      .in("grad: T")
      .in("indices: Tindices")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("global_step: int64")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceSparseApplyAdagradV2")
      .in("var: resource")
      .in("accum: resource")
      .in("lr: T")
      .in("epsilon: T")
      .in("grad: T")
      .in("indices: Tindices")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("update_slots: bool = true")
      .stateful();

  r.add("ResourceSparseApplyCenteredRMSProp")
      .in("var: resource")
      .in("mg: resource")
      .in("ms: resource")
      .in("mom: resource")
      .in("lr: T")
      .in("rho: T")
      .in("momentum: T")
      .in("epsilon: T")
      .in("grad: T")
      .in("indices: Tindices")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceSparseApplyFtrl")
      .in("var: resource")
      .in("accum: resource")
      .in("linear: resource")
      .in("grad: T")
      .in("indices: Tindices")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("lr_power: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("multiply_linear_by_lr: bool = false")
      .stateful();

  r.add("ResourceSparseApplyFtrlV2")
      .in("var: resource")
      .in("accum: resource")
      .in("linear: resource")
      .in("grad: T")
      .in("indices: Tindices")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("l2_shrinkage: T")
      .in("lr_power: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("multiply_linear_by_lr: bool = false")
      .stateful();

  r.add("ResourceSparseApplyKerasMomentum")
      .in("var: resource")
      .in("accum: resource")
      .in("lr: T")
      .in("grad: T")
      .in("indices: Tindices")
      .in("momentum: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("use_nesterov: bool = false")
      .stateful();

  r.add("ResourceSparseApplyMomentum")
      .in("var: resource")
      .in("accum: resource")
      .in("lr: T")
      .in("grad: T")
      .in("indices: Tindices")
      .in("momentum: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("use_nesterov: bool = false")
      .stateful();

  r.add("ResourceSparseApplyProximalAdagrad")
      .in("var: resource")
      .in("accum: resource")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("grad: T")
      .in("indices: Tindices")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceSparseApplyProximalGradientDescent")
      .in("var: resource")
      .in("alpha: T")
      .in("l1: T")
      .in("l2: T")
      .in("grad: T")
      .in("indices: Tindices")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("ResourceSparseApplyRMSProp")
      .in("var: resource")
      .in("ms: resource")
      .in("mom: resource")
      .in("lr: T")
      .in("rho: T")
      .in("momentum: T")
      .in("epsilon: T")
      .in("grad: T")
      .in("indices: Tindices")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .stateful();

  r.add("SparseApplyAdadelta")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("accum_update: Ref(T)")
      .in("lr: T")
      .in("rho: T")
      .in("epsilon: T")
      .in("grad: T")
      .in("indices: Tindices")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");

  r.add("SparseApplyAdagrad")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("lr: T")
      .in("grad: T")
      .in("indices: Tindices")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("update_slots: bool = true");

  r.add("SparseApplyAdagradDA")
      .in("var: Ref(T)")
      .in("gradient_accumulator: Ref(T)")
      .in("gradient_squared_accumulator: Ref(T)")
      .in("grad: T")
      .in("indices: Tindices")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("global_step: int64")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");

  r.add("SparseApplyAdagradV2")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("lr: T")
      .in("epsilon: T")
      .in("grad: T")
      .in("indices: Tindices")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("update_slots: bool = true");

  r.add("SparseApplyCenteredRMSProp")
      .in("var: Ref(T)")
      .in("mg: Ref(T)")
      .in("ms: Ref(T)")
      .in("mom: Ref(T)")
      .in("lr: T")
      .in("rho: T")
      .in("momentum: T")
      .in("epsilon: T")
      .in("grad: T")
      .in("indices: Tindices")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");

  r.add("SparseApplyFtrl")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("linear: Ref(T)")
      .in("grad: T")
      .in("indices: Tindices")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("lr_power: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("multiply_linear_by_lr: bool = false");

  r.add("SparseApplyFtrlV2")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("linear: Ref(T)")
      .in("grad: T")
      .in("indices: Tindices")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("l2_shrinkage: T")
      .in("lr_power: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("multiply_linear_by_lr: bool = false");

  r.add("SparseApplyMomentum")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("lr: T")
      .in("grad: T")
      .in("indices: Tindices")
      .in("momentum: T")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("use_nesterov: bool = false");

  r.add("SparseApplyProximalAdagrad")
      .in("var: Ref(T)")
      .in("accum: Ref(T)")
      .in("lr: T")
      .in("l1: T")
      .in("l2: T")
      .in("grad: T")
      .in("indices: Tindices")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");

  r.add("SparseApplyProximalGradientDescent")
      .in("var: Ref(T)")
      .in("alpha: T")
      .in("l1: T")
      .in("l2: T")
      .in("grad: T")
      .in("indices: Tindices")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");

  r.add("SparseApplyRMSProp")
      .in("var: Ref(T)")
      .in("ms: Ref(T)")
      .in("mom: Ref(T)")
      .in("lr: T")
      .in("rho: T")
      .in("momentum: T")
      .in("epsilon: T")
      .in("grad: T")
      .in("indices: Tindices")
      .out("out: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");
}

}  // namespace weft::ops
