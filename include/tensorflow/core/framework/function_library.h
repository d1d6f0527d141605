// SPDX-License-Identifier: Apache-2.0
//
// FunctionLibraryDefinition: functions by name. One of a run has those of its program; a program makes its own, empty or as a copy, and adds to it
// (FunctionLibraryRuntime::InstantiateOptions::lib_def). Included by function.h.
#ifndef TENSORFLOW_CORE_FRAMEWORK_FUNCTION_LIBRARY_H_
#define TENSORFLOW_CORE_FRAMEWORK_FUNCTION_LIBRARY_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/function.pb.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/platform/refcount.h"
#include "tensorflow/core/platform/statusor.h"

namespace tensorflow {

namespace internal {
struct DeleteLibrary {
  void operator()(weft_library* l) const { weft_library_delete(l); }
};
using OwnedLibrary = std::unique_ptr<weft_library, DeleteLibrary>;
}  // namespace internal

inline bool FunctionDefsEqual(const FunctionDef& a, const FunctionDef& b) { return a.SerializeAsString() == b.SerializeAsString(); }

// A function as it was when it was looked for; whoever has it keeps it.
class FunctionRecord : public core::RefCounted {
 public:
  explicit FunctionRecord(const FunctionDef& function) : function_(function), op_(function.signature()) { op_.is_function_op = true; }
  const FunctionDef& fdef() const { return function_; }
  const OpRegistrationData* op_registration() const { return &op_; }

 private:
  const FunctionDef function_;
  OpRegistrationData op_;
};

class FunctionLibraryDefinition : public OpRegistryInterface {
 public:
  static constexpr const char* const kArgOp = "_Arg";
  static constexpr const char* const kRetOp = "_Retval";
  static constexpr const char* const kGradientOp = "SymbolicGradient";
  static constexpr const char* const kFuncAttr = "f";

  explicit FunctionLibraryDefinition(const OpRegistryInterface* default_registry, const FunctionDefLibrary& library = FunctionDefLibrary())
      : default_registry_(default_registry) {
    TF_CHECK_OK(AddLibrary(library));
  }
  FunctionLibraryDefinition(const OpRegistryInterface* default_registry, const GraphDef& graph)
      : FunctionLibraryDefinition(default_registry, graph.library()) {}
  // For these headers: those of a program; null while a kernel is made, when it is not known which.
  explicit FunctionLibraryDefinition(internal::OwnedLibrary base)
      : default_registry_(OpRegistry::Global()), base_(std::move(base)), unknown_(!base_) {}
  FunctionLibraryDefinition(const FunctionLibraryDefinition& o) : default_registry_(o.default_registry_), unknown_(o.unknown_) {
    const mutex_lock lock(o.mu_);
    if (o.base_) base_.reset(weft_library_share(o.base_.get()));
    for (const auto& [name, data] : o.own_) own_[name] = std::make_shared<Entry>(*data);
    removed_ = o.removed_;
    gradients_ = o.gradients_;
  }
  FunctionLibraryDefinition& operator=(const FunctionLibraryDefinition&) = delete;

