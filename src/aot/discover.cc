// What of a model is to be compiled, where the user does not say.
#include <algorithm>
#include <set>

#include "aot/aot.h"
#include "core/cat.h"
#include "graph/node_traits.h"
#include "graph/shape_inference.h"

namespace weft_engine::aot {
namespace {

using core::invalid_argument;
using core::not_found;
using graph::Node;
using graph::Role;

bool is_placeholder(const Node& n) { return role_of(n) == Role::kPlaceholder || role_of(n) == Role::kPlaceholderWithDefault; }

// All that a node needs.
std::set<const Node*> ancestors(const Node* node) {
  std::set<const Node*> seen{node};
  std::vector<const Node*> open{node};
  while (!open.empty()) {
    const Node* n = open.back();
    open.pop_back();
    auto visit = [&](const Node* m) {
      if (seen.insert(m).second) open.push_back(m);
    };
    for (const auto& e : n->inputs()) visit(e.node);
    for (const Node* c : n->control_inputs()) visit(c);
  }
  return seen;
}

// An update of a variable: version 1 hands its reference on, of a resource nothing comes out.
bool writes(const Node& n) {
  if (n.num_inputs() == 0 || is_v1_control_flow(n) || forwards_inputs(n) || role_of(n) == Role::kDestroyResource) return false;
  if (core::is_ref_type(n.input_type(0))) return n.num_outputs() > 0 && core::is_ref_type(n.output_type(0));
  if (n.input_type(0) != core::DType::kResource || n.num_outputs() > 0 || !n.spec().has_side_effect()) return false;
  const auto handle = ancestors(n.input(0).node);
  return std::any_of(handle.begin(), handle.end(), [](const Node* a) { return is_variable(*a); });
}

// A step of training: a node that nothing reads, with effects on variables that depend on what is fed.
bool is_training_target(const Node& n) {
  if (!n.uses().empty() || !n.control_outputs().empty() || is_placeholder(n)) return false;
  const auto all = ancestors(&n);
  return std::any_of(all.begin(), all.end(), [](const Node* a) { return is_placeholder(*a); }) &&
         std::any_of(all.begin(), all.end(), [](const Node* a) { return writes(*a); });
}

// By-products of tf.gradients and of loops are read by nobody, and meant by nobody.
bool is_by_product(const Node& n) { return n.name().starts_with("gradients") || is_exit(n) || n.name().find("/gradients") != std::string::npos; }

std::vector<std::string> needed_feeds(const std::vector<const Node*>& of) {
  std::vector<std::string> feeds;
  std::set<const Node*> all;
  for (const Node* n : of) {
    auto a = ancestors(n);
    all.insert(a.begin(), a.end());
  }
  std::vector<const Node*> sorted(all.begin(), all.end());
  std::sort(sorted.begin(), sorted.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
  for (const Node* n : sorted) {
    if (is_placeholder(*n)) feeds.push_back(n->name() + ":0");
  }
  return feeds;
}

std::set<const Node*> placeholders_of(const Node* n) {
  std::set<const Node*> out;
  for (const Node* a : ancestors(n)) {
    if (is_placeholder(*a)) out.insert(a);
  }
  return out;
}

bool reads_variable(const Node* n) {
  const auto all = ancestors(n);
  return std::any_of(all.begin(), all.end(), [](const Node* a) { return is_variable(*a); });
}

// In a graph that trains: what the model says, before it is held against the labels. Its readers need more placeholders than it does.
bool is_prediction(const Node& n) {
  if (n.num_outputs() == 0 || is_by_product(n) || is_placeholder(n) || !core::is_floating_type(core::base_type(n.output_type(0)))) return false;
  const auto needs = placeholders_of(&n);
  if (needs.empty() || !reads_variable(&n)) return false;
  return std::any_of(n.uses().begin(), n.uses().end(), [&](const graph::Use& u) {
    return u.output == 0 && !is_by_product(*u.node) && !writes(*u.node) && placeholders_of(u.node).size() > needs.size();
  });
}

// A plain graph: what it gives (serving_default) and, if it trains, the step (train) with the scalars that nobody reads, which are losses.
Result<std::vector<FunctionSpec>> of_graph(saved_model::Model& model) {
  std::vector<const Node*> outputs, scalars, predictions, targets;
  WEFT_RETURN_IF_ERROR(graph::infer_all(model.graph()));
  for (const Node* n : model.graph().nodes()) {
    if (is_no_op(*n) || n->num_outputs() == 0 || writes(*n)) {
      if (is_training_target(*n)) targets.push_back(n);
      continue;
    }
    if (is_prediction(*n)) predictions.push_back(n);
    if (!n->uses().empty() || is_by_product(*n) || is_placeholder(*n) || role_of(*n) == Role::kReadVariable || placeholders_of(n).empty()) continue;
    const bool scalar = !n->shapes.empty() && n->shapes[0].has_rank() && n->shapes[0].rank() == 0;
    (scalar ? scalars : outputs).push_back(n);
  }
  std::vector<FunctionSpec> specs;
  auto add = [&](std::string name, const std::vector<const Node*>& fetches, const std::vector<const Node*>& run) {
    FunctionSpec s;
    s.name = std::move(name);
    for (const Node* n : fetches) s.fetches.push_back(n->name() + ":0");
    for (const Node* n : run) s.targets.push_back(n->name());
    std::vector<const Node*> both = fetches;
    both.insert(both.end(), run.begin(), run.end());
    s.feeds = needed_feeds(both);
    specs.push_back(std::move(s));
  };
  if (targets.empty()) {
    outputs.insert(outputs.end(), scalars.begin(), scalars.end());
  } else if (!predictions.empty()) {
    outputs = predictions;
  }
  if (!outputs.empty()) add("serving_default", outputs, {});
  if (!targets.empty()) add("train", scalars, targets);
  if (specs.empty()) return invalid_argument("no outputs were found in ", model.path(), "; name them: --feed x:0 --fetch y:0");
  return specs;
}

}  // namespace

Status initialise(saved_model::Model& model) {
  if (model.is_saved_model()) return {};
  bool missing = false;
  for (const auto& v : model.variables()) missing = missing || !model.value(v).ok();
  if (!missing) return {};
  std::vector<graph::Node*> run;
  for (graph::Node* n : model.graph().nodes()) {
    if (!n->uses().empty() || !n->control_outputs().empty()) continue;
    const auto all = ancestors(n);
    const bool assigns = std::any_of(all.begin(), all.end(), [](const Node* a) { return role_of(*a) == Role::kAssignVariable; });
    const bool other =
        std::any_of(all.begin(), all.end(), [](const Node* a) { return is_placeholder(*a) || (writes(*a) && role_of(*a) != Role::kAssignVariable); });
    if (assigns && !other) run.push_back(n);
  }
  if (run.empty()) return {};
  return model.session().run({}, {}, {}, {}, run, {});
}

Result<std::vector<FunctionSpec>> discover(saved_model::Model& model, const Options& options) {
  std::vector<FunctionSpec> specs = options.functions;
  if (specs.empty() && !model.is_saved_model()) {
    WEFT_ASSIGN(specs, of_graph(model));
  } else if (specs.empty()) {
    for (const auto& s : model.signatures()) {
      if (!s.outputs.empty() && s.name.find("init_op") == std::string::npos) specs.push_back({s.name, s.name, {}, {}, {}});
    }
    // Without asking for more, the one that serves; training is asked for by name.
    auto serving = std::find_if(specs.begin(), specs.end(), [](const FunctionSpec& s) { return s.signature == "serving_default"; });
    if (serving != specs.end()) specs = {*serving};
    if (specs.size() != 1) {
      std::string names;
      for (const auto& s : specs) names += (names.empty() ? "" : ", ") + s.signature;
      return invalid_argument(model.path(),
                              specs.empty() ? " has no signature that can be compiled; name tensors: --feed and --fetch"
                                            : " has several signatures; choose with --signature: ",
                              names);
    }
  }
  for (FunctionSpec& s : specs) {
    if (s.signature.empty()) {
      if (s.fetches.empty() && s.targets.empty()) return invalid_argument("nothing to compute: name outputs with --fetch or --target");
      if (s.feeds.empty()) {
        std::vector<const Node*> of;
        for (const auto& names : {s.fetches, s.targets}) {
          for (const std::string& name : names) {
            graph::InputName parsed;
            if (!graph::parse_input_name(name, parsed)) return invalid_argument("'", name, "' is not a tensor name");
            const Node* n = model.graph().find(parsed.node);
            if (!n) return not_found("there is no node '", parsed.node, "' in ", model.path());
            of.push_back(n);
          }
        }
        s.feeds = needed_feeds(of);
      }
      if (s.name.empty()) s.name = s.targets.empty() ? "serving_default" : "train";
      continue;
    }
    WEFT_ASSIGN(const saved_model::BoundSignature* bound, model.signature(s.signature));
    if (s.name.empty()) s.name = bound->name;
  }
  return specs;
}

}  // namespace weft_engine::aot
