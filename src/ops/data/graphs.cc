// Datasets as graphs: the ops that made one, written as a GraphDef, and the dataset that such a graph makes.
#include <unordered_map>

#include "op/function_caller.h"
#include "op/graph_message.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

namespace {

// Nodes in the order in which they are needed, named as TensorFlow names them.
class Nodes {
 public:
  HeldFunctions held;
  Result<std::string> of(const Dataset& d) {
    if (auto it = known_.find(&d); it != known_.end()) return it->second;
    if (!d.origin()) return unimplemented("a ", d.kind(), "Dataset that no op made has no graph");
    const auto& [node, inputs, functions] = *d.origin();
    if (functions) held.push_back(functions);
    MessageNode made;
    made.op = node.op();
    for (const Tensor& t : inputs) {
      WEFT_ASSIGN(std::string name, input_of(d, t));
      made.inputs.push_back(std::move(name));
    }
    const Signature& signature = node.spec().signature();
    for (size_t i = 0; i < signature.attrs.size(); ++i) made.attrs.emplace(signature.attrs[i].name, node.attrs()[i]);
    return known_[&d] = add(std::move(made));
  }
  std::vector<MessageNode> finish(const std::string& root) {
    MessageNode ret{"dataset", "_Retval", {root}, {}};
    ret.attrs["T"] = DType::kVariant;
    ret.attrs["index"] = int64_t(0);
    nodes_.push_back(std::move(ret));
    return std::move(nodes_);
  }

 private:
  Result<std::string> input_of(const Dataset& d, const Tensor& t) {
    if (!t.valid()) return unimplemented("a ", d.kind(), "Dataset that reads a resource cannot be written as a graph");
    if (auto dataset = dataset_of_tensor(t); dataset.ok()) return of(**dataset);
    if (t.dtype() == DType::kVariant)
      return unimplemented("a ", d.kind(), "Dataset with a variant that is not a dataset cannot be written as a graph");
    MessageNode constant;
    constant.op = "Const";
    constant.attrs["dtype"] = t.dtype();
    constant.attrs["value"] = t;
    return add(std::move(constant));
  }
  std::string add(MessageNode node) {
    node.name = cat(node.op, "/_", nodes_.size());
    nodes_.push_back(std::move(node));
    return nodes_.back().name;
  }
  std::vector<MessageNode> nodes_;
  std::unordered_map<const Dataset*, std::string> known_;
};

Result<const GraphMessages*> messages(const KernelContext& c) {
  const GraphMessages* m = graph_messages.load();
  if (!m || !c.env().functions) return internal_error(c.node().op(), " needs graphs, but nothing here writes or runs them");
  return m;
}

Status to_graph(KernelContext& c, bool fail_if_stateful) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  WEFT_ASSIGN(const GraphMessages* m, messages(c));
  Nodes nodes;
  WEFT_ASSIGN(std::string root, nodes.of(*dataset));
  const std::vector<MessageNode> all = nodes.finish(root);
  if (fail_if_stateful) {
    const std::string op = m->stateful_op(*c.env().functions, nodes.held);
    if (!op.empty()) return failed_precondition("Failed to serialize the input pipeline graph: ", op, " is stateful.");
  }
  WEFT_ASSIGN(std::string graph, m->encode(all, nodes.held));
  c.set_output(0, Tensor::scalar(tstring(graph)));
  return {};
}

Status run_to_graph(KernelContext& c) { return to_graph(c, !c.attr<bool>("allow_stateful")); }
Status run_to_graph_v2(KernelContext& c) {
  constexpr int64_t kFail = 2;  // ExternalStatePolicy
  return to_graph(c, c.attr<int64_t>("external_state_policy") == kFail);
}

// A graph may hold another as a text, and so on: each runs on the stack of the one outside.
constexpr int kMaxGraphs = 16;
thread_local int graphs_open = 0;

Status run_from_graph(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_scalar(c, "graph_def"));
  struct Open {
    Open() { ++graphs_open; }
    ~Open() { --graphs_open; }
  } const open;
  if (graphs_open > kMaxGraphs) return resource_exhausted("more than ", kMaxGraphs, " graphs of datasets are inside of each other");
  WEFT_ASSIGN(const GraphMessages* m, messages(c));
  WEFT_ASSIGN(Tensor made, m->run(*c.env().functions, c.env(), c.input(0).data<tstring>()[0].view()));
  WEFT_RETURN_IF_ERROR(dataset_of_tensor(made).status());
  c.set_output(0, std::move(made));
  return {};
}

}  // namespace

void graphs(Registry& r) {
  r.add("DatasetToGraph")
      .in("input_dataset: variant")
      .out("graph: string")
      .attr("stateful_whitelist: list(string) >= 0 = []")
      .attr("allow_stateful: bool = false")
      .attr("strip_device_assignment: bool = false")
      .doc("The graph that makes a dataset, as a serialized message.")
      .traits({.impure = true})
      .shape(shapes::scalar)
      .cpu(run_to_graph);

  r.add("DatasetToGraphV2")
      .in("input_dataset: variant")
      .out("graph: string")
      .attr("external_state_policy: int = 0")
      .attr("strip_device_assignment: bool = false")
      .doc("The graph that makes a dataset, as a serialized message.")
      .traits({.impure = true})
      .shape(shapes::scalar)
      .cpu(run_to_graph_v2);

  r.add("DatasetFromGraph")
      .in("graph_def: string")
      .out("handle: variant")
      .full_type("DATASET(ANY)")
      .doc("The dataset that a serialized graph makes.")
      .shape(shapes::scalar)
      .cpu(run_from_graph);
}

}  // namespace weft_engine::ops::data
