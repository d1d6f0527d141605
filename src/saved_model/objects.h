// A SavedModel loaded as objects into an eager context: variables to train on, functions to call and to differentiate.
// (model.h loads one to run it in a session of its own.)
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "saved_model/functions.h"
#include "saved_model/object_graph.h"
#include "trace/concrete_function.h"
#include "trace/trackable.h"

namespace weft::saved_model {

class Objects {
 public:
  static Result<std::shared_ptr<Objects>> load(eager::Context& context, const std::string& dir, const std::vector<std::string>& tags, bool verify = false);
  ~Objects();

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

 private:
  explicit Objects(eager::Context& context) : context_(context) {}
  static Result<std::shared_ptr<Objects>> load_once(eager::Context& context, const std::string& dir, const std::vector<std::string>& tags);
  Status add_library();
  Status make_variables();
  Result<op::Value> captured(int object, int depth);
  Result<op::Value> create_resource(int object, int depth);
  Result<std::shared_ptr<trace::ConcreteFunction>> concrete(const std::string& name, const std::vector<int>& bound, int depth);

  eager::Context& context_;
  std::string dir_;
  MetaGraph meta_;
  ObjectGraph objects_;
  graph::GraphDef graph_;
  std::vector<ModelFunction> functions_;
  std::vector<std::string> paths_;
  std::vector<std::shared_ptr<trace::TrackableState>> states_;
  std::map<std::string, std::string> names_;  // of functions: in the file -> in the context's library
  std::shared_ptr<const void> loaded_;        // the functions there
  std::map<int, op::Value> captured_, building_;
  std::map<std::string, std::shared_ptr<trace::ConcreteFunction>> concrete_;
  std::recursive_mutex mutex_;
};

}  // namespace weft::saved_model
