// Datasets as graphs: the ops that made one, written as a GraphDef, and the dataset that such a graph makes.
#include <random>
#include <shared_mutex>
#include <unordered_map>

#include "core/own_memory.h"
#include "op/function_caller.h"
#include "op/graph_message.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/variable.h"
#include "ops/data/dataset_graph.h"
#include "ops/data/external_state.h"
#include "ops/list/variant_codec.h"
#include "ops/state/lookup_table.h"
#include "wire/tensor_proto.h"
#include "wire/variant_data.h"

namespace weft_engine::ops::data {

namespace {

// Nodes in the order in which they are needed, named as TensorFlow names them.
class Nodes {
 public:
  Nodes(const KernelEnv& env, const GraphChanges* changes) : env_(env), changes_(changes) {}
  HeldFunctions held;
  Status external_state;  // the first that a dataset has
  Result<std::string> of(const Dataset& d) {
    if (auto it = known_.find(&d); it != known_.end()) return it->second;
    if (!d.origin()) return unimplemented("a ", d.kind(), "Dataset that no op made has no graph");
    if (const auto* with_state = dynamic_cast<const ExternalState*>(&d); with_state && external_state.ok())
      external_state = with_state->external_state();
    const auto& [node, inputs, functions] = *d.origin();
    if (functions) held.push_back(functions);
    MessageNode made;
    made.op = node.op();
    for (size_t i = 0; i < inputs.size(); ++i) {
      WEFT_ASSIGN(std::string name, input_of(d, i));
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
  Result<std::string> input_of(const Dataset& d, size_t i) {
    const Tensor& t = d.origin()->inputs[i];
    if (!t.valid()) return dummy_of(d, i);
    if (t.dtype() == DType::kResource) return resource_of(d, t);
    if (auto dataset = dataset_of_tensor(t); dataset.ok()) {
      WEFT_ASSIGN(std::string name, of(**dataset));
      return changes_ && i == 0 && changes_->cut_inputs.contains(&d) ? cut(**dataset, name) : name;
    }
    if (t.dtype() == DType::kVariant) return variants_of(d, t);
    if (changes_ && changes_->replace_hints && d.kind() == "Shard" && (i == 1 || i == 2) && d.origin()->inputs[1].data<int64_t>()[0] < 0)
      return constant(Tensor::scalar(i == 1 ? changes_->count : changes_->index));
    return constant(t);
  }
  // What a dataset shares with others of its process (seeds, a cache) begins anew in the graph, as TensorFlow has it.
  Result<std::string> dummy_of(const Dataset& d, size_t i) {
    for (const auto& arg : d.origin()->node.spec().signature().inputs) {
      if (d.origin()->node.input_range(arg.name).begin != int(i)) continue;
      for (auto [name, op] :
           {std::pair("seed_generator", "DummySeedGenerator"), {"cache", "DummyMemoryCache"}, {"iteration_counter", "DummyIterationCounter"}}) {
        if (arg.name == name) return add({{}, op, {}, {}});
      }
    }
    return unimplemented("a ", d.kind(), "Dataset that reads a resource cannot be written as a graph");
  }
  // What functions read of the program's state goes along as it is now, under a name that nobody else has.
  Result<std::string> resource_of(const Dataset& d, const Tensor& t) {
    const ResourceHandle handle = t.num_elements() == 1 ? t.data<ResourceHandle>()[0] : ResourceHandle();
    if (!handle.info() || !env_.resources) return unimplemented("a ", d.kind(), "Dataset that reads a resource cannot be written as a graph");
    if (auto it = resources_.find(handle.info()); it != resources_.end()) return it->second;
    std::random_device random;
    const std::string name = cat(handle.info()->name, "/", random(), random());
    MessageNode made, fill;
    if (auto variable = env_.resources->get<Variable>(handle); variable.ok()) {
      std::shared_lock lock((*variable)->mutex());
      if (!(*variable)->initialized()) return failed_precondition("a ", d.kind(), "Dataset reads a variable that has no value");
      const Tensor& value = (*variable)->tensor();
      if (lies_elsewhere(value)) return unimplemented("a ", d.kind(), "Dataset that reads a variable of another device cannot be written as a graph");
      made.op = "VarHandleOp";
      made.attrs["dtype"] = value.dtype();
      made.attrs["shape"] = PartialShape(value.shape());
      fill.op = "AssignVariableOp";
      fill.inputs = {{}, constant(value)};
      fill.attrs["dtype"] = value.dtype();
    } else if (auto table = env_.resources->get<Table>(handle); table.ok()) {
      const auto* ours = dynamic_cast<const LookupTable*>(table->get());
      const LookupTable::Kind kind = ours ? ours->kind() : LookupTable::Kind::kDense;
      if (kind != LookupTable::Kind::kHash && kind != LookupTable::Kind::kMutable)
        return unimplemented("a ", d.kind(), "Dataset that reads a table other than a HashTable or MutableHashTable cannot be written as a graph");
      Tensor keys, values;
      WEFT_RETURN_IF_ERROR((*table)->export_all(nullptr, keys, values));
      made.op = kind == LookupTable::Kind::kHash ? "HashTableV2" : "MutableHashTableV2";
      made.attrs["key_dtype"] = (*table)->key_dtype();
      made.attrs["value_dtype"] = (*table)->value_dtype();
      fill.op = "LookupTableImportV2";
      fill.inputs = {{}, constant(keys), constant(values)};
      fill.attrs["Tin"] = (*table)->key_dtype();
      fill.attrs["Tout"] = (*table)->value_dtype();
    } else {
      return unimplemented("a ", d.kind(), "Dataset that reads a resource other than a variable or a table cannot be written as a graph");
    }
    made.attrs["shared_name"] = name;
    fill.inputs[0] = add(std::move(made));
    MessageNode same;
    same.op = "Identity";
    same.inputs = {fill.inputs[0], "^" + add(std::move(fill))};
    same.attrs["T"] = DType::kResource;
    return resources_[handle.info()] = add(std::move(same));
  }
  // Variants that know how to be bytes (ragged rows, say) are read from these when the graph runs.
  Result<std::string> variants_of(const Dataset& d, const Tensor& t) {
    const wire::VariantCodec codec = variant_codec();
    auto bytes = wire::encode_tensor_content(t, &codec);
    if (!bytes.ok())
      return unimplemented("a ", d.kind(), "Dataset with a variant that cannot be serialized has no graph: ", bytes.status().message());
    MessageNode parse;
    parse.op = "ParseTensor";
    parse.inputs = {constant(Tensor::scalar(tstring(*bytes)))};
    parse.attrs["out_type"] = DType::kVariant;
    return add(std::move(parse));
  }
  std::string constant(const Tensor& t) {
    MessageNode made;
    made.op = "Const";
    made.attrs["dtype"] = t.dtype();
    made.attrs["value"] = t;
    return add(std::move(made));
  }
  std::string cut(const Dataset& input, const std::string& name) {
    MessageNode made;
    made.op = "ShardDataset";
    made.inputs = {name, constant(Tensor::scalar(changes_->count)), constant(Tensor::scalar(changes_->index))};
    made.attrs["require_non_empty"] = true;
    made.attrs["output_types"] = input.types();
    made.attrs["output_shapes"] = input.shapes();
    return add(std::move(made));
  }
  std::string add(MessageNode node) {
    node.name = cat(node.op, "/_", nodes_.size());
    nodes_.push_back(std::move(node));
    return nodes_.back().name;
  }
  const KernelEnv& env_;
  const GraphChanges* const changes_;
  std::vector<MessageNode> nodes_;
  std::unordered_map<const Dataset*, std::string> known_;
  std::unordered_map<const ResourceHandle::Info*, std::string> resources_;
};

Result<const GraphMessages*> messages(const KernelEnv& env) {
  const GraphMessages* m = graph_messages.load();
  if (!m || !env.functions) return internal_error("graphs of datasets are needed, but nothing here writes or runs them");
  return m;
}

// A graph may hold another as a text, and so on: each runs on the stack of the one outside.
constexpr int kMaxGraphs = 16;
thread_local int graphs_open = 0;

}  // namespace

Result<std::string> graph_of(const Dataset& dataset, const KernelEnv& env, bool fail_if_stateful, const GraphChanges* changes) {
  WEFT_ASSIGN(const GraphMessages* m, messages(env));
  Nodes nodes(env, changes);
  WEFT_ASSIGN(std::string root, nodes.of(dataset));
  const std::vector<MessageNode> all = nodes.finish(root);
  if (fail_if_stateful) {
    WEFT_RETURN_IF_ERROR(nodes.external_state);
    const std::string op = m->stateful_op(*env.functions, nodes.held);
    if (!op.empty()) return failed_precondition("Failed to serialize the input pipeline graph: ", op, " is stateful.");
  }
  return m->encode(all, nodes.held);
}

Result<Tensor> dataset_of_graph(const KernelEnv& env, std::string_view graph) {
  struct Open {
    Open() { ++graphs_open; }
    ~Open() { --graphs_open; }
  } const open;
  if (graphs_open > kMaxGraphs) return resource_exhausted("more than ", kMaxGraphs, " graphs of datasets are inside of each other");
  WEFT_ASSIGN(const GraphMessages* m, messages(env));
  WEFT_ASSIGN(Tensor made, m->run(*env.functions, env, graph));
  WEFT_RETURN_IF_ERROR(dataset_of_tensor(made).status());
  return made;
}

namespace {

Status to_graph(KernelContext& c, bool fail_if_stateful) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  WEFT_ASSIGN(std::string graph, graph_of(*dataset, c.env(), fail_if_stateful));
  c.set_output(0, Tensor::scalar(tstring(graph)));
  return {};
}

Status run_to_graph(KernelContext& c) { return to_graph(c, !c.attr<bool>("allow_stateful")); }
Status run_to_graph_v2(KernelContext& c) {
  constexpr int64_t kFail = 2;  // ExternalStatePolicy
  return to_graph(c, c.attr<int64_t>("external_state_policy") == kFail);
}

Status run_from_graph(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_scalar(c, "graph_def"));
  WEFT_ASSIGN(Tensor made, dataset_of_graph(c.env(), c.input(0).data<tstring>()[0].view()));
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
