// Linear algebra: decompositions, determinants and functions of matrices. Solvers are in linalg_solve.cc.
#include <cmath>
#include <limits>

#include "kernels/cpu/linalg.h"
#include "kernels/cpu/resize.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/linalg/linalg_common.h"
#include "ops/linalg/linalg_grad.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

Result<Shape> outer_dims(const KernelContext& c, int inputs) {
  const Tensor& first = c.input(0);
  if (first.rank() < 2) return invalid_argument("Input tensor 0 must have rank >= 2, got ", first.rank());
  const Shape outer = first.shape().slice(0, first.rank() - 2);
  for (int i = 1; i < inputs; ++i) {
    const Shape& s = c.input(i).shape();
    if (s.rank() != first.rank()) return invalid_argument("All input tensors must have the same rank.");
    if (s.slice(0, s.rank() - 2) != outer) return invalid_argument("All input tensors must have the same outer dimensions.");
  }
  return outer;
}

Result<PartialMatrix> partial_matrix(const ShapeContext& c, int input) {
  WEFT_ASSIGN(PartialShape s, c.with_rank_at_least(input, 2));
  if (!s.has_rank()) return PartialMatrix{};
  return PartialMatrix{s.slice(0, s.rank() - 2), s.dim(-2), s.dim(-1)};
}

Result<PartialMatrix> partial_square(const ShapeContext& c, int input) {
  WEFT_ASSIGN(PartialMatrix m, partial_matrix(c, input));
  WEFT_ASSIGN(int64_t n, ShapeContext::merge_dim(m.rows, m.columns));
  m.rows = m.columns = n;
  return m;
}

namespace {

// A batch of square matrices in input 0.
struct Squares {
  Shape outer;
  int64_t count, n;
};

Result<Squares> squares(const KernelContext& c) {
  WEFT_ASSIGN(Shape outer, outer_dims(c, 1));
  const MatrixSize m = matrix_size(c.input(0));
  if (m.rows != m.columns) return invalid_argument("Input matrix must be square.");
  const int64_t count = outer.num_elements();
  return Squares{std::move(outer), count, m.rows};
}

double cubic(int64_t n, double factor = 1) { return factor * double(n) * double(n) * double(n); }

// ---- shape rules

Status square_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialMatrix m, partial_square(c, 0));
  c.output(0, with_dims(m.outer, {m.rows, m.rows}));
  return {};
}

Status determinant_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialMatrix m, partial_square(c, 0));
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, m.outer);
  return {};
}

Status lu_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialMatrix m, partial_square(c, 0));
  c.output(0, with_dims(m.outer, {m.rows, m.rows}));
  c.output(1, with_dims(m.outer, {m.rows}));
  return {};
}

Status eig_v1_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialMatrix m, partial_square(c, 0));
  c.output(0, with_dims(m.outer, {shapes::add_dim(m.rows, 1), m.rows}));
  return {};
}

Status eig_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialMatrix m, partial_square(c, 0));
  c.output(0, with_dims(m.outer, {m.rows}));
  c.output(1, c.attr<bool>("compute_v") ? with_dims(m.outer, {m.rows, m.rows}) : PartialShape::vector(0));
  return {};
}

// min of two dimensions; zero is smallest whatever the other.
int64_t min_dim(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  return a < 0 || b < 0 ? kUnknownDim : std::min(a, b);
}

Status svd_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialMatrix m, partial_matrix(c, 0));
  const int64_t p = min_dim(m.rows, m.columns);
  c.output(0, with_dims(m.outer, {p}));
  const bool full = c.attr<bool>("full_matrices"), vectors = c.attr<bool>("compute_uv");
  c.output(1, vectors ? with_dims(m.outer, {m.rows, full ? m.rows : p}) : PartialShape::vector(0));
  c.output(2, vectors ? with_dims(m.outer, {m.columns, full ? m.columns : p}) : PartialShape::vector(0));
  return {};
}

