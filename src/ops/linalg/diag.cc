// Diagonals taken from matrices, put into them and replaced; bands.
#include <algorithm>

#include "op/registry.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

namespace {

// ---- diagonals of matrices ---------------------------------------------------------------------------

// The diagonals from `lower` to `upper` of a matrix: 0 is the main one, positive ones are above it.
// As a tensor each is a row, the highest first, padded to the longest at the side that `align` names.
struct Diagonals {
  int64_t lower = 0, upper = 0;
  bool left_super = true, left_sub = true;
  int64_t rows = 0, cols = 0;

  int64_t count() const { return upper - lower + 1; }
  int64_t longest() const { return std::min(rows + std::min<int64_t>(upper, 0), cols - std::max<int64_t>(lower, 0)); }
  int64_t length(int64_t d) const { return std::min(rows + std::min<int64_t>(d, 0), cols - std::max<int64_t>(d, 0)); }
  // Where the content of diagonal d starts in its row.
  int64_t offset(int64_t d, int64_t row_length) const {
    const bool left = (d >= 0 && left_super) || (d <= 0 && left_sub);
    return left ? 0 : row_length - length(d);
  }
  void align(const std::string& how) {
    left_super = how == "LEFT_LEFT" || how == "LEFT_RIGHT";
    left_sub = how == "LEFT_LEFT" || how == "RIGHT_LEFT";
  }
};

// Reads the argument k of the newer ops; the older ones have none and mean the main diagonal.
Result<Diagonals> read_k(const Tensor& k, const char* if_empty = "Expected diag_index to have at least 1 element") {
  if (k.rank() > 1) return invalid_argument("diag_index must be a scalar or vector, received shape: ", k.shape());
  if (k.num_elements() < 1) return invalid_argument(if_empty);
  if (k.num_elements() > 2) return invalid_argument("diag_index must have only one or two elements, received ", k.dim(0), " elements.");
  Diagonals d;
  d.lower = int_at(k, 0);
  d.upper = k.num_elements() > 1 ? int_at(k, 1) : d.lower;
  return d;
}

Status check_bounds(const Diagonals& d, const char* after_lower) {
  auto inside = [&](int64_t x) { return (-d.rows < x && x < d.cols) || x == 0; };
  if (!inside(d.lower))
    return invalid_argument("lower_diag_index is out of bound: ", d.lower, after_lower, " It must be between ", -d.rows, " and ", d.cols);
  if (!inside(d.upper)) return invalid_argument("upper_diag_index is out of bound: ", d.upper, " It must be between ", -d.rows, " and ", d.cols);
  if (d.lower > d.upper) return invalid_argument("lower_diag_index must not be larger than upper_diag_index: ", d.lower, " > ", d.upper);
  return {};
}

std::string align_of(const NodeInfo& node) {
  const AttrValue* v = node.find_attr("align");
  return v && v->get<std::string>() ? *v->get<std::string>() : "LEFT_LEFT";
}

Status run_diag_part(KernelContext& c) {
  const Tensor& in = c.input(0);
  Diagonals d;
  WEFT_ASSIGN(Tensor padding, Tensor::zeros(in.dtype(), {}));
  if (c.num_inputs() > 1) {
    WEFT_ASSIGN(d, read_k(c.input(1)));
    if (c.input(2).num_elements() != 1) return invalid_argument("Padding must be scalar.");
    padding = c.input(2);
  }
  d.align(align_of(c.node()));
  const int rank = in.rank();
  if (rank < 2) return invalid_argument("input must be at least 2-dim, received shape: ", in.shape());
  d.rows = in.dim(rank - 2);
  d.cols = in.dim(rank - 1);
  WEFT_RETURN_IF_ERROR(check_bounds(d, "."));
  Shape shape = in.shape().slice(0, rank - 2);
  const int64_t batch = shape.num_elements(), longest = d.longest(), count = d.count();
  if (count > 1) shape.add_dim(count);
  shape.add_dim(longest);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  return dispatch_movable(in.dtype(), [&]<class T>(Tag<T>) {
    const T fill = padding.data<T>()[0];
    c.pool().parallel_for(batch * count, double(longest) * 2, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t at = d.upper - r % count, n = std::max<int64_t>(d.length(at), 0), offset = d.offset(at, longest);
        const T* x = in.data<T>() + r / count * d.rows * d.cols + std::max<int64_t>(-at, 0) * d.cols + std::max<int64_t>(at, 0);
        T* y = out->data<T>() + r * longest;
        std::fill_n(y, offset, fill);
        for (int64_t i = 0; i < n; ++i) y[offset + i] = x[i * (d.cols + 1)];
        std::fill_n(y + offset + n, longest - offset - n, fill);
      }
    });
    return Status();
  });
}

