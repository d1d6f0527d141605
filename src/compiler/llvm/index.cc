// Arithmetic of places. Loops may run over several dimensions as one; what an element asks for is then a quotient or a rest of the
// loop's variable, and putting such an index together again gives the variable itself: the rules here see to that, so that nothing
// else has to know how loops were laid out.
#include <array>

#include "compiler/llvm/code_emitter_impl.h"

namespace weft_engine::compiler {
namespace {

using V = llvm::Value*;
enum Op { kNone, kAdd, kSub, kMul, kDiv, kMod, kClamp };

const llvm::ConstantInt* constant(V v) { return llvm::dyn_cast<llvm::ConstantInt>(v); }
bool is(V v, int64_t n) {
  const llvm::ConstantInt* c = constant(v);
  return c && c->getSExtValue() == n;
}

}  // namespace

// The innermost scope that a value belongs to.
int depth_of(CodeEmitter::Impl::Frame& f, V v) {
  if (llvm::isa<llvm::Constant>(v) || llvm::isa<llvm::Argument>(v)) return 0;
  const auto it = f.depth.find(v);
  return it == f.depth.end() ? int(f.scopes.size()) - 1 : it->second;
}

int place_for(CodeEmitter::Impl::Frame& f, std::span<const V> from) {
  int depth = 0;
  for (V v : from) depth = std::max(depth, depth_of(f, v));
  for (int k = f.level; k > depth; --k) {
    if (f.scopes[size_t(k)].fixed) return k;
  }
  return std::min(depth, f.level);
}

void push_scope(CodeEmitter::Impl::Frame& f, llvm::Instruction* entry, bool fixed) {
  f.scopes.emplace_back();
  f.scopes.back().entry = entry;
  f.scopes.back().fixed = fixed;
  f.level = int(f.scopes.size()) - 1;
}

void pop_scope(CodeEmitter::Impl::Frame& f) {
  f.scopes.pop_back();
  f.level = int(f.scopes.size()) - 1;
}

// Moves the builder to the end of scope `depth` for as long as it lives.
Hoist::Hoist(CodeEmitter& e, int depth) : guard(e.b), frame(e.impl().frame), group(frame.access_group), level(frame.level) {
  if (depth < level) {
    e.b.SetInsertPoint(frame.scopes[size_t(depth) + 1].entry);
    frame.level = depth;
    frame.access_group = nullptr;
  }
}
Hoist::~Hoist() {
  frame.level = level;
  frame.access_group = group;
}

namespace {

bool below(CodeEmitter::Impl::Frame& f, V x, V limit) {
  if (const auto* c = constant(x)) {
    const auto* l = constant(limit);
    return l && c->getSExtValue() >= 0 && c->getSExtValue() < l->getSExtValue();
  }
  const auto it = f.facts.find(x);
  if (it == f.facts.end() || !it->second.bound) return false;
  V bound = it->second.bound;
  if (bound == limit) return true;
  const auto *p = constant(bound), *q = constant(limit);
  return p && q && p->getSExtValue() <= q->getSExtValue();
}

V arithmetic(CodeEmitter& e, int op, V a, V c, const std::function<V()>& write) {
  CodeEmitter::Impl::Frame& f = e.impl().frame;
  const int depth = place_for(f, std::array{a, c});
  const auto key = std::make_tuple(op, a, c);
  for (int d = f.level; d >= 0; --d) {
    auto& known = f.scopes[size_t(d)].arithmetic;
    if (auto it = known.find(key); it != known.end()) return it->second;
  }
  V v = nullptr;
  {
    Hoist hoist(e, depth);
    v = write();
  }
  f.depth[v] = depth;
  f.scopes[size_t(depth)].arithmetic[key] = v;
  if (!llvm::isa<llvm::Constant>(v)) f.facts[v] = {op, a, c, op == kMod || op == kClamp ? c : nullptr};
  return v;
}

}  // namespace

CodeEmitter::V CodeEmitter::add(V a, V c) {
  Impl::Frame& f = impl_->frame;
  if (is(a, 0)) return c;
  if (is(c, 0)) return a;
  if (constant(a) && constant(c)) return i64(constant(a)->getSExtValue() + constant(c)->getSExtValue());
  if (constant(a)) std::swap(a, c);
  const auto fact = [&](V v) {
    const auto it = f.facts.find(v);
    return it == f.facts.end() ? Impl::Fact() : it->second;
  };
  const Impl::Fact fa = fact(a), fc = fact(c);
  // (m / n) * n + m % n
  if (fa.op == kMul && fc.op == kMod && fa.c == fc.c) {
    const Impl::Fact q = fact(fa.a);
    if (q.op == kDiv && q.a == fc.a && q.c == fc.c) return fc.a;
  }
  if (constant(c) && fa.op == kAdd && constant(fa.c)) return add(fa.a, add(fa.c, c));
  return arithmetic(*this, kAdd, a, c, [&] { return b.CreateNSWAdd(a, c); });
}

CodeEmitter::V CodeEmitter::sub(V a, V c) {
  if (is(c, 0)) return a;
  if (const auto* n = constant(c)) return add(a, i64(-n->getSExtValue()));
  if (a == c) return i64(0);
  return arithmetic(*this, kSub, a, c, [&] { return b.CreateNSWSub(a, c); });
}

CodeEmitter::V CodeEmitter::mul(V a, V c) {
  if (is(a, 0) || is(c, 0)) return i64(0);
  if (is(a, 1)) return c;
  if (is(c, 1)) return a;
  if (constant(a) && constant(c)) return i64(constant(a)->getSExtValue() * constant(c)->getSExtValue());
  if (constant(a)) std::swap(a, c);
  if (constant(c)) {
    const auto it = impl_->frame.facts.find(a);
    if (it != impl_->frame.facts.end() && it->second.op == kMul && constant(it->second.c)) {
      const Impl::Fact x = it->second;
      return mul(x.a, mul(x.c, c));
    }
  }
  return arithmetic(*this, kMul, a, c, [&] { return b.CreateNSWMul(a, c); });
}

CodeEmitter::V CodeEmitter::div(V a, V c) {
  Impl::Frame& f = impl_->frame;
  if (is(c, 1) || is(a, 0)) return a;
  if (constant(a) && constant(c)) return i64(constant(c)->isZero() ? 0 : constant(a)->getSExtValue() / constant(c)->getSExtValue());
  if (below(f, a, c)) return i64(0);
  if (const auto it = f.facts.find(a); it != f.facts.end()) {
    const Impl::Fact x = it->second;
    if (x.op == kMul && x.c == c) return x.a;
    if (x.op == kAdd) {
      if (const auto m = f.facts.find(x.a); m != f.facts.end() && m->second.op == kMul) {
        const Impl::Fact y = m->second;
        if (y.c == c && below(f, x.c, c)) return y.a;
        const auto *k = constant(y.c), *n = constant(c);
        if (k && n && n->getSExtValue() > 0 && k->getSExtValue() % n->getSExtValue() == 0) {
          return add(mul(y.a, i64(k->getSExtValue() / n->getSExtValue())), div(x.c, c));
        }
      }
    }
  }
  return arithmetic(*this, kDiv, a, c, [&] { return b.CreateUDiv(a, constant(c) ? c : b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, c, i64(1))); });
}

