// Optimizer steps: Apply (reference variables), ResourceApply, and their Sparse forms, which change only
// the rows that `indices` names. All four forms of an optimizer come from one line of the table below; the
// arithmetic is in kernels/cpu/optimizer_formulas.inc.
#include <algorithm>
#include <mutex>

#include "core/error_notes.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/optimizers.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/state/variables.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/
using kernels::Optimizer;

namespace {

// What a scalar must be, beside a scalar.
enum class Rule { kAny, kPositive, kNotNegative, kNotPositive, kFtrlRate };

// The text of an error is "<text> is not a scalar: [2]", or with kPositive "... a positive scalar: [2]".
struct Scalar {
  const char* name;
  const char* text = nullptr;         // if it is not the name
  Rule dense = Rule::kAny, sparse = Rule::kAny;
  bool dense_gap = false, sparse_gap = false;  // TensorFlow writes "scalar : " here and there
  const char* sparse_text = nullptr;
};

enum class Types { kAll, kReal, kWide, kAdaMax };
enum Forms { kRef = 1, kResource = 2, kSparseRef = 4, kSparseResource = 8, kEvery = 15, kDense = 3 };

struct OptimizerSpec {
  const char* name;
  const char* doc;
  Optimizer kind;
  Types types;
  int forms;
  std::vector<const char*> slots;      // inputs behind var
  std::vector<const char*> slot_texts; // their names in error texts; sparse ones, if others, behind
  std::vector<Scalar> before, after;   // scalars before and behind the gradient
  const char* flag = nullptr;          // attribute beside use_locking
  const char* grad = "grad";           // its name in the dense forms
  bool has_step = false;               // global_step is the last input
  bool sparse_bfloat = true;
  bool checks_first = false;           // of the rows: a bad index changes nothing
};

constexpr const char* kL1 = "l1 regularization strength";
constexpr const char* kL2 = "l2 regularization strength";
constexpr const char* kShrinkage = "l2 shrinkage regularization strength";

const std::vector<OptimizerSpec>& table() {
  static const auto& specs = *new std::vector<OptimizerSpec>{
      {.name = "AdaMax",
       .doc = "One step of AdaMax",
       .kind = Optimizer::kAdaMax,
       .types = Types::kAdaMax,
       .forms = kDense,
       .slots = {"m", "v"},
       .slot_texts = {"m", "v"},
       .before = {{"beta1_power"}, {.name = "lr", .dense_gap = true}, {"beta1"}, {"beta2"}, {"epsilon"}}},
      {.name = "Adadelta",
       .doc = "One step of Adadelta",
       .kind = Optimizer::kAdadelta,
       .types = Types::kAll,
       .forms = kEvery,
       .slots = {"accum", "accum_update"},
       .slot_texts = {"accum", "accum_update", "accum_grad", "accum_update"},
       .before = {{"lr"}, {"rho"}, {"epsilon"}},
       .checks_first = true},
      {.name = "Adagrad",
       .doc = "One step of Adagrad",
       .kind = Optimizer::kAdagrad,
       .types = Types::kAll,
       .forms = kEvery,
       .slots = {"accum"},
       .slot_texts = {"accum"},
       .before = {{"lr"}},
       .flag = "update_slots: bool = true",
       .checks_first = true},
      {.name = "AdagradDA",
       .doc = "One step of Adagrad with dual averaging",
       .kind = Optimizer::kAdagradDA,
       .types = Types::kWide,
       .forms = kEvery,
       .slots = {"gradient_accumulator", "gradient_squared_accumulator"},
       .slot_texts = {"accum", "accum"},
       .after = {{"lr"}, {"l1", kL1}, {"l2", kL2}},
       .has_step = true},
      {.name = "AdagradV2",
       .doc = "One step of Adagrad with epsilon",
       .kind = Optimizer::kAdagradV2,
       .types = Types::kAll,
       .forms = kEvery,
       .slots = {"accum"},
       .slot_texts = {"accum"},
       .before = {{"lr"}, {"epsilon"}},
       .flag = "update_slots: bool = true",
       .checks_first = true},
      {.name = "Adam",
       .doc = "One step of Adam",
       .kind = Optimizer::kAdam,
       .types = Types::kAll,
       .forms = kDense,
       .slots = {"m", "v"},
       .slot_texts = {"m", "v"},
       .before = {{"beta1_power"}, {"beta2_power"}, {.name = "lr", .dense_gap = true}, {"beta1"}, {"beta2"}, {"epsilon"}},
       .flag = "use_nesterov: bool = false"},
      {.name = "AdamWithAmsgrad",
       .doc = "One step of AMSGrad",
       .kind = Optimizer::kAdamWithAmsgrad,
       .types = Types::kReal,
       .forms = kResource,
       .slots = {"m", "v", "vhat"},
       .slot_texts = {"m", "v", "vhat"},
       .before = {{"beta1_power"}, {"beta2_power"}, {.name = "lr", .dense_gap = true}, {"beta1"}, {"beta2"}, {"epsilon"}}},
      {.name = "AddSign",
       .doc = "One step of AddSign",
       .kind = Optimizer::kAddSign,
       .types = Types::kReal,
       .forms = kDense,
       .slots = {"m"},
       .slot_texts = {"m"},
       .before = {{"lr"}, {"alpha"}, {"sign_decay"}, {"beta"}}},
      {.name = "CenteredRMSProp",
       .doc = "One step of centred RMSProp",
       .kind = Optimizer::kCenteredRmsProp,
       .types = Types::kAll,
       .forms = kEvery,
       .slots = {"mg", "ms", "mom"},
       .slot_texts = {"mg", "ms", "mom"},
       .before = {{.name = "lr", .dense_gap = true}, {"rho"}, {"momentum"}, {"epsilon"}},
       .sparse_bfloat = false,
       .checks_first = true},
      {.name = "Ftrl",
       .doc = "One step of FTRL-proximal",
       .kind = Optimizer::kFtrl,
       .types = Types::kReal,
       .forms = kEvery,
       .slots = {"accum", "linear"},
       .slot_texts = {"accum", "linear"},
       .after = {{.name = "lr", .sparse = Rule::kFtrlRate},
                 {.name = "l1", .text = kL1, .sparse = Rule::kNotNegative},
                 {.name = "l2", .text = kL2, .sparse = Rule::kNotNegative},
                 {.name = "lr_power", .sparse = Rule::kNotPositive}},
       .flag = "multiply_linear_by_lr: bool = false"},
      {.name = "FtrlV2",
       .doc = "One step of FTRL-proximal with shrinkage",
       .kind = Optimizer::kFtrlV2,
       .types = Types::kReal,
       .forms = kEvery,
       .slots = {"accum", "linear"},
       .slot_texts = {"accum", "linear"},
       .after = {{.name = "lr", .sparse = Rule::kFtrlRate},
                 {.name = "l1", .text = kL1, .sparse = Rule::kNotNegative},
                 {.name = "l2", .text = kL2, .sparse = Rule::kNotNegative},
                 {.name = "l2_shrinkage", .text = kShrinkage, .sparse = Rule::kNotNegative},
                 {.name = "lr_power", .sparse = Rule::kNotPositive}},
       .flag = "multiply_linear_by_lr: bool = false"},
      {.name = "GradientDescent",
       .doc = "One step of gradient descent",
       .kind = Optimizer::kGradientDescent,
       .types = Types::kAll,
       .forms = kDense,
       .before = {{"alpha"}},
       .grad = "delta"},
      {.name = "KerasMomentum",
       .doc = "One step of momentum as Keras defines it",
       .kind = Optimizer::kKerasMomentum,
       .types = Types::kAll,
       .forms = kResource | kSparseResource,
       .slots = {"accum"},
       .slot_texts = {"accum"},
       .before = {{.name = "lr", .sparse_gap = true}},
       .after = {{"momentum"}},
       .flag = "use_nesterov: bool = false"},
      {.name = "Momentum",
       .doc = "One step of momentum",
       .kind = Optimizer::kMomentum,
       .types = Types::kAll,
       .forms = kEvery,
       .slots = {"accum"},
       .slot_texts = {"accum"},
       .before = {{.name = "lr", .sparse_gap = true}},
       .after = {{"momentum"}},
       .flag = "use_nesterov: bool = false"},
      {.name = "PowerSign",
       .doc = "One step of PowerSign",
       .kind = Optimizer::kPowerSign,
       .types = Types::kReal,
       .forms = kDense,
       .slots = {"m"},
       .slot_texts = {"m"},
       .before = {{"lr"}, {"logbase"}, {"sign_decay"}, {"beta"}}},
      {.name = "ProximalAdagrad",
       .doc = "One step of proximal Adagrad",
       .kind = Optimizer::kProximalAdagrad,
       .types = Types::kWide,
       .forms = kEvery,
       .slots = {"accum"},
       .slot_texts = {"accum"},
       .before = {{.name = "lr", .dense = Rule::kPositive, .sparse = Rule::kPositive},
                  {.name = "l1", .text = kL1, .dense = Rule::kNotNegative, .sparse = Rule::kNotNegative},
                  {.name = "l2", .text = kL2, .dense = Rule::kNotNegative, .sparse = Rule::kNotNegative}}},
      {.name = "ProximalGradientDescent",
       .doc = "One step of proximal gradient descent",
       .kind = Optimizer::kProximalGradientDescent,
       .types = Types::kWide,
       .forms = kEvery,
       .before = {{.name = "alpha", .sparse_text = "lr"}, {"l1", kL1}, {"l2", kL2}},
       .grad = "delta"},
      {.name = "RMSProp",
       .doc = "One step of RMSProp",
       .kind = Optimizer::kRmsProp,
       .types = Types::kAll,
       .forms = kEvery,
       .slots = {"ms", "mom"},
       .slot_texts = {"ms", "mom"},
       .before = {{.name = "lr", .dense_gap = true}, {"rho"}, {"momentum"}, {"epsilon"}},
       .sparse_bfloat = false,
       .checks_first = true},
  };
  return specs;
}

bool meets(Rule rule, double x, bool flag) {
  switch (rule) {
    case Rule::kAny: return true;
    case Rule::kPositive: return x > 0;
    case Rule::kNotNegative: return x >= 0;
    case Rule::kNotPositive: return x <= 0;
    case Rule::kFtrlRate: return x > 0 || (flag && x >= 0);
  }
  return true;
}

const char* kind_of_scalar(Rule rule) {
  switch (rule) {
    case Rule::kPositive: return "a positive scalar";
    case Rule::kNotNegative: return "a non-negative scalar";
    case Rule::kNotPositive: return "a non-positive scalar";
    case Rule::kFtrlRate: return "a positive scalar (or zero if multiply_linear_by_lr is set)";
    default: return "a scalar";
  }
}

double value_of(const Tensor& t) {
  switch (t.dtype()) {
    case DType::kFloat: return t.data<float>()[0];
    case DType::kDouble: return t.data<double>()[0];
    case DType::kHalf: return float(t.data<half>()[0]);
    case DType::kBfloat16: return float(t.data<bfloat16>()[0]);
    default: return 0;
  }
}

Status uninitialized(const KernelContext& c) {
  return failed_precondition("Attempting to use uninitialized variables: ", c.node().name()).with_payload(core::kNoteUninitialized, "");
}

// The memory that a step changes, resource or reference, with its lock.
struct Target {
  std::shared_mutex* mutex;
  Tensor* tensor;
  Status make_writable() const {
    if (tensor->unique()) return {};
    WEFT_ASSIGN(Tensor copy, tensor->copy());
    *tensor = std::move(copy);
    return {};
  }
};

class OptimizerKernel final : public Kernel {
 public:
  OptimizerKernel(const OptimizerSpec& spec, const NodeInfo& node, bool sparse, bool resource) : spec_(spec), sparse_(sparse), resource_(resource) {
    if (spec.flag) flag_ = node.attr<bool>(std::string_view(spec.flag).substr(0, std::string_view(spec.flag).find(':')));
  }