  bool Contains(const std::string& name) const {
    const mutex_lock lock(mu_);
    return unknown_ || Has(name);
  }
  // Stays where it is until it is removed or replaced here. Null where there is none.
  const FunctionDef* Find(const std::string& name) const {
    const mutex_lock lock(mu_);
    const Entry* entry = Get(name);
    return entry ? &entry->function : nullptr;
  }
  core::RefCountPtr<FunctionRecord> FindRecord(const std::string& name) const {
    const FunctionDef* function = Find(name);
    return core::RefCountPtr<FunctionRecord>(function ? new FunctionRecord(*function) : nullptr);
  }
  // A library of the functions that a graph or a function needs, and those that they need: called by name, named by an attribute, as a gradient, or
  // as another implementation of the same interface (the attribute api_implements).
  FunctionLibraryDefinition ReachableDefinitions(const GraphDef& graph) const {
    return Reachable([&](const auto& see) {
      for (const NodeDef& node : graph.node()) see(node);
    });
  }
  FunctionLibraryDefinition ReachableDefinitions(const FunctionDef& function) const {
    return Reachable([&](const auto& see) {
      for (const NodeDef& node : function.node_def()) see(node);
    });
  }
  StatusOr<FunctionLibraryDefinition> ReachableDefinitions(const std::string& function_name) const {
    const FunctionDef* function = Find(function_name);
    if (!function) return errors::NotFound(function_name);
    FunctionLibraryDefinition found = ReachableDefinitions(*function);
    TF_RETURN_IF_ERROR(found.CopyFunctionDefFrom(function_name, *this));
    return found;
  }
  // A function as an op, or an op.
  Status LookUp(const std::string& op, const OpRegistrationData** data) const override {
    {
      const mutex_lock lock(mu_);
      if (const Entry* entry = Get(op)) {
        *data = &entry->op;
        return OkStatus();
      }
    }
    if (default_registry_) return default_registry_->LookUp(op, data);
    return errors::NotFound("Op type not registered '", op, "'");
  }
  std::string FindGradient(const std::string& name) const {
    const mutex_lock lock(mu_);
    return Gradient(name);
  }
  std::vector<std::string> ListFunctionNames() const {
    const mutex_lock lock(mu_);
    return Names();
  }
  size_t num_functions() const { return ListFunctionNames().size(); }
  std::string UniqueFunctionName(std::string_view prefix) const {
    const mutex_lock lock(mu_);
    int i = 0;
    std::string name = strings::StrCat(prefix, i);
    while (Has(name)) name = strings::StrCat(prefix, ++i);
    return name;
  }
  FunctionDefLibrary ToProto() const {
    const mutex_lock lock(mu_);
    FunctionDefLibrary out;
    for (const std::string& name : Names()) {
      const Entry* entry = Get(name);
      if (entry) *out.add_function() = entry->function;
    }
    for (const auto& [function, gradient] : Gradients()) {
      GradientDef* def = out.add_gradient();
      def->set_function_name(function);
      def->set_gradient_func(gradient);
    }
    return out;
  }
  // Of the function that the node calls, where that has one, else of the node; SymbolicGradient has those of the function's gradient.
  template <class T>
  Status GetAttr(const NodeDef& def, const std::string& name, T* value) const {
    std::string function = def.op();
    if (function == kGradientOp) {
      const AttrValue* of = AttrSlice(def).Find(kFuncAttr);
      function = !of ? "" : FindGradient(of->func().name()).empty() ? of->func().name() : FindGradient(of->func().name());
    }
    const FunctionDef* called = Find(function);
    if (called && GetNodeAttr(AttrSlice(&called->attr()), name, value).ok()) return OkStatus();
    return errors::InvalidArgument("Attr ", name, " is not defined.");
  }

