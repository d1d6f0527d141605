// Products and convolutions of narrow floats (half, bfloat16) are written as those of floats, between conversions: so processors compute them. GPUs multiply narrow
// numbers themselves, and sum in float: the conversions are left out. Each result is still rounded once.
#include <algorithm>
#include <unordered_map>

#include "ir/insert.h"
#include "ir/simplify.h"

namespace weft_engine::ir {
namespace {

bool moves(Op op) { return op == Op::kReshape || op == Op::kTranspose || op == Op::kReverse || op == Op::kBroadcast; }

class Pass {
 public:
  explicit Pass(Module& m) : module_(m) {}

  bool run() {
    count(*module_.main);
    return run(*module_.main);
  }

 private:
  void count(const Region& r) {
    for (const auto& i : r.instrs) {
      for (const Instr* o : i->operands) users_[o].push_back(i.get());
      for (const auto& part : i->regions) count(*part);
    }
    for (const Instr* v : r.results) users_[v].push_back(nullptr);
  }

  bool run(Region& r) {
    bool any = false;
    for (size_t k = 0; k < r.instrs.size(); ++k) {
      for (auto& part : r.instrs[k]->regions) any = run(*part) || any;
      Instr& i = *r.instrs[k];
      if ((i.op != Op::kDot && i.op != Op::kConv && i.op != Op::kConvFilterGrad) || i.type.dtype != DType::kFloat || i.window.winograd) continue;
      const DType to = source_type(i.operands[0]);
      if ((to != DType::kHalf && to != DType::kBfloat16) || source_type(i.operands[1]) != to || !only_converted(&i, to)) continue;
      parent_ = &r;
      now_.clear();
      for (Instr*& o : i.operands) o = narrow(o);
      set_type(&i, to);
      any = true;
      k = insert(r, k, now_);
    }
    return any;
  }

  // What the value was converted from, moved or not; its own type where it was not.
  static DType source_type(const Instr* v) {
    while (moves(v->op)) v = v->operands[0];
    return v->op == Op::kConvert ? v->operand(0).type.dtype : v->type.dtype;
  }

  // The same before the conversion.
  Instr* narrow(Instr* v) {
    if (!moves(v->op)) return v->operands[0];
    Instr* from = narrow(v->operands[0]);
    now_.push_back(new_instr(module_, v->op, {from->type.dtype, v->type.dims}, {from}, v->node, parent_));
    now_.back()->axes = v->axes;
    return now_.back().get();
  }

  bool only_converted(const Instr* v, DType to) const {
    const auto it = users_.find(v);
    return it != users_.end() && std::all_of(it->second.begin(), it->second.end(), [&](const Instr* u) {
             return u && ((u->op == Op::kConvert && u->type.dtype == to) || (moves(u->op) && only_converted(u, to)));
           });
  }

  void set_type(Instr* v, DType to) {
    v->type.dtype = to;
    for (Instr* u : users_[v]) {
      if (moves(u->op)) set_type(u, to);
    }
  }

  Module& module_;
  Region* parent_ = nullptr;
  std::unordered_map<const Instr*, std::vector<Instr*>> users_;
  Instrs now_;
};

}  // namespace

bool narrow_products(Module& m) { return Pass(m).run(); }

}  // namespace weft_engine::ir
