#include "ir/attention.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <tuple>
#include <unordered_map>

#include "ir/insert.h"
#include "ir/rewrite.h"

namespace weft_engine::ir {
namespace {

constexpr double kFarBelow = -1e8;  // what a score that does not count has been given
constexpr int64_t kTogether = 8;    // elements of 16 bytes: how views are aligned

bool is_narrow(DType t) { return t == DType::kHalf || t == DType::kBfloat16; }
bool is_float(DType t) { return is_narrow(t) || t == DType::kFloat; }

// Rounding in between makes no difference here.
Instr* behind_converts(Instr* v) {
  while (v->op == Op::kConvert && is_float(v->type.dtype) && is_float(v->operand(0).type.dtype)) v = v->operands[0];
  return v;
}
Instr* behind_spreading(Instr* v) {
  for (;;) {
    v = behind_converts(v);
    if (v->op != Op::kBroadcast && v->op != Op::kReshape) return v;
    v = v->operands[0];
  }
}

bool is_binary(const Instr* i, Binary b) { return i->op == Op::kBinary && i->binary == b; }
bool is_last_reduce(const Instr* i, Reduce r) {
  return i->op == Op::kReduce && i->reduce == r && i->axes.size() == 1 && i->axes[0] == i->operand(0).rank() - 1;
}

struct Strided {
  Instr* base = nullptr;
  int64_t offset = 0;
  std::vector<std::pair<int64_t, int64_t>> dims;  // size, stride
};

Strided dense(Instr* v) {
  Strided s{v, 0, {}};
  int64_t stride = 1;
  for (size_t d = v->type.dims.size(); d-- > 0;) {
    s.dims.insert(s.dims.begin(), {v->type.dims[d].value(), stride});
    stride *= v->type.dims[d].value();
  }
  return s;
}

bool reshaped(Strided& s, const Type& to) {
  std::vector<std::pair<int64_t, int64_t>> from, out;
  for (const auto& d : s.dims) {
    if (d.first == 1) continue;
    // Dimensions that lie one in the other are one.
    if (!from.empty() && from.back().second == d.first * d.second) from.back() = {from.back().first * d.first, d.second};
    else from.push_back(d);
  }
  size_t k = from.size();
  int64_t left = 1, stride = 1;
  for (size_t d = to.dims.size(); d-- > 0;) {
    const int64_t n = to.dims[d].value();
    if (n == 1) {
      out.insert(out.begin(), {1, stride});
      continue;
    }
    if (left == 1) {
      if (k == 0) return false;
      --k;
      left = from[k].first;
      stride = from[k].second;
    }
    if (left % n) return false;
    out.insert(out.begin(), {n, stride});
    left /= n;
    stride *= n;
  }
  s.dims = std::move(out);
  return left == 1 && k == 0;
}

// The value as a part of another that lies in memory.
Strided view_of(Instr* v) {
  if (v->op == Op::kReshape || v->op == Op::kTranspose || v->op == Op::kSlice) {
    Strided s = view_of(v->operands[0]);
    if (v->op == Op::kReshape && reshaped(s, v->type)) return s;
    if (v->op == Op::kTranspose) {
      const auto dims = s.dims;
      for (size_t d = 0; d < dims.size(); ++d) s.dims[d] = dims[size_t(v->axes[d])];
      return s;
    }
    if (v->op == Op::kSlice && std::all_of(v->starts.begin(), v->starts.end(), [](const Dim& d) { return d.is_const(); })) {
      for (size_t d = 0; d < s.dims.size(); ++d) {
        s.offset += v->starts[d].value() * s.dims[d].second;
        s.dims[d] = {v->type.dims[d].value(), s.dims[d].second * v->steps[d]};
      }
      return s;
    }
  }
  return dense(v);
}

class Pass {
 public:
  Pass(Module& m, const std::function<bool(const Attention&)>& serves) : module_(m), serves_(serves) {}

