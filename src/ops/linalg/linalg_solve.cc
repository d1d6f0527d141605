// Linear equations: general, triangular, banded and tridiagonal matrices, and least squares.
#include <cstring>

#include "kernels/cpu/linalg.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/linalg/linalg_common.h"
#include "ops/linalg/linalg_grad.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

Result<MatrixBatch> broadcast_matrices(const Shape& a, const Shape& b) {
  const int ra = a.rank() - 2, rb = b.rank() - 2, rank = std::max(ra, rb);
  std::vector<int64_t> dims(size_t(rank), 1), step_a(size_t(rank), 0), step_b(size_t(rank), 0);
  int64_t size_a = 1, size_b = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const int ia = i - (rank - ra), ib = i - (rank - rb);
    const int64_t da = ia >= 0 ? a.dim(ia) : 1, db = ib >= 0 ? b.dim(ib) : 1;
    if (da != db && da != 1 && db != 1) return invalid_argument("In[0] and In[1] must have compatible batch dimensions: ", a, " vs. ", b);
    dims[size_t(i)] = da == 1 ? db : da;
    step_a[size_t(i)] = da == 1 ? 0 : size_a;
    step_b[size_t(i)] = db == 1 ? 0 : size_b;
    size_a *= da;
    size_b *= db;
  }
  WEFT_ASSIGN(Shape shape, Shape::make(dims));
  MatrixBatch out{std::move(shape), {}, {}};
  const int64_t count = out.shape.num_elements();
  // A broadcast batch can be larger than both inputs.
  if (count > int64_t(1) << 32) return resource_exhausted("batch of ", count, " matrices is too large");
  out.a.resize(size_t(count));
  out.b.resize(size_t(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at_a = 0, at_b = 0;
    for (int k = rank - 1; k >= 0; --k) {
      const int64_t at = rest % dims[size_t(k)];
      rest /= dims[size_t(k)];
      at_a += at * step_a[size_t(k)];
      at_b += at * step_b[size_t(k)];
    }
    out.a[size_t(i)] = at_a;
    out.b[size_t(i)] = at_b;
  }
  return out;
}

namespace {

// ---- shape rules: [..., m, n] and [..., m, k] to [..., n, k]

Status solve_shape(ShapeContext& c, bool square, bool broadcasts) {
  WEFT_ASSIGN(PartialMatrix lhs, square ? partial_square(c, 0) : partial_matrix(c, 0));
  WEFT_ASSIGN(PartialMatrix rhs, partial_matrix(c, 1));
  WEFT_ASSIGN(int64_t m, ShapeContext::merge_dim(lhs.rows, rhs.rows));
  PartialShape outer;
  if (broadcasts) {
    WEFT_ASSIGN(outer, shapes::broadcast(lhs.outer, rhs.outer));
  } else {
    WEFT_ASSIGN(outer, lhs.outer.merge_with(rhs.outer));
  }
  c.output(0, with_dims(outer, {square ? m : lhs.columns, rhs.columns}));
  return {};
}
Status matrix_solve_shape(ShapeContext& c) { return solve_shape(c, true, false); }
Status least_squares_shape(ShapeContext& c) { return solve_shape(c, false, false); }
Status triangular_shape(ShapeContext& c) { return solve_shape(c, true, true); }

Status banded_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialMatrix bands, partial_matrix(c, 0));
  WEFT_ASSIGN(PartialMatrix rhs, partial_matrix(c, 1));
  if (bands.rows == 0) return invalid_argument("Number of bands must be positive, but is 0");
  WEFT_ASSIGN(int64_t n, ShapeContext::merge_dim(bands.columns, rhs.rows));
  WEFT_ASSIGN(PartialShape outer, shapes::broadcast(bands.outer, rhs.outer));
  c.output(0, with_dims(outer, {n, rhs.columns}));
  return {};
}

