#include "graph/function_library.h"

#include <algorithm>
#include <mutex>

#include "core/error_notes.h"
#include "op/shape_context.h"

namespace weft_engine::graph {

// Decoding happens once, under the entry's own lock, so that one bad or large function blocks no other.
struct FunctionLibrary::Entry {
  std::mutex mutex;
  LazyFunction lazy;
  Status error;
  std::shared_ptr<const FunctionDef> def;
  struct Op {
    OpSpec spec;
    std::vector<std::string> texts;  // what the spec's views look at
  };
  std::shared_ptr<Op> op;

  Result<std::shared_ptr<const FunctionDef>> get() {
    std::lock_guard lock(mutex);
    if (def) return def;
    if (!error.ok()) return error;
    auto decoded = lazy();
    if (!decoded.ok()) {
      error = decoded.status();
      return error;
    }
    def = std::make_shared<const FunctionDef>(std::move(decoded).value());
    lazy = nullptr;
    return def;
  }
  void make_op();
};

namespace {

std::string declare(const ArgDef& a) {
  std::string type = a.type != DType::kInvalid ? std::string(dtype_name(a.type)) : !a.type_attr.empty() ? a.type_attr : a.type_list_attr;
  if (a.is_ref) type = cat("Ref(", type, ")");
  return a.number_attr.empty() ? cat(a.name, ": ", type) : cat(a.name, ": ", a.number_attr, " * ", type);
}

std::string declare(const AttrSpec& a) {
  std::string text = cat(a.name, ": ", a.type);
  if (a.minimum) text += cat(" >= ", *a.minimum);
  return text;
}

Status name_taken(const std::string& name) {
  return invalid_argument("Cannot add function '", name, "' because a different function with the same name already exists.")
      .with_payload(core::kNoteNameTaken, name);
}

bool same_nodes(const std::vector<NodeDef>& a, const std::vector<NodeDef>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const NodeDef& x, const NodeDef& y) {
    return x.name == y.name && x.op == y.op && x.device == y.device && x.inputs == y.inputs && x.attrs == y.attrs;
  });
}

bool same_args(const std::vector<ArgDef>& a, const std::vector<ArgDef>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ArgDef& x, const ArgDef& y) {
    return x.name == y.name && x.type == y.type && x.type_attr == y.type_attr && x.number_attr == y.number_attr &&
           x.type_list_attr == y.type_list_attr;
  });
}

}  // namespace

bool same_function(const FunctionDef& a, const FunctionDef& b) {
  return a.name == b.name && same_args(a.inputs, b.inputs) && same_args(a.outputs, b.outputs) && a.ret == b.ret && a.control_ret == b.control_ret &&
         same_nodes(a.nodes, b.nodes);
}

std::shared_ptr<FunctionLibrary::Entry> FunctionLibrary::entry(std::string_view name) const {
  std::shared_lock lock(mutex_);
  auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second.entry;
}

Status FunctionLibrary::add(FunctionDef def, std::weak_ptr<const void> owner) {
  if (def.name.empty()) return invalid_argument("a function without a name");
  if (auto old = entry(def.name)) {
    WEFT_ASSIGN(auto there, old->get());
    if (same_function(*there, def)) return {};
    return name_taken(def.name);
  }
  auto e = std::make_shared<Entry>();
  std::string name = def.name;
  e->def = std::make_shared<const FunctionDef>(std::move(def));
  std::unique_lock lock(mutex_);
  functions_.emplace(std::move(name), Slot{std::move(e), std::move(owner), {}, {}});
  ++version_;
  return {};
}

Status FunctionLibrary::add_derived(FunctionDef def, std::string_view of) {
  std::weak_ptr<const void> weak;
  {
    std::shared_lock lock(mutex_);
    if (auto it = functions_.find(of); it != functions_.end()) weak = it->second.owner;
  }
  const auto owner = weak.lock();
  std::vector<std::shared_ptr<const void>> others;
  for (const NodeDef& n : def.nodes) {
    for_functions(n.attrs, [&](const std::string& name) {
      auto other = this->owner(name);
      if (other && other != owner && std::find(others.begin(), others.end(), other) == others.end()) others.push_back(std::move(other));
    });
  }
  const std::string name = def.name;
  WEFT_RETURN_IF_ERROR(add(std::move(def), std::move(weak)));
  std::unique_lock lock(mutex_);
  if (auto it = functions_.find(name); it != functions_.end()) std::swap(it->second.held, others);
  auto it = functions_.find(of);
  if (it == functions_.end() || it->first == name) return {};
  auto& derived = it->second.derived;
  if (std::find(derived.begin(), derived.end(), name) == derived.end()) derived.push_back(name);
  lock.unlock();  // before what `others` had is freed
  return {};
}

Status FunctionLibrary::add(std::string name, LazyFunction def) {
  if (name.empty()) return invalid_argument("a function without a name");
  auto e = std::make_shared<Entry>();
  e->lazy = std::move(def);
  std::unique_lock lock(mutex_);
  functions_.emplace(std::move(name), Slot{std::move(e), {}, {}, {}});
  ++version_;
  return {};
}

