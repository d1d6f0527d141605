#include "autodiff/tape.h"

#include <algorithm>

#include "autodiff/backward.h"
#include "graph/graph_emitter.h"
#include "op/batching.h"
#include "op/emit.h"

namespace weft_engine::autodiff {

ValueId id_of(const Value& v) {
  if (!v.rep()) return {};
  if (!v.rep()->owner()) return {v.rep(), 0};
  const Endpoint e = GraphEmitter::unwrap(v);
  return {e.node, e.index + 1};
}

size_t SlotMap::place(const ValueId& id) const {
  const size_t mask = cells_.size() - 1;
  const size_t h = ValueId::Hash()(id);
  size_t at = (h ^ h >> 29) & mask;
  while (cells_[at].id.of && !(cells_[at].id == id)) at = (at + 1) & mask;
  return at;
}

int32_t SlotMap::find(const ValueId& id) const {
  if (used_ == 0 || !id) return -1;
  return cells_[place(id)].slot;
}

void SlotMap::set(const ValueId& id, int32_t slot) {
  if (!id) return;
  if ((used_ + 1) * 2 > cells_.size()) {
    std::vector<Cell> old(std::max<size_t>(64, cells_.size() * 2));
    old.swap(cells_);
    for (const Cell& c : old) {
      if (c.id.of) cells_[place(c.id)] = c;
    }
  }
  Cell& c = cells_[place(id)];
  if (!c.id.of) ++used_;
  c = {id, slot};
}

void SlotMap::clear() {
  cells_.clear();
  used_ = 0;
}

int32_t Tape::new_slot(const Value& v, int64_t record) {
  const auto slot = int32_t(made_by_.size());
  made_by_.push_back(record);
  if (v.rep() && (record < 0 || differentiable(v.dtype()))) slots_.set(id_of(v), slot);
  return slot;
}

void Tape::watch(const Value& v) {
  if (!v.rep() || slot_of(v) >= 0) return;
  new_slot(v, -1);
  watched_.push_back(v);
}

void Tape::watch_variable(const Value& handle, const std::shared_ptr<void>& owner) {
  watch(handle);
  if (std::find(variables_.begin(), variables_.end(), owner) == variables_.end()) variables_.push_back(owner);
}

bool Tape::watches_any(std::span<const Value> values) const {
  return std::any_of(values.begin(), values.end(), [&](const Value& v) { return slot_of(v) >= 0 && differentiable(v.dtype()); });
}

Tape::Record* Tape::add(std::span<const Value> inputs, std::span<const Value> outputs) {
  if (!watches_any(inputs)) return nullptr;
  const auto index = int64_t(records_.size());
  Record& r = records_.emplace_back();
  const size_t n = inputs.size(), m = outputs.size();
  r.num_inputs = n;
  r.num_outputs = m;
  r.values = std::make_unique<Value[]>(n + m);
  r.slots = std::make_unique<int32_t[]>(n + m);
  for (size_t i = 0; i < n; ++i) {
    r.values[i] = inputs[i];
    r.slots[i] = slot_of(inputs[i]);
  }
  for (size_t i = 0; i < m; ++i) {
    r.values[n + i] = outputs[i];
    r.slots[n + i] = new_slot(outputs[i], index);
  }
  return &r;
}

void Tape::record(const NodeInfo& node, const std::shared_ptr<const void>& keep, std::span<const Value> inputs, std::span<const Value> outputs) {
  if (node.spec().no_gradient) return;
  if (Record* r = add(inputs, outputs)) {
    r->node = &node;
    r->keep = keep;
  }
}

void Tape::record(std::string_view name, std::span<const Value> inputs, std::span<const Value> outputs, Backprop backprop, bool answers_integers) {
  if (Record* r = add(inputs, outputs)) r->custom = std::make_unique<const Custom>(Custom{std::string(name), std::move(backprop), answers_integers});
}

void Tape::grow(std::span<const Value> outputs, std::span<const Value> more) {
  for (const Value& known : outputs) {
    const int32_t slot = slot_of(known);
    if (slot < 0 || made_by_[size_t(slot)] < 0) continue;
    const int64_t index = made_by_[size_t(slot)];
    Record& r = records_[size_t(index)];
    const size_t before = r.num_inputs + r.num_outputs;
    auto values = std::make_unique<Value[]>(before + more.size());
    auto slots = std::make_unique<int32_t[]>(before + more.size());
    std::copy_n(r.values.get(), before, values.get());
    std::copy_n(r.slots.get(), before, slots.get());
    for (size_t i = 0; i < more.size(); ++i) {
      values[before + i] = more[i];
      slots[before + i] = new_slot(more[i], index);
    }
    r.values = std::move(values);
    r.slots = std::move(slots);
    r.num_outputs += more.size();
    return;
  }
}

void Tape::reset() {
  records_.clear();
  slots_.clear();
  made_by_.clear();
  watched_.clear();
  variables_.clear();
  used_ = false;
}

void Tape::forget() {
  records_.clear();
  slots_.clear();
  made_by_.clear();
  watched_.clear();
  used_ = true;
}

Result<Grads> Tape::back(Emitter& emitter, const Record& r, std::span<const Value> output_grads) const {
  const size_t num_inputs = r.num_inputs;
  if (!r.custom) {
    const auto outputs = r.outputs();
    if (dynamic_cast<BatchEmitter*>(&emitter) || (!outputs.empty() && &outputs[0].emitter() != &emitter)) {
      // Rules start from the values of the forward as often as from gradients: all must meet in the same emitter. It may be that of a graph
      // inside the one that was recorded, or around which values ran at once.
      std::vector<Value> own;
      for (size_t i = 0; i < r.num_inputs + r.num_outputs; ++i) own.emplace_back(emitter, RefPtr<ValueRep>::share(r.values[i].rep()));
      return op_gradient(emitter, *r.node, std::span(own).first(num_inputs), std::span(own).subspan(num_inputs), output_grads);
    }
    Node* node = outputs.empty() || outputs[0].rep()->owner() != &emitter ? nullptr : GraphEmitter::unwrap(outputs[0]).node;
    if (!node || !calls_functions(*node)) return op_gradient(emitter, *r.node, r.inputs(), outputs, output_grads);
    std::vector<bool> wanted;
    for (const Value& v : r.inputs()) wanted.push_back(differentiable(v.dtype()) && watches(v));
    std::vector<Value> dys(output_grads.begin(), output_grads.end());
    if (std::none_of(dys.begin(), dys.end(), [](const Value& v) { return v.valid(); })) {  // an integer was asked for
      for (size_t k = 0; k < dys.size() && k < outputs.size(); ++k) {
        const DType t = outputs[k].dtype();
        if (differentiable(t) && t != DType::kResource && t != DType::kVariant) dys[k] = zeros_like(outputs[k]);
      }
    }
    WEFT_ASSIGN(Grads grads, traced_gradient(static_cast<GraphEmitter&>(emitter), node, std::move(dys), std::move(wanted)));
    grads.resize(num_inputs);  // the node may have got more inputs
    return grads;
  }
  WEFT_ASSIGN(Grads grads, r.custom->backprop(emitter, output_grads));
  WEFT_RETURN_IF_ERROR(emitter.take_status());
  if (grads.size() != num_inputs)
    return invalid_argument("the gradient function of ", r.custom->name, " gave ", grads.size(), " gradients for ", num_inputs, " inputs");
  return grads;
}

// One question: gradients by slot, on the way from the last record to the first.
class Tape::Walk {
 public:
  Walk(Tape& tape, Emitter& emitter)
      : tape_(tape),
        emitter_(emitter),
        n_(tape.records_.size()),
        flows_(tape.made_by_.size()),
        reached_(flows_.size(), 0),
        is_source_(flows_.size(), 0),
        from_source_(n_, 0),
        needed_(n_, 0) {}

