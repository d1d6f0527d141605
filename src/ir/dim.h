// Dim: a size that is known when compiling, or an integer polynomial over symbols (the open dimensions of a model:
// batch, time) that is known when the code is called. Kept in one form, so that equal sizes compare equal.
// Symbols stand for sizes and are never negative.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft_engine::ir {

class Dim {
 public:
  enum class Kind : uint8_t { kSymbol, kFloorDiv, kFloorMod, kMin, kMax };
  // What cannot be taken apart further.
  struct Atom {
    Kind kind = Kind::kSymbol;
    int symbol = 0;                   // kSymbol
    std::shared_ptr<const Dim> a, b;  // the others
  };
  // coefficient * the product of atoms; the constant term has no atoms.
  struct Term {
    int64_t coefficient = 0;
    std::vector<Atom> atoms;  // in order
  };

  Dim() = default;
  Dim(int64_t constant) : constant_(constant) {}  // NOLINT: numbers are sizes
  Dim(int constant) : constant_(constant) {}      // NOLINT
  static Dim symbol(int id);

  bool is_const() const { return terms_.empty(); }
  bool is(int64_t n) const { return is_const() && constant_ == n; }
  int64_t value() const { return constant_; }  // of a constant
  int64_t constant() const { return constant_; }
  const std::vector<Term>& terms() const { return terms_; }  // without the constant one
  // The symbol that this is, or -1.
  int as_symbol() const;
  bool uses(int symbol) const;
  // Never negative, as far as one can see.
  bool nonnegative() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  // Rounds down; by zero: the constant 0.
  friend Dim floor_div(const Dim& a, const Dim& b);
  friend Dim floor_mod(const Dim& a, const Dim& b);
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);

  int64_t evaluate(std::span<const int64_t> symbols) const;
  // With symbol i replaced by with(i) where that gives something.
  Dim substitute(const std::function<std::optional<Dim>(int)>& with) const;
  // "4*s0*s1 + 3"
  std::string to_string() const;

 private:
  static Dim of_atom(Atom a);
  static std::string key(const Atom& a);
  static std::string key(const Term& t);
  void add_term(Term t);
  int64_t constant_ = 0;
  std::vector<Term> terms_;  // by key; no zero coefficients
};

Dim floor_div(const Dim& a, const Dim& b);
Dim floor_mod(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
Dim ceil_div(const Dim& a, const Dim& b);
Dim product(std::span<const Dim> dims);

}  // namespace weft_engine::ir
