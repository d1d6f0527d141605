// ShapeContext: what a shape rule sees of a node: attributes, the shapes of its inputs as far as they
// are known, values of inputs that are constant; and where it puts the shapes of the outputs.
#pragma once

#include <optional>
#include <vector>

#include "op/node_info.h"

namespace weft_engine::op {

class ShapeContext {
 public:
  // The element type and shape of what a resource or variant holds, where known.
  struct HandleData {
    DType dtype = DType::kInvalid;
    PartialShape shape;
  };

  // `partial` holds values of integer inputs that are known in part, read as shapes.
  ShapeContext(const NodeInfo& node, std::vector<PartialShape> inputs, std::vector<const Tensor*> constants = {},
               std::vector<std::optional<HandleData>> handles = {}, std::vector<std::optional<PartialShape>> partial = {});

  const NodeInfo& node() const { return node_; }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }

  int num_inputs() const { return int(inputs_.size()); }
  const PartialShape& input(int i) const { return inputs_[size_t(i)]; }
  const PartialShape& input(std::string_view name) const { return input(node_.input_range(name).begin); }
  // The value of input i, or null if it is not constant.
  const Tensor* constant(int i) const {
    if (size_t(i) < asked_.size()) asked_[size_t(i)] |= kAskedValue;
    return size_t(i) < constants_.size() ? constants_[size_t(i)] : nullptr;
  }
  // A constant integer scalar (int32 or int64).
  std::optional<int64_t> constant_int(int i) const;
  // A constant integer vector.
  std::optional<std::vector<int64_t>> constant_ints(int i) const;
  // Input i read as a shape (entries of -1 are unknown); of unknown dims if only its length is known.
  Result<PartialShape> constant_shape(int i) const;
  // What the rule asked for and did not get, or got: whoever infers may find the value and run the rule again.
  bool asked_value(int i) const { return asked_[size_t(i)] & kAskedValue; }
  bool asked_shape(int i) const { return asked_[size_t(i)] & kAskedShape; }
  const HandleData* handle(int i) const { return size_t(i) < handles_.size() && handles_[size_t(i)] ? &*handles_[size_t(i)] : nullptr; }

  int num_outputs() const { return int(outputs_.size()); }
  void output(int i, PartialShape s) { outputs_[size_t(i)] = std::move(s); }
  void output_handle(int i, HandleData h) { output_handles_[size_t(i)] = std::move(h); }
  const std::vector<PartialShape>& outputs() const { return outputs_; }
  const std::vector<std::optional<HandleData>>& output_handles() const { return output_handles_; }

  // The shape of input i, which must be able to have that rank: "Shape must be rank 2 but is rank 1".
  Result<PartialShape> with_rank(int i, int rank) const;
  Result<PartialShape> with_rank_at_least(int i, int rank) const;
  Result<PartialShape> with_rank_at_most(int i, int rank) const;
  // One dimension from two that must agree: "Dimensions must be equal, but are 2 and 3".
  static Result<int64_t> merge_dim(int64_t a, int64_t b);

 private:
  static constexpr uint8_t kAskedValue = 1, kAskedShape = 2;
  const NodeInfo& node_;
  std::vector<PartialShape> inputs_;
  std::vector<const Tensor*> constants_;
  std::vector<std::optional<HandleData>> handles_;
  std::vector<std::optional<PartialShape>> partial_;
  mutable std::vector<uint8_t> asked_;
  std::vector<PartialShape> outputs_;
  std::vector<std::optional<HandleData>> output_handles_;
};

// Rules that many ops share.
namespace shapes {

Status unchanged(ShapeContext& c);          // every output as input 0
Status scalar(ShapeContext& c);             // every output a scalar
Status unknown(ShapeContext& c);            // every output unknown
Status no_outputs(ShapeContext& c);
Status broadcast_binary(ShapeContext& c);   // output 0 from inputs 0 and 1 by broadcasting
Status merge_all(ShapeContext& c);          // output 0: all inputs have one shape
Result<PartialShape> broadcast(const PartialShape& a, const PartialShape& b);
// What is left after reducing `axes` (negative ones counted from the end; nullopt: not known).
Result<PartialShape> reduced(const PartialShape& in, const std::optional<std::vector<int64_t>>& axes, bool keep_dims);
// a * b, a + b and ceil(a / b) where -1 is unknown.
int64_t mul_dim(int64_t a, int64_t b);
int64_t add_dim(int64_t a, int64_t b);
// Output size of a window op; padding "VALID", "SAME" or "EXPLICIT" (then before + after is `pad`).
Result<int64_t> window_dim(int64_t in, int64_t window, int64_t stride, int64_t dilation, std::string_view padding, int64_t pad = 0);

}  // namespace shapes

}  // namespace weft_engine::op