  // Which records depend on a source.
  void forward(std::span<const Value> sources) {
    for (const Value& s : sources) {
      const int32_t slot = tape_.slot_of(s);
      source_slots_.push_back(slot);
      if (slot >= 0) reached_[size_t(slot)] = is_source_[size_t(slot)] = 1;
    }
    first_ = n_;
    for (size_t i = 0; i < n_; ++i) {
      const Record& r = tape_.records_[i];
      const bool depends = std::any_of(r.slots.get(), r.slots.get() + r.num_inputs, [&](int32_t s) { return s >= 0 && reached_[size_t(s)]; });
      if (!depends) continue;
      from_source_[i] = 1;
      first_ = std::min(first_, i);
      for (size_t k = 0; k < r.num_outputs; ++k) reached_[size_t(r.slots[r.num_inputs + k])] = 1;
    }
  }

  Status seed(std::span<const Value> targets, std::span<const Value> sources, std::span<const Value> seeds) {
    for (size_t i = 0; i < targets.size(); ++i) {
      const Value& t = targets[i];
      if (!t.valid()) return invalid_argument("target ", i, " of a gradient has no value");
      const bool flows = differentiable(t.dtype());
      if (!flows && ask_for_integer(t)) continue;
      const int32_t slot = flows ? tape_.slot_of(t) : -1;
      // A source that the tape does not know, or through whose type nothing flows, may still be a target.
      bool unknown = false;
      for (size_t k = 0; slot < 0 && k < sources.size(); ++k) unknown |= id_of(sources[k]) == id_of(t);
      if (!unknown && (slot < 0 || !reached_[size_t(slot)])) continue;
      Value seed = i < seeds.size() && seeds[i].valid() ? seeds[i] : t.dtype() == DType::kString ? Value() : ones_like(t);
      if (unknown) {
        by_id_.emplace_back(id_of(t), std::move(seed));
        continue;
      }
      add(slot, std::move(seed));
    }
    return emitter_.take_status();
  }

