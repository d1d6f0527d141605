#include "autodiff/function_gradient.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "autodiff/pack.h"
#include "autodiff/split.h"
#include "core/error_notes.h"
#include "graph/node_traits.h"
#include "graph/passes/loops.h"
#include "op/emit.h"

namespace weft_engine::autodiff {
namespace {

// ---- what is kept of an answer, as an attribute of BACKWARD ----------------------------------------------

constexpr const char* kRecord = "_function_gradient";       // key, forward's name
constexpr const char* kNumbers = "_function_gradient_data"; // the lists, each behind its length
constexpr const char* kShapes = "_function_gradient_shapes";
constexpr const char* kTypes = "_function_gradient_types";

uint64_t mix(uint64_t h, std::string_view s) {
  for (; s.size() >= 8; s.remove_prefix(8)) {
    uint64_t word;
    std::memcpy(&word, s.data(), 8);
    h = (h ^ word) * 0x100000001b3u;
    h ^= h >> 29;
  }
  for (unsigned char c : s) h = (h ^ c) * 0x100000001b3u;
  return (h ^ 0xff) * 0x100000001b3u;
}

uint64_t mix_value(uint64_t h, const AttrValue& v) {
  if (const Tensor* t = v.get<Tensor>();
      t && t->valid() && t->dtype() != DType::kString && t->dtype() != DType::kResource && t->dtype() != DType::kVariant)
    return mix(mix(h, cat(int(t->dtype()), t->shape())), {static_cast<const char*>(t->raw()), t->byte_size()});
  return mix(h, v.to_string());
}

// Tells a function from another that takes its name later.
uint64_t fingerprint(const FunctionDef& f) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const auto* args : {&f.inputs, &f.outputs}) {
    for (const ArgDef& a : *args) h = mix(h, cat(a.name, ":", int(a.type), a.type_attr, a.number_attr, a.type_list_attr));
    h = mix(h, ";");
  }
  for (const NodeDef& n : f.nodes) {
    h = mix(mix(h, n.name), n.op);
    for (const std::string& in : n.inputs) h = mix(h, in);
    for (const auto& [k, v] : n.attrs) h = mix_value(mix(h, k), v);
  }
  for (const auto& [k, v] : f.ret) h = mix(mix(h, k), v);
  for (const auto& [k, v] : f.control_ret) h = mix(mix(h, k), v);
  return h;
}

std::string request_key(const FunctionDef& def, const FunctionAttr& f, const std::vector<bool>& want, const std::vector<DType>& dys,
                        std::string_view user, bool slices) {
  std::string key = f.name;
  if (f.attrs) {
    for (const auto& [k, v] : *f.attrs) key += cat("|", k, "=", v.to_string());
  }
  key += "|";
  for (bool w : want) key += w ? '1' : '0';
  for (DType t : dys) key += cat("|", int(t));
  return cat(key, slices ? "|slices|" : "|", user, "|", fingerprint(def));
}

AttrMap record(const FunctionGradient& g, const std::string& key) {
  std::vector<int64_t> n{g.num_outputs, g.num_saved, g.stateful_forward, g.stateful_backward + 2 * g.reads_values};
  for (const auto* list : {&g.output_grads, &g.passed_inputs, &g.passed_outputs, &g.input_grads, &g.slice_grads}) {
    n.push_back(int64_t(list->size()));
    n.insert(n.end(), list->begin(), list->end());
  }
  AttrMap attrs;
  attrs[kRecord] = std::vector<std::string>{key, g.forward};
  attrs[kNumbers] = std::move(n);
  if (!g.saved_types.empty()) {
    attrs[kTypes] = g.saved_types;
    attrs[kShapes] = g.saved_shapes;
  }
  return attrs;
}

template <class T>
const T* find(const AttrMap& attrs, std::string_view name) {
  auto it = attrs.find(name);
  return it == attrs.end() ? nullptr : it->second.get<T>();
}