  // An equal one that is there already is fine.
  Status AddFunctionDef(const FunctionDef& function) {
    const mutex_lock lock(mu_);
    return Add(function);
  }
  Status AddGradientDef(const GradientDef& gradient) {
    const mutex_lock lock(mu_);
    const std::string had = Gradient(gradient.function_name());
    if (!had.empty() && had != gradient.gradient_func())
      return errors::InvalidArgument("Cannot assign gradient function '", gradient.gradient_func(), "' to '", gradient.function_name(),
                                     "' because it already has gradient function '", had, "'");
    gradients_[gradient.function_name()] = gradient.gradient_func();
    return OkStatus();
  }
  // Nothing is added where one of them cannot be.
  Status AddLibrary(const FunctionDefLibrary& library) {
    const mutex_lock lock(mu_);
    for (const FunctionDef& function : library.function()) TF_RETURN_IF_ERROR(Check(function));
    for (const FunctionDef& function : library.function()) TF_RETURN_IF_ERROR(Add(function));
    for (const GradientDef& gradient : library.gradient()) gradients_[gradient.function_name()] = gradient.gradient_func();
    return OkStatus();
  }
  Status AddLibrary(const FunctionLibraryDefinition& other) { return this == &other ? OkStatus() : AddLibrary(other.ToProto()); }
  Status CopyFunctionDefFrom(const std::string& name, const FunctionLibraryDefinition& other) {
    const FunctionDef* function = other.Find(name);
    if (!function) return errors::InvalidArgument("Function ", name, " not found in function library.");
    return AddFunctionDef(*function);
  }
  Status RemoveFunction(const std::string& name) {
    const mutex_lock lock(mu_);
    return Remove(name);
  }
  Status ReplaceFunction(const std::string& name, const FunctionDef& function) {
    const mutex_lock lock(mu_);
    TF_RETURN_IF_ERROR(Remove(name));
    return Add(function);
  }
  const OpRegistryInterface* default_registry() const { return default_registry_; }
  void set_default_registry(const OpRegistryInterface* registry) { default_registry_ = registry; }

  // For these headers: all of it, for the engine, and what was changed of that of the program.
  Status ToC(internal::OwnedLibrary* out, std::string* changes) const {
    const mutex_lock lock(mu_);
    if (base_ && own_added_ == 0 && removed_.empty() && gradients_.empty()) {
      out->reset(weft_library_share(base_.get()));
      return OkStatus();
    }
    FunctionDefLibrary added;
    for (const auto& [name, entry] : own_) {
      if (entry->added) *added.add_function() = entry->function;
    }
    for (const auto& [function, gradient] : gradients_) {
      GradientDef* def = added.add_gradient();
      def->set_function_name(function);
      def->set_gradient_func(gradient);
    }
    std::vector<weft_text> removed;
    for (const std::string& name : removed_) removed.push_back(internal::Text(name));
    const std::string bytes = added.SerializeAsString();
    *changes = bytes;
    for (const std::string& name : removed_) *changes += "|-" + name;
    weft_library* made = nullptr;
    TF_RETURN_IF_ERROR(internal::FromC(weft_library_with(base_.get(), removed.data(), removed.size(), internal::Text(bytes), &made)));
    out->reset(made);
    return OkStatus();
  }

