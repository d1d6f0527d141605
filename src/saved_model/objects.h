// A SavedModel loaded as objects into an eager context: variables to train on, functions to call and to differentiate. C++ gets all of it at once
// (load); Python opens it, makes its own objects of what it finds, and hands over those that functions captured.
// (model.h loads one to run it in a session of its own.)
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "saved_model/functions.h"
#include "saved_model/load_functions.h"
#include "saved_model/object_graph.h"
#include "trace/concrete_function.h"
#include "trace/trackable.h"
#include "trace/variable.h"
#include "wire/tensor_bundle.h"

namespace weft_engine::saved_model {

class Objects {
 public:
  static Result<std::shared_ptr<Objects>> load(eager::Context& context, const std::string& dir, const std::vector<std::string>& tags,
                                               bool verify = false);
  ~Objects();

  // ---- for C++

  const std::shared_ptr<trace::TrackableState>& root() const { return states_[0]; }
  const std::vector<ModelFunction>& functions() const { return functions_; }
  Result<const ModelFunction*> function(std::string_view path) const;
  // By object; null where it is no variable.
  const std::vector<std::shared_ptr<trace::TrackableState>>& states() const { return states_; }
  const std::vector<std::string>& paths() const { return paths_; }
  // One graph of a function, with what it captured.
  Result<std::shared_ptr<trace::ConcreteFunction>> concrete(const FunctionForm& form);
  // The single form behind a signature; NotFound tells which there are.
  Result<const FunctionForm*> signature(std::string_view name) const;
  std::vector<std::string> signatures() const;

  // ---- for front ends that have objects of their own

  // Reads the model and puts its functions into the context. Variables must be given before functions that captured them are asked for.
  static Result<std::shared_ptr<Objects>> open(eager::Context& context, const std::string& dir, MetaGraph meta);
  const MetaGraph& meta() const { return meta_; }
  const ObjectGraph& objects() const { return objects_; }
  // The variable of a node: one, or the copies of a distributed one by replica.
  void set_variable(int node, std::vector<std::shared_ptr<trace::VariableState>> copies) { variables_[size_t(node)] = std::move(copies); }
  // What functions get for a node, where it is an object of the front end's.
  void set_captured(int node, op::Value value) { captured_[{node, 0}] = std::move(value); }
  // What functions get for a node; a resource is made, but not filled.
  Result<op::Value> captured(int node);
  bool has_function(const std::string& name) const { return library_.names.count(name) > 0; }
  // The trace of a name. A distributed model has one for each replica.
  int replicas(const std::string& name) const;
  Result<std::shared_ptr<trace::ConcreteFunction>> concrete(const std::string& name, int replica);
  std::string file_of(const SavedObject& asset) const;

  // The values of variables in the checkpoint, by node. NotFound where there is no checkpoint and there are variables.
  Result<std::map<int, Tensor>> read_values();
  // Resources that the model saved by functions of theirs get their contents back.
  Status restore_saveables();

 private:
  explicit Objects(eager::Context& context) : context_(context) {}
  Status open_checkpoint();
  Status make_objects();
  Result<op::Value> captured(int object, int replica, int depth);
  Result<op::Value> make_captured(int object, int replica, int depth);
  Result<op::Value> create_resource(int object, int depth);
  Result<std::shared_ptr<trace::ConcreteFunction>> concrete(const std::string& name, int replica, int depth);
  Result<std::string> only_trace(int function) const;

  eager::Context& context_;
  std::string dir_;
  MetaGraph meta_;
  ObjectGraph objects_;
  graph::GraphDef graph_;
  LoadedLibrary library_;
  std::unique_ptr<wire::BundleReader> bundle_;  // null: not opened, or there is none
  std::vector<SavedTrackable> checkpoint_;
  std::vector<int> matched_;  // by object: the node of the checkpoint; -1: none
  std::vector<ModelFunction> functions_;
  std::vector<std::string> paths_;
  std::vector<std::shared_ptr<trace::TrackableState>> states_;
  std::vector<std::vector<std::shared_ptr<trace::VariableState>>> variables_;  // by object
  bool fill_resources_ = true;                                                 // when they are made
  std::map<std::pair<int, int>, op::Value> captured_;                          // by object and replica
  std::map<int, op::Value> building_;
  std::map<std::pair<std::string, int>, std::shared_ptr<trace::ConcreteFunction>> concrete_;
  std::recursive_mutex mutex_;
};

}  // namespace weft_engine::saved_model
