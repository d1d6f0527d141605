// Emitter: "apply this op to these values". An eager one runs the op, a graph one adds a node; gradients,
// layers and optimisers are written once against it.
//
// Code that composes many ops would drown in checks, so an Emitter remembers the first error, gives empty
// values from then on, and is asked once at the end: WEFT_RETURN_IF_ERROR(emitter.take_status()).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "op/attr_value.h"

namespace weft_engine::op {

class Emitter;

// A tensor as its Emitter knows it: a handle, or an output of a node. Counted by references.
class ValueRep {
 public:
  virtual ~ValueRep() = default;
  virtual DType dtype() const = 0;
  virtual PartialShape shape() const = 0;      // as far as it is known now
  virtual const Tensor* constant() const = 0;  // the value, where it is known now; else null
  virtual Emitter* owner() const { return nullptr; }  // of an output of a node: what adds to that graph; null for a value by itself
  void add_ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void drop_ref() {
    if (refs_.load(std::memory_order_acquire) == 1 || refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  std::atomic<int> refs_{1};
};

// What the Emitter passes around: nothing, a tensor, or slices of one (IndexedSlices: the gradient of a gather),
// which become dense only where someone needs it.
class Value {
 public:
  Value() = default;
  Value(Emitter& emitter, RefPtr<ValueRep> rep) : emitter_(&emitter), rep_(std::move(rep)) {}
  // `values[i]` belongs to row indices[i] of a tensor of shape dense_shape; rows may repeat and are summed.
  static Value slices(Value values, Value indices, Value dense_shape);

  bool valid() const { return rep_ || slices_; }
  explicit operator bool() const { return valid(); }
  bool is_slices() const { return slices_ != nullptr; }
  Emitter& emitter() const { return *emitter_; }
  DType dtype() const;
  PartialShape shape() const;
  const Tensor* constant() const { return rep_ ? rep_->constant() : nullptr; }
  ValueRep* rep() const { return rep_.get(); }
  // Of slices.
  const Value& slice_values() const;
  const Value& slice_indices() const;
  const Value& slice_dense_shape() const;
  // Itself, or the sum of its slices as a tensor.
  Value dense() const;

 private:
  struct Slices;
  Emitter* emitter_ = nullptr;
  RefPtr<ValueRep> rep_;
  std::shared_ptr<const Slices> slices_;
};

class Emitter {
 public:
  virtual ~Emitter() = default;

  // The outputs of an op; slices among the inputs are made dense. Type and count attributes are inferred from the inputs.
  std::vector<Value> apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs = {});
  std::vector<Value> apply(std::string_view op, std::initializer_list<Value> inputs, AttrMap attrs = {}) {
    return apply(op, std::span<const Value>(inputs.begin(), inputs.size()), std::move(attrs));
  }
  // Of an op with one output (or its first).
  Value one(std::string_view op, std::initializer_list<Value> inputs, AttrMap attrs = {});
  Value constant(Tensor value);

  // Tells the arrays of gradients that are made here from those of other backward passes (the attribute "source" of the ops that make them).
  virtual std::string gradient_source() const { return {}; }

  void fail(Status s) {
    if (status_.ok()) status_ = std::move(s);
  }
  bool failed() const { return !status_.ok(); }
  // The first error, which is then forgotten.
  Status take_status() { return std::exchange(status_, Status()); }

 protected:
  virtual Result<std::vector<Value>> do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) = 0;
  virtual Result<Value> do_constant(Tensor value) = 0;

 private:
  Status status_;
};

}  // namespace weft_engine::op
