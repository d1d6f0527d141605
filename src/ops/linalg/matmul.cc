// Products of matrices and of stacks of matrices.
#include "kernels/cpu/batch_matmul.h"
#include "kernels/cpu/bfloat_gemm.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/int8_gemm.h"
#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/nn/epilogue.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::BatchMatMulArgs;

// ---- shape rules

Status matmul_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape a, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape b, c.with_rank(1, 2));
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  WEFT_ASSIGN([[maybe_unused]] int64_t inner, ShapeContext::merge_dim(a.dim(ta ? 0 : 1), b.dim(tb ? 1 : 0)));
  c.output(0, PartialShape::matrix(a.dim(ta ? 1 : 0), b.dim(tb ? 0 : 1)));
  return {};
}

Status batch_matmul_shape(ShapeContext& c, bool broadcasts) {
  WEFT_ASSIGN(PartialShape a, c.with_rank_at_least(0, 2));
  WEFT_ASSIGN(PartialShape b, c.with_rank_at_least(1, 2));
  if (!a.has_rank() || !b.has_rank()) return {};
  const bool ta = c.attr<bool>("adj_x"), tb = c.attr<bool>("adj_y");
  WEFT_ASSIGN([[maybe_unused]] int64_t inner, ShapeContext::merge_dim(a.dim(ta ? -2 : -1), b.dim(tb ? -1 : -2)));
  const PartialShape outer_a = a.slice(0, a.rank() - 2), outer_b = b.slice(0, b.rank() - 2);
  PartialShape batch;
  if (broadcasts) {
    WEFT_ASSIGN(batch, shapes::broadcast(outer_a, outer_b));
  } else {
    WEFT_ASSIGN(batch, outer_a.merge_with(outer_b));
  }
  c.output(0, batch.concat(PartialShape::matrix(a.dim(ta ? -1 : -2), b.dim(tb ? -2 : -1))));
  return {};
}
Status batch_matmul_v1_shape(ShapeContext& c) { return batch_matmul_shape(c, false); }
Status batch_matmul_v2_shape(ShapeContext& c) { return batch_matmul_shape(c, true); }

// ---- MatMul

Status check_matrices(const Tensor& a, const Tensor& b, bool ta, bool tb) {
  if (a.rank() != b.rank()) return invalid_argument("In[0] and In[1] has different ndims: ", a.shape(), " vs. ", b.shape());
  if (a.rank() != 2) return invalid_argument("In[0] and In[1] ndims must be == 2: ", a.rank());
  if (a.dim(ta ? 0 : 1) != b.dim(tb ? 1 : 0)) return invalid_argument("Matrix size-incompatible: In[0]: ", a.shape(), ", In[1]: ", b.shape());
  return {};
}

BatchMatMulArgs matrix_args(const Tensor& a, const Tensor& b, bool ta, bool tb) {
  return {.transa = ta, .transb = tb, .m = a.dim(ta ? 1 : 0), .n = b.dim(tb ? 0 : 1), .k = a.dim(ta ? 0 : 1)};
}

struct MatMul {
  static Result<MatMul> make(const NodeInfo& node) { return MatMul{node.attr<bool>("transpose_a"), node.attr<bool>("transpose_b")}; }
  Status run(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1);
    WEFT_RETURN_IF_ERROR(check_matrices(a, b, ta, tb));
    const BatchMatMulArgs args = matrix_args(a, b, ta, tb);
    WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({args.m, args.n})));
    return kernels::batch_matmul(a.dtype(), args, a.raw(), b.raw(), out->raw(), c.pool());
  }
  bool ta, tb;
};

// ---- BatchMatMul

// The batch part of the result's shape, and for each product which matrix of either side it takes.
struct Batch {
  Shape shape;
  std::vector<int64_t> a_index, b_index;  // empty where nothing is broadcast
};