  Status run(KernelContext& c) override {
    const int variables = 1 + int(spec_.slots.size());
    std::vector<Target> targets;
    std::vector<VariableInput> owners;
    WEFT_RETURN_IF_ERROR(find_targets(c, variables, targets, owners));
    const auto locks = lock_in_order(targets);
    for (int i = 0; i < variables; ++i) {
      const Tensor& t = *targets[size_t(i)].tensor;
      if (!t.valid()) {
        if (resource_) return internal_error("Invalid variable reference.");
        return uninitialized(c);
      }
      if (t.dtype() != c.node().attr<DType>("T"))
        return invalid_argument("variable ", i, " has type ", t.dtype(), ", expected ", c.node().attr<DType>("T"));
    }
    Inputs in;
    in.grad = variables + int(spec_.before.size());
    in.indices = in.grad + 1;
    WEFT_RETURN_IF_ERROR(check_scalars(c, variables, in));
    WEFT_RETURN_IF_ERROR(check_shapes(c, targets, in));
    WEFT_RETURN_IF_ERROR(sparse_ ? run_sparse(c, targets, in) : run_dense(c, targets, in));
    if (!resource_) c.set_output_ref(0, c.input_ref(0));
    return {};
  }

 private:
  struct Inputs {
    int grad = 0, indices = 0;
    kernels::OptimizerArrays arrays{};
  };