Status tridiagonal_solve_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialMatrix lhs, partial_matrix(c, 0));
  WEFT_ASSIGN(PartialMatrix rhs, partial_matrix(c, 1));
  if (lhs.rows >= 0 && lhs.rows != 3) return invalid_argument("Dimension must be 3 but is ", lhs.rows);
  WEFT_ASSIGN(int64_t n, ShapeContext::merge_dim(lhs.columns, rhs.rows));
  WEFT_ASSIGN(PartialShape outer, lhs.outer.merge_with(rhs.outer));
  c.output(0, with_dims(outer, {n, rhs.columns}));
  return {};
}

Status tridiagonal_matmul_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialMatrix rhs, partial_matrix(c, 3));
  PartialShape outer = rhs.outer;
  int64_t n = rhs.rows;
  for (int i = 0; i < 3; ++i) {
    WEFT_ASSIGN(PartialMatrix diagonal, partial_matrix(c, i));
    if (diagonal.rows >= 0 && diagonal.rows != 1) return invalid_argument("Dimension must be 1 but is ", diagonal.rows);
    WEFT_ASSIGN(n, ShapeContext::merge_dim(n, diagonal.columns));
    WEFT_ASSIGN(outer, outer.merge_with(diagonal.outer));
  }
  c.output(0, with_dims(outer, {n, rhs.columns}));
  return {};
}

// ---- kernels

Status run_matrix_solve(KernelContext& c) {
  WEFT_ASSIGN(Shape outer, outer_dims(c, 2));
  const MatrixSize lhs = matrix_size(c.input(0)), rhs = matrix_size(c.input(1));
  if (lhs.rows != lhs.columns) return invalid_argument("First input (lhs) must be a square matrix.");
  if (lhs.rows != rhs.rows) return invalid_argument("Input matrix and rhs are incompatible.");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, c.input(1).shape()));
  if (out->num_elements() == 0) return {};
  const int64_t n = lhs.rows, k = rhs.columns;
  const bool adjoint = c.attr<bool>("adjoint");
  return dispatch<WEFT_LINALG_TYPES>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, outer.num_elements(), double(n) * double(n) * double(n + k), "Input matrix is not invertible.", [&](int64_t i) {
      return kernels::lu_solve(c.input(0).data<T>() + i * n * n, c.input(1).data<T>() + i * n * k, n, k, adjoint, out->data<T>() + i * n * k);
    });
  });
}

Status run_least_squares(KernelContext& c) {
  WEFT_ASSIGN(Shape outer, outer_dims(c, 2));
  const MatrixSize lhs = matrix_size(c.input(0)), rhs = matrix_size(c.input(1));
  if (lhs.rows != rhs.rows) return invalid_argument("Input matrix and rhs are incompatible.");
  const int64_t m = lhs.rows, n = lhs.columns, k = rhs.columns;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, outer.concat({n, k})));
  const Tensor& l2 = c.input(2);
  if (outer.num_elements() == 0) return {};
  if (l2.rank() != 0) return invalid_argument("l2_regularizer must be scalar, got shape ", l2.shape());
  const double weight = l2.data<double>()[0];
  if (!(weight >= 0)) return invalid_argument("l2_regularizer must be >= 0.");
  if (m == 0) std::memset(out->raw(), 0, out->byte_size());
  if (m == 0 || n == 0 || k == 0) return {};
  const bool fast = c.attr<bool>("fast");
  const std::string error = cat("Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide ", m >= n ? "a larger" : "an",
                                " l2_regularizer > 0.");
  const double cost = double(std::max(m, n)) * double(std::min(m, n)) * double(std::min(m, n) + k) * (fast ? 1 : 20);
  return dispatch<WEFT_LINALG_TYPES>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, outer.num_elements(), cost, error, [&](int64_t i) {
      const T *a = c.input(0).data<T>() + i * m * n, *b = c.input(1).data<T>() + i * m * k;
      T* x = out->data<T>() + i * n * k;
      if (fast) return kernels::least_squares_fast(a, b, m, n, k, weight, x);
      kernels::least_squares_robust(a, b, m, n, k, x);
      return true;
    });
  });
}