Result<Batch> broadcast_batch(const Shape& a, const Shape& b) {
  const int ra = a.rank() - 2, rb = b.rank() - 2, rank = std::max(ra, rb);
  Batch out;
  bool same = ra == rb;
  for (int i = 0; i < rank; ++i) {
    const int64_t x = i < rank - ra ? 1 : a.dim(i - (rank - ra)), y = i < rank - rb ? 1 : b.dim(i - (rank - rb));
    if (x != y && x != 1 && y != 1) return invalid_argument("In[0] and In[1] must have compatible batch dimensions: ", a, " vs. ", b);
    same = same && x == y;
    out.shape.add_dim(x == 1 ? y : x);
  }
  if (!out.shape.valid()) return out.shape.check();
  // Nothing to index, however many empty matrices there are.
  if (same || a.num_elements() == 0 || b.num_elements() == 0) return out;
  const int64_t n = out.shape.num_elements();
  out.a_index.resize(size_t(n));
  out.b_index.resize(size_t(n));
  auto fill = [&](const Shape& s, int r, std::vector<int64_t>& index) {
    for (int64_t i = 0; i < n; ++i) {
      int64_t rest = i, at = 0, stride = 1;
      for (int d = rank - 1; d >= rank - r; --d) {
        const int64_t size = s.dim(d - (rank - r)), coordinate = rest % out.shape.dim(d);
        rest /= out.shape.dim(d);
        if (size > 1) at += coordinate * stride;
        stride *= size;
      }
      index[size_t(i)] = at;
    }
  };
  fill(a, ra, out.a_index);
  fill(b, rb, out.b_index);
  return out;
}

// Products of 8-bit numbers in 32 bits.
void multiply_bytes(const BatchMatMulArgs& g, const Tensor& a, const Tensor& b, int32_t* c, ThreadPool& pool) {
  for (int64_t i = 0; i < g.batches; ++i) {
    const int64_t ia = g.a_index.empty() ? i : g.a_index[size_t(i)], ib = g.b_index.empty() ? i : g.b_index[size_t(i)];
    kernels::int8_matmul(g.m, g.n, g.k, {a.data<uint8_t>() + ia * g.m * g.k, a.dtype() == DType::kInt8, g.transa, g.transa ? g.m : g.k},
                         {b.data<uint8_t>() + ib * g.k * g.n, b.dtype() == DType::kInt8, g.transb, g.transb ? g.k : g.n}, 0, 0, c + i * g.m * g.n,
                         pool);
  }
}

struct BatchMatMul {
  static Result<BatchMatMul> make(const NodeInfo& node) {
    return BatchMatMul{node.attr<bool>("adj_x"), node.attr<bool>("adj_y"), node.op() != "BatchMatMul"};
  }
  Status check(const Tensor& a, const Tensor& b) const {
    if (broadcasts) {
      if (a.rank() < 2) return invalid_argument("In[0] ndims must be >= 2: ", a.rank());
      if (b.rank() < 2) return invalid_argument("In[1] ndims must be >= 2: ", b.rank());
      return {};
    }
    if (a.rank() != b.rank()) return invalid_argument("In[0] and In[1] has different ndims: ", a.shape(), " vs. ", b.shape());
    if (a.rank() < 2) return invalid_argument("In[0] and In[1] ndims must be >= 2: ", a.rank());
    for (int i = 0; i < a.rank() - 2; ++i) {
      if (a.dim(i) != b.dim(i)) {
        return invalid_argument("In[0].dim(", i, ") and In[1].dim(", i, ") must be the same: ", a.shape(), " vs ", b.shape());
      }
    }
    return {};
  }
  Status run(KernelContext& c) const {
    WEFT_RETURN_IF_ERROR(check(c.input(0), c.input(1)));
    const Tensor &a = c.input(0), &b = c.input(1);
    WEFT_ASSIGN(Batch batch, broadcast_batch(a.shape(), b.shape()));
    const int ra = a.rank(), rb = b.rank();
    BatchMatMulArgs args{.transa = tx,
                         .transb = ty,
                         .conj_a = tx,
                         .conj_b = ty,
                         .m = a.dim(ra - (tx ? 1 : 2)),
                         .n = b.dim(rb - (ty ? 2 : 1)),
                         .k = a.dim(ra - (tx ? 2 : 1)),
                         .a_index = batch.a_index,
                         .b_index = batch.b_index};
    if (args.k != b.dim(rb - (ty ? 1 : 2))) {
      return invalid_argument("Matrix size-incompatible: In[0]: ", c.input(0).shape(), ", In[1]: ", c.input(1).shape());
    }
    args.batches = batch.shape.num_elements();
    args.a_count = a.shape().elements_in(0, ra - 2);
    args.b_count = b.shape().elements_in(0, rb - 2);
    WEFT_ASSIGN(Tensor* out, c.allocate(0, batch.shape.concat(Shape({args.m, args.n}))));
    if (!tx && args.b_count == 1 && args.a_count == args.batches) {  // one matrix for all: the stack is one tall matrix
      args.m *= args.batches;
      args.batches = args.a_count = 1;
      args.a_index = args.b_index = {};
    }
    if (args.k == 0 || out->num_elements() == 0) {
      std::fill_n(static_cast<char*>(out->raw()), out->byte_size(), char(0));
      return {};
    }
    if (a.dtype() != c.output_type(0)) {
      multiply_bytes(args, a, b, out->data<int32_t>(), c.pool());
      return {};
    }
    return kernels::batch_matmul(c.output_type(0), args, a.raw(), b.raw(), out->raw(), c.pool());
  }
  bool tx, ty, broadcasts;
};

