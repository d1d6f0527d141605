#include "ir/dim.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace weft_engine::ir {
namespace {

// Around the end of their range, as the ops on int64 tensors whose values these may be.
int64_t add(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
int64_t mul(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

int64_t div_down(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return mul(a, -1);
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t mod_down(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// ---- Operands of atoms are there once: equal ones are the same object. A plan's offsets are bounds of sums of bounds ..., which share nearly all of their parts; what walks them meets each part
// once, and comparing two of them looks only where they differ.

bool same(const Dim::Atom& x, const Dim::Atom& y) { return x.kind == y.kind && x.symbol == y.symbol && x.a == y.a && x.b == y.b; }

int order(const Dim& x, const Dim& y);

// Bounds and quotients before symbols. Both have operands of the table.
int order(const Dim::Atom& x, const Dim::Atom& y) {
  if (same(x, y)) return 0;
  const auto place = [](Dim::Kind k) { return k == Dim::Kind::kSymbol ? 5 : int(k); };
  if (x.kind != y.kind) return place(x.kind) < place(y.kind) ? -1 : 1;
  if (x.kind == Dim::Kind::kSymbol) return x.symbol < y.symbol ? -1 : 1;
  if (x.a != y.a) return order(*x.a, *y.a);
  return order(*x.b, *y.b);
}

int order(const Dim::Term& x, const Dim::Term& y) {
  for (size_t i = 0; i < x.atoms.size() && i < y.atoms.size(); ++i) {
    if (const int o = order(x.atoms[i], y.atoms[i])) return o;
  }
  return x.atoms.size() < y.atoms.size() ? -1 : x.atoms.size() > y.atoms.size() ? 1 : 0;
}

int order(const Dim& x, const Dim& y) {
  if (&x == &y) return 0;
  for (size_t i = 0; i < x.terms().size() && i < y.terms().size(); ++i) {
    const Dim::Term &a = x.terms()[i], &b = y.terms()[i];
    if (const int o = order(a, b)) return o;
    if (a.coefficient != b.coefficient) return a.coefficient < b.coefficient ? -1 : 1;
  }
  if (x.terms().size() != y.terms().size()) return x.terms().size() < y.terms().size() ? -1 : 1;
  return x.constant() < y.constant() ? -1 : x.constant() > y.constant() ? 1 : 0;
}

bool same_parts(const Dim::Term& x, const Dim::Term& y) { return std::equal(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(), same); }

class Operands {
 public:
  static Operands& table() {
    static auto* t = new Operands();
    return *t;
  }

  std::shared_ptr<const Dim> one(const Dim& d) {
    const size_t h = hash(d);
    const std::lock_guard lock(mutex_);
    auto& found = all_[h];
    for (const auto& w : found) {
      if (auto there = w.lock(); there && *there == d) return there;
    }
    if (++made_ > most_) {  // those that nobody has any more
      for (auto it = all_.begin(); it != all_.end();) {
        std::erase_if(it->second, [](const auto& w) { return w.expired(); });
        it = it->second.empty() && it->first != h ? all_.erase(it) : std::next(it);
      }
      made_ = all_.size();
      most_ = 2 * made_ + 1024;
    }
    auto made = std::make_shared<const Dim>(d);
    all_[h].push_back(made);
    return made;
  }

 private:
  static size_t hash(const Dim& d) {
    size_t h = size_t(d.constant());
    const auto add = [&h](size_t v) { h = (h ^ v) * 1099511628211u, h ^= h >> 31; };
    for (const Dim::Term& t : d.terms()) {
      add(size_t(t.coefficient));
      for (const Dim::Atom& a : t.atoms) {
        add(size_t(a.kind) << 32 | size_t(a.symbol));
        add(reinterpret_cast<size_t>(a.a.get()));
        add(reinterpret_cast<size_t>(a.b.get()));
      }
    }
    return h;
  }

  std::mutex mutex_;
  std::unordered_map<size_t, std::vector<std::weak_ptr<const Dim>>> all_;
  size_t made_ = 0, most_ = 1024;
};

std::shared_ptr<const Dim> operand(const Dim& d) { return Operands::table().one(d); }

bool is_flat(const Dim& d) {
  for (const Dim::Term& t : d.terms()) {
    for (const Dim::Atom& a : t.atoms) {
      if (a.kind != Dim::Kind::kSymbol) return false;
    }
  }
  return true;
}

// What is known of operands that have operands themselves, for one walk.
template <class T>
using Seen = std::unordered_map<const Dim*, T>;
template <class T, class F>
T once(Seen<T>& seen, const Dim& d, const F& f) {
  if (is_flat(d)) return f(d);
  if (const auto it = seen.find(&d); it != seen.end()) return it->second;
  T v = f(d);
  seen.emplace(&d, v);
  return v;
}

}  // namespace

std::string Dim::key(const Atom& a) {
  if (a.kind == Kind::kSymbol) return "s" + std::to_string(a.symbol);
  static const char* const kNames[] = {"", "div", "mod", "min", "max"};
  return std::string(kNames[int(a.kind)]) + "(" + a.a->to_string() + ", " + a.b->to_string() + ")";
}

std::string Dim::key(const Term& t) {
  std::string k;
  for (const Atom& a : t.atoms) k += (k.empty() ? "" : "*") + key(a);
  return k;
}

std::string Dim::to_string() const {
  std::string out;
  for (const Term& t : terms_) {
    if (!out.empty()) out += " + ";
    if (t.coefficient != 1) out += std::to_string(t.coefficient) + "*";
    out += key(t);
  }
  if (out.empty() || constant_ != 0) out += (out.empty() ? "" : " + ") + std::to_string(constant_);
  return out;
}

Dim Dim::of_atom(Atom a) {
  Dim d;
  d.terms_.push_back({1, {std::move(a)}});
  return d;
}

Dim Dim::symbol(int id) { return of_atom({Kind::kSymbol, id, nullptr, nullptr}); }

int Dim::as_symbol() const {
  if (constant_ != 0 || terms_.size() != 1) return -1;
  const Term& t = terms_[0];
  return t.coefficient == 1 && t.atoms.size() == 1 && t.atoms[0].kind == Kind::kSymbol ? t.atoms[0].symbol : -1;
}

bool Dim::uses(int symbol) const {
  Seen<bool> seen;
  std::function<bool(const Dim&)> walk = [&](const Dim& d) {
    for (const Term& t : d.terms_) {
      for (const Atom& a : t.atoms) {
        if (a.kind == Kind::kSymbol ? a.symbol == symbol : once(seen, *a.a, walk) || once(seen, *a.b, walk)) return true;
      }
    }
    return false;
  };
  return walk(*this);
}

bool Dim::nonnegative() const {
  Seen<bool> seen;
  std::function<bool(const Dim&)> walk = [&](const Dim& d) {
    if (d.constant_ < 0) return false;
    for (const Term& t : d.terms_) {
      if (t.coefficient < 0) return false;
      for (const Atom& a : t.atoms) {
        if (a.kind == Kind::kSymbol) continue;
        const bool first = once(seen, *a.a, walk);
        if (a.kind == Kind::kMax ? !(first || once(seen, *a.b, walk)) : !(first && once(seen, *a.b, walk))) return false;
      }
    }
    return true;
  };
  return walk(*this);
}

void Dim::add_term(Term t) {
  if (t.coefficient == 0) return;
  if (t.atoms.empty()) {
    constant_ = add(constant_, t.coefficient);
    return;
  }
  auto it = std::lower_bound(terms_.begin(), terms_.end(), t, [](const Term& x, const Term& y) { return order(x, y) < 0; });
  if (it != terms_.end() && same_parts(*it, t)) {
    it->coefficient = add(it->coefficient, t.coefficient);
    if (it->coefficient == 0) terms_.erase(it);
  } else {
    terms_.insert(it, std::move(t));
  }
}

Dim operator+(const Dim& a, const Dim& b) {
  Dim d = a;
  d.constant_ = add(d.constant_, b.constant_);
  for (const auto& t : b.terms_) d.add_term(t);
  return d;
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * Dim(-1); }

Dim operator*(const Dim& a, const Dim& b) {
  Dim d(mul(a.constant_, b.constant_));
  auto scaled = [&](const Dim& x, int64_t c) {
    for (Dim::Term t : x.terms_) {
      t.coefficient = mul(t.coefficient, c);
      d.add_term(std::move(t));
    }
  };
  scaled(a, b.constant_);
  scaled(b, a.constant_);
  for (const auto& x : a.terms_) {
    for (const auto& y : b.terms_) {
      Dim::Term t{mul(x.coefficient, y.coefficient), x.atoms};
      t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(t.atoms.begin(), t.atoms.end(), [](const Dim::Atom& p, const Dim::Atom& q) { return order(p, q) < 0; });
      d.add_term(std::move(t));
    }
  }
  return d;
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.constant_ != b.constant_ || a.terms_.size() != b.terms_.size()) return false;
  for (size_t i = 0; i < a.terms_.size(); ++i) {
    if (a.terms_[i].coefficient != b.terms_[i].coefficient || !same_parts(a.terms_[i], b.terms_[i])) return false;
  }
  return true;
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return div_down(a.constant_, b.constant_);
  if (b.is(1)) return a;
  if (a == b) return 1;
  if (a.is(0)) return 0;
  if (b.is_const() && b.constant_ > 0) {
    // What divides without rest comes out in front.
    Dim whole(div_down(a.constant_, b.constant_)), rest(mod_down(a.constant_, b.constant_));
    for (Dim::Term t : a.terms_) {
      if (t.coefficient % b.constant_ == 0) {
        t.coefficient /= b.constant_;
        whole.add_term(std::move(t));
      } else {
        rest.add_term(std::move(t));
      }
    }
    if (rest.is_const()) return whole;
    return whole + Dim::of_atom({Dim::Kind::kFloorDiv, 0, operand(rest), operand(b)});
  }
  if (b.constant_ == 0 && b.terms_.size() == 1 && a.constant_ == 0) {
    // By one product of symbols, which every term holds.
    const Dim::Term& by = b.terms_[0];
    Dim q;
    bool exact = true;
    for (Dim::Term t : a.terms_) {
      if (t.coefficient % by.coefficient != 0) exact = false;
      for (const Dim::Atom& x : by.atoms) {
        auto it = std::find_if(t.atoms.begin(), t.atoms.end(), [&](const Dim::Atom& y) { return same(x, y); });
        if (it == t.atoms.end()) {
          exact = false;
          break;
        }
        t.atoms.erase(it);
      }
      if (!exact) break;
      t.coefficient /= by.coefficient;
      q.add_term(std::move(t));
    }
    if (exact) return q;
  }
  return Dim::of_atom({Dim::Kind::kFloorDiv, 0, operand(a), operand(b)});
}

Dim floor_mod(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return mod_down(a.constant_, b.constant_);
  if (b.is(1) || a == b) return 0;
  const Dim q = floor_div(a, b);
  if (q * b == a) return 0;
  return Dim::of_atom({Dim::Kind::kFloorMod, 0, operand(a), operand(b)});
}

Dim min(const Dim& a, const Dim& b) {
  const Dim d = b - a;
  if (d.nonnegative()) return a;
  if ((a - b).nonnegative()) return b;
  const bool swap = order(b, a) < 0;
  return Dim::of_atom({Dim::Kind::kMin, 0, operand(swap ? b : a), operand(swap ? a : b)});
}

Dim max(const Dim& a, const Dim& b) {
  const Dim d = a - b;
  if (d.nonnegative()) return a;
  if ((b - a).nonnegative()) return b;
  const bool swap = order(b, a) < 0;
  return Dim::of_atom({Dim::Kind::kMax, 0, operand(swap ? b : a), operand(swap ? a : b)});
}

Dim ceil_div(const Dim& a, const Dim& b) { return floor_div(a + b - Dim(1), b); }

Dim product(std::span<const Dim> dims) {
  Dim p(1);
  for (const Dim& d : dims) p = p * d;
  return p;
}

int64_t Dim::evaluate(std::span<const int64_t> symbols) const {
  Seen<int64_t> seen;
  const auto walk = [&](const auto& self, const Dim& d) -> int64_t {
    const auto operand_of = [&](const Dim& x) { return once(seen, x, [&](const Dim& y) { return self(self, y); }); };
    int64_t sum = d.constant_;
    for (const Term& t : d.terms_) {
      int64_t p = t.coefficient;
      for (const Atom& x : t.atoms) {
        if (x.kind == Kind::kSymbol) {
          p = mul(p, size_t(x.symbol) < symbols.size() ? symbols[size_t(x.symbol)] : 0);
          continue;
        }
        const int64_t a = operand_of(*x.a), b = operand_of(*x.b);
        switch (x.kind) {
          case Kind::kFloorDiv: p = mul(p, div_down(a, b)); break;
          case Kind::kFloorMod: p = mul(p, mod_down(a, b)); break;
          case Kind::kMin: p = mul(p, std::min(a, b)); break;
          default: p = mul(p, std::max(a, b)); break;
        }
      }
      sum = add(sum, p);
    }
    return sum;
  };
  return walk(walk, *this);
}

Dim Dim::substitute(const std::function<std::optional<Dim>(int)>& with) const {
  Seen<Dim> seen;
  const auto walk = [&](const auto& self, const Dim& d) -> Dim {
    const auto operand_of = [&](const Dim& x) { return once(seen, x, [&](const Dim& y) { return self(self, y); }); };
    Dim sum(d.constant_);
    for (const Term& t : d.terms_) {
      Dim p(t.coefficient);
      for (const Atom& x : t.atoms) {
        if (x.kind == Kind::kSymbol) {
          const auto to = with(x.symbol);
          p = p * (to ? *to : symbol(x.symbol));
          continue;
        }
        const Dim a = operand_of(*x.a), b = operand_of(*x.b);
        switch (x.kind) {
          case Kind::kFloorDiv: p = p * floor_div(a, b); break;
          case Kind::kFloorMod: p = p * floor_mod(a, b); break;
          case Kind::kMin: p = p * min(a, b); break;
          default: p = p * max(a, b); break;
        }
      }
      sum = sum + p;
    }
    return sum;
  };
  return walk(walk, *this);
}

}  // namespace weft_engine::ir
