// Ops that C++ sources of TensorFlow register (REGISTER_OP), and their shape functions.
#include "capi/cc_internal.h"
#include "capi/cc_kernels.h"
#include "core/log.h"
#include "engine/registration.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::OpSpec;
using weft_engine::op::ShapeContext;

namespace {

std::vector<std::string_view> texts(const weft_text* list, size_t n) {
  std::vector<std::string_view> out;
  for (size_t i = 0; i < n; ++i) out.push_back(view_of(list[i]));
  return out;
}

ShapeContext& context_of(weft_shapes* s) { return *reinterpret_cast<ShapeContext*>(s); }

Status register_cc_op(const weft_op_def& def) {
  const std::string_view name = view_of(def.name);
  if (!valid_op_name(name)) return invalid_argument("Invalid name: ", name, " (Did you use CamelCase?)");
  const auto inputs = texts(def.inputs, def.num_inputs), outputs = texts(def.outputs, def.num_outputs), attrs = texts(def.attrs, def.num_attrs);
  auto parsed = weft_engine::op::parse_signature(inputs, outputs, attrs);  // before anything is added
  if (!parsed.ok()) return parsed.status().with_suffix(weft_engine::core::cat(" (op ", name, ")"));
  auto& registry = weft_engine::engine::Engine::get().registry();
  // An op that is there already stays: as in TensorFlow, whose libraries may be loaded by two names.
  if (registry.find(name)) return {};
  auto spec = std::make_unique<OpSpec>();
  const auto intern = [&](std::string_view s) { return registry.intern(std::string(s)); };
  spec->name = intern(name);
  spec->summary = intern(view_of(def.doc));
  for (auto s : inputs) spec->declared_inputs.push_back(intern(s));
  for (auto s : outputs) spec->declared_outputs.push_back(intern(s));
  for (auto s : attrs) spec->declared_attrs.push_back(intern(s));
  spec->stateful = def.stateful;
  spec->commutative = def.commutative;
  spec->aggregate = def.aggregate;
  spec->allows_uninitialized_input = def.allows_uninitialized_input;
  spec->distributed_communication = def.distributed_communication;
  spec->deprecated_since = def.deprecated_since;
  spec->deprecation = intern(view_of(def.deprecation));
  if (def.shape) {
    spec->dynamic_shape = [f = def.shape, data = def.data](ShapeContext& c) {
      return caught([&] { return taken(f(data, reinterpret_cast<weft_shapes*>(&c))); });
    };
  }
  set_rules(*spec, def);
  WEFT_RETURN_IF_ERROR(registry.add_dynamic(std::move(spec)));
  return add_waiting_kernels(name);
}

}  // namespace

void weft_register_op(const weft_op_def* def) {
  weft_engine::engine::note_registration_error(caught([&] { return register_cc_op(*def); }));
}

void weft_log(int severity, weft_text file, int line, weft_text message) {
  using weft_engine::core::LogLevel;
  const LogLevel level = severity >= 2 ? LogLevel::kError : severity == 1 ? LogLevel::kWarning : LogLevel::kInfo;
  weft_engine::core::log(level, weft_engine::core::cat(view_of(file), ":", line, "] ", view_of(message)));
}

const weft_node* weft_shapes_node(weft_shapes* s) { return as_c(context_of(s).node()); }
weft_dims weft_shapes_input(weft_shapes* s, int i) {
  return i >= 0 && i < context_of(s).num_inputs() ? dims_of(context_of(s).input(i)) : weft_dims{nullptr, -1};
}
void weft_shapes_set_output(weft_shapes* s, int i, weft_dims shape) {
  if (i >= 0 && i < context_of(s).num_outputs()) context_of(s).output(i, partial_of(shape));
}
const TF_Tensor* weft_shapes_constant(weft_shapes* s, int i) {
  return i >= 0 && i < context_of(s).num_inputs() ? as_c(context_of(s).constant(i)) : nullptr;
}
int weft_shapes_constant_shape(weft_shapes* s, int i, int64_t* dims) {
  if (i < 0 || i >= context_of(s).num_inputs()) return -2;
  auto shape = context_of(s).constant_shape(i);
  if (!shape.ok() || shape->rank() > kMaxRank) return -2;
  std::copy(shape->dims().begin(), shape->dims().end(), dims);
  return shape->rank();
}
int weft_shapes_handle(weft_shapes* s, int i, weft_dims* shape) {
  const auto* h = i >= 0 && i < context_of(s).num_inputs() ? context_of(s).handle(i) : nullptr;
  if (!h) return 0;
  *shape = dims_of(h->shape);
  return int(h->dtype);
}
void weft_shapes_set_handle(weft_shapes* s, int i, int dtype, weft_dims shape) {
  if (i >= 0 && i < context_of(s).num_outputs()) context_of(s).output_handle(i, {static_cast<DType>(dtype), partial_of(shape)});
}