// V3 registers each combination of types on its own.
bool v3_serves(const NodeInfo& node) {
  const DType a = node.attr<DType>("Ta"), b = node.attr<DType>("Tb"), out = node.attr<DType>("Tout");
  auto small = [](DType t) { return t == DType::kInt8 || t == DType::kUint8; };
  if (out == DType::kInt32 && small(a) && small(b)) return true;
  return a == b && a == out;
}

Result<std::unique_ptr<Kernel>> make_batch_matmul_v3(const NodeInfo& node) {
  if (!v3_serves(node)) return not_found("No registered 'BatchMatMulV3' OpKernel for 'CPU' devices compatible with node ", node.to_string());
  return StructKernel<BatchMatMul>::create(node);
}

// ---- SparseMatMul: the hints about zeros change nothing in the result; the dense product is fast.

Status run_sparse_matmul(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  if (a.rank() != 2) return invalid_argument("a is not a matrix");
  if (b.rank() != 2) return invalid_argument("b is not a matrix");
  if (a.dim(ta ? 0 : 1) != b.dim(tb ? 1 : 0)) return invalid_argument("Matrix size incompatible: a: ", a.shape(), ", b: ", b.shape());
  const BatchMatMulArgs args = matrix_args(a, b, ta, tb);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({args.m, args.n})));
  Tensor wide_a = a, wide_b = b;
  for (Tensor* t : {&wide_a, &wide_b}) {
    if (t->dtype() == DType::kFloat) continue;
    WEFT_ASSIGN(Tensor wide, c.temp(DType::kFloat, t->shape()));
    kernels::widen(t->dtype(), t->raw(), wide.data<float>(), t->num_elements(), c.pool());
    *t = wide;
  }
  return kernels::batch_matmul(DType::kFloat, args, wide_a.raw(), wide_b.raw(), out->raw(), c.pool());
}

// ---- _FusedMatMul

