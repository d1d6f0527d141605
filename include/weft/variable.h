// weft::Variable: a tensor that changes. A handle: copies mean the same variable, which goes when the last one does.
//
//   weft::Variable w(weft::zeros({784, 10}), {.name = "w"});
//   w.assign_sub(0.1f * gradient);
//   weft::Tensor y = weft::matmul(x, w);
//
// Works the same inside weft::function, where it is captured.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/tensor.h"

namespace weft_engine::trace {
class TrackableState;
class VariableState;
}  // namespace weft_engine::trace

namespace weft {

// When copies on several devices are brought together, and how. Kept and saved with the variable.
enum class VariableSynchronization : int { automatic = 0, none = 1, on_write = 2, on_read = 3 };
enum class VariableAggregation : int { none = 0, sum = 1, mean = 2, only_first_replica = 3 };

struct VariableOptions {
  std::string name = "Variable";
  bool trainable = true;
  DType dtype = DType::invalid;        // invalid: that of the value
  std::vector<int64_t> shape = {};     // with -1 for dimensions that may change; used if `any_shape` or not empty
  bool any_shape = false;              // `shape` counts even if it is empty; with unknown_rank: any rank
  bool unknown_rank = false;
  std::function<Tensor(const Tensor&)> constraint = {};  // applied by optimisers after each update
  VariableSynchronization synchronization = VariableSynchronization::automatic;
  VariableAggregation aggregation = VariableAggregation::none;
  std::string device = {};             // empty: that of the scope
};

// Rows of a variable or gradient: `values[i]` belongs to row indices[i].
struct IndexedSlices {
  Tensor values, indices, dense_shape;
};

class VariableSlice;

class WEFT_API Variable {
 public:
  Variable() = default;  // no variable; using it is an error
  explicit Variable(const Tensor& initial_value, const VariableOptions& options = {});
  // The function is called once, outside any trace.
  explicit Variable(const std::function<Tensor()>& initial_value, const VariableOptions& options = {});

  // False for Variable().
  bool has_value() const { return state_ != nullptr; }
  // The name, the type, and the shape as declared.
  const std::string& name() const;
  DType dtype() const;
  PartialShape partial_shape() const;
  std::vector<int64_t> shape() const;  // as declared; of the value where dimensions are open
  // Whether tapes watch it by themselves.
  bool trainable() const;
  const Variable& set_trainable(bool on) const;  // for tapes and lists from here on
  // How copies on several devices are kept.
  VariableSynchronization synchronization() const;
  VariableAggregation aggregation() const;
  // What optimisers apply after each update.
  const std::function<Tensor(const Tensor&)>& constraint() const;
  // Where it is.
  std::string device() const;
  // Whether it has a value.
  bool is_initialized() const;

  // The value now.
  Tensor value() const;
  operator Tensor() const { return value(); }  // NOLINT: a variable is used like its value
  Tensor handle() const;                       // the resource, for raw ops
  Tensor sparse_read(const Tensor& indices) const;  // rows; its gradient is IndexedSlices

  // Sets the value.
  const Variable& assign(const Tensor& value) const;
  // Adds to the value, or subtracts from it.
  const Variable& assign_add(const Tensor& delta) const;
  const Variable& assign_sub(const Tensor& delta) const;
  // Rows. Repeated indices of update: the last one wins.
  const Variable& scatter_add(const IndexedSlices& slices) const;
  const Variable& scatter_sub(const IndexedSlices& slices) const;
  const Variable& scatter_mul(const IndexedSlices& slices) const;
  const Variable& scatter_div(const IndexedSlices& slices) const;
  const Variable& scatter_max(const IndexedSlices& slices) const;
  const Variable& scatter_min(const IndexedSlices& slices) const;
  const Variable& scatter_update(const IndexedSlices& slices) const;
  // Elements or slices by vectors of indices.
  const Variable& scatter_nd_add(const Tensor& indices, const Tensor& updates) const;
  const Variable& scatter_nd_update(const Tensor& indices, const Tensor& updates) const;
  // A part of the variable, to read or to write: v[{0, _}].assign(row), v[mask] += 1.f (weft/indexing.h).
  VariableSlice operator[](std::initializer_list<Index> items) const;
  VariableSlice operator[](const Index& item) const;
  // v[begin:end:strides] = value.
  const Variable& assign_slice(const std::vector<int64_t>& begin, const std::vector<int64_t>& end, const std::vector<int64_t>& strides,
                               const Tensor& value) const;

  // Whether both are the same variable.
  bool same(const Variable& o) const { return state_ == o.state_; }
  // The name, type, shape and value.
  std::string to_string() const;

  // For the library itself.
  const std::shared_ptr<weft_engine::trace::VariableState>& state() const { return state_; }
  static Variable adopt(std::shared_ptr<weft_engine::trace::VariableState> state);

 private:
  struct Extra;
  std::shared_ptr<weft_engine::trace::VariableState> state_;
};

// Writes to_string().
WEFT_API std::ostream& operator<<(std::ostream& out, const Variable& v);

// What a variable's brackets give: read where a tensor is needed, with gradients to the variable, or written.
class WEFT_API VariableSlice {
 public:
  VariableSlice(Variable variable, std::vector<Index> items) : variable_(std::move(variable)), items_(std::move(items)) {}
  // The values now.
  Tensor value() const { return variable_.value().index(items_); }
  operator Tensor() const { return value(); }  // NOLINT: a slice is used like its value

  // Writes the part of the variable; the value has its shape. Parts by index tensors and masks also take a value that broadcasts to it. Of
  // repeated indices the last one wins.
  const Variable& assign(const Tensor& value) const;
  // Writes the sum of the part and delta.
  const Variable& assign_add(const Tensor& delta) const { return assign(value() + delta); }
  // Writes the difference of the part and delta.
  const Variable& assign_sub(const Tensor& delta) const { return assign(value() - delta); }
  const Variable& operator+=(const Tensor& t) const { return assign_add(t); }
  const Variable& operator-=(const Tensor& t) const { return assign_sub(t); }
  const Variable& operator*=(const Tensor& t) const { return assign(value() * t); }
  const Variable& operator/=(const Tensor& t) const { return assign(value() / t); }

 private:
  Variable variable_;
  std::vector<Index> items_;
};

inline VariableSlice Variable::operator[](std::initializer_list<Index> items) const { return {*this, std::vector<Index>(items)}; }
inline VariableSlice Variable::operator[](const Index& item) const { return {*this, {item}}; }

// While it lives, variables on this thread are made by `creator`, which may change the options, call `next` (the way they
// would have been made), or give another variable altogether. The innermost scope is asked first.
class WEFT_API VariableCreatorScope {
 public:
  using Next = std::function<Variable(const std::function<Tensor()>& initial_value, const VariableOptions& options)>;
  using Creator = std::function<Variable(const Next& next, const std::function<Tensor()>& initial_value, const VariableOptions& options)>;
  explicit VariableCreatorScope(Creator creator);
  ~VariableCreatorScope();
  VariableCreatorScope(const VariableCreatorScope&) = delete;
};

// The way variables are made, scopes included: what Variable's constructors call.
WEFT_API Variable make_variable(const std::function<Tensor()>& initial_value, const VariableOptions& options = {});

}  // namespace weft
