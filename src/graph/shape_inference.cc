#include "graph/shape_inference.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "core/call_depth.h"
#include "core/error_notes.h"
#include "graph/constant_values.h"
#include "graph/function_body.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"
#include "op/graph_version.h"
#include "op/summary.h"

namespace weft_engine::graph {
namespace {

using Handles = std::vector<std::optional<HandleData>>;

constexpr int kMostDepth = 2'000;       // of calls inside calls
constexpr int kMostRounds = 12;         // of a loop's fixed point
constexpr int64_t kMostWork = 400'000;  // nodes inferred inside bodies for one question
constexpr size_t kMostAnswers = 16;     // kept of one body
constexpr size_t kMostKey = 2'048;      // bytes

PartialShape shape_at(const Endpoint& e) {
  return e.node && size_t(e.index) < e.node->shapes.size() ? e.node->shapes[size_t(e.index)] : PartialShape();
}

std::optional<HandleData> handle_at(const Endpoint& e) {
  return e.node && size_t(e.index) < e.node->handles.size() ? e.node->handles[size_t(e.index)] : std::nullopt;
}

std::optional<HandleData> common_handle(const std::optional<HandleData>& a, const std::optional<HandleData>& b) {
  if (!a || !b || a->dtype != b->dtype) return std::nullopt;
  return HandleData{a->dtype, common_shape(a->shape, b->shape)};
}

// What goes into a call, and what comes out.
struct Values {
  std::vector<PartialShape> shapes;
  Handles handles;
  size_t size() const { return shapes.size(); }
  void unknown(size_t n) {
    shapes.assign(n, {});
    handles.assign(n, std::nullopt);
  }
};

void relax(Values& into, const Values& other) {
  for (size_t i = 0; i < into.size() && i < other.size(); ++i) {
    into.shapes[i] = common_shape(into.shapes[i], other.shapes[i]);
    into.handles[i] = common_handle(into.handles[i], other.handles[i]);
  }
}

bool same(const Values& a, const Values& b) {
  if (a.shapes != b.shapes) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a.handles[i].has_value() != b.handles[i].has_value()) return false;
    if (a.handles[i] && (a.handles[i]->dtype != b.handles[i]->dtype || !(a.handles[i]->shape == b.handles[i]->shape))) return false;
  }
  return true;
}

// TensorFlow's words around an error of a rule.
Status with_context(const Status& s, const Node& node, const ShapeContext& c, const std::vector<std::optional<PartialShape>>& partial,
                    const std::vector<const Tensor*>& constants) {
  std::vector<std::string> shapes, values, as_shapes;
  for (int i = 0; i < c.num_inputs(); ++i) {
    shapes.push_back(c.input(i).has_rank() ? c.input(i).to_string() : "?");
    const auto n = size_t(i);
    if (c.asked_shape(i) && n < partial.size() && partial[n]) as_shapes.push_back(cat("input[", i, "] = ", *partial[n]));
    else if (c.asked_value(i) && n < constants.size() && constants[n])
      values.push_back(cat("input[", i, "] = <", summarize_values(*constants[n], 256), ">"));
  }
  std::string text = cat(" for '", summarize_node(node), "' with input shapes: ", join(shapes, ", "));
  if (!values.empty()) text += cat(" and with computed input tensors: ", join(values, ", "));
  if (!as_shapes.empty()) text += cat(" and with input tensors computed as partial shapes: ", join(as_shapes, ","));
  return core::names_node(s.with_suffix(text + "."), node.name());
}

}  // namespace

PartialShape common_shape(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return {};
  PartialShape out = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) != b.dim(i)) out.set_dim(i, kUnknownDim);
  }
  return out;
}

// What decides about the answer for a body: shapes, handles and known values of the arguments. Empty: too long to be kept.
struct ShapeQuestion {
  std::string key;
  bool fits = true;
  void add(std::string_view s) {
    fits = fits && key.size() + s.size() < kMostKey;
    if (fits) key.append(s).push_back('|');
  }
  void add(const PartialShape& s) { add(s.has_rank() ? s.to_string() : "?"); }
  void add(const Tensor& t) {
    fits = fits && t.byte_size() < kMostKey;
    if (!fits) return;
    add(t.shape().to_string());
    add({static_cast<const char*>(t.raw()), t.byte_size()});
  }
};

// Answers for functions, whoever asks: a function is looked at once for the same arguments, and not once for each way that leads to it, in all graphs
// of a library. An answer holds as long as the function and all that it calls are the same.
class KnownShapes {
 public:
  using Def = std::shared_ptr<const FunctionDef>;
  struct Answer;
  using Found = std::shared_ptr<const Answer>;
  struct Callee {
    std::string name;
    std::weak_ptr<const FunctionDef> def;
    Found answer;
  };
  struct Answer {
    Values values;
    std::vector<Callee> callees;
  };

