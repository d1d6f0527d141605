// Inside autodiff: the walk back through one graph, and what the gradients of nodes that call functions share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autodiff/function_gradient.h"
#include "autodiff/gradients.h"
#include "graph/function_body.h"
#include "graph/graph_emitter.h"
#include "graph/to_function.h"

namespace weft_engine::autodiff {

// How the loops inside a function are differentiated (loop_gradient.cc): those that share their functions share that, too.
struct LoopPlan;
struct LoopPlans {
  std::map<std::string, std::shared_ptr<const LoopPlan>> by_request;
};

// The functions whose gradients are being made around this one: a call of one of them is one of itself.
struct Inside {
  std::string function;  // empty for a SymbolicGradient
  const Inside* outer = nullptr;
  int depth = 1;
  std::shared_ptr<LoopPlans> loops;
  int gradients = 0;  // SymbolicGradients among them
};

class Backward {
 public:
  explicit Backward(GraphEmitter& emitter, const GradientOptions& options = {}, const Inside* inside = nullptr)
      : graph_(emitter.graph()),
        scope_(options.scope),
        stops_(options.stops),
        rule_of_(options.rule_of),
        emitter_(emitter),
        inside_(inside),
        first_new_(graph_.num_ids()) {}

  // The gradients at `xs`: perhaps slices, empty where nothing flows. On an error the nodes that were there are as before;
  // those that were added are the caller's to remove.
  Result<std::vector<Value>> run(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs, const std::vector<Endpoint>& dys);

  // Whether a y depends on it; after run().
  bool reaches(const Endpoint& x) const { return between_[size_t(x.node->id())] != 0; }

  // Of one node. `wanted`: by input; the gradients of others may be missing.
  Result<Grads> gradient(Node* node, std::vector<Value> dys, std::vector<bool> wanted);

  Graph& graph() { return graph_; }
  GraphEmitter& emitter() { return emitter_; }
  const Inside* inside() const { return inside_; }
  const std::string& scope() const { return scope_; }

  // Tapes of this thread that recorded a node are notified of outputs that it gets later.
  void notify_tapes() { notify_tapes_ = true; }
  // Gives a node of the forward other functions and more outputs, whose shapes are `more`.
  Status extend(Node* node, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs, const std::vector<PartialShape>& more);
  // Takes that back; what was added and read it loses its inputs.
  void undo();

 private:
  Result<std::vector<Value>> walk(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs, const std::vector<Endpoint>& dys);
  void mark(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs);
  // Loops of frames on the way become While ops.
  Status raise_loops(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs);
  void add(const Endpoint& e, Value g);
  Value sum(const Endpoint& e);
  Status back(Node* node);

  struct Before {
    Node* node;
    std::string op;
    AttrMap attrs;
    std::vector<Endpoint> inputs;
    std::vector<PartialShape> shapes;
    std::vector<std::optional<HandleData>> handles;
  };
  Graph& graph_;
  const std::string scope_;
  const std::vector<Node*> stops_;
  const std::function<GradientOptions::NodeRule(Node*)> rule_of_;
  GraphEmitter& emitter_;
  const Inside* inside_;
  bool notify_tapes_ = false;
  const int first_new_;  // ids of the nodes that were there are smaller
  std::vector<char> between_;
  std::vector<std::vector<std::vector<Value>>> sums_;  // by node, by output: what flowed into it
  std::vector<Before> changed_;
};

// A node that calls functions, and what flows into it.
struct Flow {
  Node* node;
  std::vector<Value> dys;    // by output; empty where nothing flows
  std::vector<bool> wanted;  // by input
};

// The gradient of a node in the graph of a trace that calls functions.
Result<Grads> traced_gradient(GraphEmitter& emitter, Node* node, std::vector<Value> dys, std::vector<bool> wanted);

// Those whose gradients are made here; all others have rules.
bool calls_functions(const Node& n);
// By input; each may give the node further outputs (Backward::extend).
Result<Grads> call_gradient(Backward& b, const Flow& flow);
Result<Grads> branch_gradient(Backward& b, const Flow& flow);
Result<Grads> loop_gradient(Backward& b, const Flow& flow);
// By a function that the user gave: of the gradients of the outputs, or of the inputs and those.
Result<Grads> user_gradient(Backward& b, const Flow& flow, const std::string& function);

// By a function of the gradients of the first outputs and of the last inputs. The node is an IdentityN of results, sources and what the gradient uses
// besides; `layout`: how many outputs' gradients the function takes, how many inputs are not for it alone, then the inputs that its results are the gradients of.
Result<Grads> custom_gradient(Backward& b, const Flow& flow, const std::string& function, const std::vector<int64_t>& layout);

// ---- functions -----------------------------------------------------------------------------------------

// A body and, in the same graph, its gradient.
struct BodyGradient {
  FunctionBody body;
  std::unique_ptr<ShapeInference> shapes;
  std::unique_ptr<GraphEmitter> emitter;
  int first_new = 0;  // nodes of the body have smaller ids
  std::vector<Node*> dys;  // by output: the argument that is its gradient, or null
  std::vector<Value> grads;  // by input; empty where there is none

  Graph& graph() { return *body.graph; }
  // A new argument, behind those that are there.
  Result<Node*> add_arg(std::string_view name, DType type, const PartialShape& shape);
};

// `dys`: the types of the gradients of the outputs, kInvalid where there is none. `args`: what the caller knows of the
// arguments; what the function itself says of them goes first. `scope`: arrays of tensors keep apart the gradients of different ones. Gradients are
// dense, unless `slices` says that they may be slices.
Result<BodyGradient> differentiate(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f,
                                   const std::vector<bool>& want, const std::vector<DType>& dys, const ArgShapes& args, const Inside* inside,
                                   const std::string& scope = "gradients", bool slices = false);

// function_gradient with the types of the gradients, for results that are resources.
Result<FunctionGradient> gradient_of_function(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f,
                                              const std::vector<bool>& want, const std::vector<DType>& dys, const Inside* inside,
                                              bool slices = false);

// symbolic_gradient for a node inside functions whose gradients are being made. InvalidArgument where the function is one of them: its gradient would take its own,
// without end.
Result<FunctionAttr> symbolic_gradient(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f,
                                       const Inside* inside);

// Whether the function is BACKWARD of a pair with `reads_values`.
bool backward_reads_values(const FunctionLibrary& library, const std::string& function);

// The attributes that a function is called with.
const AttrMap& attrs_of(const FunctionAttr& f);
Result<FunctionBody> open_function(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f);
// All nodes but arguments and results.
std::vector<const Node*> nodes_of_body(const Graph& graph);

// The value behind nodes that only hand it on, and its gradient with it (StopGradient does not).
Endpoint same_value(Endpoint e);
// Zeros for an argument of that type, as gradients are: those of a variable have its value's type.
Value zeros_for(const Value& x, DType type);
std::vector<DType> types_of(const std::vector<Value>& values);
// The types of the gradients that flow into a node.
std::vector<DType> flowing_types(const Flow& flow);

}  // namespace weft_engine::autodiff