CodeEmitter::V CodeEmitter::mod(V a, V c) {
  Impl::Frame& f = impl_->frame;
  if (is(c, 1) || is(a, 0)) return i64(0);
  if (constant(a) && constant(c)) return i64(constant(c)->isZero() ? 0 : constant(a)->getSExtValue() % constant(c)->getSExtValue());
  if (below(f, a, c)) return a;
  if (const auto it = f.facts.find(a); it != f.facts.end()) {
    const Impl::Fact x = it->second;
    if (x.op == kMul && x.c == c) return i64(0);
    if (x.op == kAdd) {
      if (const auto m = f.facts.find(x.a); m != f.facts.end() && m->second.op == kMul) {
        const Impl::Fact y = m->second;
        if (y.c == c) return mod(x.c, c);
        const auto *k = constant(y.c), *n = constant(c);
        if (k && n && n->getSExtValue() > 0 && k->getSExtValue() % n->getSExtValue() == 0) return mod(x.c, c);
      }
    }
  }
  return arithmetic(*this, kMod, a, c, [&] { return b.CreateURem(a, constant(c) ? c : b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, c, i64(1))); });
}

CodeEmitter::V CodeEmitter::clamp(V x, V high) {
  if (below(impl_->frame, x, high)) return x;
  if (const auto *c = constant(x), *h = constant(high); c && h) {
    return i64(std::max<int64_t>(0, std::min(c->getSExtValue(), h->getSExtValue() - 1)));
  }
  return arithmetic(*this, kClamp, x, high, [&] {
    V top = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, b.CreateNSWSub(high, i64(1)));
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, top, i64(0));
  });
}