  // Such outputs have no slot: nothing behind them is recorded. What made one is asked for the gradient of its other outputs, zero. Whether something did.
  bool ask_for_integer(const Value& t) {
    for (size_t i = 0; i < n_; ++i) {
      const Record& r = tape_.records_[i];
      const auto outputs = r.outputs();
      if (std::none_of(outputs.begin(), outputs.end(), [&](const Value& v) { return v.rep() && id_of(v) == id_of(t); })) continue;
      if (!r.custom || r.custom->answers_integers) needed_[i] |= kAskedForIntegers;
      return true;
    }
    return false;
  }

  Status backward() {
    std::vector<Value> grads;
    for (size_t i = n_; i-- > first_;) {
      if (!needed_[i] || !from_source_[i]) continue;
      const Record& r = tape_.records_[i];
      grads.clear();
      bool any = false;
      for (size_t k = 0; k < r.num_outputs; ++k) {
        const auto slot = size_t(r.slots[r.num_inputs + k]);
        if (slot >= flows_.size()) {  // grown by this question itself
          grads.emplace_back();
          continue;
        }
        grads.push_back(total(slot));
        any |= grads.back().valid();
        if (!is_source_[slot]) flows_[slot] = {};
      }
      WEFT_RETURN_IF_ERROR(emitter_.take_status());
      if (!any && !(needed_[i] & kAskedForIntegers)) continue;
      WEFT_ASSIGN(Grads got, tape_.back(emitter_, r, grads));
      for (size_t k = 0; k < got.size(); ++k) {
        const int32_t slot = r.slots[k];
        if (got[k].valid() && slot >= 0 && reached_[size_t(slot)]) add(slot, std::move(got[k]));
      }
    }
    return {};
  }

