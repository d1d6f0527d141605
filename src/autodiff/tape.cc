#include "autodiff/tape.h"

#include <algorithm>

#include "autodiff/backward.h"
#include "graph/graph_emitter.h"
#include "op/emit.h"

namespace weft::autodiff {

using Ids = std::unordered_set<ValueId, ValueId::Hash>;

ValueId id_of(const Value& v) {
  if (!v.rep()) return {};
  if (!v.rep()->owner()) return {v.rep(), 0};
  const Endpoint e = GraphEmitter::unwrap(v);
  return {e.node, e.index + 1};
}

void Tape::watch(const Value& v) {
  if (!v.rep() || !made_by_.emplace(id_of(v), -1).second) return;
  watched_.push_back(v);
}

void Tape::watch_variable(const Value& handle, const std::shared_ptr<void>& owner) {
  watch(handle);
  if (std::find(variables_.begin(), variables_.end(), owner) == variables_.end()) variables_.push_back(owner);
}

bool Tape::watches_any(std::span<const Value> values) const {
  return std::any_of(values.begin(), values.end(), [&](const Value& v) { return made_by_.count(id_of(v)) != 0; });
}

bool Tape::wants(std::span<const Value> inputs) const { return !made_by_.empty() && watches_any(inputs); }

void Tape::add(Record r) {
  const auto index = int64_t(records_.size());
  for (const Value& v : r.outputs) {
    if (v.rep() && differentiable(v.dtype())) made_by_[id_of(v)] = index;
  }
  records_.push_back(std::move(r));
}

void Tape::record(const NodeInfo& node, const std::shared_ptr<const void>& keep, std::span<const Value> inputs, std::span<const Value> outputs) {
  if (node.spec().no_gradient || !wants(inputs)) return;
  Record r;
  r.node = &node;
  r.keep = keep;
  r.inputs.assign(inputs.begin(), inputs.end());
  r.outputs.assign(outputs.begin(), outputs.end());
  add(std::move(r));
}

void Tape::record(std::string_view name, std::span<const Value> inputs, std::span<const Value> outputs, Backprop backprop) {
  if (!wants(inputs)) return;
  Record r;
  r.name = name;
  r.backprop = std::move(backprop);
  r.inputs.assign(inputs.begin(), inputs.end());
  r.outputs.assign(outputs.begin(), outputs.end());
  add(std::move(r));
}

void Tape::grow(std::span<const Value> outputs, std::span<const Value> more) {
  for (const Value& known : outputs) {
    auto it = made_by_.find(id_of(known));
    if (it == made_by_.end() || it->second < 0) continue;
    const int64_t index = it->second;
    for (const Value& v : more) {
      records_[size_t(index)].outputs.push_back(v);
      if (differentiable(v.dtype())) made_by_[id_of(v)] = index;
    }
    return;
  }
}

void Tape::reset() {
  records_.clear();
  made_by_.clear();
  watched_.clear();
  variables_.clear();
  used_ = false;
}

Result<Grads> Tape::back(Emitter& emitter, const Record& r, std::span<const Value> output_grads) const {
  if (!r.backprop) {
    Node* node = r.outputs.empty() || r.outputs[0].rep()->owner() != &emitter ? nullptr : GraphEmitter::unwrap(r.outputs[0]).node;
    if (!node || !calls_functions(*node)) return op_gradient(emitter, *r.node, r.inputs, r.outputs, output_grads);
    std::vector<bool> wanted;
    for (const Value& v : r.inputs) wanted.push_back(differentiable(v.dtype()) && watches(v));
    WEFT_ASSIGN(Grads grads, traced_gradient(static_cast<GraphEmitter&>(emitter), node, {output_grads.begin(), output_grads.end()}, std::move(wanted)));
    grads.resize(r.inputs.size());  // the node may have got more inputs
    return grads;
  }
  WEFT_ASSIGN(Grads grads, r.backprop(emitter, output_grads));
  WEFT_RETURN_IF_ERROR(emitter.take_status());
  if (grads.size() != r.inputs.size())
    return invalid_argument("the gradient function of ", r.name, " gave ", grads.size(), " gradients for ", r.inputs.size(), " inputs");
  return grads;
}

Result<std::vector<Value>> Tape::gradient(Emitter& emitter, std::span<const Value> targets, std::span<const Value> sources, std::span<const Value> seeds,
                                          Unconnected unconnected) {
  if (used_ && !persistent_)
    return failed_precondition("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)");
  used_ = true;
  if (!seeds.empty() && seeds.size() != targets.size())
    return invalid_argument(seeds.size(), " output gradients were given for ", targets.size(), " targets");

  // Forward: which records depend on a source. Backward: which of these a target depends on.
  const size_t n = records_.size();
  std::vector<char> from_source(n, 0), needed(n, 0);
  Ids reached;
  for (const Value& s : sources) reached.insert(id_of(s));
  int64_t first = int64_t(n);
  for (size_t i = 0; i < n; ++i) {
    const Record& r = records_[i];
    if (std::none_of(r.inputs.begin(), r.inputs.end(), [&](const Value& v) { return reached.count(id_of(v)); })) continue;
    from_source[i] = 1;
    first = std::min(first, int64_t(i));
    for (const Value& v : r.outputs) reached.insert(id_of(v));
  }
  auto need = [&](const ValueId& rep) {
    auto it = made_by_.find(rep);
    if (it != made_by_.end() && it->second >= 0) needed[size_t(it->second)] = 1;
  };

  std::unordered_map<ValueId, std::vector<Value>, ValueId::Hash> flowed;
  for (size_t i = 0; i < targets.size(); ++i) {
    const Value& t = targets[i];
    if (!t.valid()) return invalid_argument("target ", i, " of a gradient has no value");
    if (!reached.count(id_of(t))) continue;
    Value seed = i < seeds.size() && seeds[i].valid() ? seeds[i] : ones_like(t);
    if (seed.valid() && seed.dtype() != t.dtype())
      return invalid_argument("an output gradient has type ", dtype_name(seed.dtype()), ", its target ", dtype_name(t.dtype()));
    flowed[id_of(t)].push_back(std::move(seed));
    need(id_of(t));
  }
  WEFT_RETURN_IF_ERROR(emitter.take_status());

  Ids is_source;
  for (const Value& s : sources) is_source.insert(id_of(s));
  auto total = [&](const ValueId& rep) -> Value {
    auto it = flowed.find(rep);
    if (it == flowed.end() || it->second.empty()) return {};
    if (it->second.size() > 1) it->second.assign(1, add_n(it->second));
    return it->second[0];
  };
  std::vector<Value> grads;
  for (int64_t i = int64_t(n); i-- > first;) {
    if (!needed[size_t(i)] || !from_source[size_t(i)]) continue;
    const Record& r = records_[size_t(i)];
    grads.clear();
    bool any = false;
    for (const Value& v : r.outputs) {
      grads.push_back(total(id_of(v)));
      any |= grads.back().valid();
      if (!is_source.count(id_of(v))) flowed.erase(id_of(v));
    }
    WEFT_RETURN_IF_ERROR(emitter.take_status());
    if (!any) continue;
    WEFT_ASSIGN(Grads got, back(emitter, r, grads));
    for (size_t k = 0; k < got.size(); ++k) {
      const ValueId rep = id_of(r.inputs[k]);
      if (!got[k].valid() || !reached.count(rep)) continue;
      flowed[rep].push_back(std::move(got[k]));
      need(rep);
    }
  }
  std::vector<Value> out;
  for (const Value& s : sources) {
    Value g = total(id_of(s));
    if (!g.valid() && unconnected == Unconnected::kZero && s.dtype() != DType::kResource) g = zeros_like(s);
    out.push_back(std::move(g));
  }
  WEFT_RETURN_IF_ERROR(emitter.take_status());
  if (!persistent_) {
    records_.clear();
    made_by_.clear();
    watched_.clear();
  }
  return out;
}

TapeStack& TapeStack::current() {
  thread_local TapeStack stack;
  return stack;
}

void TapeStack::pop(Tape* tape) {
  auto it = std::find(tapes_.begin(), tapes_.end(), tape);
  if (it != tapes_.end()) tapes_.erase(it);
}

bool TapeStack::wants(std::span<const Value> inputs) const {
  return recording() && std::any_of(tapes_.begin(), tapes_.end(), [&](const Tape* t) { return t->watches_any(inputs); });
}

void TapeStack::record(const NodeInfo& node, const std::shared_ptr<const void>& keep, std::span<const Value> inputs, std::span<const Value> outputs) {
  if (!recording()) return;
  for (Tape* t : tapes_) t->record(node, keep, inputs, outputs);
}

void TapeStack::record(std::string_view name, std::span<const Value> inputs, std::span<const Value> outputs, const Backprop& backprop) {
  if (!recording()) return;
  for (Tape* t : tapes_) t->record(name, inputs, outputs, backprop);
}

}  // namespace weft::autodiff