CodeEmitter::V CodeEmitter::fits(const ir::Type& part, const ir::Type& whole) {
  V all = nullptr;
  for (size_t d = 0; d < part.dims.size(); ++d) {
    const ir::Dim rest = whole.dims[d] - part.dims[d];
    if (rest.nonnegative()) continue;
    V one = b.CreateICmpSGE(dim(whole.dims[d]), dim(part.dims[d]));
    all = all ? b.CreateAnd(all, one) : one;
  }
  return all;
}

CodeEmitter::Index CodeEmitter::places(V linear, std::span<const ir::Dim> dims) {
  Index index(dims.size());
  size_t first = 0;  // the first dimension that is not 1: what is left over is its place
  while (first < dims.size() && dims[first].is(1)) ++first;
  V rest = linear;
  for (size_t k = dims.size(); k-- > 0;) {
    if (dims[k].is(1)) {
      index[k] = i64(0);
    } else if (k == first) {
      index[k] = rest;
      if (!constant(rest)) {
        Impl::Fact& fact = impl_->frame.facts[rest];
        if (!fact.bound) fact.bound = dim(dims[k]);
      }
    } else {
      V n = dim(dims[k]);
      index[k] = mod(rest, n);
      rest = div(rest, n);
    }
  }
  return index;
}

CodeEmitter::V CodeEmitter::linear(std::span<const ir::Dim> dims, std::span<const V> index) {
  const auto& facts = impl_->frame.facts;
  const auto is_of = [&](V v, int op, V a, V c) {
    const auto it = facts.find(v);
    return it != facts.end() && it->second.op == op && (!a || it->second.a == a) && it->second.c == c;
  };
  // From the innermost: places that were taken apart by quotients and rests of one number are that number again.
  struct Part {
    V place;
    ir::Dim size;
  };
  std::vector<Part> parts;
  for (size_t k = dims.size(); k-- > 0;) {
    if (dims[k].is(1)) continue;
    Part part{index[k], dims[k]};
    V n = dim(dims[k]);
    if (is_of(index[k], kMod, nullptr, n)) {
      V whole = facts.at(index[k]).a, source = whole;
      // `source` over n is what the next one to the left must be made of.
      size_t left = k;
      bool all = false;
      while (!all) {
        size_t next = left;
        while (next > 0 && dims[next - 1].is(1)) --next;
        if (next == 0) break;
        --next;
        V quotient = index[next];
        V size = dim(dims[next]);
        const bool rest = !is_of(quotient, kDiv, source, n) && is_of(quotient, kMod, nullptr, size) && is_of(facts.at(quotient).a, kDiv, source, n);
        if (rest) quotient = facts.at(quotient).a;
        else if (!is_of(quotient, kDiv, source, n)) break;
        part.size = part.size * dims[next];
        left = next;
        source = quotient;
        n = size;
        all = !rest;
      }
      if (left != k) part.place = all ? whole : mod(whole, dim(part.size));
      k = left;
    }
    parts.push_back(part);
  }
  V sum = i64(0);
  for (size_t k = parts.size(); k-- > 0;) sum = add(mul(sum, dim(parts[k].size)), parts[k].place);
  if (dims.size() > 1 && !constant(sum)) {
    Impl::Fact& fact = impl_->frame.facts[sum];
    if (!fact.bound) fact.bound = dim(ir::product(dims));
  }
  return sum;
}

CodeEmitter::V CodeEmitter::offset(const ir::Type& t, const Index& index) { return linear(t.dims, index); }

}  // namespace weft_engine::compiler