 private:
  struct Entry {
    explicit Entry(const FunctionDef& f, bool own) : function(f), op(f.signature()), added(own) { op.is_function_op = true; }
    FunctionDef function;
    OpRegistrationData op;
    bool added;  // by the program; else found in base_
  };
  // `first` calls what it is given for each node to begin with.
  template <class First>
  FunctionLibraryDefinition Reachable(const First& first) const {
    FunctionLibraryDefinition found(default_registry_);
    std::vector<std::string> open;
    const auto add = [&](const std::string& name) {
      if (found.Contains(name) || !Find(name)) return;
      found.CopyFunctionDefFrom(name, *this).IgnoreError();
      open.push_back(name);
    };
    const auto see = [&](const NodeDef& node) {
      add(node.op());
      for (const auto& [name, value] : node.attr()) {
        if (value.has_func()) add(value.func().name());
        for (const NameAttrList& of_list : value.list().func()) add(of_list.name());
      }
    };
    first(see);
    while (!open.empty()) {
      const std::string name = std::move(open.back());
      open.pop_back();
      if (const std::string gradient = FindGradient(name); !gradient.empty()) {
        add(gradient);
        found.gradients_[name] = gradient;
      }
      const FunctionDef& function = *Find(name);
      if (const auto interface = function.attr().find("api_implements"); interface != function.attr().end()) {
        for (const std::string& other : ListFunctionNames()) {
          const FunctionDef* of = Find(other);
          const auto its = of->attr().find("api_implements");
          if (its != of->attr().end() && its->second.s() == interface->second.s()) add(other);
        }
      }
      for (const NodeDef& node : function.node_def()) see(node);
    }
    return found;
  }
  bool InBase(const std::string& name) const { return base_ && !removed_.count(name) && weft_library_contains(base_.get(), internal::Text(name)); }
  bool Has(const std::string& name) const {
    const auto it = own_.find(name);
    return (it != own_.end() && it->second->added) || InBase(name);
  }
  const Entry* Get(const std::string& name) const {
    const auto it = own_.find(name);
    if (it != own_.end() && (it->second->added || InBase(name))) return it->second.get();
    TF_Buffer* bytes = nullptr;
    if (!InBase(name) || !internal::FromC(weft_library_find(base_.get(), internal::Text(name), &bytes)).ok()) return nullptr;
    FunctionDef function;
    const bool read = function.ParseFromArray(bytes->data, static_cast<int>(bytes->length));
    TF_DeleteBuffer(bytes);
    if (!read) return nullptr;
    return (own_[name] = std::make_shared<Entry>(function, false)).get();
  }
  std::map<std::string, std::string> Gradients() const {
    std::map<std::string, std::string> all;
    const auto add = [](void* sink, weft_text name, weft_text gradient) {
      if (gradient.size) (*static_cast<std::map<std::string, std::string>*>(sink))[std::string(internal::View(name))] = internal::View(gradient);
    };
    if (base_) weft_library_names(base_.get(), &all, add);
    for (const auto& [function, gradient] : gradients_) all[function] = gradient;
    return all;
  }
  std::string Gradient(const std::string& name) const {
    const std::map<std::string, std::string> all = Gradients();
    const auto it = all.find(name);
    return it == all.end() ? std::string() : it->second;
  }
  std::vector<std::string> Names() const {
    std::set<std::string> all;
    const auto add = [](void* sink, weft_text name, weft_text) { static_cast<std::set<std::string>*>(sink)->emplace(internal::View(name)); };
    if (base_) weft_library_names(base_.get(), &all, add);
    for (const std::string& name : removed_) all.erase(name);
    for (const auto& [name, entry] : own_) {
      if (entry->added) all.insert(name);
    }
    return {all.begin(), all.end()};
  }
  Status Check(const FunctionDef& function) const {
    const std::string& name = function.signature().name();
    if (const Entry* had = Get(name)) {
      if (FunctionDefsEqual(had->function, function)) return OkStatus();
      return errors::InvalidArgument("Cannot add function '", name, "' because a different function with the same name already exists.");
    }
    const OpDef* op = nullptr;
    if (default_registry_ && default_registry_->LookUpOpDef(name, &op).ok())
      return errors::InvalidArgument("Cannot add function '", name, "' because an op with the same name already exists.");
    return OkStatus();
  }
  Status Add(const FunctionDef& function) {
    TF_RETURN_IF_ERROR(Check(function));
    const std::string& name = function.signature().name();
    if (Has(name)) return OkStatus();
    own_[name] = std::make_shared<Entry>(function, true);
    ++own_added_;
    return OkStatus();
  }
  Status Remove(const std::string& name) {
    if (!Has(name)) return errors::InvalidArgument("Tried to remove non-existent function '", name, "'.");
    if (InBase(name)) removed_.insert(name);
    const auto it = own_.find(name);
    if (it != own_.end()) {
      if (it->second->added) --own_added_;
      own_.erase(it);
    }
    return OkStatus();
  }

  mutable mutex mu_;
  const OpRegistryInterface* default_registry_;
  internal::OwnedLibrary base_;
  const bool unknown_ = false;  // a run tells what is there
  mutable std::map<std::string, std::shared_ptr<Entry>> own_;  // also what was found in base_
  std::set<std::string> removed_;  // of base_
  std::map<std::string, std::string> gradients_;
  int own_added_ = 0;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_FUNCTION_LIBRARY_H_