  Status find_targets(KernelContext& c, int n, std::vector<Target>& targets, std::vector<VariableInput>& owners) const {
    for (int i = 0; i < n; ++i) {
      if (resource_) {
        auto v = variable_input(c, i);
        if (!v.ok()) return internal_error("Invalid variable reference.");
        targets.push_back({&(*v)->mutex(), &(*v)->tensor()});
        owners.push_back(std::move(v).value());
      } else {
        RefVariable* ref = c.input_ref(i);
        if (!ref) return uninitialized(c);
        targets.push_back({&ref->mutex(), &ref->tensor()});
      }
    }
    return {};
  }

  // By address, each once: two steps that name the same variables in another order cannot block each other.
  static std::vector<std::unique_lock<std::shared_mutex>> lock_in_order(const std::vector<Target>& targets) {
    std::vector<std::shared_mutex*> all;
    for (const Target& t : targets) all.push_back(t.mutex);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::vector<std::unique_lock<std::shared_mutex>> locks;
    for (std::shared_mutex* m : all) locks.emplace_back(*m);
    return locks;
  }

  Status check_scalar(const Tensor& t, const Scalar& s) const {
    const Rule rule = sparse_ ? s.sparse : s.dense;
    if (t.rank() == 0 && (rule == Rule::kAny || meets(rule, value_of(t), flag_))) return {};
    const char* text = sparse_ && s.sparse_text ? s.sparse_text : s.text ? s.text : s.name;
    return invalid_argument(text, " is not ", kind_of_scalar(rule), (sparse_ ? s.sparse_gap : s.dense_gap) ? " : " : ": ", t.shape());
  }

