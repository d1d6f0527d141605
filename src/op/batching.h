// Batching: the same code for many rows at once. Values of a BatchEmitter carry a row for each run, in a dimension in front that the
// code does not see. Jacobians (a row for each seed of the backward pass) and vectorized maps (a row for each element; trace/vectorize.h)
// are made with it.
//
// How an op runs on such values is its batching rule, written beside it against BatchContext, in the family's file or in
// <family>_batch.cc:
//
//   .batch(batch_leading<1>)
//   r.batch("Tile", [](BatchContext& c) -> Batched { return c.one(c.apply1("Tile", {c.inner(0), c.join({c.list({1}), c.inner(1)})})); });
//
// Elementwise ops (a trait) need none. A rule answers c.refused() where it does not hold, for instance for a shape that differs by row.
#pragma once

#include <optional>

#include "op/emitter.h"
#include "op/op_spec.h"

namespace weft_engine::op {

class Registry;

using Batched = Result<std::vector<Value>>;

class BatchEmitter : public Emitter {
 public:
  // Emits on `base`; `rows` is the length of the dimension in front.
  BatchEmitter(Emitter& base, const Registry& registry, int64_t rows) : base_(base), registry_(registry), rows_(rows) {}
  // A length that is known when it runs: a scalar of int32.
  BatchEmitter(Emitter& base, const Registry& registry, Value rows) : base_(base), registry_(registry), rows_(-1), rows_value_(std::move(rows)) {}

  // `v`, of shape [rows, ...], as a value of the shape behind. A list of tensors (variant) is one whose elements have rows.
  Value batched(const Value& v);
  // The other way; a value without rows is repeated.
  Value unbatched(const Value& v);
  static bool is_batched(const Value& v);
  // As the base knows it: with rows where there are any.
  Value inner(const Value& v) const;

  Emitter& base() const { return base_; }
  std::string gradient_source() const final { return base_.gradient_source(); }
  const Registry& registry() const { return registry_; }
  int64_t num_rows() const { return rows_; }  // -1: known when it runs
  Value rows() const;                         // a scalar of int32

 protected:
  Batched do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) override;
  Result<Value> do_constant(Tensor value) override;
  // What no rule is for, or where the rule refused. Here it is Unimplemented; what knows graphs does better.
  virtual Batched otherwise(std::string_view op, std::span<const Value> inputs, AttrMap attrs);

 private:
  // The op as it is, once for all rows.
  Batched once(std::string_view op, std::span<const Value> inputs, AttrMap attrs);

  Emitter& base_;
  const Registry& registry_;
  const int64_t rows_;
  const Value rows_value_;
};

// The op's rule; null where it runs row by row.
BatchRule batch_rule(const OpSpec& spec);

// One op on values of which some have rows.
class BatchContext {
 public:
  BatchContext(BatchEmitter& emitter, const OpSpec& spec, std::span<const Value> inputs, AttrMap attrs)
      : emitter(emitter), base(emitter.base()), spec(spec), inputs(inputs), attrs(std::move(attrs)) {}

  BatchEmitter& emitter;
  Emitter& base;
  const OpSpec& spec;
  const std::span<const Value> inputs;
  AttrMap attrs;  // as given; a rule changes what the op on all rows needs otherwise

  // ---- results
  Batched one(Value v);  // a value of the base, [rows, ...]
  Batched all(std::vector<Value> out);
  Batched same(const Value& v);        // without rows: the same for all
  Value shared(const Value& v) const;  // one such result among others
  Status refused() const;

  // ---- inputs
  bool has_rows(size_t i) const { return BatchEmitter::is_batched(inputs[i]); }
  bool has_rows_from(size_t i) const;
  Value inner(size_t i) const { return emitter.inner(inputs[i]); }
  std::vector<Value> inner_all() const;
  Value with_rows(size_t i) const;
  PartialShape shape(size_t i) const { return inputs[i].shape(); }  // without the rows
  int rank(size_t i) const;                                         // -1: not known
  Value dims(size_t i, int from = 0, int to = -1) const;            // sizes without the rows, as a vector
  std::optional<std::vector<int64_t>> numbers(size_t i) const;      // of an input without rows, whose value is known
  // Rows in front, then ones, so that the rest has that rank.
  Result<Value> aligned(size_t i, int to) const;
  Value shifted_axes(size_t i) const;  // axes of the op on all rows
  Value row_indices(size_t i) const;   // indices of elements [..., k] as [rows, ..., 1 + k]: the row is the first
  Value fold(size_t i) const;          // [rows, batch, ...] as [rows * batch, ...]
  Value folded_sizes(size_t i) const;  // of an input that is a shape: that of the folded tensor

  // ---- rows
  int64_t rows() const { return emitter.num_rows(); }  // -1: known when it runs
  Value rows_list() const;                             // as a vector of one size
  Value row_numbers(int dims_behind) const;            // 0, 1 ... as [rows, 1, 1 ...]

  // ---- values of the base
  Value list(std::initializer_list<int64_t> v) const;  // int32, as scalar
  Value list(const std::vector<int64_t>& v) const;
  Value scalar(int64_t v) const;
  Value apply1(std::string_view op, std::span<const Value> in, AttrMap a = {});
  Value apply1(std::string_view op, std::initializer_list<Value> in, AttrMap a = {});
  // The op itself, with `attrs` as they are now.
  std::vector<Value> itself(std::span<const Value> in);
  std::vector<Value> itself(std::initializer_list<Value> in);
  Value itself1(std::span<const Value> in);
  Value itself1(std::initializer_list<Value> in);
  // A vector of sizes, one after another, as int32; a constant where all are known.
  Value join(std::initializer_list<Value> sizes) const;
  Value to_front(const Value& v, int axis) const;          // dimension `axis` to the front
  Value unfold(const Value& v, const Value& batch) const;  // fold's other way

  // ---- attributes
  bool flag(const char* name) const;
  int64_t number(const char* name, int64_t otherwise = 0) const;
  std::string text(const char* name) const;
  bool channels_last() const;  // by data_format
  // Without the types of numbers (axes, sizes): what a rule gives in their place is int32, whatever it was.
  AttrMap typeless();
};

// ---- rules that families share -----------------------------------------------------------------------------

// The op works on the last dimensions, whatever is in front: the first `with_rows` inputs get rows (-1: all), the others must have none.
Batched batch_leading(BatchContext& c, int with_rows);
template <int kWithRows>
Batched batch_leading(BatchContext& c) {
  return batch_leading(c, kWithRows);
}
// Inputs that are broadcast against each other.
Batched batch_broadcasting(BatchContext& c);
// Input 0 has rows, input 1 counts its axes: reductions, scans, reversals.
Batched batch_along_axes(BatchContext& c);
// The first inputs have a batch of their own in front: all rows are one larger batch.
Batched batch_folded(BatchContext& c, int folded);
template <int kFolded>
Batched batch_folded(BatchContext& c) {
  return batch_folded(c, kFolded);
}

}  // namespace weft_engine::op