Status qr_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialMatrix m, partial_matrix(c, 0));
  const int64_t p = c.attr<bool>("full_matrices") ? m.rows : min_dim(m.rows, m.columns);
  c.output(0, with_dims(m.outer, {m.rows, p}));
  c.output(1, with_dims(m.outer, {p, m.columns}));
  return {};
}

// ---- kernels

Status run_cholesky(KernelContext& c) {
  WEFT_ASSIGN(Squares s, squares(c));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, c.input(0).shape()));
  return dispatch<WEFT_LINALG_TYPES>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, s.n ? s.count : 0, cubic(s.n, 0.3), "", [&](int64_t i) {
      kernels::cholesky(c.input(0).data<T>() + i * s.n * s.n, s.n, out->data<T>() + i * s.n * s.n);
      return true;
    });
  });
}

Status run_cholesky_grad(KernelContext& c) {
  WEFT_ASSIGN(Shape outer, outer_dims(c, 2));
  const MatrixSize l = matrix_size(c.input(0)), grad = matrix_size(c.input(1));
  if (l.rows != grad.rows || l.columns != grad.columns) return invalid_argument("Inputs (L and grad) must have the same shape.");
  if (l.rows != l.columns) return invalid_argument("Inputs must be a square matrices.");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, c.input(0).shape()));
  const int64_t n = l.rows;
  return dispatch<float, double>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, n ? outer.num_elements() : 0, cubic(n, 2), "", [&](int64_t i) {
      kernels::cholesky_grad(c.input(0).data<T>() + i * n * n, c.input(1).data<T>() + i * n * n, n, out->data<T>() + i * n * n);
      return true;
    });
  });
}

Status run_determinant(KernelContext& c) {
  WEFT_ASSIGN(Squares s, squares(c));
  const bool logarithm = c.num_outputs() == 2;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, s.outer));
  Tensor* log = nullptr;
  if (logarithm) {
    WEFT_ASSIGN(log, c.allocate(1, s.outer));
  }
  return dispatch<WEFT_LINALG_TYPES>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, s.count, cubic(s.n), "", [&](int64_t i) {
      T sign;
      const auto size = kernels::lu_log_determinant(c.input(0).data<T>() + i * s.n * s.n, s.n, &sign);
      out->data<T>()[i] = logarithm ? sign : sign * T(std::exp(size));
      if (logarithm) log->data<T>()[i] = T(size);
      return true;
    });
  });
}

Status run_lu(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 2) return invalid_argument("Input tensor must have rank >= 2, got ", in.rank());
  WEFT_ASSIGN(Squares s, squares(c));
  WEFT_ASSIGN(Tensor* lu, c.allocate(0, in.shape()));
  WEFT_ASSIGN(Tensor* p, c.allocate(1, s.outer.concat({s.n})));
  return dispatch<WEFT_LINALG_TYPES>(in.dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, s.n ? s.count : 0, cubic(s.n), "Input is not invertible.", [&](int64_t i) {
      std::vector<int64_t> order(size_t(s.n), 0);
      const bool done = kernels::lu_factor(in.data<T>() + i * s.n * s.n, s.n, lu->data<T>() + i * s.n * s.n, order.data());
      if (p->dtype() == DType::kInt32) std::copy(order.begin(), order.end(), p->data<int32_t>() + i * s.n);
      else std::copy(order.begin(), order.end(), p->data<int64_t>() + i * s.n);
      return done;
    });
  });
}

// As real numbers, or complex ones, in double: for rare functions one instantiation is enough.
template <class T>
std::vector<core::complex128> widened(const T* x, int64_t n) {
  return std::vector<core::complex128>(x, x + n);
}

template <class T>
void narrowed(const std::vector<core::complex128>& x, T* out) {
  for (const core::complex128& v : x) {
    if constexpr (core::is_complex<T>) *out++ = T(v);
    else *out++ = T(v.real());
  }
}