  static KnownShapes& get() {
    static auto* all = new KnownShapes();
    return *all;
  }

  Found find(const FunctionLibrary& library, const Def& def, const std::string& question) {
    Found found;
    {
      std::lock_guard lock(mutex_);
      auto it = functions_.find(def.get());
      if (it == functions_.end() || it->second.def.lock() != def) return nullptr;
      auto answer = it->second.answers.find(question);
      if (answer == it->second.answers.end()) return nullptr;
      found = answer->second;
    }
    std::unordered_set<const Answer*> seen{found.get()};
    std::vector<const Answer*> todo{found.get()};
    while (!todo.empty()) {
      const Answer* a = todo.back();
      todo.pop_back();
      for (const Callee& c : a->callees) {
        auto now = library.find(c.name);
        if (!now.ok() || *now != c.def.lock()) return nullptr;
        if (seen.insert(c.answer.get()).second) todo.push_back(c.answer.get());
      }
    }
    return found;
  }

  Found keep(const Def& def, std::string question, Answer answer) {
    auto kept = std::make_shared<const Answer>(std::move(answer));
    std::lock_guard lock(mutex_);
    if (functions_.size() >= sweep_at_) {
      std::erase_if(functions_, [](const auto& f) { return f.second.def.expired(); });
      sweep_at_ = 2 * functions_.size() + 1'000;
    }
    Function& f = functions_[def.get()];
    if (f.def.lock() != def || f.answers.size() >= kMostAnswers) f.answers.clear();
    f.def = def;
    f.answers.insert_or_assign(std::move(question), kept);
    return kept;
  }

 private:
  struct Function {
    std::weak_ptr<const FunctionDef> def;
    std::map<std::string, Found> answers;
  };
  std::mutex mutex_;
  std::unordered_map<const FunctionDef*, Function> functions_;
  size_t sweep_at_ = 1'000;
};

struct ShapeInference::Impl {
  // One graph: the outer one, or a body for the time of a call.
  struct Scope {
    Scope(Graph& g, bool as_builder) : graph(g), values(g) { values.as_builder = as_builder; }
    Graph& graph;
    ConstantValues values;
    int depth = 0;
  };
  struct Body {
    std::shared_ptr<const FunctionDef> def;  // what was instantiated; another under the same name makes it stale
    FunctionBody body;
    bool busy = false;
    std::map<std::string, Values> answers;  // those that do not hold for everyone
  };

  explicit Impl(Graph& g) : outer(g, true) {}

  Status infer(Scope& scope, Node* node);
  Status run_rule(Scope& scope, Node* node, Values& out);
  Status through_body(Scope& scope, Node* node, Values& out, bool& done);
  Status whole(Scope& scope, const ArgShapes& args);
  Result<Body*> body_of(const Graph& graph, const std::string& name, const AttrMap& attrs);
  Status call(Scope& scope, const FunctionAttr& f, const Values& in, Node* node, int first_input, bool bind, Values& out);
  Status loop(Scope& scope, const FunctionAttr& body, Values in, Values& out);

  Scope outer;
  // Answers hold as long as no function is added or replaced.
  void renew() {
    const uint64_t now = outer.graph.library() ? outer.graph.library()->version() : 0;
    if (now == library_version) return;
    library_version = now;
    for (auto& [key, b] : bodies) b.answers.clear();
  }

  bool lenient = false;  // over whole graphs
  uint64_t library_version = 0;
  int64_t work = 0, cuts = 0;
  KnownShapes::Answer* caller = nullptr;  // of the body that is being looked at
  std::map<std::string, Body> bodies;
};

