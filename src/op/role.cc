// The names of the ops that the engine puts into graphs itself: the one place outside src/ops that has them.
#include "op/op_traits.h"

#include <cassert>

#include "op/registry.h"

namespace weft_engine::op {

std::string_view op_of(Role role, bool stateful) {
  switch (role) {
    case Role::kArg: return "_Arg";
    case Role::kRetval: return "_Retval";
    case Role::kConst: return "Const";
    case Role::kPlaceholder: return "Placeholder";
    case Role::kCall: return stateful ? "StatefulPartitionedCall" : "PartitionedCall";
    case Role::kIf: return stateful ? "If" : "StatelessIf";
    case Role::kCase: return stateful ? "Case" : "StatelessCase";
    case Role::kWhile: return stateful ? "While" : "StatelessWhile";
    case Role::kSymbolicGradient: return "SymbolicGradient";
    case Role::kIdentity: return "Identity";
    case Role::kIdentityN: return "IdentityN";
    case Role::kSwitch: return "Switch";
    case Role::kMerge: return "Merge";
    case Role::kEnter: return "Enter";
    case Role::kExit: return "Exit";
    case Role::kNextIteration: return "NextIteration";
    case Role::kLoopCond: return "LoopCond";
    case Role::kNoOp: return "NoOp";
    case Role::kSend: return "_Send";
    case Role::kRecv: return "_Recv";
    case Role::kVarHandle: return "VarHandleOp";
    case Role::kReadVariable: return "ReadVariableOp";
    case Role::kAssignVariable: return "AssignVariableOp";
    case Role::kEmptyList: return "EmptyTensorList";
    case Role::kListPush: return "TensorListPushBack";
    case Role::kListPop: return "TensorListPopBack";
    case Role::kHashTable: return "HashTableV2";
    case Role::kFillTable: return "LookupTableImportV2";
    case Role::kNone:
    case Role::kPlaceholderWithDefault:
    case Role::kSwitchN:
    case Role::kControlTrigger:
    case Role::kRefSelect:
    case Role::kRefVariable:
    case Role::kListGet:
    case Role::kListFromTensor: break;
  }
  return {};
}

namespace {

template <class Rule>
void set_rule(Registry& r, std::string_view op, Rule OpTraits::* field, Rule rule) {
  const OpSpec* spec = r.find(op);
  assert(spec && "a rule of an op that is not there");
  if (!spec) return;
  OpTraits traits = spec->traits();
  traits.*field = rule;
  r.set_traits(op, traits);
}

}  // namespace

void set_simplify(Registry& r, std::string_view op, SimplifyRule rule) { set_rule(r, op, &OpTraits::simplify, rule); }
void set_pick_dims(Registry& r, std::string_view op, PickDimsRule rule) { set_rule(r, op, &OpTraits::pick_dims, rule); }

}  // namespace weft_engine::op
