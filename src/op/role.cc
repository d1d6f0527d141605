// Which ops the engine makes itself: each family says so of its own (OpTraits::made).
#include "op/op_traits.h"

#include <atomic>
#include <cassert>

#include "op/registry.h"

namespace weft_engine::op {
namespace {

// Literals of the families: the same for every registry.
struct Names {
  std::atomic<const char*> stateless{nullptr}, stateful{nullptr};
};
constinit Names roles[size_t(Role::kLast_) + 1];
constinit Names symbols[size_t(Symbol::kLast_) + 1];

std::string_view name_in(const Names& names, bool stateful) {
  const char* name = (stateful ? names.stateful : names.stateless).load(std::memory_order_acquire);
  return name ? std::string_view(name) : std::string_view();
}

void note(Names& names, Made made, const char* op) {
  if (made != Made::kStateful) names.stateless.store(op, std::memory_order_release);
  if (made != Made::kStateless) names.stateful.store(op, std::memory_order_release);
}

}  // namespace

std::string_view op_of(Role role, bool stateful) { return name_in(roles[size_t(role)], stateful); }
std::string_view op_of(Symbol symbol) { return name_in(symbols[size_t(symbol)], false); }

void OpSpec::set_traits(const OpTraits& traits) {
  owned_traits_ = std::make_shared<const OpTraits>(traits);
  traits_ = owned_traits_.get();
  if (traits.made == Made::kNo) return;
  if (traits.role != Role::kNone) note(roles[size_t(traits.role)], traits.made, name.data());
  if (traits.symbol != Symbol::kNone) note(symbols[size_t(traits.symbol)], traits.made, name.data());
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
void set_shape_value(Registry& r, std::string_view op, ShapeValueRule rule) { set_rule(r, op, &OpTraits::shape_value, rule); }

}  // namespace weft_engine::op
