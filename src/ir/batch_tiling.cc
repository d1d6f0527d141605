// Tiles the batch dimension of convolutions, pooling and what is between them: a loop runs all of them for one image, or a few, at a time, so that
// what one makes of an image is still in the cache when the next reads it. The rows of dimension 0 do not depend on each other.
#include <algorithm>
#include <unordered_map>

#include "ir/insert.h"
#include "ir/simplify.h"

namespace weft_engine::ir {
namespace {

constexpr int64_t kLeastRow = 16 * 1024;        // bytes of a row between two steps: less is not worth a loop
constexpr int64_t kLeastTotal = 1024 * 1024;    // of all rows, where their number is known: less stays in the cache as it is
constexpr int64_t kMostBlock = 192 * 1024;      // of the rows that are computed together

class BatchTiling {
 public:
  explicit BatchTiling(Module& m) : module_(m), main_(*m.main) {}

  bool run() {
    for (const auto& i : main_.instrs) {
      if (i->op != Op::kConv || done_.contains(i.get()) || i->dim(0).is(1)) continue;
      done_.insert(i.get());
      rows_ = i->dim(0);
      choose(i.get());
      if (!worthwhile()) continue;
      rewrite();
      return true;
    }
    return false;
  }

 private:
  bool rowed(const Instr* v) const { return v->rank() > 0 && v->dim(0) == rows_; }
  bool in(const Instr* v) const { return chosen_.contains(v); }

  // Whether row k of the result is made of rows k of operands that have rows, and of others as they are.
  bool by_rows(const Instr* i) const {
    if (!rowed(i) || i->known) return false;
    auto has = [](const std::vector<int>& axes, int a) { return std::find(axes.begin(), axes.end(), a) != axes.end(); };
    const Instr* x = i->operands.empty() ? nullptr : i->operands[0];
    switch (i->op) {
      case Op::kConv: return rowed(x) && !in(i->operands[1]);
      case Op::kWindow: return rowed(x);
      case Op::kMaxPoolGrad: return rowed(x) && rowed(i->operands[1]);
      case Op::kBroadcast: return in(x) && !i->axes.empty() && i->axes[0] == 0 && rowed(x);
      case Op::kReshape: return rowed(x);
      case Op::kTranspose: return i->axes[0] == 0;
      case Op::kSlice: return i->starts[0].is(0) && i->steps[0] == 1 && rowed(x);
      case Op::kPad: return i->low[0].is(0) && i->high[0].is(0) && i->interior[0] == 0 && rowed(x) && !in(i->operands[1]);
      case Op::kConcat: return i->axes[0] != 0;
      case Op::kReverse: return !has(i->axes, 0);
      case Op::kReduce: return !has(i->axes, 0);
      default: return is_elementwise(i->op);
    }
  }

  // From the first convolution on: everything by rows that hangs together; nothing that also needs what comes of it by another way.
  void choose(const Instr* first) {
    chosen_.clear();
    later_.clear();
    bool begun = false;
    for (const auto& p : main_.instrs) {
      const Instr* i = p.get();
      begun = begun || i == first;
      if (!begun) continue;
      bool touches = false, late = false;
      auto look = [&](const Instr* v) {
        touches = touches || in(v);
        late = late || later_.contains(v);
      };
      for (const Instr* o : i->operands) look(o);
      for (const auto& r : i->regions) inside(*r, look);
      if (!late && (touches || i == first) && by_rows(i)) chosen_.insert(i);
      else if (late || touches) later_.insert(i);
    }
  }

  template <class F>
  static void inside(const Region& r, const F& look) {
    for (const auto& i : r.instrs) {
      for (const Instr* o : i->operands) look(o);
      for (const auto& part : i->regions) inside(*part, look);
    }
    for (const Instr* v : r.results) look(v);
  }

  int64_t row_bytes(const Instr* v) const {
    Dim n(int64_t(core::dtype_size(v->type.dtype)));
    for (int d = 1; d < v->rank(); ++d) n = n * v->dim(d);
    return n.is_const() ? n.value() : -1;
  }

  bool worthwhile() {
    outputs_.clear();
    std::unordered_set<const Instr*> used;
    auto look = [&](const Instr* v) {
      if (in(v)) used.insert(v);
    };
    for (const auto& p : main_.instrs) {
      if (in(p.get())) continue;
      for (const Instr* o : p->operands) look(o);
      for (const auto& r : p->regions) inside(*r, look);
    }
    for (const Instr* v : main_.results) look(v);
    int64_t kept = 0, out = 0, largest = 0;
    for (const auto& p : main_.instrs) {
      Instr* i = p.get();
      if (!in(i)) continue;
      const int64_t n = row_bytes(i);
      if (n < 0) return false;
      if (used.contains(i)) {
        outputs_.push_back(i);
        out += n;
      } else if (i->op == Op::kConv || i->op == Op::kWindow || i->op == Op::kMaxPoolGrad || i->op == Op::kPad || i->op == Op::kReduce) {
        kept += n;
        largest = std::max(largest, n);
      }
    }
    if (outputs_.empty() || kept < 2 * out || largest < kLeastRow) return false;
    if (!rows_.is_const()) {
      block_ = 1;
      return true;
    }
    if (rows_.value() * kept < kLeastTotal) return false;
    block_ = 1;
    for (int64_t n = 2; n * largest <= kMostBlock && n < rows_.value(); ++n) {
      if (rows_.value() % n == 0) block_ = n;
    }
    return true;
  }

  // ---- the loop

  Instr* add(Op op, Type type, std::vector<Instr*> operands, Region& r) {
    r.instrs.push_back(new_instr(module_, op, std::move(type), std::move(operands), outputs_[0]->node, &r));
    return r.instrs.back().get();
  }

