#include "ir/simplify.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/cat.h"
#include "ir/insert.h"
#include "ir/rewrite.h"

namespace weft_engine::ir {

bool is_pure(const Instr& i) { return i.op != Op::kParameter && i.op != Op::kWhile && i.op != Op::kIf && i.op != Op::kCheck; }

std::string key_of(const Instr& i, const std::function<std::string(const Instr*)>& operand) {
  constexpr size_t kMostBytes = 4096;
  if (!is_pure(i)) return "";
  std::string k = core::cat(int(i.op), "|", i.type.to_string(), "|", int(i.unary), ",", int(i.binary), ",", int(i.compare), ",", int(i.reduce), ",",
                            i.reverse, i.exclusive, i.transpose_a, i.transpose_b, ",", i.index, ",", i.batch, ",", i.message, "|");
  for (const Instr* o : i.operands) k += operand(o) + ",";
  auto list = [&](const auto& v) {
    k += '|';
    for (const auto& x : v) {
      core::append(k, x);
      k += ',';
    }
  };
  list(i.axes);
  list(i.starts);
  list(i.low);
  list(i.high);
  list(i.steps);
  list(i.interior);
  const Window& w = i.window;
  list(w.size);
  list(w.stride);
  list(w.dilation);
  list(w.base_dilation);
  list(w.low);
  list(w.high);
  k += core::cat("|", w.groups, w.winograd, "|");
  if (i.op == Op::kSizes) list(*i.known);
  if (i.op == Op::kConstant) {
    if (i.literal.byte_size() <= kMostBytes) k.append(static_cast<const char*>(i.literal.raw()), i.literal.byte_size());
    else k += core::cat(reinterpret_cast<uintptr_t>(i.literal.raw()));
  }
  return k;
}

namespace {

// ---- the walk -----------------------------------------------------------------------------------------------

class Simplifier {
 public:
  explicit Simplifier(Module& m) : module_(m), rewriter_(m) {
    count(*m.main);
    rewriter_.set_uses(&uses_);
  }

  bool run() {
    changed_ = false;
    walk(*module_.main, nullptr);
    for (Instr*& v : module_.main->results) v = now(v);
    return changed_;
  }

 private:
  Instr* now(Instr* v) const {
    for (auto it = instead_.find(v); it != instead_.end(); it = instead_.find(v)) v = it->second;
    return v;
  }

  void replace(Instr* i, Instr* with) {
    instead_[i] = with;
    changed_ = true;
  }

  // `outside`: where instructions that do not change from iteration to iteration go; null: nowhere.
  void walk(Region& r, Instrs* outside) {
    Instrs in = std::move(r.instrs), out;
    equal_.emplace_back();
    for (auto& p : in) {
      Instr* i = p.get();
      for (Instr*& o : i->operands) o = now(o);
      if (i->op == Op::kWhile) unchanging(*i);
      Instrs before;
      Instr* same = i->op == Op::kGet ? got(i) : is_pure(*i) ? rewriter_.simplify(i, before) : i;
      for (auto& b : before) put(std::move(b), r, out, outside);
      if (same != i) replace(i, now(same));
      if (i->op == Op::kIf && decided(*i, r, out)) {
        gone_.push_back(std::move(p));  // its regions are empty, kGets of it have been replaced
        continue;
      }
      for (auto& part : i->regions) {
        walk(*part, i->op == Op::kWhile ? &out : nullptr);
        for (Instr*& v : part->results) v = now(v);
      }
      put(std::move(p), r, out, outside);
    }
    equal_.pop_back();
    r.instrs = std::move(out);
    changed_ = changed_ || rewriter_.take_changed();
  }