struct FusedMatMul {
  static Result<FusedMatMul> make(const NodeInfo& node) {
    const auto& fused = node.attr<std::vector<std::string>>("fused_ops");
    if (fused.empty()) return invalid_argument("Fused MatMul must have at least one fused op.");
    if (node.attr<int64_t>("num_args") != 1) return invalid_argument("Fused MatMul with BiasAdd must have one extra argument: bias.");
    kernels::Epilogue e = kernels::Epilogue::kNone;
    const auto known = fused.size() == 2 ? epilogue_of(fused[1]) : std::optional(e);
    if (fused[0] != "BiasAdd" || fused.size() > 2 || !known) {
      std::string all;
      for (const auto& f : fused) all += cat(all.empty() ? "" : ",", f);
      return unimplemented("Fusion is not implemented: [", all, "]");
    }
    return FusedMatMul{node.attr<bool>("transpose_a"), node.attr<bool>("transpose_b"), *known, node.attr<float>("leakyrelu_alpha")};
  }
  Status run(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1), &bias = c.input(2);
    WEFT_RETURN_IF_ERROR(check_matrices(a, b, ta, tb));
    const BatchMatMulArgs g = matrix_args(a, b, ta, tb);
    if (bias.rank() != 1) return invalid_argument("bias must be 1-dimensional", bias.shape());
    if (bias.dim(0) != g.n) return invalid_argument("bias must have as many elements as the product has columns: ", bias.dim(0), " vs. ", g.n);
    WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({g.m, g.n})));
    if (a.dtype() == DType::kFloat) return product(c, g, a, b, bias, *out);
    // Narrow types are rounded once, after the activation.
    if (a.dtype() == DType::kBfloat16 && kernels::bfloat_serves(g.m, g.n, g.k)) return bfloat_product(c, g, a, b, bias, *out);
    Tensor wide[4];
    const Tensor* narrow[4] = {&a, &b, &bias, out};
    for (int i = 0; i < 4; ++i) {
      WEFT_ASSIGN(wide[i], c.temp(DType::kFloat, narrow[i]->shape()));
      if (i < 3) kernels::widen(a.dtype(), narrow[i]->raw(), wide[i].data<float>(), narrow[i]->num_elements(), c.pool());
    }
    WEFT_RETURN_IF_ERROR(product(c, g, wide[0], wide[1], wide[2], wide[3]));
    kernels::narrow(a.dtype(), wide[3].data<float>(), out->raw(), out->num_elements(), c.pool());
    return {};
  }
  Status bfloat_product(KernelContext& c, const BatchMatMulArgs& g, const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out) const {
    WEFT_ASSIGN(Tensor wide, c.temp(DType::kFloat, out.shape()));
    WEFT_ASSIGN(Tensor wide_bias, c.temp(DType::kFloat, bias.shape()));
    kernels::widen(bias.dtype(), bias.raw(), wide_bias.data<float>(), g.n, c.pool());
    kernels::bfloat_matmul({ta, tb, true, g.m, g.n, g.k, static_cast<const uint16_t*>(a.raw()), static_cast<const uint16_t*>(b.raw()), wide.raw()},
                           &c.pool());
    kernels::apply_epilogue(epilogue, alpha, wide_bias.data<float>(), wide.data<float>(), g.m, g.n, c.pool());
    kernels::narrow(out.dtype(), wide.data<float>(), out.raw(), out.num_elements(), c.pool());
    return {};
  }
  Status product(KernelContext& c, const BatchMatMulArgs& g, const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out) const {
    // Each part of the product while it is in the cache of who made it.
    float* const to = out.data<float>();
    const auto part = [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
      kernels::apply_epilogue_part(epilogue, alpha, bias.data<float>(), to, g.n, i0, i1, j0, j1);
    };
    const core::FunctionRef<void(int64_t, int64_t, int64_t, int64_t)> done(part);
    kernels::sgemm(ta, tb, g.m, g.n, g.k, a.data<float>(), ta ? g.m : g.k, b.data<float>(), tb ? g.k : g.n, to, g.n, false, c.pool(), &done);
    return {};
  }
  bool ta, tb;
  kernels::Epilogue epilogue;
  float alpha;
};

// ---- _WeftMatMulAdd: c + a b, in c's memory where it may be