// False where it is the answer to another request. The attributes may come from a file.
bool recall(const FunctionLibrary& library, const FunctionDef& backward, const std::string& key, FunctionGradient& out) {
  const auto* names = find<std::vector<std::string>>(backward.attrs, kRecord);
  const auto* n = find<std::vector<int64_t>>(backward.attrs, kNumbers);
  if (!names || names->size() != 2 || (*names)[0] != key || !n || n->size() < 4 || !library.contains((*names)[1])) return false;
  FunctionGradient g;
  g.forward = (*names)[1];
  g.backward = backward.name;
  g.num_outputs = int((*n)[0]);
  g.num_saved = int((*n)[1]);
  g.stateful_forward = (*n)[2] != 0;
  g.stateful_backward = ((*n)[3] & 1) != 0;
  g.reads_values = ((*n)[3] & 2) != 0;
  size_t at = 4;
  for (auto* list : {&g.output_grads, &g.passed_inputs, &g.passed_outputs, &g.input_grads, &g.slice_grads}) {
    if (at >= n->size()) return false;
    const int64_t count = (*n)[at++];
    if (count < 0 || size_t(count) > n->size() - at) return false;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t v = (*n)[at++];
      if (v < 0 || v > (1 << 20)) return false;
      list->push_back(int(v));
    }
  }
  if (const auto* t = find<std::vector<DType>>(backward.attrs, kTypes)) g.saved_types = *t;
  if (const auto* s = find<std::vector<PartialShape>>(backward.attrs, kShapes)) g.saved_shapes = *s;
  if (g.saved_types.size() != size_t(g.num_saved) || g.saved_shapes.size() != size_t(g.num_saved)) return false;
  if (backward.outputs.size() != g.input_grads.size() + 2 * g.slice_grads.size()) return false;
  if (backward.inputs.size() != g.output_grads.size() + g.passed_inputs.size() + g.passed_outputs.size() + size_t(g.num_saved)) return false;
  out = std::move(g);
  return true;
}

bool is_stateful(const std::vector<const Node*>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return n->spec().stateful; });
}

// ---- making the pair ---------------------------------------------------------------------------------------

class Maker {
 public:
  Maker(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f, const FunctionDef& def)
      : registry_(registry), library_(library), f_(f), def_(def) {}

  Result<FunctionGradient> run(const std::vector<bool>& want, const std::vector<DType>& dys, const std::string& key, const std::string& forward,
                               const std::string& backward, const Inside* inside, bool slices) {
    WEFT_ASSIGN(BodyGradient g, differentiate(registry_, library_, f_, want, dys, {}, inside, "gradients", slices));
    FunctionBody& body = g.body;
    out_.num_outputs = int(body.rets.size());
    Interface back;
    for (size_t i = 0; i < g.dys.size(); ++i) {
      if (!g.dys[i]) continue;
      out_.output_grads.push_back(int(i));
      back.inputs.push_back({g.dys[i], 0});
    }
    for (size_t i = 0; i < g.grads.size(); ++i) {
      if (!g.grads[i].valid()) continue;
      out_.input_grads.push_back(int(i));
      if (g.grads[i].is_slices()) {
        out_.slice_grads.push_back(int(i));
        for (const Value& part : {g.grads[i].slice_values(), g.grads[i].slice_indices(), g.grads[i].slice_dense_shape()})
          back.outputs.push_back(GraphEmitter::unwrap(part));
      } else {
        back.outputs.push_back(GraphEmitter::unwrap(g.grads[i]));
      }
    }
    out_.forward = f_.name;
    out_.stateful_forward = is_stateful(nodes_of_body(*body.graph));
    if (out_.input_grads.empty()) return std::move(out_);

    WEFT_ASSIGN(Split parts, split(g, back.outputs, [](const Endpoint& e) { return is_arg(*e.node); }));
    out_.reads_values = parts.reads_values;
    std::vector<Endpoint> saved = sort_needed(body, parts.needed, back);
    WEFT_ASSIGN(const Pack packed, pack(g, saved));
    back.inputs.insert(back.inputs.end(), saved.begin(), saved.end());
    const size_t made = g.emitter->added().size();
    for (const Packed& p : packed.lists) WEFT_RETURN_IF_ERROR(unpack(g, parts, back.outputs, p, p.list));
    parts.forward.insert(parts.forward.end(), packed.nodes.begin(), packed.nodes.end());
    parts.backward.insert(parts.backward.end(), g.emitter->added().begin() + long(made), g.emitter->added().end());
    out_.num_saved = int(saved.size());
    for (const Endpoint& e : saved) {
      out_.saved_types.push_back(base_type(type_of(e)));
      out_.saved_shapes.push_back(shape_of(e));
    }
    out_.backward = backward;
    back.body = parts.backward;
    out_.stateful_backward = is_stateful(back.body);
    // With attributes it is not the same function for everyone.
    if (!saved.empty() || (f_.attrs && !def_.signature_attrs.empty())) WEFT_RETURN_IF_ERROR(make_forward(g, parts, saved, forward));
    WEFT_ASSIGN(FunctionDef def, make_function(g.graph(), backward, false, back));
    def.attrs = record(out_, key);
    WEFT_RETURN_IF_ERROR(library_->add_derived(std::move(def), f_.name));
    return std::move(out_);
  }