// The values that a rule asks for are found only then: TensorFlow, too, runs the rule without them first, and
// its messages tell which were used.
Status ShapeInference::Impl::run_rule(Scope& scope, Node* node, Values& out) {
  const auto n = size_t(node->num_inputs());
  std::vector<PartialShape> shapes;
  Handles handles;
  for (const Endpoint& in : node->inputs()) {
    shapes.push_back(shape_at(in));
    handles.push_back(handle_at(in));
  }
  std::vector<std::optional<Tensor>> held(n);
  std::vector<const Tensor*> constants;
  std::vector<std::optional<PartialShape>> partial;
  std::vector<bool> tried(n), tried_shape(n);
  const op::GraphVersion version(scope.graph.versions.producer);
  for (;;) {
    ShapeContext c(node->info(), shapes, constants, handles, partial);
    if (Status s = node->spec().infer_shapes(c); !s.ok()) return with_context(s, *node, c, partial, constants);
    bool again = false;
    for (size_t i = 0; i < n; ++i) {
      if (c.asked_value(int(i)) && !tried[i]) {
        tried[i] = true;
        held[i] = scope.values.value(node->input(int(i)));
        if (held[i]) {
          constants.resize(n);
          constants[i] = &*held[i];
          again = true;
        }
      }
      if (c.asked_shape(int(i)) && !tried_shape[i]) {
        tried_shape[i] = true;
        PartialShape s = scope.values.as_shape(node->input(int(i)));
        if (s.has_rank()) {
          partial.resize(n);
          partial[i] = std::move(s);
          again = true;
        }
      }
    }
    if (again) continue;
    out.shapes = c.outputs();
    out.handles = c.output_handles();
    return {};
  }
}

Result<ShapeInference::Impl::Body*> ShapeInference::Impl::body_of(const Graph& graph, const std::string& name, const AttrMap& attrs) {
  WEFT_ASSIGN(auto def, graph.library()->find(name));
  std::string key = name;
  for (const auto& [k, v] : attrs) {
    if (!k.starts_with("_")) key += cat("|", k, "=", v.to_string());
  }
  auto it = bodies.find(key);
  if (it != bodies.end() && it->second.def == def) return &it->second;
  if (it != bodies.end() && it->second.busy) return failed_precondition("function ", name, " was replaced while it was looked at");
  if (it != bodies.end()) it->second.answers.clear();
  WEFT_ASSIGN(FunctionBody body, instantiate_function(*def, attrs, graph.registry(), graph.library()));
  Body& b = bodies[key];
  b.def = std::move(def);
  b.body = std::move(body);
  return &b;
}

// Infers the body for these arguments. Inputs first_input ... of the calling node give the arguments' values,
// where `bind` says that they are the same in every run of the body.
Status ShapeInference::Impl::call(Scope& scope, const FunctionAttr& f, const Values& in, Node* node, int first_input, bool bind, Values& out) {
  static const AttrMap& kNone = *new AttrMap;
  const AttrMap& attrs = f.attrs ? *f.attrs : kNone;
  ShapeQuestion question;
  question.add(lenient ? "lenient" : "");
  for (const auto& [k, v] : attrs) {
    if (!k.starts_with("_")) question.add(cat(k, "=", v.to_string()));
  }
  for (size_t i = 0; i < in.size(); ++i) {
    question.add(in.shapes[i]);
    if (in.handles[i]) question.add(cat("handle ", int(in.handles[i]->dtype))), question.add(in.handles[i]->shape);
  }
  std::vector<std::pair<size_t, Tensor>> values;
  std::vector<std::pair<size_t, PartialShape>> shapes;
  for (size_t i = 0; bind && i < in.size(); ++i) {
    const DType t = base_type(node->input_type(first_input + int(i)));
    if (t != DType::kInt32 && t != DType::kInt64 && t != DType::kBool) continue;  // what shapes may depend on
    const Endpoint from = node->input(first_input + int(i));
    if (auto v = scope.values.value(from)) {
      question.add(cat("value ", i));
      question.add(*v);
      values.emplace_back(i, std::move(*v));
    }
    if (PartialShape s = scope.values.as_shape(from); s.has_rank()) {
      question.add(cat("shape ", i));
      question.add(s);
      shapes.emplace_back(i, std::move(s));
    }
  }
  const FunctionLibrary& library = *scope.graph.library();
  WEFT_ASSIGN(auto def, library.find(f.name));
  if (question.fits) {
    if (auto known = KnownShapes::get().find(library, def, question.key)) {
      out = known->values;
      if (caller) caller->callees.push_back({f.name, def, std::move(known)});
      return {};
    }
  }
  WEFT_ASSIGN(Body* b, body_of(scope.graph, f.name, attrs));
  FunctionBody& body = b->body;
  out.unknown(body.rets.size());
  if (b->busy || scope.depth >= kMostDepth || work > kMostWork) {  // recursion, or more than it is worth
    ++cuts;
    return {};
  }
  if (in.size() < body.args.size())
    return internal_error("Function instantiation included invalid input index: ", in.size(), " not in [0, ", in.size(), ").");
  if (auto it = b->answers.find(question.key); question.fits && it != b->answers.end()) {
    out = it->second;
    ++cuts;
    return {};
  }
  Scope inner(*body.graph, !lenient);
  inner.depth = scope.depth + 1;
  for (auto& [i, v] : values) {
    if (i < body.args.size()) inner.values.bind({body.args[i], 0}, std::move(v));
  }
  for (auto& [i, s] : shapes) {
    if (i < body.args.size()) inner.values.bind_shape({body.args[i], 0}, std::move(s));
  }
  const int64_t cuts_before = cuts;
  KnownShapes::Answer answer;
  KnownShapes::Answer* const outer_caller = std::exchange(caller, &answer);
  work += body.graph->num_nodes();
  b->busy = true;
  Status s = core::with_stack([&] { return whole(inner, {in.shapes, in.handles}); });
  b->busy = false;
  caller = outer_caller;
  if (!s.ok()) return s;
  for (size_t i = 0; i < body.rets.size(); ++i) {
    out.shapes[i] = shape_at(body.rets[i]->input(0));
    out.handles[i] = handle_at(body.rets[i]->input(0));
  }
  if (!question.fits) {
    ++cuts;
    return {};
  }
  // What was cut short, or lacks a function that may come later, is good for this question alone.
  if (cuts == cuts_before) {
    answer.values = out;
    auto kept = KnownShapes::get().keep(def, std::move(question.key), std::move(answer));
    if (caller) caller->callees.push_back({f.name, def, std::move(kept)});
  } else if (work <= kMostWork) {
    if (b->answers.size() >= kMostAnswers) b->answers.clear();
    b->answers.emplace(std::move(question.key), out);
  }
  return {};
}