struct MatMulAdd {
  static Result<MatMulAdd> make(const NodeInfo& node) { return MatMulAdd{node.attr<bool>("transpose_a"), node.attr<bool>("transpose_b")}; }
  Status run(KernelContext& c) const {
    const Tensor &a = c.input(0), &b = c.input(1), &sum = c.input(2);
    WEFT_RETURN_IF_ERROR(check_matrices(a, b, ta, tb));
    const BatchMatMulArgs g = matrix_args(a, b, ta, tb);
    const Shape shape({g.m, g.n});
    if (!(sum.shape() == shape)) return invalid_argument("c must have the shape of the product: ", sum.shape(), " vs. ", shape);
    const float* from = sum.data<float>();
    WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, shape, 2));
    float* to = out->data<float>();
    if (to != from) std::copy_n(from, g.m * g.n, to);
    kernels::sgemm(ta, tb, g.m, g.n, g.k, a.data<float>(), ta ? g.m : g.k, b.data<float>(), tb ? g.k : g.n, to, g.n, true, c.pool());
    return {};
  }
  bool ta, tb;
};

// ---- gradients -----------------------------------------------------------------------------------------

Grads matmul_grad(const GradContext& g) {
  const bool ta = g.attr<bool>("transpose_a"), tb = g.attr<bool>("transpose_b");
  const Value a = conj(g.x(0)), b = conj(g.x(1)), dy = g.dy();
  if (!ta && !tb) return {matmul(dy, b, false, true), matmul(a, dy, true, false)};
  if (!ta) return {matmul(dy, b), matmul(dy, a, true, false)};
  if (!tb) return {matmul(b, dy, false, true), matmul(a, dy)};
  return {matmul(b, dy, true, true), matmul(dy, a, true, true)};
}

// The leading dimensions may have been repeated.
Grads batch_matmul_grad(const GradContext& g) {
  const bool ax = g.attr<bool>("adj_x"), ay = g.attr<bool>("adj_y");
  const Value x = g.x(0), y = g.x(1), dy = g.dy();
  Value gx, gy;
  if (!ax && !ay) {
    gx = batch_matmul(dy, y, false, true);
    gy = batch_matmul(x, dy, true, false);
  } else if (!ax) {
    gx = batch_matmul(dy, y);
    gy = batch_matmul(dy, x, true, false);
  } else if (!ay) {
    gx = batch_matmul(y, dy, false, true);
    gy = batch_matmul(x, dy);
  } else {
    gx = batch_matmul(y, dy, true, true);
    gy = batch_matmul(dy, x, true, true);
  }
  return {sum_to(gx, x), sum_to(gy, y)};
}

Grads sparse_matmul_grad(const GradContext& g) {
  const bool ta = g.attr<bool>("transpose_a"), tb = g.attr<bool>("transpose_b");
  const Value a = g.x(0), b = g.x(1), dy = g.dy();
  const bool a_sparse = g.attr<bool>("a_is_sparse"), b_sparse = g.attr<bool>("b_is_sparse");
  auto product = [&](const Value& x, const Value& y, bool tx, bool ty, bool x_sparse, bool y_sparse) {
    return g.one("SparseMatMul", {x, y}, {{"transpose_a", tx}, {"transpose_b", ty}, {"a_is_sparse", x_sparse}, {"b_is_sparse", y_sparse}});
  };
  const Value da = ta ? product(b, dy, tb, true, b_sparse, false) : product(dy, b, false, !tb, false, b_sparse);
  const Value db = tb ? product(dy, a, true, ta, false, a_sparse) : product(a, dy, !ta, false, a_sparse, false);
  return {cast(da, a.dtype()), cast(db, b.dtype())};
}

}  // namespace