// Copies the rows of `diagonals` onto the diagonals of the matrices in `out`.
Status put_diagonals(KernelContext& c, const Diagonals& d, const Tensor& diagonals, int64_t row_length, Tensor& out) {
  const int64_t matrix = d.rows * d.cols, batch = matrix > 0 ? out.num_elements() / matrix : 0, count = d.count();
  return dispatch_movable(out.dtype(), [&]<class T>(Tag<T>) {
    c.pool().parallel_for(batch * count, double(row_length) * 2, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t at = d.upper - r % count, n = d.length(at);
        const T* x = diagonals.data<T>() + r * row_length + d.offset(at, row_length);
        T* y = out.data<T>() + r / count * matrix + std::max<int64_t>(-at, 0) * d.cols + std::max<int64_t>(at, 0);
        for (int64_t i = 0; i < n; ++i) y[i * (d.cols + 1)] = x[i];
      }
    });
    return Status();
  });
}

// Rows and columns of the matrix that MatrixDiag makes; -1 leaves them to the diagonals.
Status matrix_size(Diagonals& d, int64_t longest, int64_t rows, int64_t cols) {
  const int64_t least_rows = longest - std::min<int64_t>(d.upper, 0), least_cols = longest + std::max<int64_t>(d.lower, 0);
  if (rows != -1 && rows < least_rows) return invalid_argument("The number of rows is too small.");
  if (cols != -1 && cols < least_cols) return invalid_argument("The number of columns is too small.");
  if (rows == -1 && cols == -1) rows = cols = std::max(least_rows, least_cols);
  else if (rows == -1) rows = least_rows;
  else if (cols == -1) cols = least_cols;
  if (rows != least_rows && cols != least_cols)
    return invalid_argument("The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.");
  d.rows = rows;
  d.cols = cols;
  return {};
}

Status run_matrix_diag(KernelContext& c) {
  const Tensor& diagonal = c.input(0);
  Diagonals d;
  int64_t rows = -1, cols = -1;
  WEFT_ASSIGN(Tensor padding, Tensor::zeros(diagonal.dtype(), {}));
  if (c.num_inputs() > 1) {
    WEFT_ASSIGN(d, read_k(c.input(1)));
    if (c.input(2).rank() != 0) return invalid_argument("num_rows must be a scalar");
    if (c.input(3).rank() != 0) return invalid_argument("num_cols must be a scalar");
    if (c.input(4).rank() != 0) return invalid_argument("padding_value must be a scalar");
    rows = int_at(c.input(2), 0);
    cols = int_at(c.input(3), 0);
    padding = c.input(4);
  }
  d.align(align_of(c.node()));
  const int rank = diagonal.rank();
  if (rank < 1) return invalid_argument("diagonal must be at least 1-dim, received shape: ", diagonal.shape());
  if (d.lower > d.upper) return invalid_argument("lower_diag_index must not be larger than upper_diag_index: ", d.lower, " > ", d.upper);
  if (d.lower != d.upper && (rank < 2 || diagonal.dim(rank - 2) != d.count()))
    return invalid_argument("The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index range.");
  const int64_t longest = diagonal.dim(rank - 1);
  WEFT_RETURN_IF_ERROR(matrix_size(d, longest, rows, cols));
  Shape shape = diagonal.shape().slice(0, d.count() == 1 ? rank - 1 : rank - 2);
  shape.add_dim(d.rows);
  shape.add_dim(d.cols);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  kernels::fill(c.pool(), padding.dtype(), padding.raw(), out->raw(), out->num_elements());
  // A row longer than its place in the matrix (possible with odd k) would be read beyond its end.
  for (int64_t at = d.lower; at <= d.upper; ++at) {
    if (d.length(at) > longest) return invalid_argument("The diagonals of length ", longest, " are too short for diagonal ", at);
  }
  return put_diagonals(c, d, diagonal, longest, *out);
}

