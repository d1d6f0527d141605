// The walk over a graph that makes a module: what lower.cc, lower_walk.cc, lower_branch.cc and lower_loop.cc share.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/lower.h"
#include "ir/builder.h"
#include "op/lower.h"

namespace weft_engine::compiler {

using core::DType;
using op::Lowered;
using op::LoweredList;

// What the attempts at one module share (an attempt ends where two open sizes turn out to be one).
struct LowerCache {
  std::map<std::string, std::shared_ptr<const graph::FunctionBody>> bodies;  // functions, prepared
};

class Lowerer final : public op::LowerHost {
 public:
  Lowerer(ir::Module& m, const LowerOptions& options, LowerCache& cache, const std::map<int, ir::Dim>& replaced)
      : b_(m), options_(options), cache_(cache), replaced_(replaced) {}

  // On an error builder().unify() may say why.
  core::Status run(const graph::FunctionBody& body);
  ir::Builder& builder() { return b_; }

  // ---- LowerHost
  LoweredList call(const op::FunctionAttr& function, LoweredList args) override;
  LoweredList while_loop(const op::FunctionAttr& cond, const op::FunctionAttr& body, LoweredList vars) override;
  LoweredList branch(ir::Value which, const std::vector<op::FunctionAttr>& branches, LoweredList args) override;
  Lowered variable(const op::NodeInfo& node) override;
  Lowered named_state(const op::NodeInfo& node) override;
  Lowered derived_state(int of, std::string_view what) override;
  const Lowered* read(int state) override;
  bool has_value(int state) const override { return size_t(state) < states_.size() && states_[size_t(state)].value.kind() != Lowered::Kind::kNone; }
  void write(int state, Lowered value) override;

 private:
  struct State {
    std::string name;
    int variable = -1;  // of LowerOptions::variables; -1: lives in this module alone
    int parameter = -1;
    Lowered initial, value;
  };
  using Snapshot = std::vector<Lowered>;  // of all states

  core::Status arguments(const graph::FunctionBody& body);
  core::Status finish(const graph::FunctionBody& body, const LoweredList& out);
  LoweredList walk(const graph::FunctionBody& f, const LoweredList& args);
  LoweredList lower_node(const graph::Node& n, const LoweredList& inputs);
  // A function of the library that is being walked, prepared; null and an error if there is none.
  std::shared_ptr<const graph::FunctionBody> open(const op::FunctionAttr& function, size_t args);
  int variable_state(int variable);
  Snapshot snapshot() const;
  void restore(const Snapshot& s);

  ir::Builder b_;
  const LowerOptions& options_;
  LowerCache& cache_;
  const std::map<int, ir::Dim>& replaced_;  // symbols that are other sizes
  LoweredList args_;
  std::deque<State> states_;
  std::map<int, int> variable_states_;
  std::map<std::string, int, std::less<>> named_;
  std::map<int, Lowered> frozen_;  // variables whose values stand in the code
  std::string path_;  // of calls, for names of states
  const graph::Graph* graph_ = nullptr;
  int depth_ = 0;
  int64_t walked_ = 0;
};

bool same_value(const Lowered& a, const Lowered& b);
// One type from two that must be equal; asks the builder to unify sizes.
bool same_type(ir::Builder& b, const ir::Type& x, const ir::Type& y, std::string_view what);
// Loops and branches of version 1 become While and If.
core::Status raise_frames(graph::FunctionBody& body);

}  // namespace weft_engine::compiler