void matmul(Registry& r) {
  r.add("BatchMatMul")
      .in("x: T")
      .in("y: T")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}")
      .attr("adj_x: bool = false")
      .attr("adj_y: bool = false")
      .attr("grad_x: bool = false")
      .attr("grad_y: bool = false")
      .doc("Multiplies the matrices of two equally shaped stacks, pair by pair; adj takes the conjugate transpose.")
      .shape(batch_matmul_v1_shape)
      .grad(batch_matmul_grad)
      .cpu<BatchMatMul>();

  r.add("BatchMatMulV2")
      .in("x: T")
      .in("y: T")
      .out("output: T")
      .attr(
          "T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, "
          "complex64, complex128}")
      .attr("adj_x: bool = false")
      .attr("adj_y: bool = false")
      .attr("grad_x: bool = false")
      .attr("grad_y: bool = false")
      .doc("As BatchMatMul, with the batch dimensions broadcast against each other.")
      .shape(batch_matmul_v2_shape)
      .grad(batch_matmul_grad)
      .cpu<BatchMatMul>(types<WEFT_FLOATS, int16_t, int32_t, int64_t, WEFT_COMPLEX>("T"));

  r.add("BatchMatMulV3")
      .in("x: Ta")
      .in("y: Tb")
      .out("output: Tout")
      .attr("Ta: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}")
      .attr("Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}")
      .attr("Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}")
      .attr("adj_x: bool = false")
      .attr("adj_y: bool = false")
      .attr("grad_x: bool = false")
      .attr("grad_y: bool = false")
      .doc("As BatchMatMulV2, with a result type of its own: 8-bit integers may be summed in 32 bits.")
      .shape(batch_matmul_v2_shape)
      .grad(batch_matmul_grad)
      .cpu_make(make_batch_matmul_v3);

  r.add("MatMul")
      .in("a: T")
      .in("b: T")
      .out("product: T")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr(
          "T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, "
          "complex128}")
      .attr("grad_a: bool = false")
      .attr("grad_b: bool = false")
      .doc("Multiplies two matrices, either of them transposed on demand.")
      .traits({.symbol = Symbol::kMatMul, .made = Made::kAlways})
      .shape(matmul_shape)
      .grad(matmul_grad)
      .cpu<MatMul>(types<WEFT_FLOATS, int16_t, int32_t, int64_t, WEFT_COMPLEX>("T"));

  r.add("SparseMatMul")
      .in("a: Ta")
      .in("b: Tb")
      .out("product: float")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr("a_is_sparse: bool = false")
      .attr("b_is_sparse: bool = false")
      .attr("Ta: {float, bfloat16} = DT_FLOAT")
      .attr("Tb: {float, bfloat16} = DT_FLOAT")
      .doc("Multiplies two dense matrices that may hold many zeros.")
      .shape(matmul_shape)
      .grad(sparse_matmul_grad)
      .cpu(run_sparse_matmul);

  r.add("IsTensorFloat32Enabled")
      .out("enabled: bool")
      .stateful()
      .effect_free()
      .doc("Tells whether devices that can may multiply with rounded operands.")
      .traits({.python_only = true})
      .shape(shapes::scalar)
      .cpu([](KernelContext& c) -> Status {
        c.set_output(0, Tensor::scalar(true));  // as TensorFlow has it unless told otherwise; no CPU makes use of it
        return {};
      });

  r.add("_FusedMatMul")
      .in("a: T")
      .in("b: T")
      .in("args: num_args * T")
      .out("product: T")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr("T: {bfloat16, half, float}")
      .attr("num_args: int >= 0")
      .attr("fused_ops: list(string) = []")
      .attr("epsilon: float = 0.0001")
      .attr("leakyrelu_alpha: float = 0.2")
      .doc("A matrix product followed by a bias and an optional activation.")
      .shape(matmul_shape)
      .cpu<FusedMatMul>();

  r.add("_WeftMatMulAdd")
      .in("a: T")
      .in("b: T")
      .in("c: T")
      .out("sum: T")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr("T: {float}")
      .doc("A matrix product added to a matrix of its shape.")
      .shape(matmul_shape)
      .cpu<MatMulAdd>();

  set_layout(r, {"MatMul"}, layouts::product("transpose_a", "transpose_b"));
  set_layout(r, {"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"}, layouts::product("adj_x", "adj_y"));
}

}  // namespace weft_engine::ops
