// Gradients of loops: a first loop counts up and writes a row of each list in every iteration, a second one counts down from there and
// reads them. Lists that hold the same value in every row, or rows of a tensor that is there anyway, are read from the original;
// products that the second loop sums up (the gradient of a kernel) become one product of all rows behind it.
#include <algorithm>
#include <unordered_map>

#include "ir/rewrite.h"
#include "ir/insert.h"
#include "ir/simplify.h"

namespace weft_engine::ir {
namespace {

const Instr* strip(const Instr* v) {
  while (v->op == Op::kConvert && (v->operand(0).type.dtype == DType::kInt32 || v->operand(0).type.dtype == DType::kInt64)) v = v->operands[0];
  return v;
}

bool is_number(const Instr* v, double n) {
  const auto c = scalar_of(v);
  return c && *c == n;
}

// The parameter that this is one more (+1) or one less (-1) than.
std::pair<const Instr*, int> beside(const Instr* v) {
  if (v->op != Op::kBinary || (v->binary != Binary::kAdd && v->binary != Binary::kSub)) return {nullptr, 0};
  const Instr *a = v->operands[0], *b = v->operands[1];
  const int sign = v->binary == Binary::kAdd ? 1 : -1;
  if (a->op == Op::kParameter && is_number(b, 1)) return {a, sign};
  if (a->op == Op::kParameter && is_number(b, -1)) return {a, -sign};
  if (b->op == Op::kParameter && sign == 1 && is_number(a, 1)) return {b, 1};
  return {nullptr, 0};
}

// The loop of whose body this is a parameter.
const Instr* loop_of(const Instr* parameter) {
  const Instr* w = parameter->parent->owner;
  return w && w->op == Op::kWhile && parameter->parent == w->regions[1].get() ? w : nullptr;
}

// Counts 0, 1, 2 ...
bool counts_up(const Instr* loop, size_t k) {
  const Region& body = *loop->regions[1];
  const auto [p, step] = beside(body.results[k]);
  return p == body.parameters[k] && step == 1 && is_number(loop->operands[k], 0);
}

// An index that counts down to 0 from the last number that a counter of another loop had.
struct Down {
  const Instr* loop = nullptr;  // that other loop
  size_t counter = 0;
};
Down counts_down(const Instr* index) {
  const Instr* v = strip(index);
  const auto [p, step] = beside(v);
  if (!p || step != -1) return {};
  const Instr* w = loop_of(p);
  if (!w || w->regions[1]->results[size_t(p->index)] != v) return {};
  const Instr* from = strip(w->operands[size_t(p->index)]);
  if (from->op != Op::kGet || from->operand(0).op != Op::kWhile || !counts_up(from->operands[0], size_t(from->index))) return {};
  return {from->operands[0], size_t(from->index)};
}

// Whole rows of dimension 0, one of them.
bool one_row(const Type& row, const Type& all) {
  return all.rank() > 0 && row.rank() == all.rank() && row.dims[0].is(1) && std::equal(row.dims.begin() + 1, row.dims.end(), all.dims.begin() + 1);
}

// What the loop writes into row number `counter` of its variable k in each iteration; null: something else happens to it.
Instr* written(const Instr* loop, size_t k, size_t counter) {
  const Region& body = *loop->regions[1];
  const Instr* u = body.results[k];
  if (u->op != Op::kDynamicUpdate || u->operands[0] != body.parameters[k] || strip(u->operands[2]) != body.parameters[counter]) return nullptr;
  return one_row(u->operand(1).type, u->type) ? u->operands[1] : nullptr;
}

class Lists {
 public:
  explicit Lists(Module& m) : module_(m) {}

  bool run(Region& r) {
    bool any = false;
    for (size_t k = 0; k < r.instrs.size(); ++k) {
      Instr* i = r.instrs[k].get();
      for (auto& part : i->regions) any = run(*part) || any;
      if (i->op != Op::kWhile) continue;
      for (auto& p : i->regions[1]->instrs) any = (p->op == Op::kDynamicSlice && original(*p)) || any;
      any = sums(*i, r, k) || any;
    }
    return any;
  }

 private:
  bool original(Instr& slice) {
    const Instr* list = slice.operands[0];
    if (list->op != Op::kGet || !one_row(slice.type, list->type)) return false;
    const Down d = counts_down(slice.operands[1]);
    if (!d.loop || d.loop != list->operands[0]) return false;
    Instr* row = written(d.loop, size_t(list->index), d.counter);
    if (!row) return false;
    const Region* body = d.loop->regions[1].get();
    if (row->parent != body) {
      slice.op = Op::kReshape;
      slice.operands = {row};
      return true;
    }
    if (row->op != Op::kDynamicSlice || row->operand(0).parent == body || !(row->operand(0).type == list->type) ||
        strip(row->operands[1]) != body->parameters[d.counter])
      return false;
    slice.operands[0] = row->operands[0];
    return true;
  }

  // ---- sums of products

  static int uses(const Region& r, const Instr* v) {
    int n = 0;
    for (const auto& i : r.instrs) {
      n += int(std::count(i->operands.begin(), i->operands.end(), v));
      for (const auto& part : i->regions) n += uses(*part, v);
    }
    return n + int(std::count(r.results.begin(), r.results.end(), v));
  }

  std::unique_ptr<Instr> make(Op op, Type type, std::vector<Instr*> operands, const Instr& like, Region& r) {
    return new_instr(module_, op, std::move(type), std::move(operands), like.node, &r);
  }

