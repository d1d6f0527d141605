// If and Case: each branch in a region of its own; what states it leaves are results beside its own.
#include "compiler/lower_internal.h"
#include "op/lower_list.h"

namespace weft_engine::compiler {

using ir::Value;

namespace {

// Which branch, if that is decided.
std::optional<int64_t> decided(Value which) {
  if (which->known && (*which->known)[0].is_const()) return (*which->known)[0].value();
  if (which->op != ir::Op::kConstant || which->literal.num_elements() != 1) return std::nullopt;
  if (which->type.dtype == DType::kBool) return which->literal.data<int8_t>()[0] != 0;
  if (which->type.dtype == DType::kInt32) return which->literal.data<int32_t>()[0];
  return std::nullopt;
}

// One result of the branches together: its values in each, and how they become one again.
struct Joined {
  std::vector<Lowered> values;  // by branch
  bool passes = false;          // the same value from outside in all
  bool bare = false;            // a list without a buffer yet
  int buffer = -1, length = -1;  // numbers of flat results; a tensor is `buffer`
};

}  // namespace

LoweredList Lowerer::branch(Value which, const std::vector<op::FunctionAttr>& branches, LoweredList args) {
  if (!which || !b_.status().ok() || branches.empty()) return {};
  if (which->rank() != 0) {
    if (!which->type.elements().is(1)) {
      b_.fail(core::unimplemented("a branch on a tensor of type ", which->type.to_string(), " ('", b_.node(), "')"));
      return {};
    }
    which = b_.reshape(which, {});
  }
  // Any number is a condition.
  if (which->type.dtype != DType::kBool && which->type.dtype != DType::kInt32) which = b_.convert(which, DType::kBool);
  if (!which) return {};
  if (const auto n = decided(which)) {
    const size_t i = *n < 0 || size_t(*n) >= branches.size() ? branches.size() - 1 : size_t(*n);
    return call(branches[i], std::move(args));
  }

  const Snapshot before = snapshot();
  std::vector<std::unique_ptr<ir::Region>> regions;
  std::vector<LoweredList> outs;
  std::vector<Snapshot> afters;
  for (const op::FunctionAttr& f : branches) {
    ir::OpenRegion region = b_.begin_region();
    LoweredList out = call(f, args);
    for (Lowered& v : out) {
      if (v.kind() == Lowered::Kind::kList) v = Lowered::list(op::lists::with_buffer(b_, v.list()));
    }
    if (!b_.status().ok()) return {};
    regions.push_back(region.end({}));
    outs.push_back(std::move(out));
    afters.push_back(snapshot());
    restore(before);
  }
  for (const LoweredList& o : outs) {
    if (o.size() != outs[0].size()) {
      b_.fail(core::invalid_argument("the branches of '", b_.node(), "' give different numbers of results"));
      return {};
    }
  }

  const auto outer = [&](size_t state) { return state < before.size() ? before[state] : states_[state].initial; };
  std::vector<Joined> all;
  for (size_t i = 0; i < outs[0].size(); ++i) {
    Joined j;
    for (const LoweredList& o : outs) j.values.push_back(o[i]);
    all.push_back(std::move(j));
  }
  std::vector<size_t> changed;
  for (size_t s = 0; s < states_.size(); ++s) {
    if (outer(s).kind() == Lowered::Kind::kNone) continue;  // made inside
    Joined j;
    bool any = false;
    for (const Snapshot& a : afters) {
      j.values.push_back(s < a.size() ? a[s] : outer(s));
      any |= !same_value(j.values.back(), outer(s));
    }
    if (!any) continue;
    changed.push_back(s);
    all.push_back(std::move(j));
  }

  // Values are flattened; one that a branch leaves open (FakeParam) is zeros, made outside.
  int flat = 0;
  for (Joined& j : all) {
    const Lowered* model = nullptr;
    j.passes = true;
    for (const Lowered& v : j.values) {
      if (v.kind() != Lowered::Kind::kNone && !model) model = &v;
      j.passes &= same_value(v, j.values[0]);
    }
    if (!model || j.passes) {
      // Only a value that was there before may pass by; a region's own must be its result.
      const bool own = model && std::any_of(regions.begin(), regions.end(), [&](const auto& r) {
                         const Value v = model->kind() == Lowered::Kind::kTensor ? model->tensor()
                                         : model->kind() == Lowered::Kind::kList ? model->list().buffer
                                                                                 : nullptr;
                         return v && v->parent == r.get();
                       });
      if (!own) {
        j.passes = true;
        continue;
      }
      j.passes = false;
    }
    if (model->kind() == Lowered::Kind::kList) {
      // What one branch knows of the elements, the others take.
      Lowered::List common = model->list();
      for (const Lowered& v : j.values) {
        if (v.kind() != Lowered::Kind::kList) continue;
        if (!common.element) common.element = v.list().element;
        if (!common.capacity) common.capacity = v.list().capacity;
        if (common.dtype == DType::kInvalid) common.dtype = v.list().dtype;
      }
      j.bare = !common.element || !common.capacity;
      for (Lowered& v : j.values) {
        if (v.kind() != Lowered::Kind::kList) continue;
        Lowered::List l = v.list();
        l.element = l.element ? l.element : common.element;
        l.capacity = l.capacity ? l.capacity : common.capacity;
        if (l.dtype == DType::kInvalid) l.dtype = common.dtype;
        v = Lowered::list(op::lists::with_buffer(b_, std::move(l)));
      }
    }
    const Lowered first = *model;
    for (size_t r = 0; r < regions.size(); ++r) {
      Lowered& v = j.values[r];
      if (v.kind() == Lowered::Kind::kNone && first.kind() == Lowered::Kind::kTensor)
        v = b_.fill(first.tensor()->type.dtype, first.tensor()->type.dims, 0);
      if (v.kind() == Lowered::Kind::kNone && first.kind() == Lowered::Kind::kList) {
        Lowered::List l = first.list();
        l.buffer = nullptr;
        l.same = Lowered::List::Same::kNothingYet;
        l.length = b_.scalar_int(DType::kInt32, 0);
        v = Lowered::list(op::lists::with_buffer(b_, l));
      }
      if (v.kind() != first.kind() || v.kind() == Lowered::Kind::kState) {
        b_.fail(core::unimplemented("the branches of '", b_.node(), "' give different resources"));
        return {};
      }
      if (v.kind() == Lowered::Kind::kTensor) {
        if (r > 0 && !same_type(b_, j.values[0].tensor()->type, v.tensor()->type, "a result of the other branch")) return {};
        regions[r]->results.push_back(v.tensor());
        continue;
      }
      Lowered::List l = v.list();
      if (j.bare) {  // the loop around will tell
        regions[r]->results.push_back(l.length);
        continue;
      }
      if (!op::lists::buffer(b_, l)) return {};
      if (r > 0 && !same_type(b_, regions[0]->results[size_t(flat)]->type, l.buffer->type, "a list of the other branch")) return {};
      regions[r]->results.push_back(l.buffer);
      regions[r]->results.push_back(l.length);
      v = Lowered::list(l);
    }
    if (!j.bare) j.buffer = flat++;
    if (first.kind() == Lowered::Kind::kList) j.length = flat++;
  }
  // Checks inside matter even where nothing comes out.
  const std::vector<Value> results = b_.branch(which, std::move(regions));
  if (!b_.status().ok()) return {};
  LoweredList out;
  for (size_t i = 0; i < all.size(); ++i) {
    const Joined& j = all[i];
    Lowered v = j.values[0];
    if (!j.passes) {
      if (j.length >= 0) {
        Lowered::List l = v.list();
        for (const Lowered& other : j.values) op::lists::join_known(l, other.list());
        l.buffer = j.bare ? nullptr : results[size_t(j.buffer)];
        l.length = results[size_t(j.length)];
        v = Lowered::list(std::move(l));
      } else {
        v = results[size_t(j.buffer)];
      }
    }
    if (i < outs[0].size()) out.push_back(std::move(v));
    else states_[changed[i - outs[0].size()]].value = std::move(v);
  }
  return out;
}

}  // namespace weft_engine::compiler