Status run_square_root(KernelContext& c) {
  WEFT_ASSIGN(Squares s, squares(c));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, c.input(0).shape()));
  return dispatch<WEFT_LINALG_TYPES>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, s.n ? s.count : 0, cubic(s.n, 50), "", [&](int64_t i) {
      const int64_t n = s.n * s.n;
      const auto in = widened(c.input(0).data<T>() + i * n, n);
      std::vector<core::complex128> root(in.size());
      kernels::matrix_square_root(in.data(), s.n, root.data());
      if constexpr (!core::is_complex<T>) {
        // A real matrix with negative eigenvalues has no real root of this kind.
        double real = 0, imaginary = 0;
        for (const auto& v : root) {
          real = std::max(real, std::abs(v.real()));
          imaginary = std::max(imaginary, std::abs(v.imag()));
        }
        if (imaginary > 1e-7 * real) std::fill(root.begin(), root.end(), core::complex128(std::nan("")));
      }
      narrowed(root, out->data<T>() + i * n);
      return true;
    });
  });
}

Status run_logarithm(KernelContext& c) {
  WEFT_ASSIGN(Squares s, squares(c));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, c.input(0).shape()));
  return dispatch<core::complex64, core::complex128>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, s.n ? s.count : 0, cubic(s.n, 100), "", [&](int64_t i) {
      const int64_t n = s.n * s.n;
      const auto in = widened(c.input(0).data<T>() + i * n, n);
      std::vector<core::complex128> log(in.size());
      kernels::matrix_logarithm(in.data(), s.n, log.data());
      narrowed(log, out->data<T>() + i * n);
      return true;
    });
  });
}

Status run_exponential(KernelContext& c) {
  WEFT_ASSIGN(Squares s, squares(c));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, c.input(0).shape()));
  return dispatch<WEFT_LINALG_TYPES>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, s.n ? s.count : 0, cubic(s.n, 10), "", [&](int64_t i) {
      const int64_t n = s.n * s.n;
      T* to = out->data<T>() + i * n;
      if (!kernels::matrix_exponential(c.input(0).data<T>() + i * n, s.n, to)) std::fill_n(to, n, T(std::numeric_limits<double>::quiet_NaN()));
      return true;
    });
  });
}

constexpr std::string_view kEigFailed = "Self-adjoint eigen decomposition was not successful. The input might not be valid.";

Status run_self_adjoint_eig_v1(KernelContext& c) {
  WEFT_ASSIGN(Squares s, squares(c));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, s.outer.concat({s.n + 1, s.n})));
  return dispatch<float, double>(out->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, s.n ? s.count : 0, cubic(s.n, 9), kEigFailed, [&](int64_t i) {
      T* to = out->data<T>() + i * (s.n + 1) * s.n;
      return kernels::self_adjoint_eig(c.input(0).data<T>() + i * s.n * s.n, s.n, to, to + s.n);
    });
  });
}

// The second output is empty unless it is asked for.
Result<Tensor*> allocate_vectors(KernelContext& c, int output, bool wanted, const Shape& shape) {
  return c.allocate(output, wanted ? shape : Shape({0}));
}

Status run_self_adjoint_eig(KernelContext& c) {
  WEFT_ASSIGN(Squares s, squares(c));
  const bool vectors = c.attr<bool>("compute_v");
  WEFT_ASSIGN(Tensor* e, c.allocate(0, s.outer.concat({s.n})));
  WEFT_ASSIGN(Tensor* v, allocate_vectors(c, 1, vectors, c.input(0).shape()));
  return dispatch<WEFT_LINALG_TYPES>(e->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, s.n ? s.count : 0, cubic(s.n, 9), kEigFailed, [&](int64_t i) {
      return kernels::self_adjoint_eig(c.input(0).data<T>() + i * s.n * s.n, s.n, e->data<T>() + i * s.n,
                                       vectors ? v->data<T>() + i * s.n * s.n : nullptr);
    });
  });
}