 private:
  // Arguments and results are there for the caller to hand over; the rest is saved.
  std::vector<Endpoint> sort_needed(const FunctionBody& body, const std::vector<Endpoint>& needed, Interface& back) {
    std::vector<Endpoint> outputs, saved;
    std::vector<std::pair<int, Endpoint>> args;
    for (const Endpoint& e : needed) {
      if (is_arg(*e.node)) {
        args.emplace_back(int(e.node->attr<int64_t>("index")), e);
        continue;
      }
      auto it = std::find_if(body.rets.begin(), body.rets.end(), [&](Node* r) { return same_value(r->input(0)) == e; });
      if (it == body.rets.end()) {
        saved.push_back(e);
      } else {
        out_.passed_outputs.push_back(int(it - body.rets.begin()));
        outputs.push_back(e);
      }
    }
    std::sort(args.begin(), args.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [i, e] : args) {
      out_.passed_inputs.push_back(i);
      back.inputs.push_back(e);
    }
    back.inputs.insert(back.inputs.end(), outputs.begin(), outputs.end());
    return saved;
  }

  Status make_forward(BodyGradient& g, const Split& parts, const std::vector<Endpoint>& saved, const std::string& name) {
    Interface io;
    for (Node* a : g.body.args) io.inputs.push_back({a, 0});
    for (Node* r : g.body.rets) io.outputs.push_back(r->input(0));
    io.outputs.insert(io.outputs.end(), saved.begin(), saved.end());
    io.control_outputs = g.body.control_rets;
    io.body = parts.forward;
    out_.stateful_forward = is_stateful(io.body);
    WEFT_ASSIGN(FunctionDef def, make_function(g.graph(), name, false, io));
    def.attrs = def_.attrs;
    for (const char* gone : {"backward_function_name", "forward_function_name", kRecord, kNumbers, kTypes, kShapes}) def.attrs.erase(gone);
    out_.forward = name;
    return library_->add_derived(std::move(def), f_.name);
  }

  const Registry& registry_;
  const std::shared_ptr<FunctionLibrary>& library_;
  const FunctionAttr& f_;
  const FunctionDef& def_;
  FunctionGradient out_;
};

// BACKWARD around a gradient that the user gave: a function of the arguments and the gradients of all results.
Result<FunctionGradient> around_given(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f,
                                      const FunctionDef& def, const std::string& given, const std::vector<bool>& want, const std::vector<DType>& dys,
                                      const std::string& key, const std::string& backward) {
  const AttrMap& attrs = attrs_of(f);
  std::vector<DType> args, rets, grad_args, grad_rets;
  WEFT_RETURN_IF_ERROR(function_types(def, attrs, args, rets));
  WEFT_ASSIGN(auto grad, library->find(given));
  WEFT_RETURN_IF_ERROR(function_types(*grad, grad->signature_attrs.empty() ? AttrMap() : attrs, grad_args, grad_rets));
  if (want.size() != args.size() || dys.size() != rets.size() || grad_args.size() != args.size() + rets.size() || grad_rets.size() != args.size())
    return invalid_argument("function ", given, ", the gradient of ", f.name, ", takes ", grad_args.size(), " values and gives ", grad_rets.size(),
                            "; expected ", args.size() + rets.size(), " and ", args.size());
  Graph g(registry, library);
  ShapeInference shapes(g);
  GraphEmitter e(g, shapes);
  FunctionGradient out;
  out.forward = f.name;
  out.backward = backward;
  out.num_outputs = int(rets.size());
  out.stateful_forward = def.stateful;
  out.stateful_backward = grad->stateful;
  Interface io;
  auto add_arg = [&](std::string name, DType t) -> Result<Value> {
    WEFT_ASSIGN(Node* n, graph::add_arg(g, name, t, int64_t(io.inputs.size())));
    n->shapes.resize(1);
    n->handles.resize(1);
    io.inputs.push_back({n, 0});
    return e.wrap({n, 0});
  };
  std::vector<Value> inputs, flowing(rets.size());
  for (size_t i = 0; i < rets.size(); ++i) {
    if (dys[i] == DType::kInvalid) continue;
    out.output_grads.push_back(int(i));
    WEFT_ASSIGN(flowing[i], add_arg(cat("dy_", i), dys[i]));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    out.passed_inputs.push_back(int(i));
    WEFT_ASSIGN(Value x, add_arg(cat("x_", i), args[i]));
    inputs.push_back(std::move(x));
  }
  for (size_t i = 0; i < rets.size(); ++i) {
    if (flowing[i].valid()) continue;
    out.passed_outputs.push_back(int(i));
    WEFT_ASSIGN(Value y, add_arg(cat("y_", i), rets[i]));
    flowing[i] = zeros_like(y);
  }
  inputs.insert(inputs.end(), flowing.begin(), flowing.end());
  const FunctionAttr callee{given, grad->signature_attrs.empty() ? nullptr : f.attrs};
  auto grads = e.apply(op_of(Role::kCall, grad->stateful), inputs, {{"Tout", grad_rets}, {"f", callee}});
  WEFT_RETURN_IF_ERROR(e.take_status());
  for (size_t i = 0; i < args.size(); ++i) {
    if (!want[i] || !differentiable(args[i])) continue;
    out.input_grads.push_back(int(i));
    io.outputs.push_back(GraphEmitter::unwrap(grads[i]));
  }
  if (out.input_grads.empty()) return out;
  io.body = nodes_of_body(g);
  WEFT_ASSIGN(FunctionDef made, make_function(g, backward, false, io));
  made.attrs = record(out, key);
  WEFT_RETURN_IF_ERROR(library->add_derived(std::move(made), f.name));
  return out;
}

}  // namespace

