// SPDX-License-Identifier: Apache-2.0
//
// Scope: a graph that is being built, and what the next ops get: names, devices, control inputs. Scopes made from one another share the graph and its first error.
#ifndef TENSORFLOW_CC_FRAMEWORK_SCOPE_H_
#define TENSORFLOW_CC_FRAMEWORK_SCOPE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/cc/framework/ops.h"

namespace tensorflow {

struct CompositeOpScopes;
namespace internal {
struct ScopeOfGraph;
}

class Scope {
 public:
  static Scope NewRootScope() { return Scope(); }
  // Nothing is checked less: the engine infers shapes as nodes are made.
  static Scope DisabledShapeInferenceScope() { return Scope(); }

  Scope NewSubScope(const std::string& name) const {
    Scope child(*this);
    child.op_name_.clear();
    if (name.empty()) {
      child.names_ = std::make_shared<Names>(*names_);
      return child;
    }
    const std::string unique = UniqueName(name, false);
    child.name_ = name_.empty() ? unique : name_ + "/" + unique;
    child.names_ = std::make_shared<Names>();
    child.single_use_ = false;
    return child;
  }
  template <class... T>
  Scope WithOpName(const T&... fragments) const {
    Scope s(*this);
    s.op_name_ = strings::StrCat(fragments...);
    return s;
  }
  Scope WithControlDependencies(gtl::ArraySlice<Operation> operations) const {
    Scope s(*this);
    for (const Operation& op : operations) s.AddControl(op);
    return s;
  }
  Scope WithControlDependencies(const Output& output) const {
    Scope s(*this);
    s.AddControl(output.op());
    return s;
  }
  Scope WithNoControlDependencies() const {
    Scope s(*this);
    s.control_deps_.clear();
    return s;
  }
  Scope WithDevice(const std::string& device) const {
    Scope s(*this);
    s.device_ = device;
    return s;
  }
  Scope WithAssignedDevice(const std::string& device) const {
    Scope s(*this);
    s.assigned_device_ = device;
    return s;
  }
  Scope WithXlaCluster(const std::string& cluster) const {
    Scope s(*this);
    s.xla_cluster_ = cluster;
    return s;
  }
  Scope ColocateWith(const Operation& op) const {
    Scope s(*this);
    const std::string device = "loc:@";
    const internal::CStatus status;
    const TF_AttrMetadata about = TF_OperationGetAttrMetadata(op.node()->c(), "_class", status);
    if (!status.ok()) return s.colocation_.push_back(device + op.node()->name()), s;
    const auto n = static_cast<size_t>(about.list_size);
    std::vector<void*> texts(n);
    std::vector<size_t> sizes(n);
    std::string storage(static_cast<size_t>(about.total_size), 0);
    TF_OperationGetAttrStringList(op.node()->c(), "_class", texts.data(), sizes.data(), about.list_size < 0 ? 0 : static_cast<int>(n), storage.data(),
                                  storage.size(), status);
    for (size_t i = 0; i < n; ++i) {
      const std::string text(static_cast<char*>(texts[i]), sizes[i]);
      if (text.compare(0, device.size(), device) == 0) s.colocation_.push_back(text);
    }
    return s;
  }
  Scope ColocateWith(const Output& out) const { return ColocateWith(out.op()); }
  Scope ClearColocation() const {
    Scope s(*this);
    s.colocation_.clear();
    return s;
  }
  Scope ExitOnError() const {
    Scope s(*this);
    s.exit_on_error_ = true;
    return s;
  }
  Scope WithKernelLabel(const std::string& label) const {
    Scope s(*this);
    s.kernel_label_ = label;
    return s;
  }
  inline CompositeOpScopes GetCompositeOpScopes(const std::string& composite_op_name) const;