Status run_eig(KernelContext& c) {
  WEFT_ASSIGN(Squares s, squares(c));
  const DType in = c.input(0).dtype();
  const DType wanted = in == DType::kFloat || in == DType::kComplex64 ? DType::kComplex64 : DType::kComplex128;
  if (c.output_type(0) != wanted) return invalid_argument("Invalid output dtype ", int(c.output_type(0)), " vs ", int(wanted));
  const bool vectors = c.attr<bool>("compute_v");
  WEFT_ASSIGN(Tensor* e, c.allocate(0, s.outer.concat({s.n})));
  WEFT_ASSIGN(Tensor* v, allocate_vectors(c, 1, vectors, c.input(0).shape()));
  return dispatch<WEFT_LINALG_TYPES>(in, [&]<class T>(Tag<T>) {
    using Complex = std::complex<kernels::RealOf<T>>;
    return each_matrix(c, s.n ? s.count : 0, cubic(s.n, 25), "Eigen decomposition was not successful. The input might not be valid.", [&](int64_t i) {
      const T* a = c.input(0).data<T>() + i * s.n * s.n;
      Complex *values = e->data<Complex>() + i * s.n, *columns = vectors ? v->data<Complex>() + i * s.n * s.n : nullptr;
      if constexpr (core::is_complex<T>) return kernels::eig(a, s.n, values, columns);
      else return kernels::real_eig(a, s.n, values, columns);
    });
  });
}

Status run_svd(KernelContext& c) {
  WEFT_ASSIGN(Shape outer, outer_dims(c, 1));
  const auto [m, n] = matrix_size(c.input(0));
  const int64_t p = std::min(m, n), rows = m, columns = n;
  const bool vectors = c.attr<bool>("compute_uv"), full = c.attr<bool>("full_matrices");
  const int64_t u_columns = full ? m : p, v_columns = full ? n : p;
  WEFT_ASSIGN(Tensor* s, c.allocate(0, outer.concat({p})));
  WEFT_ASSIGN(Tensor* u, allocate_vectors(c, 1, vectors, outer.concat({m, u_columns})));
  WEFT_ASSIGN(Tensor* v, allocate_vectors(c, 2, vectors, outer.concat({n, v_columns})));
  return dispatch<WEFT_LINALG_TYPES>(s->dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, outer.num_elements(), 20.0 * double(std::max(rows, columns)) * double(p) * double(p), "", [&](int64_t i) {
      kernels::svd(c.input(0).data<T>() + i * rows * columns, rows, columns, full, s->data<T>() + i * p,
                   vectors ? u->data<T>() + i * rows * u_columns : nullptr, vectors ? v->data<T>() + i * columns * v_columns : nullptr);
      return true;
    });
  });
}

// float(x) for half inputs, and back.
Result<Tensor> half_as_float(KernelContext& c, const Tensor& t) {
  if (t.dtype() != DType::kHalf) return t;
  WEFT_ASSIGN(Tensor copy, c.temp(DType::kFloat, t.shape()));
  kernels::to_float(t.dtype(), t.raw(), copy.data<float>(), t.num_elements(), c.pool());
  return copy;
}

void store_half(const Tensor& from, Tensor& to) {
  for (int64_t i = 0; i < to.num_elements(); ++i) to.data<core::half>()[i] = core::half(from.data<float>()[i]);
}

