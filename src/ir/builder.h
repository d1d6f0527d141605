// Builder: makes instructions, works out their types, and computes what is known of small integer tensors (shapes that a graph
// computes) as it goes. Written for lowering rules: the first error is remembered, and whatever comes of it is null and quiet.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/status.h"
#include "ir/ir.h"

namespace weft_engine::ir {

class Builder;

// A region that is being written. The builder goes back to the region around it when this ends, finished or not, so that a rule that
// gives up in the middle leaves nothing open.
class OpenRegion {
 public:
  OpenRegion(const OpenRegion&) = delete;
  OpenRegion& operator=(const OpenRegion&) = delete;
  ~OpenRegion();
  // The finished region; the builder goes back to the one around it.
  std::unique_ptr<Region> end(std::vector<Value> results);

 private:
  friend class Builder;
  explicit OpenRegion(Builder& b);
  Builder& builder_;
  Region* outer_;
  std::unique_ptr<Region> region_;
};

class Builder {
 public:
  explicit Builder(Module& m) : module_(m), region_(m.main.get()) {}

  Module& module() { return module_; }
  // The node that instructions are made for; stands in messages and in print().
  void set_node(std::string name) { node_ = std::move(name); }
  const std::string& node() const { return node_; }

  // ---- errors
  const core::Status& status() const { return status_; }
  Value fail(core::Status s);  // keeps the first; null
  // Two sizes that turned out to have to be equal while one is a bare symbol: status() is an error, and whoever drives the
  // lowering starts again with the symbol replaced and a guard added.
  const std::optional<std::pair<int, Dim>>& unify() const { return unify_; }
  // One size from two that must be equal; asks for unification, or fails, where they are not.
  Dim same(const Dim& a, const Dim& b);
  std::vector<Dim> broadcast_dims(const std::vector<Dim>& a, const std::vector<Dim>& b);

  // ---- leaves
  Value parameter(Parameter p);  // of the module
  Value constant(Tensor t);
  Value scalar(DType dtype, double v);
  Value scalar_int(DType dtype, int64_t v);
  Value ints(const std::vector<int64_t>& v, DType dtype = DType::kInt32);
  Value fill(DType dtype, std::vector<Dim> dims, double v);  // a broadcast scalar
  Value sizes(std::vector<Dim> v, DType dtype, bool is_scalar = false);
  Value iota(DType dtype, std::vector<Dim> dims, int axis);

  // ---- elementwise; operands of one type and shape. The named forms broadcast as TensorFlow does.
  Value unary(Unary op, Value x);
  Value binary(Binary op, Value a, Value b);
  Value compare(Compare op, Value a, Value b);
  Value select(Value condition, Value a, Value b);
  Value convert(Value x, DType to);
  Value bitcast(Value x, DType to);
  Value add(Value a, Value b) { return binary(Binary::kAdd, a, b); }
  Value sub(Value a, Value b) { return binary(Binary::kSub, a, b); }
  Value mul(Value a, Value b) { return binary(Binary::kMul, a, b); }
  Value div(Value a, Value b) { return binary(Binary::kDiv, a, b); }
  Value max(Value a, Value b) { return binary(Binary::kMax, a, b); }
  Value min(Value a, Value b) { return binary(Binary::kMin, a, b); }
  Value neg(Value x) { return unary(Unary::kNeg, x); }
  Value exp(Value x) { return unary(Unary::kExp, x); }
  Value log(Value x) { return unary(Unary::kLog, x); }
  Value tanh(Value x) { return unary(Unary::kTanh, x); }
  Value logistic(Value x) { return unary(Unary::kLogistic, x); }
  Value sqrt(Value x) { return unary(Unary::kSqrt, x); }
  Value rsqrt(Value x) { return unary(Unary::kRsqrt, x); }
  Value square(Value x) { return mul(x, x); }
  // Complex numbers and their parts. The functions above and below take them apart themselves.
  Value real(Value x);
  Value imag(Value x);
  Value complex(Value re, Value im);
  // With a number of x's type.
  Value add(Value x, double c) { return x ? add(x, scalar(x->type.dtype, c)) : nullptr; }
  Value sub(Value x, double c) { return x ? sub(x, scalar(x->type.dtype, c)) : nullptr; }
  Value mul(Value x, double c) { return x ? mul(x, scalar(x->type.dtype, c)) : nullptr; }
  Value div(Value x, double c) { return x ? div(x, scalar(x->type.dtype, c)) : nullptr; }
  Value max(Value x, double c) { return x ? max(x, scalar(x->type.dtype, c)) : nullptr; }
  Value min(Value x, double c) { return x ? min(x, scalar(x->type.dtype, c)) : nullptr; }