  bool run() {
    Region& r = *module_.main;
    for (const auto& i : r.instrs) {
      for (Instr* o : i->operands) users_[o].push_back(i.get());
      for (const auto& part : i->regions) inside(*part);
    }
    for (Instr* v : r.results) users_[v].push_back(nullptr);
    std::vector<Instr*> dots;
    for (const auto& i : r.instrs) {
      if (i->op == Op::kDot && is_narrow(i->type.dtype)) dots.push_back(i.get());
    }
    bool any = false;
    for (Instr* d : dots) any = fuse(d) || any;
    return any;
  }

 private:
  struct Match {
    Instr *q = nullptr, *k = nullptr, *v = nullptr, *o = nullptr, *p = nullptr;
    Instr *dq = nullptr, *dk = nullptr, *dv = nullptr, *d_o = nullptr;
    double scale = 1;
    bool causal = false;
  };

  void inside(const Region& r) {
    for (const auto& i : r.instrs) {
      for (Instr* o : i->operands) users_[o].push_back(nullptr);
      for (const auto& part : i->regions) inside(*part);
    }
    for (Instr* v : r.results) users_[v].push_back(nullptr);
  }

  // Readers, behind conversions; a null one: a result, or something in an inner region.
  void readers(Instr* v, std::vector<Instr*>& out) const {
    const auto it = users_.find(v);
    if (it == users_.end()) return;
    for (Instr* u : it->second) {
      if (u && u->op == Op::kConvert && behind_converts(u) != u) readers(u, out);
      else if (std::find(out.begin(), out.end(), u) == out.end()) out.push_back(u);
    }
  }
  std::vector<Instr*> readers(Instr* v) const {
    std::vector<Instr*> out;
    readers(v, out);
    return out;
  }

  // exp(x - max) * (1 / sum)
  static Instr* scores_of(Instr* p) {
    if (!is_binary(p, Binary::kMul)) return nullptr;
    for (int side = 0; side < 2; ++side) {
      Instr *e = behind_converts(p->operands[size_t(side)]), *inverse = behind_spreading(p->operands[size_t(1 - side)]);
      if (e->op != Op::kUnary || e->unary != Unary::kExp || !is_binary(inverse, Binary::kDiv)) continue;
      Instr *sum = behind_spreading(inverse->operands[1]), *shifted = behind_converts(e->operands[0]);
      const auto one = scalar_of(inverse->operands[0]);
      if (!one || *one != 1 || !is_last_reduce(sum, Reduce::kSum) || behind_converts(sum->operands[0]) != e) continue;
      if (!is_binary(shifted, Binary::kSub)) continue;
      Instr *x = behind_converts(shifted->operands[0]), *most = behind_spreading(shifted->operands[1]);
      if (!is_last_reduce(most, Reduce::kMax) || behind_converts(most->operands[0]) != x) continue;
      return x;
    }
    return nullptr;
  }

  // Zeros, and numbers far below them right of the diagonal.
  static bool is_causal(const Instr* mask) {
    if (mask->op != Op::kConstant || mask->type.dtype != DType::kFloat || mask->rank() < 2) return false;
    const int64_t rows = mask->dim(mask->rank() - 2).value(), columns = mask->dim(mask->rank() - 1).value();
    if (rows != columns || !mask->type.elements().is(rows * columns)) return false;
    const auto* at = static_cast<const float*>(mask->literal.raw());
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const float x = at[i * columns + j];
        if (j <= i ? x != 0 : !(double(x) <= kFarBelow)) return false;
      }
    }
    return true;
  }
  // A constant of [rows, columns], repeated.
  static const Instr* spread_constant(const Instr* v) {
    while (v->op == Op::kBroadcast || v->op == Op::kReshape) {
      const Instr* from = v->operands[0];
      const int n = v->rank();
      if (v->op == Op::kReshape && from->rank() >= 2 && n >= 2 &&
          (!(from->dim(from->rank() - 1) == v->dim(n - 1)) || !(from->dim(from->rank() - 2) == v->dim(n - 2))))
        return nullptr;
      if (v->op == Op::kBroadcast) {
        if (from->rank() < 2 || v->axes[size_t(from->rank() - 1)] != n - 1 || v->axes[size_t(from->rank() - 2)] != n - 2) return nullptr;
        if (!(from->dim(from->rank() - 1) == v->dim(n - 1)) || !(from->dim(from->rank() - 2) == v->dim(n - 2))) return nullptr;
      }
      v = from;
    }
    return v;
  }

