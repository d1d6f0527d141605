// OpTraits: what optimisations, tracing, batching, the runtime and the compiler ask of an op beyond its signature. A family gives them
// where it registers the op: r.add("Exp").in("x: T").traits({.elementwise = true}). An op without any (a function, one
// that a user registers, one of which only the signature is known) computes its outputs from its inputs, and no more is known.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/status.h"

namespace weft_engine::core {
class PartialShape;
}

namespace weft_engine::graph {
class Node;
class PartialValues;
class Region;
class SimplifyContext;
struct FunctionBody;
struct HandleUse;
}  // namespace weft_engine::graph

namespace weft_engine::op {

class Registry;

// What a node is in the structure of its graph. Several ops may have one role: those for references have that of their values' op.
enum class Role : uint8_t {
  kNone,  // it computes
  // the ends of a body
  kArg,
  kRetval,
  // sources
  kConst,                   // the attribute "value" is the output
  kPlaceholder,             // a value that a step must feed
  kPlaceholderWithDefault,  // ... or may
  // functions; all have stateless and stateful forms
  kCall,
  kIf,
  kCase,
  kWhile,
  kSymbolicGradient,
  kFakeParam,  // stands for a value that a branch does not have
  // hands its input on, or each of its inputs
  kIdentity,
  kIdentityN,
  // version 1 control flow
  kSwitch,
  kSwitchN,
  kMerge,
  kEnter,
  kExit,
  kNextIteration,
  kLoopCond,
  kControlTrigger,
  kRefSelect,
  // no outputs, nothing done: only waits
  kNoOp,
  // between devices
  kSend,
  kRecv,
  // state
  kVarHandle,      // makes the handle of a variable
  kRefVariable,    // the variable itself (version 1)
  kReadVariable,   // the value of a variable
  kAssignVariable, // input 1 becomes the value of variable input 0
  kAddToVariable,  // ... is added to it
  kSubtractFromVariable,
  kDestroyResource,
  kIsInitialized,   // has the variable a value?
  kVariableShape,   // the shape of a variable
  kEmptyList,
  kListPush,       // input 1 behind the elements of list input 0
  kListPop,        // the list without its last element, and the element
  kListGet,        // an element of list input 0
  kListSet,        // list input 0 with input 2 as element input 1
  kListReserve,    // a list of input 1 elements that are set later
  kListStack,      // all elements as one tensor
  kListFromTensor,
  kHashTable,      // makes the handle of a table that an initializer fills
  kFillTable,      // such an initializer
  // checkpoints
  kSave,
  kRestore,
  kLast_ = kRestore,
};

// What programs write with an operator: a + b. Several ops may mean one (Add, AddV2).
enum class Symbol : uint8_t {
  kNone,
  kPlus,
  kMinus,
  kTimes,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kMatMul,
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kNot,
  kNegate,
  kLast_ = kNegate,
};

// Whether the engine makes this op where it needs one of its role or symbol.
enum class Made : uint8_t {
  kNo,
  kAlways,
  kStateless,  // of two ops for a role the one without effects
  kStateful,
};

// That op: kCall is PartitionedCall, or StatefulPartitionedCall where `stateful`. Empty for roles that the engine never makes, and before a family registered it.
std::string_view op_of(Role role, bool stateful = false);
std::string_view op_of(Symbol symbol);

// Which fact about the shape of an input, and nothing else of it, an output tells.
enum class ShapeQuery : uint8_t {
  kNone,
  kDims,  // of input i, output i
  kRank,
  kSize,  // the count of elements
};

// What an elementwise op does to one element of each input.
struct ScalarForm {
  std::string_view function;  // a name of kernels/cpu/scalar_functions.inc; empty: no such form
  int operands = 0;  // 1 or 2; a function of two on more inputs is applied from left to right
};

// What a slice takes of a vector that is a shape: `count` dimensions from `first` on.
struct PickedDims {
  int64_t first = 0, count = 1;
  bool scalar = true;  // one dimension as a number, not as a vector of one
};

// Rules of graph passes, in <family>_simplify.cc beside the op; see graph/passes/simplify.h.
using SimplifyRule = core::Result<bool> (*)(graph::SimplifyContext&, graph::Node*);  // true: the node was removed
using PickDimsRule = bool (*)(const graph::Node&, int64_t rank, PickedDims& out);  // false: nothing is known
// What is known of the output, integers that are read as a shape (a scalar as one dimension); see graph/constant_values.h.
using ShapeValueRule = bool (*)(const graph::PartialValues&, core::PartialShape& out);  // false: it does not say
// The op as another one on the value of the variable whose handle is its input 0; see graph/handle_use.h.
using OnValueRule = void (*)(graph::HandleUse&);

// Replaces a pattern of nodes by an op, wherever the body has it: in <family>_fuse.cc beside that op, registered by Registry::fuse. See graph/passes/remap.h.
using FuseRule = core::Status (*)(graph::FunctionBody&, const graph::Region&);
// When it runs: what an earlier rule takes is not there for a later one. Within a stage in the order of registration.
enum class FuseStage : uint8_t {
  kUpdates,  // of variables
  kProducts,  // sums of products
  kCells,  // of recurrent layers
  kNorms,
  kAttention,
  kLayers,  // a product with bias and activation
  kElements,  // what is left of elementwise nodes
};

struct OpTraits {
  Role role = Role::kNone;
  Symbol symbol = Symbol::kNone;
  Made made = Made::kNo;