// The shapes of loop variables: those that hold before and after every round.
Status ShapeInference::Impl::loop(Scope& scope, const FunctionAttr& body, Values in, Values& out) {
  for (int round = 0;; ++round) {
    Values after;
    Status s = call(scope, body, in, nullptr, 0, false, after);
    if (!s.ok() || after.size() != in.size()) {
      out.unknown(in.size());
      return s;
    }
    Values next = in;
    relax(next, after);
    if (same(next, in)) break;
    for (size_t i = 0; round >= kMostRounds && i < in.size(); ++i) {
      if (!(next.shapes[i] == in.shapes[i])) next.shapes[i] = {};
      next.handles[i] = std::nullopt;
    }
    in = std::move(next);
    if (round > kMostRounds + 1) {
      out.unknown(in.size());
      return {};
    }
  }
  out = std::move(in);
  return {};
}

// Calls go through their bodies; branches and loops only over whole graphs, as TensorFlow's builder leaves
// them to their attributes.
Status ShapeInference::Impl::through_body(Scope& scope, Node* node, Values& out, bool& done) {
  done = false;
  auto inputs_from = [&](int first) {
    Values v;
    for (int i = first; i < node->num_inputs(); ++i) {
      v.shapes.push_back(shape_at(node->input(i)));
      v.handles.push_back(handle_at(node->input(i)));
    }
    return v;
  };
  if (is_call(*node)) {
    const AttrValue* off = node->find_attr("_disable_call_shape_inference");
    if (off && off->get<bool>() && *off->get<bool>()) return {};
    const FunctionAttr f = callee_of(*node);
    if (!scope.graph.library()->contains(f.name)) {
      ++cuts;
      return {};
    }
    done = true;
    return call(scope, f, inputs_from(0), node, 0, true, out);
  }
  if (!lenient) return {};
  if (is_branch(*node)) {
    const std::vector<FunctionAttr> branches = branches_of(*node);
    const Values in = inputs_from(1);
    for (size_t b = 0; b < branches.size(); ++b) {
      Values one;
      if (!call(scope, branches[b], in, node, 1, true, one).ok() || one.size() != size_t(node->num_outputs())) {
        ++cuts;
        return {};
      }
      if (b == 0) out = std::move(one);
      else relax(out, one);
    }
    done = !branches.empty();
  } else if (is_while(*node)) {
    done = true;
    if (!loop(scope, node->attr<FunctionAttr>("body"), inputs_from(0), out).ok()) {
      ++cuts;
      out.unknown(size_t(node->num_outputs()));
    }
  }
  return {};
}

Status ShapeInference::Impl::infer(Scope& scope, Node* node) {
  Values out;
  bool done = false;
  WEFT_RETURN_IF_ERROR(through_body(scope, node, out, done));
  if (!done) WEFT_RETURN_IF_ERROR(run_rule(scope, node, out));
  if (out.size() != size_t(node->num_outputs())) out.unknown(size_t(node->num_outputs()));
  node->shapes = std::move(out.shapes);
  node->handles = std::move(out.handles);
  return {};
}

