// Ops that C++ sources of TensorFlow register (REGISTER_OP), and their shape functions.
#include <algorithm>

#include "capi/cc_internal.h"
#include "capi/cc_kernels.h"
#include "core/log.h"
#include "engine/registration.h"
#include "io/op_def.h"

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

Status check_signature(const weft_op_def& def) {
  return weft_engine::op::parse_signature(texts(def.inputs, def.num_inputs), texts(def.outputs, def.num_outputs), texts(def.attrs, def.num_attrs))
      .status();
}

// "name: resource", "name: N * resource".
bool is_resource(std::string_view arg) {
  constexpr std::string_view kType = "resource";
  while (arg.ends_with(' ')) arg.remove_suffix(1);
  if (!arg.ends_with(kType)) return false;
  arg.remove_suffix(kType.size());
  return arg.ends_with(':') || arg.ends_with('*') || arg.ends_with(' ');
}

// What the definition says of the op but its functions. `keep` gives texts that last as long as the spec.
template <class Keep>
void fill(OpSpec& spec, const weft_op_def& def, Keep keep) {
  spec.name = keep(view_of(def.name));
  spec.summary = keep(view_of(def.doc));
  for (auto s : texts(def.inputs, def.num_inputs)) spec.declared_inputs.push_back(keep(s));
  for (auto s : texts(def.outputs, def.num_outputs)) spec.declared_outputs.push_back(keep(s));
  for (auto s : texts(def.attrs, def.num_attrs)) spec.declared_attrs.push_back(keep(s));
  const auto resource = [](const auto& args) { return std::any_of(args.begin(), args.end(), is_resource); };
  spec.stateful = def.stateful || resource(spec.declared_inputs) || resource(spec.declared_outputs);  // as in TensorFlow
  spec.commutative = def.commutative;
  spec.aggregate = def.aggregate;
  spec.allows_uninitialized_input = def.allows_uninitialized_input;
  spec.distributed_communication = def.distributed_communication;
  spec.deprecated_since = def.deprecated_since;
  spec.deprecation = keep(view_of(def.deprecation));
}

Status register_cc_op(const weft_op_def& def) {
  const std::string_view name = view_of(def.name);
  if (!valid_op_name(name)) return invalid_argument("Invalid name: ", name, " (Did you use CamelCase?)");
  const Status readable = check_signature(def);  // before anything is added
  if (!readable.ok()) return readable.with_suffix(weft_engine::core::cat(" (op ", name, ")"));
  auto& registry = weft_engine::engine::Engine::get().registry();
  // An op that is there already stays: as in TensorFlow, whose libraries may be loaded by two names.
  if (registry.find(name)) return {};
  auto spec = std::make_unique<OpSpec>();
  fill(*spec, def, [&](std::string_view s) { return registry.intern(std::string(s)); });
  if (def.shape) {
    spec->dynamic_shape = [f = def.shape, data = def.data](ShapeContext& c) {
      return caught([&] { return taken(f(data, reinterpret_cast<weft_shapes*>(&c))); });
    };
  }
  set_rules(*spec, def);
  WEFT_RETURN_IF_ERROR(registry.add_dynamic(std::move(spec)));
  return add_waiting_kernels(name);
}

// Inputs and attributes as `rule` declares them, from a node of another op with the same names.
weft_engine::core::Result<weft_engine::op::NodeInfo> as_other_op(const OpSpec& rule, const weft_engine::op::NodeInfo& node) {
  const auto& sig = rule.signature();
  weft_engine::op::AttrMap given;
  for (const auto& attr : sig.attrs) {
    const auto* value = node.find_attr(attr.name);
    if (value && attr.type != "type") given[attr.name] = *value;
  }
  std::vector<DType> types;
  for (const auto& in : sig.inputs) {
    const size_t begin = types.size();
    const auto* count = in.number_attr >= 0 ? node.find_attr(sig.attrs[size_t(in.number_attr)].name) : nullptr;
    const auto* number = count ? count->get<int64_t>() : nullptr;
    const size_t n = in.number_attr < 0 ? 1 : number && *number > 0 ? size_t(*number) : 0;
    if (in.type_list_attr >= 0 || begin + n > node.input_types().size())
      return invalid_argument("the shape function of ", rule.name, " does not fit the inputs of op ", node.op());
    DType type = in.type;
    if (in.type_attr >= 0) {
      const auto& allowed = sig.attrs[size_t(in.type_attr)].allowed_types;
      type = base_type(node.input_types()[begin]);
      if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), type) == allowed.end()) type = allowed.front();
      given.emplace(sig.attrs[size_t(in.type_attr)].name, type);
    }
    types.insert(types.end(), n, type);
  }
  return weft_engine::op::NodeInfo::make(rule, node.name(), std::move(given), types);
}

}  // namespace

void weft_register_op(const weft_op_def* def) {
  weft_engine::engine::note_registration_error(caught([&] { return register_cc_op(*def); }));
}

TF_Status* weft_op_def_bytes(const weft_op_def* def, TF_Buffer** out) {
  return returned(caught([&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_signature(*def));
    OpSpec spec;
    fill(spec, *def, [](std::string_view s) { return s; });
    *out = new_buffer(weft_engine::io::encode_op_def(spec));
    return {};
  }));
}

void weft_log(int severity, weft_text file, int line, weft_text message) {
  using weft_engine::core::LogLevel;
  const LogLevel level = severity >= 2 ? LogLevel::kError : severity == 1 ? LogLevel::kWarning : LogLevel::kInfo;
  weft_engine::core::log(level, weft_engine::core::cat(view_of(file), ":", line, "] ", view_of(message)));
}

const weft_node* weft_shapes_node(weft_shapes* s) { return as_c(context_of(s).node()); }
int weft_shapes_graph_version(weft_shapes*) { return graph_version(); }
weft_dims weft_shapes_input(weft_shapes* s, int i) {
  return i >= 0 && i < context_of(s).num_inputs() ? dims_of(context_of(s).input(i)) : weft_dims{nullptr, -1};
}
void weft_shapes_set_output(weft_shapes* s, int i, weft_dims shape) {
  if (i >= 0 && i < context_of(s).num_outputs()) context_of(s).output(i, partial_of(shape));
}
weft_dims weft_shapes_output(weft_shapes* s, int i) {
  return i >= 0 && i < context_of(s).num_outputs() ? dims_of(context_of(s).outputs()[size_t(i)]) : weft_dims{nullptr, -1};
}
TF_Status* weft_shapes_apply(weft_shapes* s, weft_text op) {
  return returned(caught([&]() -> Status {
    ShapeContext& c = context_of(s);
    const OpSpec* rule = weft_engine::engine::Engine::get().registry().find(view_of(op));
    if (!rule) return not_found("Op type not registered '", view_of(op), "'");
    WEFT_ASSIGN(const weft_engine::op::NodeInfo node, as_other_op(*rule, c.node()));
    std::vector<PartialShape> inputs;
    std::vector<const weft_engine::core::Tensor*> constants;
    for (int i = 0; i < node.num_inputs(); ++i) inputs.push_back(c.input(i)), constants.push_back(c.constant(i));
    ShapeContext other(node, std::move(inputs), std::move(constants));
    WEFT_RETURN_IF_ERROR(rule->infer_shapes(other));
    for (int i = 0; i < other.num_outputs() && i < c.num_outputs(); ++i) c.output(i, other.outputs()[size_t(i)]);
    return {};
  }));
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