  // The scores from their product: scale and mask.
  static bool scores(Instr* x, Match& m) {
    if (is_binary(x, Binary::kAdd)) {
      for (int side = 0; side < 2 && !m.causal; ++side) {
        const Instr* mask = spread_constant(x->operands[size_t(side)]);
        if (!mask || !is_causal(mask)) continue;
        m.causal = true;
        x = behind_converts(x->operands[size_t(1 - side)]);
      }
      if (!m.causal) return false;
    }
    for (int n = 0; n < 2; ++n) {
      if (is_binary(x, Binary::kMul) || is_binary(x, Binary::kDiv)) {
        const bool divides = is_binary(x, Binary::kDiv);
        const auto left = divides ? std::nullopt : scalar_of(behind_converts(x->operands[0])), right = scalar_of(behind_converts(x->operands[1]));
        if (!left && !right) return false;
        m.scale *= left ? *left : divides ? 1 / *right : *right;
        x = behind_converts(x->operands[left ? 1 : 0]);
      }
    }
    if (x->op != Op::kDot || x->transpose_a || !x->transpose_b || !is_narrow(x->type.dtype)) return false;
    m.q = x->operands[0];
    m.k = x->operands[1];
    return true;
  }

  static bool is_dot(const Instr* i, bool a, bool b) { return i && i->op == Op::kDot && i->transpose_a == a && i->transpose_b == b; }

  // d(scores) = p (dp - sum(dp p)), dp = dO v'; all that reads p belongs to it.
  bool gradient(Match& m) const {
    Instr *small = nullptr, *large = nullptr;
    for (Instr* u : readers(m.p)) {
      if (u == m.o) continue;
      if (is_dot(u, true, false) && behind_converts(u->operands[0]) == m.p && !m.dv) {
        m.dv = u;
        m.d_o = u->operands[1];
        continue;
      }
      if (!u || !is_binary(u, Binary::kMul)) return false;
      Instr* other = behind_converts(u->operands[behind_converts(u->operands[0]) == m.p ? 1 : 0]);
      (is_binary(other, Binary::kSub) ? large : small) = u;
    }
    if (!m.dv && !small && !large) return true;  // there is none
    if (!m.dv || !small || !large) return false;
    Instr* difference = behind_converts(large->operands[behind_converts(large->operands[0]) == m.p ? 1 : 0]);
    Instr *dp = behind_converts(difference->operands[0]), *sum = behind_spreading(difference->operands[1]);
    if (!is_last_reduce(sum, Reduce::kSum) || behind_converts(sum->operands[0]) != small) return false;
    if (behind_converts(small->operands[behind_converts(small->operands[0]) == m.p ? 1 : 0]) != dp) return false;
    if (!is_dot(dp, false, true) || dp->operands[0] != m.d_o || dp->operands[1] != m.v) return false;
    if (readers(dp).size() != 2 || readers(small).size() != 1) return false;
    // Scaled, and multiplied with k and q.
    Instr* ds = large;
    double scale = 1;
    for (int n = 0; n < 3; ++n) {
      const std::vector<Instr*> all = readers(ds);
      if (all.size() == 2) break;
      if (all.size() != 1 || !all[0] || !(is_binary(all[0], Binary::kMul) || is_binary(all[0], Binary::kDiv))) return false;
      const bool divides = is_binary(all[0], Binary::kDiv);
      const size_t other = behind_converts(all[0]->operands[0]) == ds ? 1 : 0;
      const auto by = scalar_of(behind_converts(all[0]->operands[other]));
      if (!by || (divides && other == 0)) return false;
      scale *= divides ? 1 / *by : *by;
      ds = all[0];
    }
    if (std::abs(scale - m.scale) > 1e-6 * std::abs(m.scale)) return false;
    for (Instr* u : readers(ds)) {
      if (is_dot(u, false, false) && behind_converts(u->operands[0]) == ds && u->operands[1] == m.k) m.dq = u;
      else if (is_dot(u, true, false) && behind_converts(u->operands[0]) == ds && u->operands[1] == m.q) m.dk = u;
      else return false;
    }
    return m.dq && m.dk;
  }