  // ---- effects: what `stateful` and `effect_free` do not say -----------------------------------------------------------------
  bool impure = false;  // stateless by its signature, yet more than a function of its inputs (files, clocks, foreign code)
  bool only_reads = false;  // stateful, but its resource inputs stay as they are
  bool python_only = false;  // TensorFlow's Python package brings it: the list of its C library does not have it

  // ---- values ------------------------------------------------------------------------------------------------------------------
  bool forwards_inputs = false;  // output i is input i, value for value
  bool elementwise = false;  // an output element depends on the input elements at the same place, up to broadcasting
  bool broadcasts = false;  // elementwise, and the inputs may have different shapes
  bool involution = false;  // f(f(x)) is x
  bool activation = false;  // elementwise, with one input: matrix products and convolutions may apply it to their results
  ScalarForm scalar;  // fused loops may compute it, where data_format (if there is one) is NHWC
  int8_t neutral_right = -1;  // f(x, this) is x: 0 or 1; -1: no such number
  int8_t neutral_left = -1;  // f(this, x) is x
  int8_t fills_like = -1;  // the output has the shape of input 0 and is this number everywhere: 0 or 1; -1: it is not such an op

  // ---- shapes ------------------------------------------------------------------------------------------------------------------
  ShapeQuery shape_query = ShapeQuery::kNone;
  bool metadata = false;  // reads the sizes of its input and not its elements
  bool reshapes = false;  // the elements of input 0 in the same order, in another shape
  bool same_if_same_shape = false;  // the output is input 0 wherever it has the shape of input 0
  bool reduction = false;  // over the axes of input 1, with attribute keep_dims; of one element it gives that element
  bool shrinks = false;  // outputs are never larger than the inputs, though their shapes depend on values
  int8_t repeats = -1;  // the output is this input, broadcast to a shape that another gives; -1: it is not such an op
  PickDimsRule pick_dims = nullptr;  // of a vector that is a shape
  ShapeValueRule shape_value = nullptr;

  // ---- batching ----------------------------------------------------------------------------------------------------------------
  bool differs_by_row = false;  // each row gets a value of its own even where no input has rows (random numbers, new lists)
  bool silent_by_row = false;  // without a rule for its rows they run one after another in TensorFlow, too: nothing to warn of

  // ---- rewrites ----------------------------------------------------------------------------------------------------------------
  SimplifyRule simplify = nullptr;  // what is special to this op; passes/arithmetic.cc does what the traits above say
  OnValueRule on_value = nullptr;  // of an op that reads a variable

  // ---- cost --------------------------------------------------------------------------------------------------------------------
  bool cheap = false;  // takes no longer than starting a kernel: not worth a thread of its own
  bool expensive = false;  // worth a thread of its own even for small inputs
};

// For ops that were added before.
void set_simplify(Registry& r, std::string_view op, SimplifyRule rule);
void set_pick_dims(Registry& r, std::string_view op, PickDimsRule rule);
void set_shape_value(Registry& r, std::string_view op, ShapeValueRule rule);

}  // namespace weft_engine::op
