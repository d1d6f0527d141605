#include "trace/trackable.h"
#include "trace/variable.h"

#include "api/unwrap.h"
#include "weft/module.h"

#include <algorithm>
#include <set>

namespace weft {

using api::check;

NameScope::NameScope(const std::string& name) : previous_(trace::name_scope()) {
  std::string& scope = trace::name_scope();
  if (name.empty()) scope.clear();
  else if (name.back() == '/') scope = name;
  else scope += name + "/";
}
NameScope::~NameScope() { trace::name_scope() = previous_; }
const std::string& NameScope::current() { return trace::name_scope(); }

Module::Module(std::string name) : Module(std::move(name), "_UserObject") {}
Module::Module(std::string name, const std::string& kind)
    : name_(std::make_shared<const std::string>(std::move(name))), tracking_(std::make_shared<trace::TrackableState>(kind)) {}
Module::Module(std::string name, std::shared_ptr<trace::TrackableState> tracking)
    : name_(std::make_shared<const std::string>(std::move(name))), tracking_(std::move(tracking)) {}
Module::~Module() = default;

const std::string& Module::name() const { return *name_; }

namespace {

// TensorFlow's order: the variables of an object by their names, then those of the objects it holds, likewise.
std::vector<Variable> collect(const std::shared_ptr<trace::TrackableState>& root) {
  std::vector<Variable> out;
  std::set<const trace::TrackableState*> seen{root.get()};
  std::vector<std::shared_ptr<trace::TrackableState>> queue{root};
  for (size_t at = 0; at < queue.size(); ++at) {
    auto children = queue[at]->children();
    const bool is_list = queue[at]->kind() == "trackable_list_wrapper";
    if (!is_list) std::stable_sort(children.begin(), children.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const auto& c : children) {
      if (!seen.insert(c.state.get()).second) continue;
      if (c.state->as_variable()) out.push_back(Variable::adopt(std::static_pointer_cast<trace::VariableState>(c.state)));
      else queue.push_back(c.state);
    }
  }
  return out;
}

}  // namespace

std::vector<Variable> Module::variables() const { return collect(tracking_); }

std::vector<Variable> Module::trainable_variables() const {
  std::vector<Variable> all = variables();
  std::erase_if(all, [](const Variable& v) { return !v.trainable(); });
  return all;
}

std::vector<Variable> Module::non_trainable_variables() const {
  std::vector<Variable> all = variables();
  std::erase_if(all, [](const Variable& v) { return v.trainable(); });
  return all;
}

std::shared_ptr<trace::TrackableState> Module::state_of(const Variable& v) {
  if (!v.has_value()) throw Error(Code::kInvalidArgument, "a variable that was not made cannot be tracked");
  return v.state();
}

void Module::track(const std::string& name, const Variable& v) { check(tracking_->track(name, state_of(v))); }
void Module::track(const std::string& name, const Module& m) { check(tracking_->track(name, m.tracking_)); }

void Module::track_state(const std::string& name, const std::shared_ptr<trace::TrackableState>& state) { check(tracking_->track(name, state)); }

void Module::track_all(const std::string& name, const std::vector<std::pair<std::string, std::shared_ptr<trace::TrackableState>>>& children,
                       const char* kind) {
  auto list = std::make_shared<trace::TrackableState>(kind);
  check(tracking_->track(name, list));
  for (const auto& [key, child] : children) check(list->track(key, child));
}

}  // namespace weft