  static bool put_view(Instr* v, int64_t rows, Attention& a, Instr*& base) {
    Strided s = view_of(v);
    if (s.dims.size() == 3) s.dims.insert(s.dims.begin() + 1, {1, s.dims[1].first * s.dims[1].second});
    if (s.dims.size() != 4 || s.dims[0].first != a.batch || s.dims[1].first != a.heads || s.dims[2].first != rows || s.dims[3].first != a.size)
      return false;
    Attention::View view{s.offset, {}};
    for (size_t d = 0; d < 4; ++d) view.strides[d] = s.dims[d].second;
    const bool aligned = s.offset % kTogether == 0 && view.strides[3] == 1 &&
                         std::all_of(view.strides.begin(), view.strides.begin() + 3, [](int64_t n) { return n % kTogether == 0; });
    if (!aligned) {
      s = dense(v);
      base = v;
      view.offset = 0;
      view.strides = {a.heads * rows * a.size, rows * a.size, a.size, 1};
    } else {
      base = s.base;
    }
    a.views.push_back(view);
    return true;
  }

  static bool fixed(const Instr* v) { return v->type.elements().is_const(); }

  bool fuse(Instr* dot) {
    Match m;
    m.o = dot;
    if (dot->transpose_a || dot->transpose_b || dot->rank() < 3 || dot->rank() > 4 || !fixed(dot)) return false;
    m.v = dot->operands[1];
    m.p = behind_converts(dot->operands[0]);
    Instr* x = scores_of(m.p);
    if (!x || !scores(x, m) || !gradient(m)) return false;
    Attention a;
    const int n = dot->rank();
    a.dtype = dot->type.dtype;
    a.causal = m.causal;
    a.scale = m.scale;
    a.batch = dot->dim(0).value();
    a.heads = n == 4 ? dot->dim(1).value() : 1;
    a.queries = dot->dim(n - 2).value();
    a.size = dot->dim(n - 1).value();
    a.keys = m.k->dim(n - 2).value();
    if (!m.q->dim(n - 1).is(a.size) || m.q->type.dtype != a.dtype || (m.dq && a.keys != a.queries)) return false;
    Instr *q = nullptr, *k = nullptr, *v = nullptr, *d_o = nullptr;
    if (!put_view(m.q, a.queries, a, q) || !put_view(m.k, a.keys, a, k) || !put_view(m.v, a.keys, a, v)) return false;
    const Attention::View out{0, {a.queries * a.heads * a.size, a.size, a.heads * a.size, 1}};
    a.views.push_back(out);
    Attention g = a;
    if (m.dq) {
      g.gradient = true;
      if (!put_view(m.d_o, a.queries, g, d_o)) return false;
      for (int64_t part = 0; part < 3; ++part)
        g.views.push_back({part * a.heads * a.size, {a.keys * 3 * a.heads * a.size, a.size, 3 * a.heads * a.size, 1}});
    }
    if (!serves_(a) || (m.dq && !serves_(g))) return false;

    node_ = dot->node;
    Instr* both = add(dot, Op::kAttention, {}, {q, k, v});
    describe(*both, a);
    both->results = {{a.dtype, {a.batch, a.queries, a.heads, a.size}}, {DType::kFloat, {a.batch, a.heads, a.queries}}};
    Instr *o = get(dot, both, 0), *logs = get(dot, both, 1);
    if (m.dq) {
      Instr* first = m.dv;
      for (Instr* i : {m.dq, m.dk}) {
        if (place(i) < place(first)) first = i;
      }
      Instr* all = add(first, Op::kAttentionGrad, {}, {q, k, v, o, d_o, logs});
      describe(*all, g);
      all->results = {{a.dtype, {a.batch, a.keys, 3, a.heads, a.size}}};
      Instr* packed = get(first, all, 0);
      become_packed({m.dq, m.dk, m.dv}, packed);
      Instr* const parts[] = {m.dq, m.dk, m.dv};
      for (int64_t part = 0; part < 3; ++part) {
        Instr* slice = add(first, Op::kSlice, {a.dtype, {a.batch, a.keys, 1, a.heads, a.size}}, {packed});
        slice->starts = {0, 0, part, 0, 0};
        slice->steps = {1, 1, 1, 1, 1};
        become_heads(parts[part], add(first, Op::kReshape, {a.dtype, {a.batch, a.keys, a.heads, a.size}}, {slice}));
      }
    }
    become_heads(dot, o);
    return true;
  }

