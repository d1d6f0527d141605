// What a lowering rule sees and gives: the op in terms of the compiler's IR. A rule is written beside its op
// (ops/<folder>/<family>.cc, or <family>_lower.cc), against ir::Builder:
//
//   r.lower("Relu", [](LowerContext& l) -> LoweredList { return {l.b.max(l.x(), 0)}; });
//
// Shapes that the graph computes (Shape, StridedSlice, Pack ...) are ordinary integer tensors whose elements the builder knows as
// sizes (Instr::known): a rule that needs the value of an input asks l.ints(i) and gets an error for the user where it depends on data.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "op/node_info.h"

namespace weft_engine::op {

// What one output of a node is while a graph is lowered: a tensor; a piece of state by number (a variable, a version 1 TensorArray
// or stack: what its handle points at); or a TensorList, which is a value: rows [0, length) of a buffer.
class Lowered {
 public:
  enum class Kind : uint8_t { kNone, kTensor, kState, kList };
  struct List {
    ir::Value buffer = nullptr;  // [capacity, element...]; null: element type or capacity not known yet
    ir::Value length = nullptr;  // int32 scalar
    DType dtype = DType::kInvalid;
    std::optional<std::vector<ir::Dim>> element;  // dims
    std::optional<ir::Dim> capacity;
    bool accumulates = false;  // the gradients of a TensorArray: what is written twice is added
    // What all elements are, where that follows from the sizes of the call: shapes that loops keep for their gradients.
    enum class Same : uint8_t { kMixed, kNothingYet, kKnown };
    Same same = Same::kMixed;
    std::vector<ir::Dim> known;
    ir::Value item = nullptr;  // or one value from outside of all loops: weights, kept for the gradients turn by turn
  };

  Lowered() = default;
  Lowered(ir::Value tensor) : kind_(tensor ? Kind::kTensor : Kind::kNone), tensor_(tensor) {}  // NOLINT: rules return plain values
  static Lowered state(int number) {
    Lowered v;
    v.kind_ = Kind::kState;
    v.state_ = number;
    return v;
  }
  static Lowered list(List l) {
    Lowered v;
    v.kind_ = Kind::kList;
    v.list_ = std::make_shared<List>(std::move(l));
    return v;
  }
  Kind kind() const { return kind_; }
  ir::Value tensor() const { return tensor_; }
  int state() const { return state_; }
  const List& list() const { return *list_; }

 private:
  Kind kind_ = Kind::kNone;
  ir::Value tensor_ = nullptr;
  int state_ = -1;
  std::shared_ptr<const List> list_;
};

using LoweredList = std::vector<Lowered>;

// What rules of calls, control flow and state need of whoever drives the lowering (compiler/lower.h).
class LowerHost {
 public:
  virtual ~LowerHost() = default;
  // The body of a function in place. On an error the builder's status says so, and the list is empty.
  virtual LoweredList call(const FunctionAttr& function, LoweredList args) = 0;
  virtual LoweredList while_loop(const FunctionAttr& cond, const FunctionAttr& body, LoweredList vars) = 0;
  // A bool scalar (index 0 of the branches is then "false"), or an int32 scalar.
  virtual LoweredList branch(ir::Value which, const std::vector<FunctionAttr>& branches, LoweredList args) = 0;
  // The variable of a node that makes its own handle.
  virtual Lowered variable(const NodeInfo& node) = 0;
  // The number of a node's own piece of state (an array, a stack, a generator), made at its first mention.
  virtual Lowered named_state(const NodeInfo& node) = 0;
  // One that belongs to another: the gradients of a TensorArray.
  virtual Lowered derived_state(int of, std::string_view what) = 0;
  // Its value now; null (and an error) if it has none yet. Writing is seen by all that is lowered afterwards.
  virtual const Lowered* read(int state) = 0;
  virtual bool has_value(int state) const = 0;
  virtual void write(int state, Lowered value) = 0;
};

class LowerContext {
 public:
  LowerContext(ir::Builder& builder, LowerHost& host, const NodeInfo& node, std::span<const Lowered> inputs)
      : b(builder), host(host), node(node), inputs_(inputs) {}

  ir::Builder& b;
  LowerHost& host;
  const NodeInfo& node;

  template <class T>
  const T& attr(std::string_view name) const {
    return node.attr<T>(name);
  }
  int num_inputs() const { return int(inputs_.size()); }
  const Lowered& input(int i) const { return inputs_[size_t(i)]; }
  // Input i as a tensor; null and an error if it is none. A state of reference type is read.
  ir::Value x(int i = 0);
  const ir::Type& type(int i = 0);  // of x(i); an empty one after an error
  int rank(int i = 0) { return type(i).rank(); }
  DType out_type(int i = 0) const { return node.output_types()[size_t(i)]; }
  // The elements of an integer input as sizes. Otherwise an error that names the node and says that the shape depends on data.
  std::optional<std::vector<ir::Dim>> sizes(int i);
  // The same where every element must be a number already when compiling (axes, permutations).
  std::optional<std::vector<int64_t>> ints(int i);
  std::optional<int64_t> integer(int i);
  // A constant input of any type; null if it is not one.
  const Tensor* constant(int i);
  // An axis counted from the front; an error if it is outside. `of`: the number of dimensions.
  std::optional<int> axis(int64_t a, int of);

  // Variables: the handle is input i.
  ir::Value read(int i = 0);
  void assign(int i, ir::Value v);  // of the variable's shape and type

  LoweredList fail(Status s);
  LoweredList unsupported(std::string_view what);  // Unimplemented, naming op and node
  bool ok() const { return b.status().ok(); }

 private:
  std::span<const Lowered> inputs_;
};

// The rule of ops that hand their inputs on, whatever they are.
LoweredList forward_inputs(LowerContext& l);
// The rule of ops that compiled code need not run.
LoweredList lower_to_nothing(LowerContext& l);
// The rule of ops whose result's shape depends on data: always refused. Who finds one compiles what lies around it (jit/cluster.h).
LoweredList shape_from_data(LowerContext& l);

}  // namespace weft_engine::op