  struct Sum {
    Instr *x = nullptr, *at = nullptr, *product = nullptr;
  };

  // Variable k is only ever added to: a product of a row of something outside with what the iteration computes.
  Sum sum_of(const Instr& loop, size_t k) {
    const Region &condition = *loop.regions[0], &body = *loop.regions[1];
    Instr *p = body.parameters[k], *s = body.results[k];
    if (s->op != Op::kBinary || s->binary != Binary::kAdd || s->parent != &body || uses(condition, condition.parameters[k]) || uses(body, p) != 1 ||
        uses(body, s) != 1)
      return {};
    Instr* d = s->operands[0] == p ? s->operands[1] : s->operands[1] == p ? s->operands[0] : nullptr;
    if (!d || d->op != Op::kDot || d->parent != &body || d->rank() != 2 || !d->transpose_a || d->transpose_b || d->operand(1).parent != &body)
      return {};
    Instr* row = d->operands[0];
    if (row->op == Op::kReshape) row = row->operands[0];
    if (row->op != Op::kDynamicSlice || row->parent != &body || row->operand(0).parent == &body) return {};
    Instr* x = row->operands[0];
    if (!one_row(row->type, x->type) || !(x->dim(x->rank() - 1) == d->operand(0).dim(1))) return {};
    // Every row once: the other loop wrote one of a list as long as this in each of its iterations.
    const Down down = counts_down(row->operands[1]);
    if (!down.loop) return {};
    bool as_long = false;
    for (size_t v = 0; v < down.loop->results.size(); ++v) {
      const Type& t = down.loop->results[v];
      as_long = as_long || (t.rank() > 0 && t.dims[0] == x->dim(0) && written(down.loop, v, down.counter));
    }
    return as_long ? Sum{x, row->operands[1], d} : Sum{};
  }

  bool sums(Instr& loop, Region& around, size_t place) {
    std::unordered_map<const Instr*, Instr*> lists;  // what is multiplied, and all its rows behind the loop
    Instrs before, after;
    const size_t variables = loop.operands.size();
    bool any = false;
    for (size_t k = 0; k < variables; ++k) {
      Instr* get = nullptr;
      int gets = 0;
      for (const auto& g : around.instrs) {
        if (g->op != Op::kGet || g->operands[0] != &loop || g->index != int(k)) continue;
        get = g.get();
        ++gets;
      }
      const Sum s = gets == 1 ? sum_of(loop, k) : Sum{};
      if (!s.product) continue;
      any = true;
      const Dim steps = s.x->dim(0), rows = s.product->operand(1).dim(0), width = s.product->operand(0).dim(1), columns = s.product->dim(1);
      const DType t = s.product->type.dtype;
      Instr*& list = lists[s.product->operands[1]];
      if (!list) list = kept(loop, *s.product, s.at, {t, {steps, rows, columns}}, around, before, after);
      after.push_back(make(Op::kReshape, {t, {steps * rows, width}}, {s.x}, *s.product, around));
      Instr* x = after.back().get();
      after.push_back(make(Op::kReshape, {t, {steps * rows, columns}}, {list}, *s.product, around));
      Instr* y = after.back().get();
      after.push_back(make(Op::kDot, s.product->type, {x, y}, *s.product, around));
      after.back()->transpose_a = true;
      // The result of the loop: what the variable was at first, and all products.
      get->op = Op::kBinary;
      get->binary = Binary::kAdd;
      get->index = 0;
      get->operands = {loop.operands[k], after.back().get()};
    }
    if (!any) return false;
    insert(around, place + 1, after);
    insert(around, place, before);
    return true;
  }

  // A new variable of the loop that keeps operand 1 of the product in row `at`; what it holds in the end.
  Instr* kept(Instr& loop, const Instr& product, Instr* at, const Type& type, Region& around, Instrs& before, Instrs& after) {
    Region& body = *loop.regions[1];
    before.push_back(make(Op::kConstant, {type.dtype, {}}, {}, product, around));
    before.back()->literal = *Tensor::zeros(type.dtype, core::Shape());
    before.push_back(make(Op::kBroadcast, type, {before.back().get()}, product, around));
    loop.operands.push_back(before.back().get());
    before.push_back(make(Op::kConstant, {DType::kInt64, {}}, {}, product, around));
    Instr* zero = before.back().get();
    zero->literal = Tensor::scalar<int64_t>(0);
    zero->known = std::vector<Dim>{Dim(0)};
    loop.results.push_back(type);
    for (auto& part : loop.regions) {
      auto p = make(Op::kParameter, type, {}, product, *part);
      p->index = int(part->parameters.size());
      Instr* raw = p.get();
      part->instrs.insert(part->instrs.begin() + long(part->parameters.size()), std::move(p));
      part->parameters.push_back(raw);
    }
    Type row = type;
    row.dims[0] = Dim(1);
    body.instrs.push_back(make(Op::kReshape, row, {product.operands[1]}, product, body));
    Instr* one = body.instrs.back().get();
    body.instrs.push_back(make(Op::kDynamicUpdate, type, {body.parameters.back(), one, at, zero, zero}, product, body));
    body.results.push_back(body.instrs.back().get());
    auto get = make(Op::kGet, type, {&loop}, product, around);
    get->index = int(loop.results.size()) - 1;
    after.push_back(std::move(get));
    return after.back().get();
  }

  Module& module_;
};

}  // namespace

bool simplify_lists(Module& m) { return Lists(m).run(*m.main); }

}  // namespace weft_engine::ir