  Instr* number(int64_t n, Region& r) {
    Instr* i = add(Op::kConstant, {DType::kInt64, {}}, {}, r);
    i->literal = Tensor::scalar<int64_t>(n);
    i->known = std::vector<Dim>{Dim(n)};
    return i;
  }

  Type of_block(const Type& t) const {
    Type out = t;
    out.dims[0] = Dim(block_);
    return out;
  }

  // The rows that this iteration is about.
  Instr* part(Instr* v, Region& body, Instr* at, Instr* zero) {
    if (!rowed(v)) return v;
    if (const auto it = parts_.find(v); it != parts_.end()) return it->second;
    Instr* out = nullptr;
    if (v->op == Op::kBroadcast && (v->operand(0).rank() == 0 || v->axes[0] != 0 || v->operand(0).dim(0).is(1))) {
      out = add(Op::kBroadcast, of_block(v->type), v->operands, body);
      out->axes = v->axes;
    } else {
      std::vector<Instr*> operands{v, at};
      operands.resize(size_t(v->rank()) + 1, zero);
      out = add(Op::kDynamicSlice, of_block(v->type), std::move(operands), body);
    }
    return parts_[v] = out;
  }

  void rewrite() {
    Instrs all = std::move(main_.instrs), after;
    main_.instrs.clear();
    Instrs members;
    for (auto& p : all) {
      if (in(p.get())) members.push_back(std::move(p));
      else if (later_.contains(p.get())) after.push_back(std::move(p));
      else main_.instrs.push_back(std::move(p));
    }
    Instr* zero = number(0, main_);
    std::vector<Instr*> init{zero};
    for (const Instr* o : outputs_) {
      Instr* nothing = add(Op::kConstant, {o->type.dtype, {}}, {}, main_);
      nothing->literal = *Tensor::zeros(o->type.dtype, core::Shape());
      init.push_back(add(Op::kBroadcast, o->type, {nothing}, main_));
    }
    auto condition = std::make_unique<Region>(), body = std::make_unique<Region>();
    for (Region* r : {condition.get(), body.get()}) {
      for (size_t k = 0; k < init.size(); ++k) {
        Instr* p = add(Op::kParameter, init[k]->type, {}, *r);
        p->index = int(k);
        r->parameters.push_back(p);
      }
    }
    Instr* end = add(Op::kSizes, {DType::kInt64, {}}, {}, *condition);
    end->known = std::vector<Dim>{rows_};
    Instr* more = add(Op::kCompare, {DType::kBool, {}}, {condition->parameters[0], end}, *condition);
    more->compare = Compare::kLt;
    condition->results = {more};
    Instr* at = body->parameters[0];
    Instr* next = add(Op::kBinary, at->type, {at, number(block_, *body)}, *body);
    body->results = {next};
    for (auto& p : members) {
      std::vector<Instr*> operands;
      for (Instr* o : p->operands) {
        const bool filter = p->op == Op::kConv && !operands.empty();
        operands.push_back(filter ? o : part(o, *body, at, zero));
      }
      Instr* copy = add(p->op, of_block(p->type), std::move(operands), *body);
      clone(*p, *copy);
      parts_[p.get()] = copy;
    }
    for (size_t k = 0; k < outputs_.size(); ++k) {
      std::vector<Instr*> operands{body->parameters[k + 1], parts_[outputs_[k]], at};
      operands.resize(size_t(outputs_[k]->rank()) + 2, zero);
      body->results.push_back(add(Op::kDynamicUpdate, outputs_[k]->type, std::move(operands), *body));
    }
    Instr* loop = add(Op::kWhile, {}, init, main_);
    for (const Instr* v : init) loop->results.push_back(v->type);
    condition->owner = body->owner = loop;
    loop->regions.push_back(std::move(condition));
    loop->regions.push_back(std::move(body));
    std::unordered_map<const Instr*, Instr*> now;
    for (size_t k = 0; k < outputs_.size(); ++k) {
      Instr* g = add(Op::kGet, outputs_[k]->type, {loop}, main_);
      g->index = int(k) + 1;
      now[outputs_[k]] = g;
    }
    for (auto& p : after) {
      replace(*p, now);
      main_.instrs.push_back(std::move(p));
    }
    for (Instr*& v : main_.results) {
      if (const auto it = now.find(v); it != now.end()) v = it->second;
    }
  }

  static void clone(const Instr& from, Instr& to) {
    to.unary = from.unary;
    to.binary = from.binary;
    to.compare = from.compare;
    to.reduce = from.reduce;
    to.reverse = from.reverse;
    to.exclusive = from.exclusive;
    to.message = from.message;
    to.axes = from.axes;
    to.starts = from.starts;
    to.low = from.low;
    to.high = from.high;
    to.steps = from.steps;
    to.interior = from.interior;
    to.window = from.window;
    to.node = from.node;
  }

  static void replace(Instr& i, const std::unordered_map<const Instr*, Instr*>& now) {
    auto one = [&](Instr*& v) {
      if (const auto it = now.find(v); it != now.end()) v = it->second;
    };
    for (Instr*& o : i.operands) one(o);
    for (auto& r : i.regions) {
      for (auto& p : r->instrs) replace(*p, now);
      for (Instr*& v : r->results) one(v);
    }
  }

  Module& module_;
  Region& main_;
  Dim rows_;
  int64_t block_ = 1;
  std::unordered_set<const Instr*> chosen_, later_, done_;
  std::vector<Instr*> outputs_;
  std::unordered_map<const Instr*, Instr*> parts_;
};

}  // namespace

bool tile_batch(Module& m) {
  constexpr int kMostRuns = 8;
  bool any = false;
  for (int k = 0; k < kMostRuns && BatchTiling(m).run(); ++k) any = true;
  return any;
}

}  // namespace weft_engine::ir
