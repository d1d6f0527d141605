// GraphEmitter: an Emitter that adds nodes to a graph, with their shapes worked out as they come.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/shape_inference.h"
#include "op/emitter.h"

namespace weft_engine::graph {

class GraphEmitter : public Emitter {
 public:
  // Names of nodes start with "scope/". `shapes` must be that of the graph.
  GraphEmitter(Graph& graph, ShapeInference& shapes, std::string scope = "")
      : graph_(graph), shapes_(shapes), source_(scope), scope_(std::move(scope)) {}

  Value wrap(Endpoint e);
  static Endpoint unwrap(const Value& v);

  Graph& graph() { return graph_; }
  ShapeInference& shapes() { return shapes_; }
  void set_scope(std::string scope) { scope_ = std::move(scope); }
  const std::string& scope() const { return scope_; }
  std::string gradient_source() const final { return source_; }
  // For the nodes that follow.
  void set_device(std::string device) { device_ = std::move(device); }
  // Values keep this alive: where a graph must outlive its last user.
  void keep_alive(std::weak_ptr<void> owner) { keep_ = std::move(owner); }
  void set_controls(std::vector<Node*> controls) { controls_ = std::move(controls); }
  // Besides those: what the user's code asks for, until it asks otherwise.
  void set_user_controls(std::vector<Node*> controls) { user_controls_ = std::move(controls); }
  // Of the next node alone, whatever the scope.
  void set_next_name(std::string name) { next_name_ = std::move(name); }
  // A node whose inputs do not fit is refused, with the words of its shape rule; else it is added and fails when it runs.
  void refuse_bad_shapes(bool on) { refuse_bad_shapes_ = on; }
  // The owners of the functions that added nodes name (FunctionLibrary::owner): these stay in the library as long as this.
  const std::vector<std::shared_ptr<const void>>& held() const { return held_; }
  const std::vector<Node*>& added() const { return added_; }

 protected:
  Result<std::vector<Value>> do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) override;
  Result<Value> do_constant(Tensor value) override;

 private:
  Result<Node*> add(std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs);
  Graph& graph_;
  ShapeInference& shapes_;
  const std::string source_;  // the first scope
  std::string scope_, device_, next_name_;
  std::vector<Node*> controls_, user_controls_, added_;
  bool refuse_bad_shapes_ = false;
  std::weak_ptr<void> keep_;
  std::vector<std::shared_ptr<const void>> held_;
};

}  // namespace weft_engine::graph
