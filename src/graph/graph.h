// Graph: nodes and the edges between them. Mutable while it is built and optimised; not thread-safe.
// Nodes have stable addresses until they are removed.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/defs.h"
#include "op/node_info.h"
#include "op/registry.h"
#include "op/shape_context.h"

namespace weft_engine::graph {

class FunctionLibrary;
class Node;

// One output of a node.
struct Endpoint {
  Node* node = nullptr;
  int index = 0;
  bool operator==(const Endpoint&) const = default;
};

// One input of a node, seen from the node that feeds it.
struct Use {
  Node* node = nullptr;
  int input = 0;   // of the reader
  int output = 0;  // of the node that is read
};

class Node {
 public:
  int id() const { return id_; }
  const std::string& name() const { return info_.name(); }
  std::string_view op() const { return info_.op(); }
  const OpSpec& spec() const { return info_.spec(); }
  const NodeInfo& info() const { return info_; }
  template <class T>
  const T& attr(std::string_view name) const {
    return info_.attr<T>(name);
  }
  const AttrValue* find_attr(std::string_view name) const;  // declared or extra ("_class"); null if absent
  bool is_function_call() const { return function_call_; }  // the op is the name of a function

  int num_inputs() const { return int(inputs_.size()); }
  int num_outputs() const { return info_.num_outputs(); }
  const Endpoint& input(int i) const { return inputs_[size_t(i)]; }
  const std::vector<Endpoint>& inputs() const { return inputs_; }
  const std::vector<Node*>& control_inputs() const { return control_inputs_; }
  const std::vector<Use>& uses() const { return uses_; }  // of all outputs
  const std::vector<Node*>& control_outputs() const { return control_outputs_; }
  DType output_type(int i) const { return info_.output_types()[size_t(i)]; }
  DType input_type(int i) const { return info_.input_types()[size_t(i)]; }

  // As asked for by the user or the file ("" is anywhere), and as placed (full name).
  std::string device, assigned_device;
  // Messages of the NodeDef that are handed on unread.
  std::string debug_info, full_type;
  // Shapes of the outputs, as far as known; filled by shape inference.
  std::vector<PartialShape> shapes;
  std::vector<std::optional<ShapeContext::HandleData>> handles;

 private:
  friend class Graph;
  Node(int id, NodeInfo info) : id_(id), info_(std::move(info)) {}
  int id_;
  NodeInfo info_;
  bool function_call_ = false;
  std::vector<Endpoint> inputs_;
  std::vector<Node*> control_inputs_;
  std::vector<Use> uses_;
  std::vector<Node*> control_outputs_;
};

class Graph {
 public:
  explicit Graph(const Registry& registry, std::shared_ptr<FunctionLibrary> library = nullptr);
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  const Registry& registry() const { return *registry_; }
  const std::shared_ptr<FunctionLibrary>& library() const { return library_; }
  Versions versions;

  // The op or function of that name. NotFound in TensorFlow's words.
  Result<const OpSpec*> find_spec(std::string_view op) const;

  // Adds a node; checks its attributes and the types of its inputs. An input whose node is null is set
  // later (the way back of a loop), and `pending` then gives the types of all inputs.
  Result<Node*> add(std::string name, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs, std::span<Node* const> controls = {},
                    std::span<const DType> pending = {});
  // A constant.
  Result<Node*> add_const(std::string name, Tensor value);

  // A name that no node has yet, made from this one.
  std::string unique_name(std::string_view prefix) const;
  Node* find(std::string_view name) const;

  // All nodes, in the order in which they were added. Removing while walking is safe; what is added
  // meanwhile is not visited.
  std::vector<Node*> nodes() const;
  int num_nodes() const { return count_; }
  int num_ids() const { return int(nodes_.size()); }  // ids are smaller than this
  Node* node(int id) const { return nodes_[size_t(id)].get(); }  // null if it was removed

  void set_input(Node* node, int i, Endpoint from);
  void add_control(Node* from, Node* to);  // once; a second call does nothing
  void remove_control(Node* from, Node* to);
  // The node's readers read `to` instead; control edges go to its node too.
  void replace_uses(Endpoint from, Endpoint to);
  void replace_controls(Node* from, Node* to);
  void set_attr(Node* node, std::string_view name, AttrValue value);  // declared ones must keep their kind
  void clear_attr(Node* node, std::string_view name);  // one that the op does not declare
  // Gives the node another op or attributes, keeping name, id, device and, as far as there are any, inputs
  // and uses. The new signature must have at least the outputs that are used.
  Status rewrite(Node* node, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs);
  // A node with no uses (control outputs are dropped).
  void remove(Node* node);

  std::unique_ptr<Graph> clone(std::vector<Node*>* map = nullptr) const;  // map: old id -> new node

  // Every node after those it reads (the edges from NextIteration aside). InvalidArgument names a cycle.
  Result<std::vector<Node*>> topological_order() const;

 private:
  void unlink_input(Node* node, int i);
  const Registry* registry_;
  std::shared_ptr<FunctionLibrary> library_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unordered_map<std::string_view, Node*> names_;
  int count_ = 0;
  mutable std::unordered_map<std::string, int> name_counts_;
};

// The attributes of a node as a map, for copies with changes.
AttrMap attrs_of(const Node& node);

// "^name", "name", "name:3" taken apart. False for a name that cannot be one.
struct InputName {
  std::string_view node;
  int index = 0;
  bool control = false;
};
bool parse_input_name(std::string_view text, InputName& out);

}  // namespace weft_engine::graph