Status run_set_diag(KernelContext& c) {
  const Tensor &in = c.input(0), &diagonal = c.input(1);
  Diagonals d;
  if (c.num_inputs() > 2) {
    WEFT_ASSIGN(d, read_k(c.input(2), "diag_index must have at least one element"));
  }
  d.align(align_of(c.node()));
  const int rank = in.rank();
  if (rank < 2) return invalid_argument("input must be at least 2-dim, received shape: ", in.shape());
  if (diagonal.rank() < 1) return invalid_argument("diagonal must be at least 1-dim, received shape: ", diagonal.shape());
  d.rows = in.dim(rank - 2);
  d.cols = in.dim(rank - 1);
  WEFT_RETURN_IF_ERROR(check_bounds(d, ""));
  if (d.lower != d.upper && diagonal.rank() <= rank - 2)
    return invalid_argument("Diagonal tensor rank must be large enough to contain a diagonal-count dimension. Input rank: ", rank,
                            ", Expected diagonal rank >= ", rank - 1, ", Received diagonal rank: ", diagonal.rank());
  if (d.lower != d.upper && diagonal.dim(rank - 2) != d.count())
    return invalid_argument("The number of diagonals provided in `diag` is not consistent with `lower_diag_index` and `upper_diag_index`");
  Shape want = in.shape().slice(0, rank - 2);
  if (d.count() > 1) want.add_dim(d.count());
  want.add_dim(d.longest());
  if (want != diagonal.shape())
    return invalid_argument(
        "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to the longests diagonal in "
        "range [lower_diag_index:upper_diag_index].\nInput shape: ",
        in.shape(), "\nDiagonal shape: ", diagonal.shape(), "\nExpected diagonal shape: ", want);
  if (in.num_elements() == 0) return pass_through(c);
  WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, in.shape(), 0));
  if (out->raw() != in.raw()) kernels::copy_run(c.pool(), in.dtype(), in.raw(), out->raw(), in.num_elements());
  return put_diagonals(c, d, diagonal, d.longest(), *out);
}

// ---- their shapes -----------------------------------------------------------------------------------

Status diag_part_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank_at_least(0, 2));
  Diagonals d;
  if (c.num_inputs() > 1) {
    WEFT_RETURN_IF_ERROR(c.with_rank_at_most(1, 1).status());
    WEFT_RETURN_IF_ERROR(c.with_rank_at_most(2, 0).status());
    if (!c.constant(1)) return {};
    WEFT_ASSIGN(d, read_k(*c.constant(1)));
  }
  if (d.lower > d.upper) return invalid_argument("lower_diag_index must not be larger than upper_diag_index: ", d.lower, " > ", d.upper);
  if (!in.has_rank()) return {};
  const int rank = in.rank();
  PartialShape out = in.slice(0, rank - 2);
  if (d.count() > 1) out.add_dim(d.count());
  d.rows = in.dim(rank - 2);
  d.cols = in.dim(rank - 1);
  const bool known = d.rows >= 0 && d.cols >= 0;
  if (known) WEFT_RETURN_IF_ERROR(check_bounds(d, "."));
  out.add_dim(known ? d.longest() : kUnknownDim);
  c.output(0, std::move(out));
  return {};
}

Status matrix_diag_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape diagonal, c.with_rank_at_least(0, 1));
  Diagonals d;
  int64_t rows = -1, cols = -1;
  bool sizes_known = true;
  if (c.num_inputs() > 1) {
    WEFT_RETURN_IF_ERROR(c.with_rank_at_most(1, 1).status());
    for (int i = 2; i < 5; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
    if (!c.constant(1)) return {};
    WEFT_ASSIGN(d, read_k(*c.constant(1)));
    const auto r = c.constant_int(2), k = c.constant_int(3);
    sizes_known = r && k;
    rows = r.value_or(-1);
    cols = k.value_or(-1);
  }
  if (d.lower > d.upper) return invalid_argument("lower_diag_index must not be larger than upper_diag_index: ", d.lower, " > ", d.upper);
  if (!diagonal.has_rank()) return {};
  const int rank = diagonal.rank();
  if (d.count() > 1 && rank < 2) return invalid_argument("Shape must be at least rank 2 but is rank ", rank);
  if (d.count() > 1 && diagonal.dim(rank - 2) >= 0 && diagonal.dim(rank - 2) != d.count())
    return invalid_argument("The number of rows of `diagonal` doesn't match the number of diagonals implied from `d_lower` and `d_upper`.\n",
                            "num_diags = ", d.count(), ", d_lower = ", d.lower, ", d_upper = ", d.upper, " ", diagonal.dim(rank - 2));
  d.rows = d.cols = kUnknownDim;
  if (sizes_known && diagonal.dim(rank - 1) >= 0) WEFT_RETURN_IF_ERROR(matrix_size(d, diagonal.dim(rank - 1), rows, cols));
  PartialShape out = diagonal.slice(0, d.count() == 1 ? rank - 1 : rank - 2);
  out.add_dim(d.rows);
  out.add_dim(d.cols);
  c.output(0, std::move(out));
  return {};
}