  Status check_scalars(KernelContext& c, int first, Inputs& in) const {
    int at = first, k = 0;
    for (const Scalar& s : spec_.before) {
      WEFT_RETURN_IF_ERROR(check_scalar(c.input(at), s));
      in.arrays.scalars[k++] = c.input(at++).raw();
    }
    at = in.grad + (sparse_ ? 2 : 1);
    for (const Scalar& s : spec_.after) {
      WEFT_RETURN_IF_ERROR(check_scalar(c.input(at), s));
      in.arrays.scalars[k++] = c.input(at++).raw();
    }
    if (spec_.has_step) {
      if (c.input(at).rank() != 0) return invalid_argument("global_step is not a scalar: ", c.input(at).shape());
      in.arrays.step = c.input(at).data<int64_t>()[0];
    }
    in.arrays.flag = flag_;
    return {};
  }

  Status check_shapes(KernelContext& c, const std::vector<Target>& targets, const Inputs& in) const {
    const Shape& var = targets[0].tensor->shape();
    const Tensor& grad = c.input(in.grad);
    const size_t texts = sparse_ && spec_.slot_texts.size() > spec_.slots.size() ? spec_.slots.size() : 0;
    for (size_t i = 0; i < spec_.slots.size(); ++i) {
      if (targets[i + 1].tensor->shape() == var) continue;
      // TensorFlow's text for this one shows the next slot.
      const size_t shown = !sparse_ && spec_.kind == Optimizer::kCenteredRmsProp && i == 0 ? 2 : i + 1;
      return invalid_argument("var and ", spec_.slot_texts[texts + i], " do not have the same shape", var, " ", targets[shown].tensor->shape());
    }
    if (!sparse_) {
      if (grad.shape() != var) return invalid_argument("var and ", spec_.grad, " do not have the same shape", var, " ", grad.shape());
      return {};
    }
    const Tensor& indices = c.input(in.indices);
    if (var.rank() < 1) return invalid_argument("var must be at least 1 dimensional");
    if (indices.rank() != 1) return invalid_argument("indices must be one-dimensional");
    if (grad.rank() != var.rank()) return invalid_argument("grad must have the same number of dimensions as var");
    for (int d = 1; d < var.rank(); ++d) {
      if (grad.dim(d) != var.dim(d)) return invalid_argument("var and grad must match in dimension ", d);
    }
    if (grad.dim(0) != indices.dim(0)) return invalid_argument("grad must be the same size as indices in the first dimension.");
    return {};
  }