  std::string GetUniqueNameForOp(const std::string& default_name) const {
    if (single_use_) {
      if (names_->single_use_taken || op_name_.empty()) {
        UpdateStatus(errors::InvalidArgument("Cannot get a unique name in this scope"));
        return "";
      }
      names_->single_use_taken = true;
      return op_name_;
    }
    const std::string unique = UniqueName(op_name_.empty() ? default_name : op_name_, true);
    return name_.empty() || unique.empty() ? name_ + unique : name_ + "/" + unique;
  }
  void UpdateStatus(const Status& s) const {
    root_->status.Update(s);
    if (exit_on_error_ && !ok()) LOG(FATAL) << root_->status;
  }
  template <class Builder>
  void UpdateBuilder(Builder* builder) const {
    for (const Operation& op : control_deps_) builder->ControlInput(op.node());
    if (!kernel_label_.empty()) builder->Attr("_kernel", kernel_label_);
    if (!colocation_.empty()) builder->Attr("_class", Colocation());
    if (!device_.empty()) builder->Device(device_);
    if (!assigned_device_.empty()) builder->AssignedDevice(assigned_device_);
    if (!xla_cluster_.empty()) builder->XlaCluster(xla_cluster_);
  }
  // For these headers: the same, for a node of the C API.
  void Describe(TF_OperationDescription* op) const {
    for (const Operation& dep : control_deps_) TF_AddControlInput(op, dep.node()->c());
    if (!kernel_label_.empty()) TF_SetAttrString(op, "_kernel", kernel_label_.data(), kernel_label_.size());
    if (!xla_cluster_.empty()) TF_SetAttrString(op, "_XlaCluster", xla_cluster_.data(), xla_cluster_.size());
    std::vector<std::string> names = Colocation();
    std::vector<const void*> texts;
    std::vector<size_t> sizes;
    for (const std::string& name : names) texts.push_back(name.data()), sizes.push_back(name.size());
    if (!names.empty()) TF_SetAttrStringList(op, "_class", texts.data(), sizes.data(), static_cast<int>(names.size()));
    const std::string& device = assigned_device_.empty() ? device_ : assigned_device_;
    if (!device.empty()) TF_SetDevice(op, device.c_str());
  }
  bool ok() const { return root_->status.ok(); }
  Status status() const { return root_->status; }
  Graph* graph() const { return &root_->graph; }
  std::shared_ptr<Graph> graph_as_shared_ptr() const { return {root_, &root_->graph}; }
  const std::vector<Operation>& control_deps() const { return control_deps_; }
  // Nodes have their shapes when they are made.
  Status DoShapeInference(Node*) const { return OkStatus(); }
  template <class Def>
  Status ToGraphDef(Def* def, bool = false) const {
    return ok() ? graph()->ToGraphDefStatus(def) : status();
  }
  Status ToGraph(Graph* g, GraphConstructorOptions = GraphConstructorOptions()) const {
    if (!ok()) return status();
    const internal::Owned<TF_Buffer> bytes(TF_NewBuffer());
    const internal::Owned<TF_ImportGraphDefOptions> options(TF_NewImportGraphDefOptions());
    const internal::CStatus s;
    TF_GraphToGraphDef(graph()->c(), bytes.get(), s);
    TF_RETURN_IF_ERROR(s.status());
    TF_GraphImportGraphDef(g->c(), bytes.get(), options.get(), s);
    return s.status();
  }

 private:
  // Of all scopes that come from one.
  struct Root {
    Graph graph;
    Status status;
  };
  // Of those below one name.
  struct Names {
    std::map<std::string, int> taken;
    bool single_use_taken = false;
  };
  Scope() : root_(std::make_shared<Root>()), names_(std::make_shared<Names>()) {}
  // On a graph of somebody else's, which outlives it; all names are below `name`.
  friend struct internal::ScopeOfGraph;
  Scope(TF_Graph* graph, const std::string& name)
      : root_(new Root{Graph(internal::Owned<TF_Graph>(graph)), {}},
              [](Root* root) {
                root->graph.Release();
                delete root;
              }),
        names_(std::make_shared<Names>()),
        name_(name) {}
  // Sorted, each once.
  std::vector<std::string> Colocation() const {
    std::vector<std::string> names;
    for (const std::string& name : colocation_) {
      auto at = names.begin();
      while (at != names.end() && *at < name) ++at;
      if (at == names.end() || *at != name) names.insert(at, name);
    }
    return names;
  }
  void AddControl(const Operation& op) {
    for (const Operation& known : control_deps_) {
      if (known == op) return;
    }
    control_deps_.push_back(op);
  }
  std::string UniqueName(const std::string& prefix, bool check_single_use) const {
    if (check_single_use && single_use_) return prefix;
    const auto [entry, fresh] = names_->taken.emplace(prefix, 0);
    if (fresh) return prefix;
    std::string unique;
    do unique = prefix + "_" + std::to_string(++entry->second);
    while (names_->taken.count(unique));
    names_->taken.emplace(unique, 0);
    return unique;
  }

  std::shared_ptr<Root> root_;
  std::shared_ptr<Names> names_;
  std::string name_, op_name_, device_, assigned_device_, xla_cluster_, kernel_label_;
  std::vector<Operation> control_deps_;
  std::vector<std::string> colocation_;
  bool exit_on_error_ = false;
  bool single_use_ = false;  // gives one name, its own
};

// Scopes for an op that is made of several: all but the last are below the name, which the last one has.
struct CompositeOpScopes {
  Scope child;
  Scope last;
};
inline CompositeOpScopes Scope::GetCompositeOpScopes(const std::string& composite_op_name) const {
  if (op_name_.empty() && composite_op_name.empty()) {
    UpdateStatus(errors::InvalidArgument("Cannot create composite op scopes with empty name"));
    return {*this, *this};
  }
  const std::string& name = op_name_.empty() ? composite_op_name : op_name_;
  Scope child = NewSubScope(name), last(child);
  last.op_name_ = child.name_;
  last.single_use_ = true;
  return {child, last};
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_FRAMEWORK_SCOPE_H_
