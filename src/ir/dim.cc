#include "ir/dim.h"

#include <algorithm>

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
  for (const Term& t : terms_) {
    for (const Atom& a : t.atoms) {
      if (a.kind == Kind::kSymbol ? a.symbol == symbol : a.a->uses(symbol) || a.b->uses(symbol)) return true;
    }
  }
  return false;
}

bool Dim::nonnegative() const {
  if (constant_ < 0) return false;
  for (const Term& t : terms_) {
    if (t.coefficient < 0) return false;
    for (const Atom& a : t.atoms) {
      if (a.kind == Kind::kSymbol) continue;
      if (a.kind == Kind::kMax ? !(a.a->nonnegative() || a.b->nonnegative()) : !(a.a->nonnegative() && a.b->nonnegative())) return false;
    }
  }
  return true;
}

void Dim::add_term(Term t) {
  if (t.coefficient == 0) return;
  if (t.atoms.empty()) {
    constant_ = add(constant_, t.coefficient);
    return;
  }
  const std::string k = key(t);
  auto it = std::lower_bound(terms_.begin(), terms_.end(), k, [](const Term& x, const std::string& y) { return key(x) < y; });
  if (it != terms_.end() && key(*it) == k) {
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
      std::sort(t.atoms.begin(), t.atoms.end(), [](const Dim::Atom& p, const Dim::Atom& q) { return Dim::key(p) < Dim::key(q); });
      d.add_term(std::move(t));
    }
  }
  return d;
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.constant_ != b.constant_ || a.terms_.size() != b.terms_.size()) return false;
  for (size_t i = 0; i < a.terms_.size(); ++i) {
    if (a.terms_[i].coefficient != b.terms_[i].coefficient || Dim::key(a.terms_[i]) != Dim::key(b.terms_[i])) return false;
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
    return whole + Dim::of_atom({Dim::Kind::kFloorDiv, 0, std::make_shared<Dim>(rest), std::make_shared<Dim>(b)});
  }
  if (b.constant_ == 0 && b.terms_.size() == 1 && a.constant_ == 0) {
    // By one product of symbols, which every term holds.
    const Dim::Term& by = b.terms_[0];
    Dim q;
    bool exact = true;
    for (Dim::Term t : a.terms_) {
      if (t.coefficient % by.coefficient != 0) exact = false;
      for (const Dim::Atom& x : by.atoms) {
        auto it = std::find_if(t.atoms.begin(), t.atoms.end(), [&](const Dim::Atom& y) { return Dim::key(x) == Dim::key(y); });
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
  return Dim::of_atom({Dim::Kind::kFloorDiv, 0, std::make_shared<Dim>(a), std::make_shared<Dim>(b)});
}

Dim floor_mod(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return mod_down(a.constant_, b.constant_);
  if (b.is(1) || a == b) return 0;
  const Dim q = floor_div(a, b);
  if (q * b == a) return 0;
  return Dim::of_atom({Dim::Kind::kFloorMod, 0, std::make_shared<Dim>(a), std::make_shared<Dim>(b)});
}

Dim min(const Dim& a, const Dim& b) {
  const Dim d = b - a;
  if (d.nonnegative()) return a;
  if ((a - b).nonnegative()) return b;
  const bool swap = b.to_string() < a.to_string();
  return Dim::of_atom({Dim::Kind::kMin, 0, std::make_shared<Dim>(swap ? b : a), std::make_shared<Dim>(swap ? a : b)});
}

Dim max(const Dim& a, const Dim& b) {
  const Dim d = a - b;
  if (d.nonnegative()) return a;
  if ((b - a).nonnegative()) return b;
  const bool swap = b.to_string() < a.to_string();
  return Dim::of_atom({Dim::Kind::kMax, 0, std::make_shared<Dim>(swap ? b : a), std::make_shared<Dim>(swap ? a : b)});
}

Dim ceil_div(const Dim& a, const Dim& b) { return floor_div(a + b - Dim(1), b); }

Dim product(std::span<const Dim> dims) {
  Dim p(1);
  for (const Dim& d : dims) p = p * d;
  return p;
}

int64_t Dim::evaluate(std::span<const int64_t> symbols) const {
  int64_t sum = constant_;
  for (const Term& t : terms_) {
    int64_t p = t.coefficient;
    for (const Atom& x : t.atoms) {
      if (x.kind == Kind::kSymbol) {
        p = mul(p, size_t(x.symbol) < symbols.size() ? symbols[size_t(x.symbol)] : 0);
        continue;
      }
      const int64_t a = x.a->evaluate(symbols), b = x.b->evaluate(symbols);
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
}

Dim Dim::substitute(const std::function<std::optional<Dim>(int)>& with) const {
  Dim sum(constant_);
  for (const Term& t : terms_) {
    Dim p(t.coefficient);
    for (const Atom& x : t.atoms) {
      if (x.kind == Kind::kSymbol) {
        const auto to = with(x.symbol);
        p = p * (to ? *to : symbol(x.symbol));
        continue;
      }
      const Dim a = x.a->substitute(with), b = x.b->substitute(with);
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
}

}  // namespace weft_engine::ir