  void put(std::unique_ptr<Instr> p, Region& r, Instrs& out, Instrs* outside) {
    Instr* i = p.get();
    i->parent = &r;
    const bool fixed =
        outside && is_pure(*i) && i->message < 0 && std::none_of(i->operands.begin(), i->operands.end(), [&](Instr* o) { return o->parent == &r; });
    size_t level = equal_.size() - 1;
    if (fixed) {
      i->parent = r.owner->parent;
      changed_ = true;
      --level;
    }
    if (!instead_.contains(i)) {
      const std::string key = key_of(*i, [](const Instr* o) { return std::to_string(o->id); });
      Instr* found = nullptr;
      for (size_t k = level + 1; k-- > 0 && !found && !key.empty();) {
        const auto it = equal_[k].find(key);
        if (it != equal_[k].end()) found = it->second;
      }
      if (found) replace(i, found);
      else if (!key.empty()) equal_[level].emplace(key, i);
    }
    (fixed ? *outside : out).push_back(std::move(p));
  }

  // Variables that every iteration leaves alone are what they were at first.
  void unchanging(Instr& loop) {
    Region &condition = *loop.regions[0], &body = *loop.regions[1];
    for (size_t k = 0; k < loop.operands.size(); ++k) {
      if (now(body.results[k]) != body.parameters[k] || instead_.contains(body.parameters[k])) continue;
      replace(condition.parameters[k], loop.operands[k]);
      replace(body.parameters[k], loop.operands[k]);
      kept_[&loop].emplace_back(int(k), loop.operands[k]);
    }
  }

  // A branch that is known: its instructions move here.
  bool decided(Instr& i, Region& r, Instrs& out) {
    const auto n = scalar_of(i.operands[0]);
    if (!n) return false;
    size_t which = *n < 0 ? i.regions.size() : size_t(*n);  // a bool is 0 or 1
    if (which >= i.regions.size()) which = i.regions.size() - 1;
    Region& taken = *i.regions[which];
    walk(taken, nullptr);
    for (auto& p : taken.instrs) {
      p->parent = &r;
      out.push_back(std::move(p));
    }
    taken.instrs.clear();
    chosen_[&i].clear();
    for (Instr* v : taken.results) chosen_[&i].push_back(now(v));
    changed_ = true;
    return true;
  }

  Instr* got(Instr* get) const {
    Instr* of = get->operands[0];
    if (const auto it = chosen_.find(of); it != chosen_.end()) {
      get->operands.clear();  // the branch will be removed
      return it->second[size_t(get->index)];
    }
    if (const auto it = kept_.find(of); it != kept_.end()) {
      for (const auto& [k, v] : it->second) {
        if (k == get->index) return v;
      }
    }
    return get;
  }

  void count(const Region& r) {
    for (const auto& i : r.instrs) {
      for (const Instr* o : i->operands) ++uses_[o];
      for (const auto& part : i->regions) count(*part);
    }
    for (const Instr* v : r.results) ++uses_[v];
  }

  Module& module_;
  std::unordered_map<const Instr*, int> uses_;
  Rewriter rewriter_;
  bool changed_ = false;
  std::unordered_map<Instr*, Instr*> instead_;
  std::unordered_map<Instr*, std::vector<Instr*>> chosen_;
  std::unordered_map<Instr*, std::vector<std::pair<int, Instr*>>> kept_;
  std::vector<std::unordered_map<std::string, Instr*>> equal_;  // by region, the innermost last
  Instrs gone_;
};

}  // namespace

void simplify(Module& m, bool tile, Convolutions form) {
  constexpr int kMostRounds = 12;
  bool tiled = false, formed = false;
  for (int round = 0; round < kMostRounds; ++round) {
    const bool changed = Simplifier(m).run();
    const bool dropped = drop_variables(m), hoisted = hoist_products(m), joined = merge_equal_loops(m), lists = simplify_lists(m);
    drop_dead(m);
    if (changed || dropped || hoisted || joined || lists) continue;
    if (!std::exchange(formed, true) &&
        (form == Convolutions::kOutputChannelsFirst ? narrow_products(m) | put_output_channels_first(m) : use_winograd(m)))
      continue;
    if (tiled || !tile || !tile_batch(m)) return;
    tiled = true;
  }
}

}  // namespace weft_engine::ir
