#include "op/layout_rule.h"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <unordered_map>

#include "op/op_traits.h"
#include "op/registry.h"

namespace weft_engine::op {
namespace {

// The same for every registry, as families say the same to each. It is not a member of OpSpec, whose header every op file reads.
struct LayoutTable {
  std::mutex mutex;
  std::unordered_map<std::string_view, LayoutRule> rules;
};
LayoutTable& layout_table() {
  static auto* table = new LayoutTable;
  return *table;
}

// What ops of a role do with layouts is said by the role.
std::string_view layout_of_role(Role role) {
  switch (role) {
    case Role::kCall: return "call";
    case Role::kIf: return "branch_of_two";
    case Role::kCase: return "branch";
    case Role::kWhile: return "loop";
    case Role::kVarHandle: return "new_variable";
    case Role::kReadVariable: return "read_variable";
    case Role::kAssignVariable:
    case Role::kAddToVariable:
    case Role::kSubtractFromVariable: return "write_variable";
    case Role::kDestroyResource: return "destroy_variable";
    default: return {};
  }
}

bool has_strings(const Signature& s) {
  const auto is_string = [](const ArgSpec& a) { return a.type == DType::kString; };
  return std::any_of(s.inputs.begin(), s.inputs.end(), is_string) || std::any_of(s.outputs.begin(), s.outputs.end(), is_string);
}

}  // namespace

void set_layout([[maybe_unused]] Registry& r, std::initializer_list<std::string_view> ops, const LayoutRule& rule) {
  LayoutTable& table = layout_table();
  std::lock_guard lock(table.mutex);
  for (const std::string_view name : ops) {
    assert(r.find(name) && "a layout of an op that is not there");
    table.rules.insert_or_assign(name, rule);
  }
}

LayoutRule layout_of(const OpSpec& spec) {
  {
    LayoutTable& table = layout_table();
    std::lock_guard lock(table.mutex);
    if (const auto it = table.rules.find(spec.name); it != table.rules.end()) return it->second;
  }
  const OpTraits& t = spec.traits();
  if (const std::string_view name = layout_of_role(t.role); !name.empty()) return {name};
  if (t.shape_query != ShapeQuery::kNone) return layouts::kReplicated;
  if (t.reduction) return layouts::reduction(1);
  if ((t.elementwise || t.fills_like >= 0 || t.forwards_inputs) && !has_strings(spec.signature())) return layouts::kElementwise;
  return layouts::kOneDevice;
}

}  // namespace weft_engine::op