Status set_diag_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank_at_least(0, 2));
  WEFT_RETURN_IF_ERROR(c.with_rank_at_least(1, 1).status());
  if (c.num_inputs() > 2) WEFT_RETURN_IF_ERROR(c.with_rank_at_most(2, 1).status());
  c.output(0, std::move(in));
  return {};
}

// ---- the rest -----------------------------------------------------------------------------------------

Status run_band_part(KernelContext& c) {
  const Tensor &in = c.input(0), &lower_in = c.input(1), &upper_in = c.input(2);
  const int rank = in.rank();
  if (rank < 2) return invalid_argument("input must be at least 2-dim, received shape: ", in.shape());
  const int64_t rows = in.dim(rank - 2), cols = in.dim(rank - 1);
  if (lower_in.rank() != 0) return invalid_argument("num_lower must be scalar, got shape ", lower_in.shape());
  const int64_t lower = int_at(lower_in, 0);
  if (lower > rows) return invalid_argument("num_lower must be negative or less or equal to number of rows (", rows, ") got: ", lower);
  if (upper_in.rank() != 0) return invalid_argument("num_upper must be scalar, got shape ", upper_in.shape());
  const int64_t upper = int_at(upper_in, 0);
  if (upper > cols) return invalid_argument("num_upper must be negative or less or equal to number of columns (", cols, ") got: ", upper);
  if (in.num_elements() == 0 || ((lower < 0 || lower == rows) && (upper < 0 || upper == cols))) return pass_through(c);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  return dispatch_movable(in.dtype(), [&]<class T>(Tag<T>) {
    c.pool().parallel_for(in.num_elements() / cols, double(cols), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t i = r % rows;
        const int64_t first = lower < 0 ? 0 : std::clamp<int64_t>(i - lower, 0, cols);
        const int64_t last = upper < 0 ? cols : std::clamp<int64_t>(i + upper + 1, first, cols);
        const T* x = in.data<T>() + r * cols;
        T* y = out->data<T>() + r * cols;
        std::fill_n(y, first, T());
        std::copy(x + first, x + last, y + first);
        std::fill_n(y + last, cols - last, T());
      }
    });
    return Status();
  });
}

Status band_part_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank_at_least(0, 2));
  for (int i = 1; i < 3; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  c.output(0, std::move(in));
  return {};
}

Status run_diag(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < 1) return invalid_argument("Input must be at least rank 1, got 0");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape().concat(in.shape())));
  kernels::fill_zero(c.pool(), out->dtype(), out->raw(), out->num_elements());
  const int64_t n = in.num_elements();
  kernels::CopyPlan plan;
  plan.add(n, 1, n + 1);
  if (!plan.empty()) kernels::strided_copy(c.pool(), in.dtype(), in.raw(), out->raw(), plan);
  return {};
}

Status diag_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank_at_least(0, 1));
  c.output(0, in.concat(in));
  return {};
}

Status run_tensor_diag_part(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int half_rank = in.rank() / 2;
  if (in.rank() % 2 != 0)
    return invalid_argument("The rank of the tensor should be                                          even and positive, got shape ", in.shape());
  for (int i = 0; i < half_rank; ++i) {
    if (in.dim(i) != in.dim(i + half_rank))
      return invalid_argument("Invalid shape ", in.shape(), ": dimensions ", i, " and ", i + half_rank, " do not match.");
  }
  const Shape shape = in.shape().slice(0, half_rank);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  kernels::CopyPlan plan;
  plan.add(shape.num_elements(), shape.num_elements() + 1, 1);
  if (!plan.empty()) kernels::strided_copy(c.pool(), in.dtype(), in.raw(), out->raw(), plan);
  return {};
}