bool backward_reads_values(const FunctionLibrary& library, const std::string& function) {
  const auto def = library.find(function);
  const auto* n = def.ok() ? find<std::vector<int64_t>>((*def)->attrs, kNumbers) : nullptr;
  return n && n->size() > 3 && ((*n)[3] & 2) != 0;
}

op::Grads FunctionGradient::unpack(size_t num_inputs, std::span<const Value> results) const {
  op::Grads grads(num_inputs);
  for (size_t k = 0; k < input_grads.size(); ++k) {
    const bool sliced = std::find(slice_grads.begin(), slice_grads.end(), input_grads[k]) != slice_grads.end();
    grads[size_t(input_grads[k])] = sliced ? Value::slices(results[0], results[1], results[2]) : results[0];
    results = results.subspan(sliced ? 3 : 1);
  }
  return grads;
}

Result<FunctionGradient> gradient_of_function(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f,
                                              const std::vector<bool>& want, const std::vector<DType>& dys, const Inside* inside, bool slices) {
  WEFT_ASSIGN(auto def, library->find(f.name));
  const std::string given = library->gradient_of(f.name);
  const std::string key = request_key(*def, f, want, dys, given, slices);
  constexpr int kMostRaces = 100;
  for (int n = 0, races = 0;; ++n) {
    const std::string backward = cat("__backward_", f.name, "_", n), forward = cat("__forward_", f.name, "_", n);
    if (auto there = library->find(backward); there.ok()) {
      FunctionGradient known;
      if (recall(*library, **there, key, known)) return known;
      continue;
    }
    if (library->contains(forward)) continue;
    auto made = !given.empty() ? around_given(registry, library, f, *def, given, want, dys, key, backward)
                               : Maker(registry, library, f, *def).run(want, dys, key, forward, backward, inside, slices);
    // Another thread may have made the same meanwhile: look again at what is there under this number.
    if (!made.ok() && core::find_note(made.status(), core::kNoteNameTaken) && ++races <= kMostRaces) {
      --n;
      continue;
    }
    return made;
  }
}

Result<FunctionGradient> function_gradient(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& function,
                                           const std::vector<bool>& want_input, const std::vector<bool>& have_output_grad, bool slices) {
  WEFT_ASSIGN(auto def, library->find(function.name));
  std::vector<DType> args, rets;
  WEFT_RETURN_IF_ERROR(function_types(*def, attrs_of(function), args, rets));
  if (want_input.size() != args.size() || have_output_grad.size() != rets.size())
    return invalid_argument("function ", function.name, " has ", args.size(), " arguments and ", rets.size(),
                            " results; the gradient was requested with ", want_input.size(), " and ", have_output_grad.size());
  std::vector<DType> dys(rets.size(), DType::kInvalid);
  for (size_t i = 0; i < rets.size(); ++i) {
    if (!have_output_grad[i] || !differentiable(rets[i])) continue;
    if (rets[i] == DType::kResource) return unimplemented("the gradient of result ", i, " of function ", function.name, ", which is a resource");
    dys[i] = rets[i];
  }
  return gradient_of_function(registry, library, function, want_input, dys, nullptr, slices);
}

}  // namespace weft_engine::autodiff
