// TF_OperationDescription: a node being built. Mistakes are collected and reported when it is finished, in
// the words of TensorFlow's builder.
#include "capi/graph_internal.h"
#include "io/attr_codec.h"
#include "op/declarations.h"
#include "op/summary.h"
#include "wire/proto.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::graph::Endpoint;
using weft_engine::graph::Node;
using weft_engine::op::ArgSpec;
using weft_engine::op::AttrMap;
using weft_engine::op::AttrValue;
using weft_engine::op::OpSpec;

struct TF_OperationDescription::Building {
  std::string name, op, device;
  const OpSpec* spec = nullptr;
  AttrMap attrs;
  std::vector<Endpoint> inputs;
  std::vector<Node*> controls;
  std::set<std::string> colocated;
  size_t args = 0;                      // of the signature that were given
  std::vector<std::string> errors;      // outputs that do not exist
  std::vector<std::string> def_errors;  // against the signature

  void set_attr(std::string_view key, AttrValue value) {
    auto [it, fresh] = attrs.try_emplace(std::string(key));
    if (fresh) it->second = std::move(value);
    else if (!(it->second == value))
      def_errors.push_back(cat("Inconsistent values for attr '", key, "' ", summarize_attr(it->second), " vs. ", summarize_attr(value)));
  }

  bool output_exists(const Endpoint& e) {
    if (!e.node) {
      errors.push_back(cat("Attempt to add nullptr Node to node with type ", op));
      return false;
    }
    if (e.index >= 0 && e.index < e.node->num_outputs()) return true;
    errors.push_back(cat("Attempt to add output ", e.index, " of ", e.node->name(), " not in range [0, ", e.node->num_outputs(),
                         ") to node with type ", op, ". Node: {{node ", e.node->name(), "}}"));
    return false;
  }

  const ArgSpec* next_arg() {
    if (!spec) return nullptr;
    const auto& all = spec->signature().inputs;
    if (args < all.size()) return &all[args++];
    def_errors.push_back(cat("More Input() calls than the ", all.size(), " input_args"));
    return nullptr;
  }
  const std::string& attr_name(int i) const { return spec->signature().attrs[size_t(i)].name; }

  void check_type(const ArgSpec& arg, DType expected, DType given) {
    if (arg.is_ref) expected = ref_type(expected);
    if (given == expected || base_type(given) == expected) return;  // a reference serves as a value
    def_errors.push_back(cat("Input '", arg.name, "' passed ", dtype_name(given), " expected ", dtype_name(expected)));
  }
  void check_ref(const ArgSpec& arg, DType given) {
    if (arg.is_ref && !is_ref_type(given)) def_errors.push_back(cat("Input '", arg.name, "' passed ", dtype_name(given), " expected ref type"));
  }

  void add_input(const Endpoint& e) {
    if (!output_exists(e)) return;
    const ArgSpec* arg = next_arg();
    if (!arg) return;
    inputs.push_back(e);
    const DType given = e.node->output_type(e.index);
    if (arg->number_attr >= 0 || arg->type_list_attr >= 0) {
      def_errors.push_back(cat("Single tensor passed to '", arg->name, "', expected list"));
    } else if (arg->type_attr < 0) {
      check_type(*arg, arg->type, given);
    } else {
      check_ref(*arg, given);
      set_attr(attr_name(arg->type_attr), base_type(given));
    }
  }

  void add_input_list(const std::vector<Endpoint>& list) {
    bool all = true;
    for (const Endpoint& e : list) all = output_exists(e) && all;
    if (!all) return;
    const ArgSpec* arg = next_arg();
    if (!arg) return;
    std::vector<DType> types;
    for (const Endpoint& e : list) {
      inputs.push_back(e);
      types.push_back(e.node->output_type(e.index));
    }
    if (arg->number_attr >= 0) {
      set_attr(attr_name(arg->number_attr), int64_t(list.size()));
      DType expected = arg->type;
      if (arg->type_attr >= 0 && !list.empty()) {
        expected = base_type(types[0]);
        set_attr(attr_name(arg->type_attr), expected);
      }
      for (DType t : types) check_type(*arg, expected, t);
    } else if (arg->type_list_attr >= 0) {
      for (DType& t : types) {
        check_ref(*arg, t);
        t = base_type(t);
      }
      set_attr(attr_name(arg->type_list_attr), types.empty() ? AttrValue(weft_engine::op::EmptyList{}) : AttrValue(std::move(types)));
    } else {
      def_errors.push_back(cat("List provided to input '", arg->name, "' when single Tensor expected"));
    }
  }

