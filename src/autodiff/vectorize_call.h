// Inside autodiff: one op on values with rows, and what its rules share. A rule answers Unimplemented where it does not hold.
#pragma once

#include <optional>

#include "autodiff/vectorize.h"
#include "op/emit.h"

namespace weft::autodiff {

using Outputs = Result<std::vector<Value>>;

class VectorCall {
 public:
  VectorCall(VectorEmitter& v, std::string_view op, std::span<const Value> inputs, AttrMap attrs)
      : vector_(v), base_(v.base_), op_(op), inputs_(inputs), attrs_(std::move(attrs)) {}

  using Rule = Outputs (VectorCall::*)();
  // Null: there is none.
  static Rule rule_of(std::string_view op);
  // Ops that give every row something of its own though nothing that they read has rows.
  static bool makes_rows(std::string_view op);
  Outputs run(Rule rule) { return (this->*rule)(); }

 private:
  // ---- shared (vectorize.cc)
  Outputs one(Value v);
  Outputs all(std::vector<Value> out);
  // Without rows: the same for all.
  Outputs same(Value v);
  Status refused() const { return unimplemented(op_, " of several rows at once"); }
  bool has_rows(size_t i) const { return VectorEmitter::is_batched(inputs_[i]); }
  bool has_rows_from(size_t i) const;
  Value inner(size_t i) const { return vector_.inner(inputs_[i]); }
  Value with_rows(size_t i) const { return has_rows(i) ? inner(i) : vector_.unbatched(inputs_[i]); }
  PartialShape shape(size_t i) const { return inputs_[i].shape(); }
  int rank(size_t i) const { return shape(i).has_rank() ? shape(i).rank() : -1; }
  int64_t rows() const { return vector_.rows_; }
  Value list(const std::vector<int64_t>& v) const { return base_.constant(Tensor::vector(std::vector<int32_t>(v.begin(), v.end()))); }
  Value scalar(int64_t v) const { return base_.constant(Tensor::scalar<int32_t>(int32_t(v))); }
  std::vector<Value> apply(std::string_view op, std::vector<Value> in, AttrMap attrs = {}) { return base_.apply(op, in, std::move(attrs)); }
  Value apply1(std::string_view op, std::vector<Value> in, AttrMap attrs = {});
  // A vector of sizes, one after another, as int32; numbers where all are known.
  Value join(const std::vector<Value>& sizes) const;
  Value rows_list() const;
  Value dims(size_t i, int from = 0, int to = -1) const;        // the sizes without the rows
  std::optional<std::vector<int64_t>> numbers(size_t i) const;  // of an input without rows, whose value is known
  // Rows in front, then ones, so that the rest has that rank.
  Result<Value> aligned(size_t i, int to) const;
  Value row_numbers(int dims_behind) const;  // 0, 1 ... as [rows, 1, 1 ...]
  // The dimension `axis` to the front.
  Value to_front(const Value& v, int axis) const;
  Value shifted_axes(size_t i) const;  // of the second input of a reduction, as the base counts

  bool flag(const char* name) const;
  int64_t number(const char* name, int64_t otherwise = 0) const;
  std::string text(const char* name) const;
  AttrMap typeless();  // what we give in place of numbers is int32, whatever it was

  // ---- elementwise and products (vectorize.cc)
  template <int kWithRows>
  Outputs leading();  // the first inputs have rows, the others must not; -1: all
  Outputs broadcasting();
  Outputs clip();
  Outputs matmul();
  Outputs batch_matmul();
  Outputs einsum();
  Outputs reduced();
  Outputs rolled();

  // ---- shapes and parts of tensors (vectorize_array.cc)
  Outputs reshaped();
  Outputs tiled();
  Outputs transposed();
  Outputs broadcast_to();
  Outputs filled();
  Outputs squeezed();
  Outputs expanded();
  Outputs sliced();
  Outputs strided_slice();
  Outputs strided_slice_grad();
  Outputs padded();
  Outputs concatenated();
  Outputs packed();
  Outputs split();
  Outputs split_v();
  Outputs one_hot();
  Outputs selected();
  Outputs diag();
  Outputs diag_part();
  Outputs shape_of_value();
  Outputs shapes_of_values();
  Outputs rank_of_value();
  Outputs size_of_value();
  Outputs ensured();
  Outputs each();
  Outputs gathered();
  Outputs gathered_nd();
  Outputs gathered_variable();
  Outputs scattered();
  Outputs scattered_into();
  Outputs segments();
  Value row_indices(size_t indices);

  // ---- layers, random numbers, lists (vectorize_nn.cc)
  template <int kFolded>
  Outputs folded();
  Value fold(size_t i) const;                              // [rows, batch, ...] as [rows * batch, ...]
  Value unfold(const Value& v, const Value& batch) const;  // the other way
  Value more_rows(size_t sizes) const;                     // a shape whose first size counts all rows
  Outputs conv2d();
  Outputs conv_input_gradient();
  Outputs conv_filter_gradient();
  Outputs pool_gradient();
  Outputs bias_add();
  Outputs bias_add_grad();
  Outputs batch_norm();
  Value to_channels(size_t i) const;
  Value from_channels(const Value& v) const;
  bool plain_layout() const {
    const std::string f = text("data_format");
    return f.empty() || f == "NHWC" || f == "NDHWC";
  }
  Outputs random();
  Outputs assertion();
  Outputs formatted();
  Value element_shape(size_t i) const;
  Value rowed_list(size_t i);  // a list whose elements have rows
  Outputs list_reserve();
  Outputs list_from_tensor();
  Outputs list_stack();
  Outputs list_get();
  Outputs list_set();
  Outputs list_push();
  Outputs list_pop();
  Outputs list_length();

  VectorEmitter& vector_;
  Emitter& base_;
  const std::string_view op_;
  const std::span<const Value> inputs_;
  AttrMap attrs_;
};

}  // namespace weft::autodiff