  // Of [batch, rows, heads, size], as the product had it.
  static void become_heads(Instr* i, Instr* from) {
    i->op = i->rank() == 3 ? Op::kReshape : Op::kTranspose;
    i->axes = i->rank() == 3 ? std::vector<int>() : std::vector<int>{0, 2, 1, 3};
    i->operands = {from};
    i->transpose_a = i->transpose_b = false;
  }

  // The three gradients one behind the other, [3, batch, heads, rows, size]: the result as it is, transposed.
  void become_packed(const std::array<Instr*, 3>& parts, Instr* packed) {
    const auto it = users_.find(parts[0]);
    if (it == users_.end()) return;
    for (Instr* u : it->second) {
      if (!u || u->op != Op::kReshape) continue;
      for (Instr* c : users_[u]) {
        if (!c || c->op != Op::kConcat || c->axes != std::vector<int>{0} || c->operands.size() != 3 || c->rank() != 5 || !c->dim(0).is(3)) continue;
        bool good = true;
        for (size_t k = 0; k < 3; ++k) good = good && c->operands[k]->op == Op::kReshape && c->operands[k]->operands[0] == parts[k];
        if (!good) continue;
        c->op = Op::kTranspose;
        c->axes = {2, 0, 3, 1, 4};
        c->operands = {packed};
      }
    }
  }

  static void describe(Instr& i, const Attention& a) {
    i.exclusive = a.causal;
    i.steps = {int64_t(a.dtype), a.batch, a.heads, a.queries, a.keys, a.size, std::bit_cast<int64_t>(a.scale)};
    for (const Attention::View& v : a.views) {
      i.interior.push_back(v.offset);
      i.interior.insert(i.interior.end(), v.strides.begin(), v.strides.end());
    }
  }

  size_t place(const Instr* i) const {
    const auto& all = module_.main->instrs;
    return size_t(std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.get() == i; }) - all.begin());
  }
  Instr* add(Instr* before, Op op, Type type, std::vector<Instr*> operands) {
    auto i = new_instr(module_, op, std::move(type), std::move(operands), node_, module_.main.get());
    Instr* out = i.get();
    module_.main->instrs.insert(module_.main->instrs.begin() + long(place(before)), std::move(i));
    return out;
  }
  Instr* get(Instr* before, Instr* of, int index) {
    Instr* i = add(before, Op::kGet, of->results[size_t(index)], {of});
    i->index = index;
    return i;
  }

  Module& module_;
  const std::function<bool(const Attention&)>& serves_;
  std::unordered_map<Instr*, std::vector<Instr*>> users_;
  std::string node_;
};

}  // namespace

bool has_results(Op op) { return op == Op::kSort || op == Op::kAttention || op == Op::kAttentionGrad || op == Op::kWhile || op == Op::kIf; }

bool Attention::operator<(const Attention& o) const {
  const auto all = [](const Attention& a) {
    return std::tuple(int(a.dtype), a.gradient, a.causal, a.scale, a.batch, a.heads, a.queries, a.keys, a.size);
  };
  return all(*this) != all(o) ? all(*this) < all(o) : views < o.views;
}

Attention attention_of(const Instr& i) {
  Attention a;
  a.gradient = i.op == Op::kAttentionGrad;
  a.causal = i.exclusive;
  a.dtype = DType(i.steps[0]);
  a.batch = i.steps[1], a.heads = i.steps[2], a.queries = i.steps[3], a.keys = i.steps[4], a.size = i.steps[5];
  a.scale = std::bit_cast<double>(i.steps[6]);
  for (size_t k = 0; k + 4 < i.interior.size(); k += 5)
    a.views.push_back({i.interior[k], {i.interior[k + 1], i.interior[k + 2], i.interior[k + 3], i.interior[k + 4]}});
  return a;
}

bool fuse_attention(Module& m, const std::function<bool(const Attention&)>& serves) { return Pass(m, serves).run(); }

}  // namespace weft_engine::ir