Status check_ranks(const Tensor& a, const Tensor& b) {
  if (a.rank() < 2) return invalid_argument("In[0] ndims must be >= 2: ", a.rank());
  if (b.rank() < 2) return invalid_argument("In[1] ndims must be >= 2: ", b.rank());
  return {};
}

Status mismatch(KernelContext& c, int64_t a, int64_t b) {
  return invalid_argument("In[0] mismatch In[1] shape: ", a, " vs. ", b, ": ", c.input(0).shape(), " ", c.input(1).shape(), " ",
                          int(c.attr<bool>("lower")), " ", int(c.attr<bool>("adjoint")));
}

Status run_triangular_solve(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  WEFT_RETURN_IF_ERROR(check_ranks(a, b));
  const MatrixSize lhs = matrix_size(a), rhs = matrix_size(b);
  if (lhs.rows != lhs.columns) return invalid_argument("In[0] matrices in the last dimensions must be square (", lhs.columns, " =/= ", lhs.rows, ")");
  WEFT_ASSIGN(MatrixBatch batch, broadcast_matrices(a.shape(), b.shape()));
  const int64_t n = lhs.rows, k = rhs.columns;
  if (n != rhs.rows) return mismatch(c, n, rhs.rows);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, batch.shape.concat({n, k})));
  if (out->num_elements() == 0) return {};
  const bool lower = c.attr<bool>("lower"), adjoint = c.attr<bool>("adjoint");
  return dispatch<WEFT_LINALG_TYPES>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, batch.shape.num_elements(), double(n) * double(n) * double(k), "", [&](int64_t i) {
      kernels::triangular_solve(a.data<T>() + batch.a[size_t(i)] * n * n, b.data<T>() + batch.b[size_t(i)] * n * k, n, k, lower, adjoint,
                                out->data<T>() + i * n * k);
      return true;
    });
  });
}

Status run_banded_solve(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  WEFT_RETURN_IF_ERROR(check_ranks(a, b));
  for (int i = 0; i < 2; ++i) {
    const Tensor& t = c.input(i);
    if (t.num_elements() == 0) {
      return invalid_argument("In[", i, "] must not be an empty tensor: Tensor<type: ", t.dtype(), " shape: ", t.shape(), " values: >");
    }
  }
  WEFT_ASSIGN(MatrixBatch batch, broadcast_matrices(a.shape(), b.shape()));
  const MatrixSize bands = matrix_size(a), rhs = matrix_size(b);
  const int64_t n = bands.columns, k = rhs.columns;
  if (n != rhs.rows) return mismatch(c, n, rhs.rows);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, batch.shape.concat({n, k})));
  const bool lower = c.attr<bool>("lower"), adjoint = c.attr<bool>("adjoint");
  return dispatch<WEFT_LINALG_TYPES>(out->dtype(), [&]<class T>(Tag<T>) -> Status {
    // TensorFlow looks at the diagonal of the first matrix only.
    const T* diagonal = a.data<T>() + (lower ? 0 : (bands.rows - 1) * n);
    for (int64_t i = 0; i < n; ++i) {
      if (diagonal[i] == T(0)) return invalid_argument("Input matrix is not invertible.");
    }
    return each_matrix(c, batch.shape.num_elements(), double(bands.elements()) * double(k), "", [&](int64_t i) {
      kernels::banded_triangular_solve(a.data<T>() + batch.a[size_t(i)] * bands.elements(), b.data<T>() + batch.b[size_t(i)] * n * k, bands.rows, n,
                                       k, lower, adjoint, out->data<T>() + i * n * k);
      return true;
    });
  });
}