  Status prepare(KernelContext& c, const std::vector<Target>& targets, Inputs& in) const {
    for (const Target& t : targets) WEFT_RETURN_IF_ERROR(t.make_writable());
    in.arrays.var = targets[0].tensor->raw();
    for (size_t i = 0; i < spec_.slots.size(); ++i) in.arrays.slots[i] = targets[i + 1].tensor->raw();
    in.arrays.grad = c.input(in.grad).raw();
    return {};
  }

  Status run_dense(KernelContext& c, const std::vector<Target>& targets, Inputs& in) const {
    const Tensor& var = *targets[0].tensor;
    if (var.num_elements() == 0) return {};
    WEFT_RETURN_IF_ERROR(prepare(c, targets, in));
    if (!kernels::run_optimizer(c.pool(), spec_.kind, var.dtype(), in.arrays, var.num_elements()))
      return unimplemented("no kernel for type ", var.dtype());
    return {};
  }

  Status run_sparse(KernelContext& c, const std::vector<Target>& targets, Inputs& in) const {
    const Tensor &var = *targets[0].tensor, &indices = c.input(in.indices);
    const int64_t n = indices.dim(0), limit = var.dim(0);
    if (n == 0) return {};
    WEFT_ASSIGN(Tensor rows, c.temp(DType::kInt64, Shape({n})));
    int64_t good = n;
    Status bad_index;  // for some optimizers what is before it is done first, as TensorFlow does it
    WEFT_RETURN_IF_ERROR((dispatch<int32_t, int64_t>(indices.dtype(), [&]<class Index>(Tag<Index>) {
      const Index* at = indices.data<Index>();
      std::copy_n(at, n, rows.data<int64_t>());
      const int64_t bad = kernels::first_bad_index(at, n, limit);
      if (bad < 0) return Status();
      good = spec_.checks_first ? 0 : bad;
      bad_index = spec_.kind == Optimizer::kKerasMomentum ? invalid_argument("indices[", bad, "] = ", at[bad], " is not in [0, ", limit, ")")
                                                          : invalid_argument("Index ", at[bad], " at offset ", bad, " in indices is out of range");
      return Status();
    })));
    const int64_t width = limit > 0 ? var.num_elements() / limit : 0;
    if (good == 0 || width == 0) return bad_index;
    WEFT_RETURN_IF_ERROR(prepare(c, targets, in));
    if (!kernels::run_optimizer(c.pool(), spec_.kind, var.dtype(), in.arrays, limit, rows.data<int64_t>(), good, width))
      return unimplemented("no kernel for type ", var.dtype());
    return bad_index;
  }

  const OptimizerSpec& spec_;
  bool sparse_, resource_, flag_ = false;
};

// Variables, slots and a dense gradient have one shape; sparse gradients have it but for the first dimension.
Status optimizer_shape(ShapeContext& c) {
  const auto& signature = c.node().spec().signature();
  PartialShape var;
  bool sparse = false, ref = false;
  auto merge = [&](const PartialShape& s) -> Status {
    WEFT_ASSIGN(var, var.merge_with(s));
    return {};
  };
  int grad = -1;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const ArgSpec& arg = signature.inputs[size_t(i)];
    if (arg.is_ref) {
      ref = true;
      WEFT_RETURN_IF_ERROR(merge(c.input(i)));
    } else if (arg.type == DType::kResource) {
      if (const auto* h = c.handle(i)) WEFT_RETURN_IF_ERROR(merge(h->shape));
    } else if (arg.name == "grad" || arg.name == "delta") {
      grad = i;
    } else if (arg.name == "indices") {
      sparse = true;
      WEFT_RETURN_IF_ERROR(c.with_rank(i, 1).status());
    } else {
      WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
    }
  }
  const PartialShape& g = c.input(grad);
  if (!sparse) WEFT_RETURN_IF_ERROR(merge(g));
  else if (g.has_rank() && g.rank() > 0 && var.has_rank() && var.rank() > 0)
    WEFT_RETURN_IF_ERROR(g.slice(1, g.rank()).merge_with(var.slice(1, var.rank())).status());
  if (ref) c.output(0, std::move(var));
  return {};
}

