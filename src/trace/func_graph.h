// FuncGraph: a function while it is being traced. Values of elsewhere become arguments of their own (captures),
// side effects are put in program order, and variables may be made in it where the trace allows that.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph_emitter.h"
#include "trace/apply.h"

namespace weft_engine::trace {

using graph::Endpoint;
using graph::Graph;
using graph::HandleData;
using graph::Node;

class FuncGraph;
class VariableState;

class TraceEmitter final : public graph::GraphEmitter {
 public:
  TraceEmitter(FuncGraph& owner, Graph& graph, graph::ShapeInference& shapes) : GraphEmitter(graph, shapes), owner_(owner) {}
  FuncGraph& func_graph() { return owner_; }

 protected:
  Result<std::vector<Value>> do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) override;

 private:
  // What a node does besides giving results.
  struct Effect {
    bool stateful = false, must_run = false;
    bool free = false;          // in order with prints and the like
    std::vector<char> resources;  // by input: 0 none, 1 reads, 2 may write
  };
  Effect effect_of(const OpSpec& spec, const AttrMap& attrs, std::span<const Value> inputs);
  // Control inputs that keep it in program order.
  std::vector<Node*> before(const Effect& effect, std::span<const Value> inputs);
  void after(Node* node, const Effect& effect);
  FuncGraph& owner_;
};

class FuncGraph : public std::enable_shared_from_this<FuncGraph> {
 public:
  // `outer` is the trace in which this one happens; null: none. It must live longer.
  static std::shared_ptr<FuncGraph> make(eager::Context& context, std::string name, FuncGraph* outer);
  // The trace of this thread; null: ops run at once.
  static FuncGraph* current();
  // The one that was entered last, also where code in it has left every trace for a while.
  static FuncGraph* innermost();

  const std::string& name() const { return name_; }
  FuncGraph* outer() const { return outer_; }
  eager::Context& context() { return context_; }
  Graph& graph() { return graph_; }
  TraceEmitter& emitter() { return emitter_; }

  Result<Value> add_argument(std::string_view name, DType dtype, const PartialShape& shape, std::optional<HandleData> handle = {});
  const std::vector<Node*>& arguments() const { return arguments_; }
  // A value of elsewhere that is passed as this argument (a variable's handle): wherever the trace uses it, it uses the argument.
  void bind_argument(const Value& outer, const Value& argument);

  // The value as this graph can use it: its own, a small constant, or a capture of an outer one.
  Result<Value> import(const Value& v);
  // The same for the handle of a variable whose type and shape are known.
  Result<Value> import_handle(const Value& v, const HandleData& data);

  // As an argument that gets this value of elsewhere; the same for the same value. A small tensor of the program is a constant that the
  // function's caller gives, as in TensorFlow.
  Result<Value> capture(const Value& v, std::optional<HandleData> data);
  // The same for a value that nothing here uses: an argument that only has to be there.
  Result<Value> unused_capture(const Value& v, std::optional<HandleData> data, const std::string& name);

  struct Capture {
    Value outer;
    Node* node;
  };
  const std::vector<Capture>& captures() const { return captures_; }
  // Variables that code in this trace used; those outside hold them.
  void use_variable(const std::shared_ptr<VariableState>& v);
  const std::vector<std::weak_ptr<VariableState>>& variables() const { return variables_; }
  // The same for variables that are nodes of a graph around this one: the handle, and what tapes know the variable by.
  void use_variable(const Value& handle, const std::shared_ptr<void>& owner);
  const std::vector<std::pair<Value, std::shared_ptr<void>>>& graph_variables() const { return graph_variables_; }
  // Nodes that must run, in program order.
  const std::vector<Node*>& effects() const { return effects_; }
  // Whether something has effects that no resource stands for; whether that resource may have been written.
  bool free_effects() const { return last_effect_ != nullptr; }
  bool writes(const Endpoint& resource) const;
  // The functions that nodes name; held as long as this graph.
  const std::vector<std::shared_ptr<const void>>& callees() const { return callees_; }
  void hold(std::shared_ptr<const void> callee) { callees_.push_back(std::move(callee)); }
  // For a node that came from elsewhere than the emitter.
  void hold_functions_of(const Node& node);
  uint64_t id() const { return id_; }  // no two graphs of the process have the same

  // Whether variables may be made while this is traced, and how many were.
  bool may_create_variables = false;
  int variables_created = 0;
  bool must_compile = false;  // the function is to be machine code
  // Whether tensors that the program holds and that gradients flow through stay captures, however small: a tape may watch them later. Values
  // that were written into the code (handles without a device) become constants.
  bool captures_floats = false;
  // A graph of version 1, for sessions: nothing is captured, and the user orders side effects.
  bool plain = false;
  // Ops of these types are added with a gradient of that name (Graph.gradient_override_map).
  std::map<std::string, std::string, std::less<>> gradient_overrides;
  // The inputs of the function that this became, in its order.
  std::vector<Node*> function_inputs;
  // A name that the graph has not given yet, as TensorFlow makes it: "a", "a_1" ...; names are compared without regard to case.
  std::string unique_name(const std::string& name, bool mark = true);
  // The name of the next capture. Empty: that of the node it stands for, or a number, in the scope that is open.
  std::string capture_name;
  // For front ends that name nodes and scopes as TensorFlow's does: what was given, in small letters, and how often.
  std::unordered_map<std::string, int> names_in_use;

 private:
  friend class TraceEmitter;
  FuncGraph(eager::Context& context, std::string name, FuncGraph* outer);
  Result<Value> add_capture(const Value& v, std::optional<HandleData> data, const std::string& name, std::string_view op, AttrMap attrs);

  eager::Context& context_;
  const std::string name_;
  FuncGraph* const outer_;
  Graph graph_;
  graph::ShapeInference shapes_;
  TraceEmitter emitter_;
  std::vector<Node*> arguments_;
  std::vector<Capture> captures_;
  std::unordered_map<autodiff::ValueId, size_t, autodiff::ValueId::Hash> captured_;
  std::unordered_map<autodiff::ValueId, Endpoint, autodiff::ValueId::Hash> bound_;  // by bind_argument()
  std::unordered_map<const ValueRep*, Endpoint> constants_;
  std::vector<Value> kept_;  // the values behind bound_ and constants_, so that their addresses stay theirs
  std::vector<Node*> effects_;
  std::vector<std::weak_ptr<VariableState>> variables_;
  std::vector<std::pair<Value, std::shared_ptr<void>>> graph_variables_;
  // Program order: by resource (the node and output that gives its handle), and for all else.
  struct Order {
    Node* writer = nullptr;  // the last one
    std::vector<Node*> readers;
  };
  std::unordered_map<int64_t, Order> order_;
  Node* last_effect_ = nullptr;
  std::vector<std::shared_ptr<const void>> callees_;
  const uint64_t id_;
};

// The thread is inside the trace while this lives; tapes outside go on listening, unless they are paused. A null graph leaves
// every trace: ops run at once, and no tape listens.
class Entered {
 public:
  explicit Entered(FuncGraph* graph);
  ~Entered();
  Entered(const Entered&) = delete;

 private:
  FuncGraph *previous_, *previous_innermost_;
  std::optional<autodiff::FreshTapes> apart_;
  bool deeper_ = false;
};

// Drops what a handle points to, outside any trace; for owners that go.
void destroy_resource(eager::Context& context, const RefPtr<eager::TensorHandle>& handle);

}  // namespace weft_engine::trace