Status FunctionLibrary::add_gradient(GradientDef def) {
  std::unique_lock lock(mutex_);
  auto [it, fresh] = gradients_.emplace(def.function, def.gradient);
  if (!fresh && it->second != def.gradient)
    return invalid_argument("Cannot assign gradient function '", def.gradient, "' to '", def.function, "' because it already has gradient function '",
                            it->second, "'");
  ++version_;
  return {};
}

Status FunctionLibrary::add_all(const FunctionLibrary& other) {
  if (&other == this) return {};
  std::vector<std::pair<std::string, std::shared_ptr<Entry>>> theirs;
  decltype(gradients_) gradients;
  {
    std::shared_lock lock(other.mutex_);
    for (const auto& [name, slot] : other.functions_) theirs.emplace_back(name, slot.entry);
    gradients = other.gradients_;
  }
  for (auto& [name, e] : theirs) {
    if (auto mine = entry(name)) {
      if (mine == e) continue;
      WEFT_ASSIGN(auto a, mine->get());
      WEFT_ASSIGN(auto b, e->get());
      if (!same_function(*a, *b)) return name_taken(name);
      continue;
    }
    std::unique_lock lock(mutex_);
    functions_.emplace(name, Slot{e, {}, {}, {}});
    ++version_;
  }
  for (auto& [f, g] : gradients) WEFT_RETURN_IF_ERROR(add_gradient({f, g}));
  return {};
}

Status FunctionLibrary::remove(std::string_view name, std::vector<std::string>* gone) {
  std::vector<Slot> dead;  // freed when the lock is, too
  std::unique_lock lock(mutex_);
  if (functions_.find(name) == functions_.end()) return invalid_argument("Tried to remove non-existent function '", name, "'.");
  std::vector<std::string> todo{std::string(name)};
  while (!todo.empty()) {
    const std::string next = std::move(todo.back());
    todo.pop_back();
    auto it = functions_.find(next);
    if (it == functions_.end()) continue;
    todo.insert(todo.end(), it->second.derived.begin(), it->second.derived.end());
    // (Libraries that share the entry may make its op at this moment.)
    if (std::lock_guard of_entry(it->second.entry->mutex); it->second.entry->op) {
      removed_.push_back(std::make_shared<Entry>());
      removed_.back()->op = it->second.entry->op;
    }
    dead.push_back(std::move(it->second));
    functions_.erase(it);
    gradients_.erase(next);
    if (gone) gone->push_back(next);
  }
  ++version_;
  lock.unlock();
  return {};
}

std::shared_ptr<const void> FunctionLibrary::owner(std::string_view name) const {
  std::shared_lock lock(mutex_);
  auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second.owner.lock();
}

bool FunctionLibrary::contains(std::string_view name) const {
  std::shared_lock lock(mutex_);
  return functions_.find(name) != functions_.end();
}

Result<std::shared_ptr<const FunctionDef>> FunctionLibrary::find(std::string_view name) const {
  auto e = entry(name);
  if (!e) return not_found("Function ", name, " is not defined.");
  return e->get();
}

// With the entry's lock, and its definition there.
void FunctionLibrary::Entry::make_op() {
  op = std::make_shared<Op>();
  OpSpec& spec = op->spec;
  std::vector<std::string>& texts = op->texts;
  // Texts first: views into the vector's strings must not move afterwards.
  texts.push_back(def->name);
  for (const auto& a : def->inputs) texts.push_back(declare(a));
  for (const auto& a : def->outputs) texts.push_back(declare(a));
  for (const auto& a : def->signature_attrs) texts.push_back(declare(a));
  size_t at = 0;
  spec.name = texts[at++];
  for (size_t i = 0; i < def->inputs.size(); ++i) spec.declared_inputs.push_back(texts[at++]);
  for (size_t i = 0; i < def->outputs.size(); ++i) spec.declared_outputs.push_back(texts[at++]);
  for (size_t i = 0; i < def->signature_attrs.size(); ++i) spec.declared_attrs.push_back(texts[at++]);
  spec.stateful = def->stateful;
  spec.shape = op::shapes::unknown;
}

const OpSpec* FunctionLibrary::find_spec(std::string_view name) const {
  for (;;) {
    std::shared_ptr<Entry> e;
    {
      std::shared_lock library(mutex_);  // whoever removes the function knows then whether it has a spec, which has to stay
      const auto it = functions_.find(name);
      if (it == functions_.end()) return nullptr;
      e = it->second.entry;
      std::lock_guard lock(e->mutex);
      if (!e->op && e->def) e->make_op();
      if (e->op) return &e->op->spec;
    }
    if (!e->get().ok()) return nullptr;
  }
}

std::string FunctionLibrary::gradient_of(std::string_view function) const {
  std::shared_lock lock(mutex_);
  auto it = gradients_.find(function);
  return it == gradients_.end() ? std::string() : it->second;
}

std::vector<GradientDef> FunctionLibrary::gradients() const {
  std::shared_lock lock(mutex_);
  std::vector<GradientDef> all;
  for (const auto& [f, g] : gradients_) all.push_back({f, g});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.function < b.function; });
  return all;
}

std::vector<std::string> FunctionLibrary::names() const {
  std::shared_lock lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [name, e] : functions_) all.push_back(name);
  std::sort(all.begin(), all.end());
  return all;
}

int FunctionLibrary::size() const {
  std::shared_lock lock(mutex_);
  return int(functions_.size());
}

}  // namespace weft_engine::graph