// What an argument's attributes promise of the variable behind it.
static std::optional<HandleData> declared_handle(const Node& arg) {
  const AttrValue *types = arg.find_attr("_handle_dtypes"), *shapes = arg.find_attr("_handle_shapes");
  const auto* t = types ? types->get<std::vector<DType>>() : nullptr;
  const auto* s = shapes ? shapes->get<std::vector<PartialShape>>() : nullptr;
  if (!t || !s || t->size() != 1 || s->size() != 1) return {};
  return HandleData{(*t)[0], (*s)[0]};
}

Status ShapeInference::Impl::whole(Scope& scope, const ArgShapes& args) {
  WEFT_ASSIGN(std::vector<Node*> order, scope.graph.topological_order());
  for (Node* n : order) {
    n->shapes.clear();
    n->handles.clear();
  }
  auto pass = [&](Node* n) -> Status {
    if (is_arg(*n)) {
      const auto i = size_t(n->attr<int64_t>("index"));
      n->shapes.assign(1, i < args.shapes.size() ? args.shapes[i] : PartialShape());
      n->handles.assign(1, i < args.handles.size() ? args.handles[i] : std::nullopt);
      if (!n->handles[0]) n->handles[0] = declared_handle(*n);
      return {};
    }
    if (is_enter(*n)) {  // Merge takes what the rounds have in common, so that this need not forget the shape
      n->shapes.assign(1, shape_at(n->input(0)));
      n->handles.assign(1, handle_at(n->input(0)));
      return {};
    }
    Status s = infer(scope, n);
    if (s.ok()) return s;
    n->shapes.assign(size_t(n->num_outputs()), {});
    n->handles.assign(size_t(n->num_outputs()), std::nullopt);
    return lenient ? Status() : s;
  };
  // A loop's Merge begins with what enters, and loses what does not come round again.
  std::map<Node*, Values> merges;
  for (int round = 0;; ++round) {
    if (round > 0) scope.values.forget();
    for (Node* n : order) {
      const bool looped =
          is_merge(*n) && std::any_of(n->inputs().begin(), n->inputs().end(), [](const Endpoint& e) { return e.node && is_next_iteration(*e.node); });
      if (!looped) {
        WEFT_RETURN_IF_ERROR(pass(n));
        continue;
      }
      Values v;
      for (const Endpoint& e : n->inputs()) {
        if (round == 0 && (!e.node || is_next_iteration(*e.node))) continue;
        Values one{{shape_at(e)}, {handle_at(e)}};
        if (v.size() == 0) v = std::move(one);
        else relax(v, one);
      }
      if (v.size() == 0) v.unknown(1);
      if (auto it = merges.find(n); it != merges.end()) relax(v, it->second);
      n->shapes.assign(size_t(n->num_outputs()), PartialShape::scalar());
      n->handles.assign(size_t(n->num_outputs()), std::nullopt);
      n->shapes[0] = v.shapes[0];
      n->handles[0] = v.handles[0];
      merges[n] = std::move(v);
    }
    bool stable = true;
    for (auto& [n, v] : merges) {
      Values next = v;
      for (const Endpoint& e : n->inputs()) relax(next, {{shape_at(e)}, {handle_at(e)}});
      if (same(next, v)) continue;
      stable = false;
      v = std::move(next);
    }
    if (stable) return {};
    if (round < kMostRounds) continue;
    for (auto& [n, v] : merges) v.unknown(1);  // the next round is the last
  }
}

ShapeInference::ShapeInference(Graph& graph) : impl_(std::make_unique<Impl>(graph)) {}
ShapeInference::~ShapeInference() = default;
ShapeInference::ShapeInference(ShapeInference&&) noexcept = default;
ShapeInference& ShapeInference::operator=(ShapeInference&&) noexcept = default;

Status ShapeInference::node(Node* node) {
  impl_->work = 0;
  impl_->renew();
  return impl_->infer(impl_->outer, node);
}

std::optional<Tensor> ShapeInference::value(Endpoint e) { return impl_->outer.values.value(e); }

void ShapeInference::forget() {
  impl_->outer.values.forget();
  impl_->bodies.clear();
}

Status ShapeInference::all(const ArgShapes& args) {
  impl_->lenient = true;
  impl_->work = 0;
  impl_->renew();
  impl_->outer.values.forget();
  impl_->outer.values.as_builder = false;
  Status s = impl_->whole(impl_->outer, args);
  impl_->outer.values.forget();
  impl_->outer.values.as_builder = true;
  impl_->lenient = false;
  return s;
}

Status infer_node(Graph& graph, Node* node) { return ShapeInference(graph).node(node); }
Status infer_all(Graph& graph, const ArgShapes& args) { return ShapeInference(graph).all(args); }

}  // namespace weft_engine::graph
