// A traced function of one element, run for many at once (tf.vectorized_map): its nodes are emitted again with a row for each element
// (op/batching.h). Calls are opened; branches and loops whose condition differs by row go on with the rows that take them; an op
// without a rule runs row by row.
#pragma once

#include <functional>

#include "op/batching.h"
#include "trace/func_graph.h"

namespace weft_engine::trace {

struct RowOptions {
  bool loops = true;                              // may an op run row by row? Else it is Unimplemented
  std::function<void(std::string_view op)> warn;  // hears of ops that do; may be empty
};

class RowEmitter final : public op::BatchEmitter {
 public:
  RowEmitter(Emitter& base, eager::Context& context, int64_t rows, const RowOptions& options)
      : BatchEmitter(base, context.registry(), rows), context_(context), options_(options) {}
  RowEmitter(Emitter& base, eager::Context& context, Value rows, const RowOptions& options)
      : BatchEmitter(base, context.registry(), std::move(rows)), context_(context), options_(options) {}

  // The values of `outputs`; `feeds` are those of the nodes that have no inputs of their own here, by node. What `effects` do happens.
  using Feeds = std::unordered_map<const Node*, Value>;
  Result<std::vector<Value>> replay(const Graph& graph, std::span<const Endpoint> outputs, const Feeds& feeds, std::span<Node* const> effects);
  // The same for a trace that has ended, with values for its arguments.
  Result<std::vector<Value>> replay(FuncGraph& traced, std::span<const Value> results, std::span<const Value> arguments);

 protected:
  Result<std::vector<Value>> do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) override;
  Result<std::vector<Value>> otherwise(std::string_view op, std::span<const Value> inputs, AttrMap attrs) override;

 private:
  using Outputs = Result<std::vector<Value>>;
  using Code = std::function<Outputs(RowEmitter& e, std::span<const Value> inputs)>;
  FuncGraph* graph() const;  // that the base adds to; null: ops run at once
  // The same number of rows, on another emitter.
  std::unique_ptr<RowEmitter> beside(Emitter& base) const;
  // Some of them: those at `places`.
  std::unique_ptr<RowEmitter> some(Emitter& base, const Value& places) const;
  // Runs the code as a function of its own, for what needs a graph.
  Outputs in_function(std::span<const Value> inputs, const Code& code);

  Outputs call(const FunctionAttr& f, std::span<const Value> inputs);
  Outputs branch(std::string_view op, std::span<const Value> inputs, const AttrMap& attrs);
  Outputs branch_by_row(std::span<const FunctionAttr> functions, bool as_if, std::span<const Value> inputs);
  Outputs loop(std::span<const Value> inputs, const AttrMap& attrs);
  Outputs loop_by_row(const FunctionAttr& condition, const FunctionAttr& body, std::span<const Value> inputs, const AttrMap& attrs);
  Outputs row_by_row(std::string_view op, std::span<const Value> inputs, AttrMap attrs);
  Outputs row_by_row_now(std::string_view op, std::span<const Value> inputs, const AttrMap& attrs);
  // Inputs for rows at `places`, as values of `e`.
  Outputs taken(RowEmitter& e, std::span<const Value> inputs, const Value& places);
  Outputs wrapped(RowEmitter& e, std::span<const Value> values, const std::vector<bool>& rowed) const;

  eager::Context& context_;
  const RowOptions& options_;
};

// The results of the ended trace for every row of `elements`, its arguments; [rows, ...] each. `rows` -1: as many as the first has, in a
// graph.
Result<std::vector<Value>> vectorized(FuncGraph& traced, std::span<const Value> results, std::span<const Value> elements, int64_t rows,
                                      const RowOptions& options);

}  // namespace weft_engine::trace