std::vector<TypeConstraint> constraints(const OptimizerSpec& spec, bool sparse) {
  switch (spec.types) {
    case Types::kAll:
      if (sparse && !spec.sparse_bfloat) return {types<half, float, double, WEFT_COMPLEX>("T")};
      return {types<WEFT_FLOATS, WEFT_COMPLEX>("T")};
    case Types::kReal: return {types<WEFT_FLOATS>("T")};
    case Types::kWide: return {types<float, double>("T")};
    case Types::kAdaMax: return {types<half, float, double>("T")};
  }
  return {};
}

void add_form(Registry& r, const OptimizerSpec& spec, bool sparse, bool resource) {
  auto text = [&](auto&&... parts) { return r.intern(cat(parts...)); };
  OpBuilder op = r.add(text(resource ? "Resource" : "", sparse ? "Sparse" : "", "Apply", spec.name));
  const char* variable = resource ? ": resource" : ": Ref(T)";
  op.in(text("var", variable));
  for (const char* s : spec.slots) op.in(text(s, variable));
  for (const Scalar& s : spec.before) op.in(text(s.name, ": T"));
  op.in(text(sparse ? "grad" : spec.grad, ": T"));
  if (sparse) op.in("indices: Tindices");
  for (const Scalar& s : spec.after) op.in(text(s.name, ": T"));
  if (spec.has_step) op.in("global_step: int64");
  if (!resource) op.out("out: Ref(T)");
  op.attr(
      "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
      "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}");
  if (sparse) op.attr("Tindices: {int32, int64}");
  op.attr("use_locking: bool = false");
  if (spec.flag) op.attr(spec.flag);
  if (resource) op.stateful();
  op.doc(text(spec.doc, resource ? " on a variable" : " on a reference variable", sparse ? ", for some of its rows." : "."));
  op.shape(optimizer_shape);
  op.kernel(
      "CPU",
      [&spec, sparse, resource](const NodeInfo& node) -> Result<std::unique_ptr<Kernel>> {
        return std::unique_ptr<Kernel>(new OptimizerKernel(spec, node, sparse, resource));
      },
      constraints(spec, sparse));
}

}  // namespace

void optimizer(Registry& r) {
  for (const OptimizerSpec& spec : table()) {
    if (spec.forms & kRef) add_form(r, spec, false, false);
    if (spec.forms & kResource) add_form(r, spec, false, true);
    if (spec.forms & kSparseRef) add_form(r, spec, true, false);
    if (spec.forms & kSparseResource) add_form(r, spec, true, true);
  }

  // Of the engine's own (ops/nn/fused.cc): the dozen ops of Keras' Adam,
  //   m += (grad - m) * rest1;  v += (grad^2 - v) * rest2;  var -= m * rate / (sqrt(v) + epsilon)
  // with m and v as they are after their updates, rest1 = 1 - beta1, rest2 = 1 - beta2. Nothing is given out.
  static const auto& scaled_adam = *new OptimizerSpec{.name = "ScaledAdam",
                                                      .doc = "",
                                                      .kind = Optimizer::kScaledAdam,
                                                      .types = Types::kWide,
                                                      .forms = kResource,
                                                      .slots = {"m", "v"},
                                                      .slot_texts = {"m", "v"},
                                                      .before = {{"rate"}, {"rest1"}, {"rest2"}, {"epsilon"}}};
  r.add("_WeftAdam")
      .in("var: resource")
      .in("m: resource")
      .in("v: resource")
      .in("rate: T")
      .in("rest1: T")
      .in("rest2: T")
      .in("epsilon: T")
      .in("grad: T")
      .attr("T: {float, double}")
      .stateful()
      .doc("One step of Adam as Keras writes it.")
      .shape(optimizer_shape)
      .kernel(
          "CPU",
          [](const NodeInfo& node) -> Result<std::unique_ptr<Kernel>> {
            return std::unique_ptr<Kernel>(new OptimizerKernel(scaled_adam, node, false, true));
          },
          constraints(scaled_adam, false));
}

}  // namespace weft_engine::ops