  // What the builder of TensorFlow reports before a node is made.
  Status collected() {
    if (!errors.empty()) return invalid_argument(join(errors, "\n"));
    if (spec && args < spec->signature().inputs.size())
      def_errors.push_back(cat(args, " inputs specified of ", spec->signature().inputs.size(), " inputs in Op"));
    if (def_errors.empty()) return {};
    const std::string using_op = spec ? cat(" using ", summarize_op(*spec)) : "";
    if (def_errors.size() == 1) return invalid_argument(def_errors[0], " while building NodeDef '", name, "'", using_op);
    return invalid_argument(def_errors.size(), " errors while building NodeDef '", name, "'", using_op, ":\n", join(def_errors, "\n"));
  }
};

TF_OperationDescription::TF_OperationDescription(TF_Graph* g, const char* op, const char* name) : graph(g), building(std::make_unique<Building>()) {
  building->name = name;
  building->op = op;
  auto spec = g->graph.find_spec(op);
  if (spec.ok()) building->spec = *spec;
  else building->def_errors.push_back(std::string(spec.status().message()));
}
TF_OperationDescription::~TF_OperationDescription() = default;

namespace {

using Building = TF_OperationDescription::Building;

TF_OperationDescription* new_operation(TF_Graph* graph, const char* op, const char* name) {
  return &graph->descriptions.emplace_back(graph, op, name);
}

// Runs f on what is being built, unless it is finished or there is nothing.
template <class F>
void build(TF_OperationDescription* d, F&& f) noexcept {
  if (!d || !d->building) return;
  guard(nullptr, [&]() -> Status {
    f(*d->building);
    return {};
  });
}

template <class F>
void set_attr(TF_OperationDescription* d, const char* name, F&& value) noexcept {
  if (!name) return;
  build(d, [&](Building& b) { b.set_attr(name, value()); });
}

template <class T, class From, class Convert>
AttrValue list_of(const From* values, int n, Convert convert) {
  if (!values || n <= 0) return weft_engine::op::EmptyList{};
  std::vector<T> list;
  list.reserve(size_t(n));
  for (int i = 0; i < n; ++i) list.push_back(convert(values[i]));
  return list;
}

std::string text_of(const void* value, size_t length) { return value ? std::string(static_cast<const char*>(value), length) : std::string(); }

// Numbers below 0 are unknown dimensions, whichever they are. A shape that cannot be is an error of the node.
PartialShape attr_shape(Building& b, const char* name, const int64_t* dims, int n) {
  if (n < 0 || (n > 0 && !dims)) return {};
  if (n > kMaxRank) {
    b.def_errors.push_back(cat("Value specified for `", name, "` has ", n, " dimensions which is over the limit of ", kMaxRank, "."));
    return {};
  }
  std::vector<int64_t> d(dims, dims + n);
  int64_t elements = 1;
  for (int64_t& v : d) {
    v = std::max<int64_t>(v, kUnknownDim);
    if (v >= 0 && elements >= 0) elements = multiply_without_overflow(elements, v);
  }
  if (elements < 0) {
    b.def_errors.push_back(cat("Value specified for `", name, "` has more elements than can be counted"));
    return {};
  }
  return PartialShape(std::move(d));
}

Result<PartialShape> decode_shape(const void* proto, size_t length) {
  weft_engine::wire::ProtoWriter w;
  w.bytes(7, std::string_view(static_cast<const char*>(proto), length));  // as the shape of an AttrValue
  WEFT_ASSIGN(AttrValue v, weft_engine::io::decode_attr(w.str()));
  if (const auto* s = v.get<PartialShape>()) return *s;
  return invalid_argument("not a shape");
}

Result<Node*> finish(TF_Graph& g, Building& b) {
  if (g.graph.find(b.name)) return invalid_argument("Duplicate node name in graph: '", b.name, "'");
  if (!b.colocated.empty()) b.set_attr("_class", std::vector<std::string>(b.colocated.begin(), b.colocated.end()));
  WEFT_RETURN_IF_ERROR(b.collected());
  for (const Endpoint& e : b.inputs) {
    if (!holds(g, e.node)) return invalid_argument("Input '", e.node->name(), "' of node '", b.name, "' is not in the graph");
  }
  for (const Node* c : b.controls) {
    if (!holds(g, c)) return invalid_argument("Control input of node '", b.name, "' is not in the graph");
  }
  const OpSpec& spec = *b.spec;
  if (spec.deprecated_since > 0 && g.graph.versions.producer >= spec.deprecated_since)
    return unimplemented("Op ", spec.name, " is not available in GraphDef version ", g.graph.versions.producer, ". It has been removed in version ",
                         spec.deprecated_since, ". ", spec.deprecation, ".");
  if (!spec.shape && !spec.dynamic_shape && g.require_shape_rules && !weft_engine::op::is_declared_only(spec))  // TensorFlow has a rule for those
    return invalid_argument("No shape inference function exists for op '", spec.name, "', did you forget to define it?");
  know_shapes(g);
  WEFT_ASSIGN(Node* node, g.graph.add(b.name, b.op, std::move(b.attrs), std::move(b.inputs), b.controls));
  node->device = b.device;
  g.inferred = g.graph.num_ids();
  Status s = g.shapes.node(node);
  if (s.ok()) return node;
  g.graph.remove(node);
  return s;
}

TF_Operation* finish(TF_OperationDescription* d, TF_Status* status, bool lock) {
  TF_Operation* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(d);
    if (!d->building) return failed_precondition("the operation has been finished before");
    const auto building = std::move(d->building);
    std::unique_lock<std::mutex> hold(d->graph->mutex, std::defer_lock);
    if (lock) hold.lock();
    WEFT_ASSIGN(Node * node, finish(*d->graph, *building));
    out = wrap(node);
    return {};
  });
  return out;
}

}  // namespace