Status run_qr(KernelContext& c) {
  WEFT_ASSIGN(Shape outer, outer_dims(c, 1));
  const MatrixSize size = matrix_size(c.input(0));
  const int64_t m = size.rows, n = size.columns;
  const bool full = c.attr<bool>("full_matrices"), narrow = c.input(0).dtype() == DType::kHalf;
  const int64_t p = full ? m : std::min(m, n);
  WEFT_ASSIGN(Tensor* q, c.allocate(0, outer.concat({m, p})));
  WEFT_ASSIGN(Tensor* r, c.allocate(1, outer.concat({p, n})));
  WEFT_ASSIGN(Tensor in, half_as_float(c, c.input(0)));
  Tensor wide_q = *q, wide_r = *r;
  if (narrow) {
    WEFT_ASSIGN(wide_q, c.temp(DType::kFloat, q->shape()));
    WEFT_ASSIGN(wide_r, c.temp(DType::kFloat, r->shape()));
  }
  WEFT_RETURN_IF_ERROR(dispatch<WEFT_LINALG_TYPES>(in.dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, outer.num_elements(), 4.0 * double(m) * double(n) * double(p), "", [&](int64_t i) {
      kernels::qr(in.data<T>() + i * m * n, m, n, full, wide_q.data<T>() + i * m * p, wide_r.data<T>() + i * p * n);
      return true;
    });
  }));
  if (narrow) {
    store_half(wide_q, *q);
    store_half(wide_r, *r);
  }
  return {};
}

Status run_inverse(KernelContext& c) {
  WEFT_ASSIGN(Squares s, squares(c));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, c.input(0).shape()));
  WEFT_ASSIGN(Tensor in, half_as_float(c, c.input(0)));
  Tensor wide = *out;
  if (out->dtype() == DType::kHalf) {
    WEFT_ASSIGN(wide, c.temp(DType::kFloat, out->shape()));
  }
  const bool adjoint = c.attr<bool>("adjoint");
  WEFT_RETURN_IF_ERROR(dispatch<WEFT_LINALG_TYPES>(in.dtype(), [&]<class T>(Tag<T>) {
    return each_matrix(c, s.n ? s.count : 0, cubic(s.n, 2), "Input is not invertible.",
                       [&](int64_t i) { return kernels::lu_inverse(in.data<T>() + i * s.n * s.n, s.n, adjoint, wide.data<T>() + i * s.n * s.n); });
  }));
  if (out->dtype() == DType::kHalf) store_half(wide, *out);
  return {};
}

// ---- Cross

Status cross_shape(ShapeContext& c) {
  auto merged = c.input(0).merge_with(c.input(1));
  if (!merged.ok()) return merged.status();
  const PartialShape& s = merged.value();
  if (s.has_rank() && s.rank() < 1) return invalid_argument("Shape must be at least rank 1 but is rank 0");
  if (s.has_rank() && s.dim(-1) >= 0 && s.dim(-1) != 3) return invalid_argument("Dimension must be 3 but is ", s.dim(-1));
  c.output(0, s);
  return {};
}

template <class T>
Status cross(const Tensor& a, const Tensor& b, Tensor& out) {
  const T *p = a.data<T>(), *q = b.data<T>();
  T* r = out.data<T>();
  for (int64_t i = 0; i + 2 < out.num_elements(); i += 3, p += 3, q += 3, r += 3) {
    r[0] = T(T(p[1] * q[2]) - T(p[2] * q[1]));
    r[1] = T(T(p[2] * q[0]) - T(p[0] * q[2]));
    r[2] = T(T(p[0] * q[1]) - T(p[1] * q[0]));
  }
  return {};
}

Status run_cross(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  if (a.shape() != b.shape()) return invalid_argument("Both inputs must be of same shape: ", a.shape(), " vs. ", b.shape());
  if (a.rank() < 1) return invalid_argument("Input must be at least 1D", a.shape());
  if (a.dim(a.rank() - 1) != 3) return failed_precondition("Cross-products are only defined for 3-element vectors.");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, a.shape()));
  if (is_floating_type(a.dtype())) return dispatch<WEFT_FLOATS>(a.dtype(), [&]<class T>(Tag<T>) { return cross<T>(a, b, *out); });
  switch (dtype_size(a.dtype())) {  // unsigned: signed ones wrap alike. 16 bits would be promoted to int
    case 1: return cross<uint8_t>(a, b, *out);
    case 2: {
      const auto *p = a.data<uint16_t>(), *q = b.data<uint16_t>();
      for (int64_t i = 0; i < out->num_elements(); ++i) {
        const int64_t base = i - i % 3, j = base + (i + 1) % 3, k = base + (i + 2) % 3;
        out->data<uint16_t>()[i] = uint16_t(uint32_t(p[j]) * q[k] - uint32_t(p[k]) * q[j]);
      }
      return {};
    }
    case 4: return cross<uint32_t>(a, b, *out);
    default: return cross<uint64_t>(a, b, *out);
  }
}