  std::vector<Value> take(std::span<const Value> sources, Unconnected unconnected) {
    std::vector<Value> out;
    out.reserve(sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      const Value& s = sources[i];
      Value g = source_slots_[i] >= 0 ? total(size_t(source_slots_[i])) : Value();
      std::vector<Value> parts;
      for (const auto& [id, seed] : by_id_) {
        if (id == id_of(s)) parts.push_back(seed);
      }
      std::erase_if(parts, [](const Value& v) { return !v.valid(); });
      if (!parts.empty()) g = add_n(parts);
      if (!g.valid() && unconnected == Unconnected::kZero && s.dtype() != DType::kResource && s.dtype() != DType::kString) g = zeros_like(s);
      out.push_back(std::move(g));
    }
    return out;
  }

 private:
  static constexpr char kAskedForIntegers = 2;
  struct Flow {
    Value one;
    std::unique_ptr<std::vector<Value>> more;
  };
  void add(int32_t slot, Value g) {
    if (size_t(slot) >= flows_.size()) return;
    Flow& f = flows_[size_t(slot)];
    if (!f.one.valid()) {
      f.one = std::move(g);
    } else {
      if (!f.more) f.more = std::make_unique<std::vector<Value>>();
      f.more->push_back(std::move(g));
    }
    if (const int64_t maker = tape_.made_by_[size_t(slot)]; maker >= 0 && size_t(maker) < n_) needed_[size_t(maker)] |= 1;
  }
  Value total(size_t slot) {
    Flow& f = flows_[slot];
    if (f.more) {
      f.more->insert(f.more->begin(), std::move(f.one));
      f.one = add_n(*f.more);
      f.more.reset();
    }
    return f.one;
  }

  Tape& tape_;
  Emitter& emitter_;
  const size_t n_;
  size_t first_ = 0;
  std::vector<Flow> flows_;  // by slot
  std::vector<char> reached_, is_source_;
  std::vector<char> from_source_, needed_;  // by record
  std::vector<int32_t> source_slots_;
  std::vector<std::pair<ValueId, Value>> by_id_;
};

Result<std::vector<Value>> Tape::gradient(Emitter& emitter, std::span<const Value> targets, std::span<const Value> sources,
                                          std::span<const Value> seeds, Unconnected unconnected) {
  if (used_ && !persistent_)
    return failed_precondition("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)");
  used_ = true;
  if (!seeds.empty() && seeds.size() != targets.size())
    return invalid_argument(seeds.size(), " output gradients were given for ", targets.size(), " targets");
  std::vector<Value> out;
  {
    Walk walk(*this, emitter);
    walk.forward(sources);
    WEFT_RETURN_IF_ERROR(walk.seed(targets, sources, seeds));
    WEFT_RETURN_IF_ERROR(walk.backward());
    out = walk.take(sources, unconnected);
  }
  WEFT_RETURN_IF_ERROR(emitter.take_status());
  if (!persistent_) forget();
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

void TapeStack::leave() {
  std::erase_if(tapes_, [&](const Tape* t) { return t->depth() >= depth_; });
  --depth_;
}

bool TapeStack::own_wants(std::span<const Value> inputs) const {
  return recording() && std::any_of(tapes_.begin(), tapes_.end(), [&](const Tape* t) { return t->depth() >= depth_ && t->watches_any(inputs); });
}

bool TapeStack::wants(std::span<const Value> inputs) const {
  return recording() && std::any_of(tapes_.begin(), tapes_.end(), [&](const Tape* t) { return t->watches_any(inputs); });
}

bool TapeStack::wants(const ValueId& id) const {
  return recording() && std::any_of(tapes_.begin(), tapes_.end(), [&](const Tape* t) { return t->watches(id); });
}

void TapeStack::record(const NodeInfo& node, const std::shared_ptr<const void>& keep, std::span<const Value> inputs, std::span<const Value> outputs) {
  if (!recording()) return;
  for (Tape* t : tapes_) t->record(node, keep, inputs, outputs);
}

void TapeStack::record(std::string_view name, std::span<const Value> inputs, std::span<const Value> outputs, const Backprop& backprop) {
  if (!recording()) return;
  for (Tape* t : tapes_) t->record(name, inputs, outputs, backprop);
}

}  // namespace weft_engine::autodiff