Status run_tridiagonal_solve(KernelContext& c) {
  const bool pivoting = c.attr<bool>("partial_pivoting"), perturbing = c.attr<bool>("perturb_singular");
  if (perturbing && !pivoting) return invalid_argument("Setting perturb_singular requires also setting partial_pivoting.");
  WEFT_ASSIGN(Shape outer, outer_dims(c, 2));
  const MatrixSize lhs = matrix_size(c.input(0)), rhs = matrix_size(c.input(1));
  if (lhs.rows != 3) return invalid_argument("Expected diagonals to be provided as a matrix with 3 rows, got ", lhs.rows, " rows.");
  if (lhs.columns != rhs.rows) {
    return invalid_argument("Expected the same number of left-hand sides and right-hand sides, got ", lhs.columns, " and ", rhs.rows, ".");
  }
  const int64_t n = rhs.rows, k = rhs.columns;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, c.input(1).shape()));
  using kernels::TridiagonalMethod;
  const auto method = perturbing ? TridiagonalMethod::kPerturbing : pivoting ? TridiagonalMethod::kPivoting : TridiagonalMethod::kThomas;
  return dispatch<WEFT_LINALG_TYPES>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, outer.num_elements(), double(n) * double(10 + 5 * k), "", [&](int64_t i) {
      kernels::tridiagonal_solve(method, c.input(0).data<T>() + i * 3 * n, c.input(1).data<T>() + i * n * k, n, k, out->data<T>() + i * n * k);
      return true;
    });
  });
}

Status run_tridiagonal_matmul(KernelContext& c) {
  WEFT_ASSIGN(Shape outer, outer_dims(c, 4));
  const MatrixSize rhs = matrix_size(c.input(3));
  const int64_t n = rhs.rows, k = rhs.columns;
  constexpr const char* kNames[] = {"superdiagonal", "main diagonal", "subdiagonal"};
  for (int i = 0; i < 3; ++i) {
    const MatrixSize m = matrix_size(c.input(i));
    if (m.rows != 1 || m.columns != n) return invalid_argument("Invalid ", kNames[i], " shape.");
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, c.input(3).shape()));
  return dispatch<WEFT_LINALG_TYPES>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, outer.num_elements(), 3.0 * double(n) * double(k), "", [&](int64_t i) {
      kernels::tridiagonal_matmul(c.input(0).data<T>() + i * n, c.input(1).data<T>() + i * n, c.input(2).data<T>() + i * n,
                                  c.input(3).data<T>() + i * n * k, n, k, out->data<T>() + i * n * k);
      return true;
    });
  });
}

// ---- gradients -----------------------------------------------------------------------------------------

Grads solve_grad(const GradContext& g, std::string_view op, AttrMap attrs) {
  const bool adjoint = g.attr<bool>("adjoint");
  attrs["adjoint"] = !adjoint;
  const Value b = g.one(op, {g.x(0), g.dy()}, std::move(attrs));
  return {adjoint ? -batch_matmul(g.y(), b, false, true) : -batch_matmul(b, g.y(), false, true), b};
}

Grads triangular_solve_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const bool lower = g.attr<bool>("lower");
  Grads grads = solve_grad(g, "MatrixTriangularSolve", g.attrs({"lower"}));
  const Value all = scalar(e, DType::kInt64, -1), none = scalar(e, DType::kInt64, 0);
  grads[0] = g.one("MatrixBandPart", {grads[0], lower ? all : none, lower ? none : all});
  return {sum_to(grads[0], g.x(0)), sum_to(grads[1], g.x(1))};
}

}  // namespace