// ---- gradients -----------------------------------------------------------------------------------------

// A number for each matrix, as a matrix of one element.
Value per_matrix(const Value& v) { return expand_dims(expand_dims(v, -1), -1); }
Value inverse_adjoint(const Value& a) { return a.valid() ? a.emitter().one("MatrixInverse", {a}, {{"adjoint", true}}) : a; }

Value cholesky_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value l = g.y();
  Value middle = batch_matmul(l, g.dy(), true, false);
  middle = binary("MatrixSetDiag", middle, 0.5 * unary("MatrixDiagPart", middle));
  middle = g.one("MatrixBandPart", {middle, scalar(e, DType::kInt64, -1), scalar(e, DType::kInt64, 0)});
  const Value eye = binary("MatrixSetDiag", zeros_like(l), ones_like(unary("MatrixDiagPart", l)));
  const Value inverse = g.one("MatrixTriangularSolve", {l, eye});
  const Value a = batch_matmul(batch_matmul(inverse, middle, true, false), inverse);
  return (a + adjoint(a)) * 0.5;
}

// Vectors that are not asked for are empty, the same for all rows.
Batched decomposed(BatchContext& c) {
  bool vectors = true;
  for (const char* name : {"compute_v", "compute_uv"}) {
    if (c.attrs.contains(name)) vectors = c.flag(name);
  }
  std::vector<Value> out = c.itself({c.inner(0)});
  WEFT_RETURN_IF_ERROR(c.base.take_status());
  for (size_t i = 0; i < out.size(); ++i) out[i] = i == 0 || vectors ? c.emitter.batched(out[i]) : c.shared(out[i]);
  return out;
}

}  // namespace

