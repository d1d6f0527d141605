// Many runs of the same code at once: values that carry a row for each run, in a dimension in front that the code does not see. Jacobians
// (a row for each seed of the walk back) and vectorized maps (a row for each element; trace/vectorize.h) are made with it. An op without a
// rule here is `otherwise`, which refuses; what knows graphs does better.
#pragma once

#include "op/emitter.h"

namespace weft::autodiff {

using namespace weft::op;

class VectorEmitter : public Emitter {
 public:
  // Emits on `base`; `rows` is the length of the dimension in front.
  VectorEmitter(Emitter& base, int64_t rows) : base_(base), rows_(rows) {}
  // A length that is known when it runs: a scalar of int32.
  VectorEmitter(Emitter& base, Value rows) : base_(base), rows_(-1), rows_value_(std::move(rows)) {}

  // `v`, of shape [rows, ...], as a value of the shape behind. A list of tensors (variant) is one whose elements have rows.
  Value batched(const Value& v);
  // The other way; a value without rows is repeated.
  Value unbatched(const Value& v);
  static bool is_batched(const Value& v);
  static bool has_rule(std::string_view op);
  // As the base knows it: with rows where there are any.
  Value inner(const Value& v) const;

  Emitter& base() const { return base_; }
  int64_t num_rows() const { return rows_; }  // -1: known when it runs
  Value rows() const;                         // a scalar of int32

 protected:
  Result<std::vector<Value>> do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) override;
  Result<Value> do_constant(Tensor value) override;
  // What no rule is for, or where the rule does not hold (a shape that differs by row ...).
  virtual Result<std::vector<Value>> otherwise(std::string_view op, std::span<const Value> inputs, AttrMap attrs);
  // The op as it is, once for all rows.
  Result<std::vector<Value>> once(std::string_view op, std::span<const Value> inputs, AttrMap attrs);

 private:
  friend class VectorCall;
  Emitter& base_;
  const int64_t rows_;
  const Value rows_value_;
};

}  // namespace weft::autodiff