Status tensor_diag_part_shape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return {};
  if (in.rank() < 2 || in.rank() % 2 != 0) return invalid_argument("Input must have even and non-zero rank, input rank is ", in.rank());
  WEFT_ASSIGN(PartialShape out, in.slice(0, in.rank() / 2).merge_with(in.slice(in.rank() / 2, in.rank())));
  c.output(0, std::move(out));
  return {};
}

// For gradients: diagonals, with zeros where they are shorter than the longest.
Value diag_part(const GradContext& g, std::string_view op, const Value& matrix, const Value& k) {
  return g.one(op, {matrix, k, scalar(g.emitter(), matrix.dtype(), 0)}, op == "MatrixDiagPartV3" ? g.attrs({"align"}) : AttrMap());
}

}  // namespace

void diag(Registry& r) {
  r.add("BatchMatrixBandPart")
      .in("input: T")
      .in("num_lower: int64")
      .in("num_upper: int64")
      .out("band: T")
      .attr("T: type")
      .deprecated(14, "Use MatrixBandPart")
      .doc("Each matrix with zeros outside a band around its diagonal.")
      .shape(band_part_shape)
      .cpu(run_band_part);

  r.add("BatchMatrixDiag")
      .in("diagonal: T")
      .out("output: T")
      .attr("T: type")
      .deprecated(14, "Use MatrixDiag")
      .doc("Matrices with the given main diagonals.")
      .shape(matrix_diag_shape)
      .cpu(run_matrix_diag);

  r.add("BatchMatrixDiagPart")
      .in("input: T")
      .out("diagonal: T")
      .attr("T: type")
      .deprecated(14, "Use MatrixDiagPart")
      .doc("The main diagonals of matrices.")
      .shape(diag_part_shape)
      .cpu(run_diag_part);

  r.add("BatchMatrixSetDiag")
      .in("input: T")
      .in("diagonal: T")
      .out("output: T")
      .attr("T: type")
      .deprecated(14, "Use MatrixSetDiag")
      .doc("Matrices with their main diagonals replaced.")
      .shape(set_diag_shape)
      .cpu(run_set_diag);

  r.add("Diag")
      .in("diagonal: T")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}")
      .doc("A tensor with the given values on its diagonal and zeros elsewhere.")
      .shape(diag_shape)
      .batch([](BatchContext& c) -> Batched { return c.rank(0) == 1 ? c.one(c.apply1("MatrixDiag", {c.inner(0)})) : c.refused(); })
      .grad([](const GradContext& g) -> Grads { return {unary("DiagPart", g.dy())}; })
      .cpu(run_diag);

  r.add("DiagPart")
      .in("input: T")
      .out("diagonal: T")
      .attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}")
      .doc("The diagonal of a tensor of twice the rank.")
      .shape(tensor_diag_part_shape)
      .batch([](BatchContext& c) -> Batched { return c.rank(0) == 2 ? c.one(c.apply1("MatrixDiagPart", {c.inner(0)})) : c.refused(); })
      .grad([](const GradContext& g) -> Grads { return {unary("Diag", g.dy())}; })
      .cpu(run_tensor_diag_part);

  r.add("MatrixBandPart")
      .in("input: T")
      .in("num_lower: Tindex")
      .in("num_upper: Tindex")
      .out("band: T")
      .attr("T: type")
      .attr("Tindex: {int32, int64} = DT_INT64")
      .doc("Each matrix with zeros outside a band around its diagonal.")
      .shape(band_part_shape)
      .batch(batch_leading<1>)
      .grad([](const GradContext& g) -> Grads { return {g.one("MatrixBandPart", {g.dy(), g.x(1), g.x(2)}), {}, {}}; })
      .cpu(run_band_part);

  r.add("MatrixDiag")
      .in("diagonal: T")
      .out("output: T")
      .attr("T: type")
      .doc("Matrices with the given main diagonals.")
      .shape(matrix_diag_shape)
      .batch(batch_leading<1>)
      .grad([](const GradContext& g) -> Grads { return {unary("MatrixDiagPart", g.dy())}; })
      .cpu(run_matrix_diag);

  r.add("MatrixDiagPart")
      .in("input: T")
      .out("diagonal: T")
      .attr("T: type")
      .doc("The main diagonals of matrices.")
      .shape(diag_part_shape)
      .batch(batch_leading<1>)
      .grad([](const GradContext& g) -> Grads { return {binary("MatrixSetDiag", zeros_like(g.x()), g.dy())}; })
      .cpu(run_diag_part);

  r.add("MatrixDiagPartV2")
      .in("input: T")
      .in("k: int32")
      .in("padding_value: T")
      .out("diagonal: T")
      .attr("T: type")
      .doc("A range of diagonals of matrices, as rows aligned to the left.")
      .shape(diag_part_shape)
      .batch(batch_leading<1>)
      .grad([](const GradContext& g) -> Grads { return {g.one("MatrixSetDiagV2", {zeros_like(g.x(0)), g.dy(), g.x(1)}), {}, {}}; })
      .cpu(run_diag_part);

  r.add("MatrixDiagPartV3")
      .in("input: T")
      .in("k: int32")
      .in("padding_value: T")
      .out("diagonal: T")
      .attr("T: type")
      .attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'")
      .doc("A range of diagonals of matrices, as rows, aligned as given.")
      .shape(diag_part_shape)
      .batch(batch_leading<1>)
      .grad(
          [](const GradContext& g) -> Grads { return {g.one("MatrixSetDiagV3", {zeros_like(g.x(0)), g.dy(), g.x(1)}, g.attrs({"align"})), {}, {}}; })
      .cpu(run_diag_part);

  r.add("MatrixDiagV2")
      .in("diagonal: T")
      .in("k: int32")
      .in("num_rows: int32")
      .in("num_cols: int32")
      .in("padding_value: T")
      .out("output: T")
      .attr("T: type")
      .doc("Matrices with the given diagonals, padding elsewhere.")
      .shape(matrix_diag_shape)
      .batch(batch_leading<1>)
      .grad([](const GradContext& g) -> Grads { return {diag_part(g, "MatrixDiagPartV2", g.dy(), g.x(1)), {}, {}, {}, {}}; })
      .cpu(run_matrix_diag);

  r.add("MatrixDiagV3")
      .in("diagonal: T")
      .in("k: int32")
      .in("num_rows: int32")
      .in("num_cols: int32")
      .in("padding_value: T")
      .out("output: T")
      .attr("T: type")
      .attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'")
      .doc("Matrices with the given diagonals, padding elsewhere; rows aligned as given.")
      .shape(matrix_diag_shape)
      .batch(batch_leading<1>)
      .grad([](const GradContext& g) -> Grads { return {diag_part(g, "MatrixDiagPartV3", g.dy(), g.x(1)), {}, {}, {}, {}}; })
      .cpu(run_matrix_diag);

  r.add("MatrixSetDiag")
      .in("input: T")
      .in("diagonal: T")
      .out("output: T")
      .attr("T: type")
      .doc("Matrices with their main diagonals replaced.")
      .shape(set_diag_shape)
      .batch(batch_leading<2>)
      .grad([](const GradContext& g) -> Grads { return {binary("MatrixSetDiag", g.dy(), zeros_like(g.x(1))), unary("MatrixDiagPart", g.dy())}; })
      .cpu(run_set_diag);

  r.add("MatrixSetDiagV2")
      .in("input: T")
      .in("diagonal: T")
      .in("k: int32")
      .out("output: T")
      .attr("T: type")
      .doc("Matrices with a range of diagonals replaced.")
      .shape(set_diag_shape)
      .batch(batch_leading<2>)
      .grad([](const GradContext& g) -> Grads {
        return {g.one("MatrixSetDiagV2", {g.dy(), zeros_like(g.x(1)), g.x(2)}), diag_part(g, "MatrixDiagPartV2", g.dy(), g.x(2)), {}};
      })
      .cpu(run_set_diag);

  r.add("MatrixSetDiagV3")
      .in("input: T")
      .in("diagonal: T")
      .in("k: int32")
      .out("output: T")
      .attr("T: type")
      .attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'")
      .doc("Matrices with a range of diagonals replaced; rows aligned as given.")
      .shape(set_diag_shape)
      .batch(batch_leading<2>)
      .grad([](const GradContext& g) -> Grads {
        return {
            g.one("MatrixSetDiagV3", {g.dy(), zeros_like(g.x(1)), g.x(2)}, g.attrs({"align"})), diag_part(g, "MatrixDiagPartV3", g.dy(), g.x(2)), {}};
      })
      .cpu(run_set_diag);
}

}  // namespace weft_engine::ops