void linalg_solve(Registry& r) {
  r.add("BandedTriangularSolve")
      .doc("Solves equations with triangular band matrices, given by their diagonals.")
      .in("matrix: T")
      .in("rhs: T")
      .out("output: T")
      .attr("lower: bool = true")
      .attr("adjoint: bool = false")
      .attr("T: {double, float, half, complex64, complex128}")
      .shape(banded_shape)
      .grad(banded_solve_grad)
      .cpu(run_banded_solve, types<WEFT_LINALG_TYPES>("T"));

  r.add("BatchMatrixSolve")
      .doc("As MatrixSolve; of old graphs.")
      .in("matrix: T")
      .in("rhs: T")
      .out("output: T")
      .attr("adjoint: bool = false")
      .attr("T: {double, float}")
      .deprecated(13, "Use MatrixSolve instead.")
      .shape(matrix_solve_shape)
      .cpu(run_matrix_solve);

  r.add("BatchMatrixSolveLs")
      .doc("As MatrixSolveLs; of old graphs.")
      .in("matrix: T")
      .in("rhs: T")
      .in("l2_regularizer: double")
      .out("output: T")
      .attr("T: {double, float}")
      .attr("fast: bool = true")
      .deprecated(13, "Use MatrixSolveLs instead.")
      .shape(least_squares_shape)
      .cpu(run_least_squares);

  r.add("BatchMatrixTriangularSolve")
      .doc("As MatrixTriangularSolve; of old graphs.")
      .in("matrix: T")
      .in("rhs: T")
      .out("output: T")
      .attr("lower: bool = true")
      .attr("adjoint: bool = false")
      .attr("T: {double, float}")
      .deprecated(13, "Use MatrixTriangularSolve instead.")
      .shape(triangular_shape)
      .cpu(run_triangular_solve);

  r.add("MatrixSolve")
      .doc("Solves linear equations with square matrices, or their adjoints.")
      .in("matrix: T")
      .in("rhs: T")
      .out("output: T")
      .attr("adjoint: bool = false")
      .attr("T: {double, float, half, complex64, complex128}")
      .library({LibraryCall::Kind::kSolve})
      .shape(matrix_solve_shape)
      .batch(batch_leading<2>)
      .grad([](const GradContext& g) -> Grads { return solve_grad(g, "MatrixSolve", g.attrs({})); })
      .cpu(run_matrix_solve, types<WEFT_LINALG_TYPES>("T"));

  r.add("MatrixSolveLs")
      .doc("Solves linear equations in the sense of least squares.")
      .in("matrix: T")
      .in("rhs: T")
      .in("l2_regularizer: double")
      .out("output: T")
      .attr("T: {double, float, half, complex64, complex128}")
      .attr("fast: bool = true")
      .shape(least_squares_shape)
      .grad(least_squares_grad)
      .cpu(run_least_squares, types<WEFT_LINALG_TYPES>("T"));

  r.add("MatrixTriangularSolve")
      .doc("Solves linear equations with triangular matrices, or their adjoints.")
      .in("matrix: T")
      .in("rhs: T")
      .out("output: T")
      .attr("lower: bool = true")
      .attr("adjoint: bool = false")
      .attr("T: {bfloat16, double, float, half, complex64, complex128}")
      .library({LibraryCall::Kind::kTriangularSolve})
      .shape(triangular_shape)
      .batch(batch_broadcasting)
      .grad(triangular_solve_grad)
      .cpu(run_triangular_solve, types<WEFT_LINALG_TYPES>("T"));

  r.add("TridiagonalMatMul")
      .doc("Products of tridiagonal matrices, given by their diagonals, with matrices.")
      .in("superdiag: T")
      .in("maindiag: T")
      .in("subdiag: T")
      .in("rhs: T")
      .out("output: T")
      .attr("T: {double, float, complex64, complex128}")
      .shape(tridiagonal_matmul_shape)
      .grad(tridiagonal_matmul_grad)
      .cpu(run_tridiagonal_matmul);

  r.add("TridiagonalSolve")
      .doc("Solves linear equations with tridiagonal matrices, given by their diagonals.")
      .in("diagonals: T")
      .in("rhs: T")
      .out("output: T")
      .attr("partial_pivoting: bool = true")
      .attr("perturb_singular: bool = false")
      .attr("T: {double, float, complex64, complex128}")
      .shape(tridiagonal_solve_shape)
      .grad(tridiagonal_solve_grad)
      .cpu(run_tridiagonal_solve);
}

}  // namespace weft_engine::ops