TF_OperationDescription* TF_NewOperation(TF_Graph* graph, const char* op_type, const char* oper_name) {
  if (!graph || !op_type || !oper_name) return nullptr;
  return guard_pointer<TF_OperationDescription>([&] {
    std::lock_guard lock(graph->mutex);
    return new_operation(graph, op_type, oper_name);
  });
}
TF_OperationDescription* TF_NewOperationLocked(TF_Graph* graph, const char* op_type, const char* oper_name) {
  if (!graph || !op_type || !oper_name) return nullptr;
  return guard_pointer<TF_OperationDescription>([&] { return new_operation(graph, op_type, oper_name); });
}
TF_Operation* TF_FinishOperation(TF_OperationDescription* d, TF_Status* status) { return finish(d, status, true); }
TF_Operation* TF_FinishOperationLocked(TF_OperationDescription* d, TF_Status* status) { return finish(d, status, false); }

void TF_SetDevice(TF_OperationDescription* d, const char* device) {
  build(d, [&](Building& b) { b.device = device ? device : ""; });
}
void TF_AddInput(TF_OperationDescription* d, TF_Output input) {
  build(d, [&](Building& b) { b.add_input(unwrap(input)); });
}
void TF_AddInputList(TF_OperationDescription* d, const TF_Output* inputs, int n) {
  build(d, [&](Building& b) {
    std::vector<Endpoint> list;
    for (int i = 0; inputs && i < n; ++i) list.push_back(unwrap(inputs[i]));
    b.add_input_list(list);
  });
}
void TF_AddControlInput(TF_OperationDescription* d, TF_Operation* input) {
  build(d, [&](Building& b) {
    if (input) b.controls.push_back(unwrap(input));
    else b.errors.push_back(cat("Attempt to add nullptr Node to node with type ", b.op));
  });
}
void TF_ColocateWith(TF_OperationDescription* d, TF_Operation* op) {
  if (!op) return;
  build(d, [&](Building& b) { b.colocated.insert(cat("loc:@", unwrap(op)->name())); });
}

// ---- Attributes ----

