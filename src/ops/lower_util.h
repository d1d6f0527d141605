// What lowering rules of array ops share.
#pragma once

#include <functional>

#include "op/lower.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/
using ir::Dim;
using ir::Value;
using Dims = std::vector<ir::Dim>;

// "10", or the name of an open dimension: for messages.
std::string size_text(ir::Builder& b, const Dim& d);
std::string shape_text(ir::Builder& b, const Dims& dims);
// d >= 0, or the call ends with this error; for numbers the lowering does.
void require_nonnegative(LowerContext& l, const Dim& d, const std::string& text);
// A scalar of a vector or scalar with one element.
Value as_scalar(ir::Builder& b, Value x);
// Element i of a vector, as an int64 scalar. Its `known` is there also where other elements depend on data.
Value element_of(ir::Builder& b, Value vector, int64_t i);
// Indices as int32 or int64, which gathers and scatters take.
Value as_index(ir::Builder& b, Value x);
// The numbers first, first + 1, ... (count of them).
std::vector<int> axes_from(int first, int count);
// Dimensions [begin, end) of x.
Dims dims_of(Value x, int begin, int end);
// A size as an int64 scalar.
Value size_value(ir::Builder& b, Dim n);
// Does it hold for all elements? A bool scalar.
Value all_of(ir::Builder& b, Value x);
// low <= x < high, element by element.
Value inside(ir::Builder& b, Value x, const Dim& high);

// A loop of n turns: `body` gets the number of the turn (an int64 scalar) and the values so far, and gives the next ones, of the same types.
using LoopBody = std::function<std::vector<Value>(Value, std::vector<Value>)>;
std::vector<Value> counted_loop(ir::Builder& b, const Dim& n, std::vector<Value> init, const LoopBody& body);
// At most so many turns, as long as any element of `go`, which is worked out of the values, holds.
std::vector<Value> loop_while_any(ir::Builder& b, int64_t most, std::vector<Value> init, const std::function<Value(const std::vector<Value>&)>& go,
                                  const LoopBody& body);

// Index tuples along the last dimension as numbers of rows of a [rows, slice...] tensor; -1 for those outside `dims`.
Value rows_of_tuples(ir::Builder& b, Value indices, std::span<const Dim> dims);

// ---- x[begin:end:stride] ----
struct SlicedDim {
  Dim start, count;
  int64_t step = 1;
  bool reversed = false;    // start and step count from the end
  Value moving = nullptr;   // the start, where it depends on data (int64 scalar; step 1)
};
struct SlicedShape {
  std::vector<SlicedDim> dims;  // of the tensor that is sliced
  Dims cut;                     // counts
  Dims shape;                   // of the result: with new axes, without those that a single index took away
  std::vector<int> axes;        // where each dimension of `shape` comes from; -1: a new one
  bool moves = false;
};
// Reads inputs first, first + 1, first + 2 (begin, end, strides) and the masks of the node.
std::optional<SlicedShape> read_strided_slice(LowerContext& l, const Dims& dims, int first);
// x with the slice replaced by `value`, which is broadcast.
Value strided_update(LowerContext& l, Value x, const SlicedShape& s, Value value);

}  // namespace weft_engine::ops
