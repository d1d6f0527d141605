// Questions about a node that its op's traits answer (op/op_traits.h): two loads and a comparison. Nothing above src/ops compares
// op names; what a question cannot say yet becomes a trait.
#pragma once

#include "graph/graph.h"
#include "op/op_traits.h"

namespace weft_engine::graph {

using op::op_of;
using op::OpTraits;
using op::Role;

inline const OpTraits& traits_of(const Node& n) { return n.spec().traits(); }
inline Role role_of(const Node& n) { return traits_of(n).role; }

inline bool is_const(const Node& n) { return role_of(n) == Role::kConst; }
inline bool is_arg(const Node& n) { return role_of(n) == Role::kArg; }
inline bool is_retval(const Node& n) { return role_of(n) == Role::kRetval; }
inline bool is_no_op(const Node& n) { return role_of(n) == Role::kNoOp; }
// An argument or a result of the body.
inline bool is_end(const Node& n) { return is_arg(n) || is_retval(n); }
// A call of one function: by its name, or as an attribute.
inline bool is_call(const Node& n) { return n.is_function_call() || role_of(n) == Role::kCall; }
inline bool is_branch(const Node& n) { return role_of(n) == Role::kIf || role_of(n) == Role::kCase; }
inline bool is_while(const Node& n) { return role_of(n) == Role::kWhile; }
inline bool is_variable(const Node& n) { return role_of(n) == Role::kVarHandle || role_of(n) == Role::kRefVariable; }

// The function that a call calls.
inline FunctionAttr callee_of(const Node& n) {
  if (!n.is_function_call()) return n.attr<FunctionAttr>("f");
  return {std::string(n.op()), std::make_shared<const AttrMap>(attrs_of(n))};
}
inline std::vector<FunctionAttr> branches_of(const Node& n) {
  if (role_of(n) == Role::kCase) return n.attr<std::vector<FunctionAttr>>("branches");
  return {n.attr<FunctionAttr>("then_branch"), n.attr<FunctionAttr>("else_branch")};
}

// Version 1 control flow, with the ops for references.
inline bool is_switch(const Node& n) { return role_of(n) == Role::kSwitch; }
inline bool is_merge(const Node& n) { return role_of(n) == Role::kMerge; }
inline bool is_enter(const Node& n) { return role_of(n) == Role::kEnter; }
inline bool is_exit(const Node& n) { return role_of(n) == Role::kExit; }
inline bool is_next_iteration(const Node& n) { return role_of(n) == Role::kNextIteration; }
inline bool is_loop_cond(const Node& n) { return role_of(n) == Role::kLoopCond; }
inline bool is_v1_control_flow(const Node& n) { return role_of(n) >= Role::kSwitch && role_of(n) <= Role::kRefSelect; }

// Output i is input i, unchanged (Identity, IdentityN, StopGradient, Snapshot ...).
inline bool forwards_inputs(const Node& n) { return traits_of(n).forwards_inputs; }
// Looks at a resource without changing it: two of them with the same edges see the same.
inline bool only_reads(const Node& n) { return traits_of(n).only_reads; }

// An argument or a result of a body, named like this; the caller puts it into the body's list.
Result<Node*> add_arg(Graph& g, std::string_view name, DType type, int64_t index, AttrMap more = {});
Result<Node*> add_retval(Graph& g, std::string_view name, Endpoint from, DType type, int64_t index);

}  // namespace weft_engine::graph