  // ---- movement
  Value broadcast_in_dim(Value x, std::vector<Dim> dims, std::vector<int> axes);
  Value broadcast_to(Value x, std::vector<Dim> dims);  // as numpy does
  Value reshape(Value x, std::vector<Dim> dims);
  Value transpose(Value x, std::vector<int> axes);
  Value slice(Value x, std::vector<Dim> starts, std::vector<Dim> sizes, std::vector<int64_t> steps = {});
  Value slice_axis(Value x, int axis, Dim start, Dim size);
  Value pad(Value x, Value value, std::vector<Dim> low, std::vector<Dim> high, std::vector<int64_t> interior = {});
  Value concat(std::vector<Value> parts, int axis);
  Value reverse(Value x, std::vector<int> axes);
  Value dynamic_slice(Value x, std::vector<Value> starts, std::vector<Dim> sizes);
  Value dynamic_update(Value x, Value update, std::vector<Value> starts);
  // `message`: an error of the call for an index outside; empty: 0 quietly.
  Value gather(Value x, Value indices, int axis, int batch, std::string message);
  Value scatter(Value x, Value indices, Value updates, Reduce reduce, std::string message);
  Value expand_dims(Value x, int axis);

  // ---- reductions, windows, products
  Value reduce(Reduce r, Value x, std::vector<int> axes, bool keep_dims = false);
  Value sum(Value x, std::vector<int> axes, bool keep_dims = false) { return reduce(Reduce::kSum, x, std::move(axes), keep_dims); }
  Value mean(Value x, std::vector<int> axes, bool keep_dims = false);
  Value arg_reduce(Reduce r, Value x, int axis, DType out);
  Value window(Reduce r, Value x, Window w);
  Value max_pool_grad(Value x, Value dy, Window w);
  Value scan(Reduce r, Value x, int axis, bool exclusive, bool reverse);
  std::pair<Value, Value> sort(Value x, bool descending);
  Value dot(Value a, Value b, bool transpose_a = false, bool transpose_b = false);  // batch dimensions equal
  Value conv(Value x, Value filter, Window w);
  Value conv_filter_grad(Value x, Value dy, Window w);
  Value philox(Value key, Value counter, Dim n);

  // ---- control
  OpenRegion begin_region();       // an empty one, into which the builder now writes
  Value region_parameter(Type t);  // of the region that is being written
  std::vector<Value> while_loop(std::vector<Value> init, std::unique_ptr<Region> condition, std::unique_ptr<Region> body);
  std::vector<Value> branch(Value index_or_bool, std::vector<std::unique_ptr<Region>> regions);
  void check(Value condition, std::string message);

  // ---- what is known
  // The elements of a small integer tensor as sizes; null if they depend on data.
  const std::vector<Dim>* known(Value x) const { return x && x->known ? &*x->known : nullptr; }
  // Output size of a window; low and high padding by TensorFlow's "SAME" and "VALID".
  static Dim window_out(const Dim& in, int64_t size, int64_t stride, int64_t dilation, const Dim& low, const Dim& high);
  static void same_padding(const Dim& in, int64_t size, int64_t stride, int64_t dilation, Dim& low, Dim& high);

 private:
  friend class OpenRegion;
  Instr* make(Op op, Type type, std::vector<Value> operands);
  bool ok(std::initializer_list<Value> values);
  Value from_float8(Value x);            // as float
  Value to_float8(Value x, DType to);    // x: float
  // The same functions of complex numbers, in terms of their parts (builder_complex.cc).
  Value complex_unary(Unary op, Value x);
  Value complex_binary(Binary op, Value a, Value b);
  Value complex_compare(Compare op, Value a, Value b);
  Value complex_convert(Value x, DType to);
  Value complex_product(Value x, std::vector<int> axes, bool keep_dims);
  Value complex_running_product(Value x, int axis, bool exclusive, bool reverse);
  std::pair<Value, Value> matched(Value a, Value b);
  int message(std::string text);

  Module& module_;
  Region* region_;
  std::string node_;
  core::Status status_;
  std::optional<std::pair<int, Dim>> unify_;
};

}  // namespace weft_engine::ir