void TF_SetAttrString(TF_OperationDescription* d, const char* name, const void* value, size_t length) {
  set_attr(d, name, [&] { return AttrValue(text_of(value, length)); });
}
void TF_SetAttrStringList(TF_OperationDescription* d, const char* name, const void* const* values, const size_t* lengths, int n) {
  set_attr(d, name, [&]() -> AttrValue {
    if (!values || !lengths || n <= 0) return weft_engine::op::EmptyList{};
    std::vector<std::string> list;
    for (int i = 0; i < n; ++i) list.push_back(text_of(values[i], lengths[i]));
    return list;
  });
}
void TF_SetAttrInt(TF_OperationDescription* d, const char* name, int64_t value) {
  set_attr(d, name, [&] { return AttrValue(value); });
}
void TF_SetAttrIntList(TF_OperationDescription* d, const char* name, const int64_t* values, int n) {
  set_attr(d, name, [&] { return list_of<int64_t>(values, n, [](int64_t v) { return v; }); });
}
void TF_SetAttrFloat(TF_OperationDescription* d, const char* name, float value) {
  set_attr(d, name, [&] { return AttrValue(value); });
}
void TF_SetAttrFloatList(TF_OperationDescription* d, const char* name, const float* values, int n) {
  set_attr(d, name, [&] { return list_of<float>(values, n, [](float v) { return v; }); });
}
void TF_SetAttrBool(TF_OperationDescription* d, const char* name, unsigned char value) {
  set_attr(d, name, [&] { return AttrValue(value != 0); });
}
void TF_SetAttrBoolList(TF_OperationDescription* d, const char* name, const unsigned char* values, int n) {
  set_attr(d, name, [&] { return list_of<bool>(values, n, [](unsigned char v) { return v != 0; }); });
}
void TF_SetAttrType(TF_OperationDescription* d, const char* name, TF_DataType value) {
  set_attr(d, name, [&] { return AttrValue(static_cast<DType>(value)); });
}
void TF_SetAttrTypeList(TF_OperationDescription* d, const char* name, const TF_DataType* values, int n) {
  set_attr(d, name, [&] { return list_of<DType>(values, n, [](TF_DataType v) { return static_cast<DType>(v); }); });
}
void TF_SetAttrPlaceholder(TF_OperationDescription* d, const char* name, const char* placeholder) {
  set_attr(d, name, [&] { return AttrValue(weft_engine::op::PlaceholderAttr{placeholder ? placeholder : ""}); });
}
void TF_SetAttrFuncName(TF_OperationDescription* d, const char* name, const char* value, size_t length) {
  set_attr(d, name, [&] { return AttrValue(weft_engine::op::FunctionAttr{text_of(value, length), nullptr}); });
}
void TF_SetAttrShape(TF_OperationDescription* d, const char* name, const int64_t* dims, int n) {
  if (!name) return;
  build(d, [&](Building& b) { b.set_attr(name, AttrValue(attr_shape(b, name, dims, n))); });
}
void TF_SetAttrShapeList(TF_OperationDescription* d, const char* name, const int64_t* const* dims, const int* num_dims, int n) {
  if (!name) return;
  build(d, [&](Building& b) {
    if (!dims || !num_dims || n <= 0) return b.set_attr(name, weft_engine::op::EmptyList{});
    std::vector<PartialShape> list;
    for (int i = 0; i < n; ++i) list.push_back(attr_shape(b, name, dims[i], num_dims[i]));
    b.set_attr(name, std::move(list));
  });
}
void TF_SetAttrTensorShapeProto(TF_OperationDescription* d, const char* name, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(d);
    WEFT_NOT_NULL(name);
    if (length) WEFT_NOT_NULL(proto);
    auto shape = decode_shape(proto, length);
    if (!shape.ok()) return invalid_argument("Unparseable TensorShapeProto");
    set_attr(d, name, [&] { return AttrValue(std::move(shape).value()); });
    return {};
  });
}
void TF_SetAttrTensorShapeProtoList(TF_OperationDescription* d, const char* name, const void* const* protos, const size_t* lengths, int n,
                                    TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(d);
    WEFT_NOT_NULL(name);
    if (n > 0) WEFT_NOT_NULL(protos);
    if (n > 0) WEFT_NOT_NULL(lengths);
    std::vector<PartialShape> list;
    for (int i = 0; i < n; ++i) {
      if (lengths[i]) WEFT_NOT_NULL(protos[i]);
      auto shape = decode_shape(protos[i], lengths[i]);
      if (!shape.ok()) return invalid_argument("Unparseable TensorShapeProto at index ", i);
      list.push_back(std::move(shape).value());
    }
    set_attr(d, name, [&] { return list.empty() ? AttrValue(weft_engine::op::EmptyList{}) : AttrValue(std::move(list)); });
    return {};
  });
}
// Copied: the client may write into its tensor afterwards.
void TF_SetAttrTensor(TF_OperationDescription* d, const char* name, TF_Tensor* value, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(d);
    WEFT_NOT_NULL(name);
    WEFT_NOT_NULL(value);
    WEFT_ASSIGN(Tensor copy, value->tensor.copy());
    set_attr(d, name, [&] { return AttrValue(std::move(copy)); });
    return {};
  });
}
void TF_SetAttrTensorList(TF_OperationDescription* d, const char* name, TF_Tensor* const* values, int n, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(d);
    WEFT_NOT_NULL(name);
    if (n > 0) WEFT_NOT_NULL(values);
    std::vector<Tensor> list;
    for (int i = 0; i < n; ++i) {
      WEFT_NOT_NULL(values[i]);
      WEFT_ASSIGN(Tensor copy, values[i]->tensor.copy());
      list.push_back(std::move(copy));
    }
    set_attr(d, name, [&] { return list.empty() ? AttrValue(weft_engine::op::EmptyList{}) : AttrValue(std::move(list)); });
    return {};
  });
}
void TF_SetAttrValueProto(TF_OperationDescription* d, const char* name, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(d);
    WEFT_NOT_NULL(name);
    if (length) WEFT_NOT_NULL(proto);
    auto value = weft_engine::io::decode_attr({static_cast<const char*>(proto), length});
    if (!value.ok()) return invalid_argument("Unparseable AttrValue proto");
    // Colocation is kept apart, so that TF_ColocateWith adds to it.
    const auto* classes = std::string_view(name) == "_class" ? value->get<std::vector<std::string>>() : nullptr;
    if (classes) build(d, [&](Building& b) { b.colocated = {classes->begin(), classes->end()}; });
    else set_attr(d, name, [&] { return std::move(value).value(); });
    return {};
  });
}