void linalg(Registry& r) {
  r.add("BatchCholesky")
      .doc("As Cholesky; of old graphs.")
      .in("input: T")
      .out("output: T")
      .attr("T: {double, float}")
      .deprecated(13, "Use Cholesky instead.")
      .shape(square_shape)
      .cpu(run_cholesky);

  r.add("BatchCholeskyGrad")
      .doc("As CholeskyGrad; of old graphs.")
      .in("l: T")
      .in("grad: T")
      .out("output: T")
      .attr("T: {float, double}")
      .deprecated(13, "Use CholeskyGrad instead.")
      .shape(square_shape)
      .cpu(run_cholesky_grad);

  r.add("BatchMatrixDeterminant")
      .doc("As MatrixDeterminant; of old graphs.")
      .in("input: T")
      .out("output: T")
      .attr("T: {float, double, complex64, complex128}")
      .deprecated(13, "Use MatrixDeterminant instead.")
      .shape(determinant_shape)
      .cpu(run_determinant);

  r.add("BatchMatrixInverse")
      .doc("As MatrixInverse; of old graphs.")
      .in("input: T")
      .out("output: T")
      .attr("adjoint: bool = false")
      .attr("T: {double, float}")
      .deprecated(13, "Use MatrixInverse instead.")
      .shape(square_shape)
      .cpu(run_inverse);

  r.add("BatchSelfAdjointEig")
      .doc("As SelfAdjointEig; of old graphs.")
      .in("input: T")
      .out("output: T")
      .attr("T: {double, float}")
      .deprecated(11, "Use SelfAdjointEigV2 instead.")
      .shape(eig_v1_shape)
      .cpu(run_self_adjoint_eig_v1);

  r.add("BatchSelfAdjointEigV2")
      .doc("As SelfAdjointEigV2; of old graphs.")
      .in("input: T")
      .out("e: T")
      .out("v: T")
      .attr("compute_v: bool = true")
      .attr("T: {double, float}")
      .deprecated(13, "Use SelfAdjointEigV2 instead.")
      .shape(eig_shape)
      .cpu(run_self_adjoint_eig);

  r.add("BatchSvd")
      .doc("As Svd; of old graphs.")
      .in("input: T")
      .out("s: T")
      .out("u: T")
      .out("v: T")
      .attr("compute_uv: bool = true")
      .attr("full_matrices: bool = false")
      .attr("T: {double, float, complex64, complex128}")
      .deprecated(13, "Use Svd instead.")
      .shape(svd_shape)
      .cpu(run_svd);

  r.add("Cholesky")
      .doc("The lower triangular factor L of positive definite matrices A = L L^H.")
      .in("input: T")
      .out("output: T")
      .attr("T: {double, float, half, complex64, complex128}")
      .library({LibraryCall::Kind::kCholesky})
      .shape(square_shape)
      .batch(batch_leading<1>)
      .grad([](const GradContext& g) -> Grads { return {cholesky_grad(g)}; })
      .cpu(run_cholesky, types<WEFT_LINALG_TYPES>("T"));

  r.add("CholeskyGrad")
      .doc("The gradient of Cholesky for its input, from its result.")
      .in("l: T")
      .in("grad: T")
      .out("output: T")
      .attr("T: {half, float, double}")
      .shape(square_shape)
      .batch(batch_leading<2>)
      .cpu(run_cholesky_grad, types<float, double>("T"));

  r.add("Cross")
      .doc("Cross products of vectors of three elements.")
      .in("a: T")
      .in("b: T")
      .out("product: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .shape(cross_shape)
      .batch(batch_leading<-1>)
      .grad([](const GradContext& g) -> Grads { return {binary("Cross", g.x(1), g.dy()), binary("Cross", g.dy(), g.x(0))}; })
      .cpu(run_cross);

  r.add("Eig")
      .doc("Eigenvalues and eigenvectors of general square matrices.")
      .in("input: T")
      .out("e: Tout")
      .out("v: Tout")
      .attr("compute_v: bool = true")
      .attr("T: {float, double, complex64, complex128}")
      .attr("Tout: {complex64, complex128}")
      .shape(eig_shape)
      .batch(decomposed)
      .grad(eig_grad)
      .cpu(run_eig);

  r.add("LogMatrixDeterminant")
      .doc("Sign and logarithm of the size of determinants.")
      .in("input: T")
      .out("sign: T")
      .out("log_abs_determinant: T")
      .attr("T: {half, float, double, complex64, complex128}")
      .library({LibraryCall::Kind::kLogDeterminant})
      .shape(determinant_shape)
      .batch(batch_leading<1>)
      .grad([](const GradContext& g) -> Grads { return {per_matrix(g.dy(1)) * inverse_adjoint(g.x())}; })
      .cpu(run_determinant, types<WEFT_LINALG_TYPES>("T"));

  r.add("Lu")
      .doc("LU decomposition with row pivots: both factors in one matrix, and the order of the rows.")
      .in("input: T")
      .out("lu: T")
      .out("p: output_idx_type")
      .attr("T: {double, float, half, complex64, complex128}")
      .attr("output_idx_type: {int32, int64} = DT_INT32")
      .shape(lu_shape)
      .batch(batch_leading<1>)
      .cpu(run_lu, types<WEFT_LINALG_TYPES>("T"));

  r.add("MatrixDeterminant")
      .doc("Determinants of square matrices.")
      .in("input: T")
      .out("output: T")
      .attr("T: {half, float, double, complex64, complex128}")
      .library({LibraryCall::Kind::kDeterminant})
      .shape(determinant_shape)
      .batch(batch_leading<1>)
      .grad([](const GradContext& g) -> Grads { return {per_matrix(g.dy() * g.y()) * inverse_adjoint(g.x())}; })
      .cpu(run_determinant, types<WEFT_LINALG_TYPES>("T"));

  r.add("MatrixInverse")
      .doc("Inverses of square matrices, or of their adjoints.")
      .in("input: T")
      .out("output: T")
      .attr("adjoint: bool = false")
      .attr("T: {double, float, half, complex64, complex128}")
      .library({LibraryCall::Kind::kInverse})
      .shape(square_shape)
      .batch(batch_leading<1>)
      .grad([](const GradContext& g) -> Grads {
        const bool a = g.attr<bool>("adjoint");
        return {-batch_matmul(g.y(), batch_matmul(g.dy(), g.y(), a, !a), !a, false)};
      })
      .cpu(run_inverse);

  r.add("MatrixExponential")
      .doc("The exponentials of square matrices.")
      .in("input: T")
      .out("output: T")
      .attr("T: {double, float, half, complex64, complex128}")
      .deprecated(27, "Use Python implementation tf.linalg.matrix_exponential instead.")
      .shape(square_shape)
      .cpu(run_exponential, types<WEFT_LINALG_TYPES>("T"));

  r.add("MatrixLogarithm")
      .doc("The principal logarithms of square matrices.")
      .in("input: T")
      .out("output: T")
      .attr("T: {complex64, complex128}")
      .shape(square_shape)
      .batch(batch_leading<1>)
      .cpu(run_logarithm);

  r.add("MatrixSquareRoot")
      .doc("The principal square roots of square matrices.")
      .in("input: T")
      .out("output: T")
      .attr("T: {double, float, half, complex64, complex128}")
      .shape(square_shape)
      .batch(batch_leading<1>)
      .grad(square_root_grad)
      .cpu(run_square_root, types<WEFT_LINALG_TYPES>("T"));

  r.add("Qr")
      .doc("QR decompositions of matrices.")
      .in("input: T")
      .out("q: T")
      .out("r: T")
      .attr("full_matrices: bool = false")
      .attr("T: {double, float, half, complex64, complex128}")
      .library({LibraryCall::Kind::kQr})
      .shape(qr_shape)
      .batch(batch_leading<1>)
      .grad(qr_grad)
      .cpu(run_qr);

  r.add("SelfAdjointEig")
      .doc("Eigenvalues, in the first row, and eigenvectors of symmetric matrices; of old graphs.")
      .in("input: T")
      .out("output: T")
      .attr("T: {double, float, half}")
      .deprecated(11, "Use SelfAdjointEigV2 instead.")
      .shape(eig_v1_shape)
      .cpu(run_self_adjoint_eig_v1, types<float, double>("T"));

  r.add("SelfAdjointEigV2")
      .doc("Eigenvalues, ascending, and eigenvectors of self-adjoint matrices.")
      .in("input: T")
      .out("e: T")
      .out("v: T")
      .attr("compute_v: bool = true")
      .attr("T: {double, float, half, complex64, complex128}")
      .library({LibraryCall::Kind::kEigen})
      .shape(eig_shape)
      .batch(decomposed)
      .grad(self_adjoint_eig_grad)
      .cpu(run_self_adjoint_eig, types<WEFT_LINALG_TYPES>("T"));

  r.add("Svd")
      .doc("Singular values, descending, and singular vectors of matrices.")
      .in("input: T")
      .out("s: T")
      .out("u: T")
      .out("v: T")
      .attr("compute_uv: bool = true")
      .attr("full_matrices: bool = false")
      .attr("T: {double, float, half, complex64, complex128}")
      .library({LibraryCall::Kind::kSvd})
      .shape(svd_shape)
      .batch(decomposed)
      .grad(svd_grad)
      .cpu(run_svd, types<WEFT_LINALG_TYPES>("T"));
}

}  // namespace weft_engine::ops
