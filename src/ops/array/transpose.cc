// Elements rearranged or repeated: Transpose, Reverse, Roll, Tile, BroadcastTo.
#include <algorithm>
#include <complex>

#include "op/api_traits.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

namespace {

// ---- Transpose -----------------------------------------------------------------------------------

Status check_permutation(const Tensor& perm, int rank) {
  if (perm.rank() != 1) return invalid_argument("perm must be rank 1, got shape ", perm.shape());
  if (perm.num_elements() != rank)
    return invalid_argument("transpose expects a vector of size ", rank, ". But input(1) is a vector of size ", perm.num_elements());
  std::vector<bool> seen(size_t(rank), false);
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) {
    const int64_t given = int_at(perm, i), d = given < 0 ? given + rank : given;
    if (d < 0 || d >= rank) return invalid_argument(d, " is out of range [0 .. ", rank, ")");
    seen[size_t(d)] = true;
    axes.push_back(d);
  }
  for (int i = 0; i < rank; ++i) {
    if (!seen[size_t(i)]) return invalid_argument(i, " is missing from {", join(axes), "}.");
  }
  return {};
}

template <class T>
void conjugate(ThreadPool& pool, std::complex<T>* x, int64_t n) {
  pool.parallel_for(n, 1, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) x[i] = std::conj(x[i]);
  });
}

Status transpose(KernelContext& c, bool conjugated) {
  const Tensor &in = c.input(0), &perm = c.input(1);
  const int rank = in.rank();
  WEFT_RETURN_IF_ERROR(check_permutation(perm, rank));
  const auto from = strides_of(in.shape());
  std::vector<int64_t> dims;
  kernels::CopyPlan plan;
  bool moves = false;  // dimensions of size 1 may go anywhere
  int64_t last = -1;
  for (int i = 0; i < rank; ++i) {
    const int64_t given = int_at(perm, i), d = given < 0 ? given + rank : given;
    dims.push_back(in.dim(int(d)));
    if (in.dim(int(d)) != 1) {
      moves |= d < last;
      last = d;
    }
  }
  const Shape shape(dims);
  const bool complex = conjugated && is_complex_type(in.dtype());
  if (!moves && !complex) {
    share_as(c, 0, in, shape);
    return {};
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  const auto to = strides_of(shape);
  for (int i = 0; i < rank; ++i) {
    const int64_t given = int_at(perm, i), d = given < 0 ? given + rank : given;
    plan.add(dims[size_t(i)], from[size_t(d)], to[size_t(i)]);
  }
  if (!plan.empty()) kernels::strided_copy(c.pool(), in.dtype(), in.raw(), out->raw(), plan);
  if (complex && in.dtype() == DType::kComplex64) conjugate(c.pool(), out->data<complex64>(), out->num_elements());
  else if (complex) conjugate(c.pool(), out->data<complex128>(), out->num_elements());
  return {};
}

Status run_transpose(KernelContext& c) { return transpose(c, false); }
Status run_conjugate_transpose(KernelContext& c) { return transpose(c, true); }

Status transpose_shape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  WEFT_ASSIGN(PartialShape perm_shape, c.with_rank(1, 1));
  const Tensor* perm = c.constant(1);
  int rank = in.has_rank() ? in.rank() : -1;
  if (rank >= 0 && perm_shape.dim(0) >= 0 && perm_shape.dim(0) != rank)
    return invalid_argument("Dimension must be ", rank, " but is ", perm_shape.dim(0));
  if (rank < 0 && perm_shape.dim(0) >= 0 && perm_shape.dim(0) <= kMaxRank) rank = int(perm_shape.dim(0));
  if (rank < 0) return {};
  PartialShape out = PartialShape::unknown_of_rank(rank);
  if (perm) {
    for (int i = 0; i < rank && i < perm->num_elements(); ++i) {
      if (int_at(*perm, i) >= rank) return invalid_argument("perm dim ", int_at(*perm, i), " is out of range of input rank ", rank);
    }
    WEFT_RETURN_IF_ERROR(check_permutation(*perm, rank));
    for (int i = 0; in.has_rank() && i < rank; ++i) out.set_dim(i, in.dim(int(int_at(*perm, i) < 0 ? int_at(*perm, i) + rank : int_at(*perm, i))));
  } else if (rank == 1 && in.has_rank()) {
    out = in;
  }
  c.output(0, std::move(out));
  return {};
}

Status run_invert_permutation(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() != 1) return invalid_argument("invert_permutation expects a 1D vector.");
  const int64_t n = in.num_elements();
  if (n > INT32_MAX) return invalid_argument("permutation of nonnegative int32s must have <= int32 max elements");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {n}));
  return dispatch<int32_t, int64_t>(in.dtype(), [&]<class T>(Tag<T>) -> Status {
    const T* x = in.data<T>();
    T* y = out->data<T>();
    std::fill_n(y, n, T(-1));  // not seen yet
    for (int64_t i = 0; i < n; ++i) {
      const int64_t d = x[i];
      if (d < 0 || d >= n) return invalid_argument(d, " is not between 0 and ", n);
      if (y[d] >= 0) return invalid_argument(d, " is duplicated in the input.");
      y[d] = T(i);
    }
    return {};
  });
}

Status invert_permutation_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.with_rank(0, 1));
  c.output(0, std::move(s));
  return {};
}

// ---- Reverse and Roll -----------------------------------------------------------------------------

Status reverse(KernelContext& c, const std::vector<bool>& reversed) {
  const Tensor& in = c.input(0);
  if (std::find(reversed.begin(), reversed.end(), true) == reversed.end()) return pass_through(c);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  if (out->num_elements() == 0) return {};
  const auto strides = strides_of(in.shape());
  kernels::CopyPlan plan;
  int64_t offset = 0;
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t s = strides[size_t(i)];
    if (reversed[size_t(i)]) offset += (in.dim(i) - 1) * s;
    plan.add(in.dim(i), reversed[size_t(i)] ? -s : s, s);
  }
  if (!plan.empty()) kernels::strided_copy(c.pool(), in.dtype(), element(in, offset), out->raw(), plan);
  return {};
}

Status run_reverse(KernelContext& c) {
  const Tensor &in = c.input(0), &dims = c.input(1);
  if (in.rank() > 0 && dims.rank() != 1) return invalid_argument("'dims' must be 1-dimension, not ", dims.rank());
  if (in.rank() == 0) return pass_through(c);
  if (in.rank() != dims.dim(0))
    return invalid_argument("'dims' must have the same number of values as 'input' has dimensions. 'input' has ", in.rank(), "'dims' has ",
                            dims.dim(0), " values");
  if (in.rank() > 8) return unimplemented("reverse is not implemented for tensors of rank > 8.");
  if (in.dim(0) == 0) return invalid_argument("Invalid input first dimension. Found 0.");
  std::vector<bool> reversed(size_t(in.rank()));
  for (size_t i = 0; i < reversed.size(); ++i) reversed[i] = dims.data<uint8_t>()[i] != 0;
  return reverse(c, reversed);
}

Status reverse_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape dims, c.with_rank(1, 1));
  const PartialShape& in = c.input(0);
  if (in.has_rank() && in.rank() > 8) return invalid_argument("reverse does not work on tensors with more than 8 dimensions");
  if (in.has_rank() && in.rank() > 0 && dims.dim(0) >= 0 && dims.dim(0) != in.rank())
    return invalid_argument("Shape must be rank ", dims.dim(0), " but is rank ", in.rank());
  c.output(0, in);
  return {};
}

Status run_reverse_v2(KernelContext& c) {
  const Tensor &in = c.input(0), &axes = c.input(1);
  const int rank = in.rank();
  if (rank == 0 || in.num_elements() == 0) return pass_through(c);
  if (axes.rank() != 1) return invalid_argument("'dims' must be 1-dimension, not ", axes.rank());
  if (rank > 8) return unimplemented("reverse is not implemented for tensors of rank > 8.");
  std::vector<bool> reversed(size_t(rank), false);
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    const int64_t given = int_at(axes, i), axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) return invalid_argument("'axis'[", i, "] = ", given, " is out of valid range [", 0, ", ", rank - 1);
    if (reversed[size_t(axis)]) return invalid_argument("axis ", axis, " specified more than once.");
    reversed[size_t(axis)] = true;
  }
  return reverse(c, reversed);
}

Status reverse_v2_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 1).status());
  const PartialShape& in = c.input(0);
  if (in.has_rank() && in.rank() > 8) return invalid_argument("reverse does not work on tensors with more than 8 dimensions");
  c.output(0, in);
  return {};
}

Status check_reverse_sequence(const Shape& in, const Tensor& lengths, int64_t batch_dim, int64_t seq_dim) {
  if (batch_dim < 0) return invalid_argument("Invalid batch_dim ", batch_dim);
  if (seq_dim < 0) return invalid_argument("Invalid seq_dim ", seq_dim);
  if (lengths.rank() != 1) return invalid_argument("seq_lengths must be 1-dim, not ", lengths.rank());
  if (batch_dim == seq_dim) return invalid_argument("batch_dim == seq_dim == ", seq_dim);
  if (seq_dim >= in.rank()) return invalid_argument("seq_dim must be < input rank ( ", seq_dim, " vs. ", in.rank(), ")");
  if (batch_dim >= in.rank()) return invalid_argument("batch_dim must be < input rank ( ", batch_dim, " vs. ", in.rank(), ")");
  if (lengths.num_elements() != in.dim(int(batch_dim)))
    return invalid_argument("Length of seq_lengths != input.dims(", batch_dim, "), (", lengths.num_elements(), " vs. ", in.dim(int(batch_dim)), ")");
  for (int64_t i = 0; i < lengths.num_elements(); ++i) {
    if (int_at(lengths, i) < 0) return invalid_argument("seq_lens(", i, ") < 0");
    if (int_at(lengths, i) > in.dim(int(seq_dim))) return invalid_argument("seq_lens(", i, ") > input.dims(", seq_dim, ")");
  }
  return {};
}

Status run_reverse_sequence(KernelContext& c) {
  const Tensor &in = c.input(0), &lengths = c.input(1);
  const int64_t batch_dim = c.attr<int64_t>("batch_dim"), seq_dim = c.attr<int64_t>("seq_dim");
  WEFT_RETURN_IF_ERROR(check_reverse_sequence(in.shape(), lengths, batch_dim, seq_dim));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  if (in.num_elements() == 0) return {};
  const auto strides = strides_of(in.shape());
  for (int64_t b = 0; b < in.dim(int(batch_dim)); ++b) {
    // The head reversed, the tail as it is.
    const int64_t n = int_at(lengths, b), total = in.dim(int(seq_dim)), s = strides[size_t(seq_dim)], at = b * strides[size_t(batch_dim)];
    for (int part = 0; part < 2; ++part) {
      kernels::CopyPlan plan;
      for (int i = 0; i < in.rank(); ++i) {
        if (i == batch_dim) continue;
        const int64_t stride = strides[size_t(i)];
        if (i == seq_dim) plan.add(part == 0 ? n : total - n, part == 0 ? -s : s, s);
        else plan.add(in.dim(i), stride, stride);
      }
      if (plan.empty()) continue;
      const int64_t source = part == 0 ? at + (n - 1) * s : at + n * s, target = part == 0 ? at : at + n * s;
      kernels::strided_copy(c.pool(), in.dtype(), element(in, source), element(*out, target), plan);
    }
  }
  return {};
}

Status reverse_sequence_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape lengths, c.with_rank(1, 1));
  const PartialShape& in = c.input(0);
  const int64_t batch_dim = c.attr<int64_t>("batch_dim"), seq_dim = c.attr<int64_t>("seq_dim");
  if (!in.has_rank()) return {};
  if (batch_dim < 0 || batch_dim >= in.rank()) return invalid_argument("batch_dim must be < input rank: ", batch_dim, " vs. ", in.rank());
  if (seq_dim < 0 || seq_dim >= in.rank()) return invalid_argument("seq_dim must be < input rank: ", seq_dim, " vs. ", in.rank());
  PartialShape out = in;
  WEFT_ASSIGN(int64_t batch, ShapeContext::merge_dim(in.dim(int(batch_dim)), lengths.dim(0)));
  out.set_dim(int(batch_dim), batch);
  c.output(0, std::move(out));
  return {};
}

Status run_roll(KernelContext& c) {
  const Tensor &in = c.input(0), &shifts = c.input(1), &axes = c.input(2);
  const int rank = in.rank();
  if (rank < 1) return invalid_argument("input must be 1-D or higher");
  if (shifts.rank() > 1) return invalid_argument("shift must be a scalar or a 1-D vector. Found: ", shifts.shape());
  if (axes.rank() > 1) return invalid_argument("axis must be a scalar or a 1-D vector. Found: ", axes.shape());
  if (shifts.shape() != axes.shape()) return invalid_argument("shift and axis must have the same size");
  std::vector<int64_t> by(size_t(rank), 0);
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    const int64_t given = int_at(axes, i), axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) return invalid_argument("axis ", axis, " is out of range");
    const int64_t size = std::max<int64_t>(in.dim(int(axis)), 1);
    int64_t& sum = by[size_t(axis)];
    sum = (sum + int_at(shifts, i) % size) % size;
    if (sum < 0) sum += size;
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  if (in.num_elements() == 0) return {};
  const auto strides = strides_of(in.shape());
  // Each rolled dimension falls in two parts; every combination of parts is one block to copy.
  std::vector<int> rolled;
  for (int i = 0; i < rank; ++i) {
    if (by[size_t(i)]) rolled.push_back(i);
  }
  if (rolled.size() > 20) return invalid_argument("Roll along more than 20 axes");
  for (uint32_t parts = 0; parts < (uint32_t(1) << rolled.size()); ++parts) {
    kernels::CopyPlan plan;
    int64_t source = 0, target = 0;
    size_t k = 0;
    for (int i = 0; i < rank; ++i) {
      const int64_t n = in.dim(i), shift = by[size_t(i)], s = strides[size_t(i)];
      int64_t size = n;
      if (shift) {
        const bool wraps = parts >> k++ & 1;  // the last `shift` elements go to the front
        size = wraps ? shift : n - shift;
        (wraps ? source : target) += (wraps ? n - shift : shift) * s;
      }
      plan.add(size, s, s);
    }
    kernels::strided_copy(c.pool(), in.dtype(), element(in, source), element(*out, target), plan);
  }
  return {};
}

Status roll_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_least(0, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(1, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(2, 1).status());
  return shapes::unchanged(c);
}

// ---- repeating ------------------------------------------------------------------------------------

Status run_tile(KernelContext& c) {
  const Tensor &in = c.input(0), &multiples = c.input(1);
  const int rank = in.rank();
  if (multiples.rank() != 1) return invalid_argument("Expected multiples to be 1-D, but got shape ", multiples.shape());
  if (multiples.num_elements() != rank)
    return invalid_argument("Expected multiples argument to be a vector of length ", rank, " but got length ", multiples.num_elements());
  std::vector<int64_t> dims;
  for (int i = 0; i < rank; ++i) {
    const int64_t m = int_at(multiples, i);
    if (m < 0) return invalid_argument("Expected multiples[", i, "] >= 0, but got ", m);
    const int64_t d = multiply_without_overflow(in.dim(i), m);
    if (d < 0) return invalid_argument("Encountered overflow when multiplying ", in.dim(i), " with ", m, ", result: -1");
    dims.push_back(d);
  }
  const Shape shape(dims);
  if (shape == in.shape()) return pass_through(c);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  const auto from = strides_of(in.shape()), to = strides_of(shape);
  kernels::CopyPlan plan;
  for (int i = 0; i < rank; ++i) {
    plan.add(int_at(multiples, i), 0, to[size_t(i)] * in.dim(i));
    plan.add(in.dim(i), from[size_t(i)], to[size_t(i)]);
  }
  kernels::strided_copy(c.pool(), in.dtype(), in.raw(), out->raw(), plan);
  return {};
}

// The multiples are read as a shape, so that some of them may be unknown.
Status tile_shape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  WEFT_ASSIGN(PartialShape length, c.with_rank(1, 1));
  if (in.has_rank() && length.dim(0) >= 0 && length.dim(0) != in.rank())
    return invalid_argument("Shape must be rank ", in.rank(), " but is rank ", length.dim(0));
  WEFT_ASSIGN(PartialShape multiples, c.constant_shape(1));
  const int rank = in.has_rank() ? in.rank() : multiples.has_rank() ? multiples.rank() : -1;
  if (rank < 0) return {};
  PartialShape out = PartialShape::unknown_of_rank(rank);
  for (int i = 0; i < rank && in.has_rank() && multiples.rank() == rank; ++i) {
    const int64_t m = multiples.dim(i), d = in.dim(i);
    out.set_dim(i, m == 0 || d == 0 ? 0 : m == 1 ? d : d == 1 ? m : shapes::mul_dim(d, m));
  }
  c.output(0, std::move(out));
  return {};
}

Status run_broadcast_to(KernelContext& c) {
  const Tensor &in = c.input(0), &dims = c.input(1);
  if (dims.rank() != 1) return invalid_argument("shape must be a vector of {int32,int64}, got shape ", dims.shape());
  WEFT_ASSIGN(Shape shape, shape_from(dims));
  if (shape == in.shape()) return pass_through(c);
  if (in.rank() > shape.rank())
    return invalid_argument("Rank of input (", in.rank(), ") must be no greater than rank of output shape (", shape.rank(), ").");
  const int shift = shape.rank() - in.rank();
  bool fits = true;
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t from = in.dim(i), to = shape.dim(i + shift);
    if (from != 1 && to != 1 && from != to) return invalid_argument("Incompatible shapes: ", in.shape(), " vs. ", shape);
    fits &= from == 1 || from == to;
  }
  if (!fits) return invalid_argument("Unable to broadcast tensor of shape ", in.shape(), " to tensor of shape ", shape);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  const auto from = strides_of(in.shape()), to = strides_of(shape);
  kernels::CopyPlan plan;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool repeats = i < shift || in.dim(i - shift) == 1;
    plan.add(shape.dim(i), repeats ? 0 : from[size_t(i - shift)], to[size_t(i)]);
  }
  kernels::strided_copy(c.pool(), in.dtype(), in.raw(), out->raw(), plan);
  return {};
}

Status broadcast_to_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 1).status());
  WEFT_ASSIGN(PartialShape shape, c.constant_shape(1));
  const PartialShape& in = c.input(0);
  if (in.has_rank() && shape.has_rank()) {
    if (in.rank() > shape.rank())
      return invalid_argument("Rank of input (", in.rank(), ") must be no greater than rank of output shape (", shape.rank(), ").");
    for (int i = 1; i <= in.rank(); ++i) {
      const int64_t a = in.dim(in.rank() - i), b = shape.dim(shape.rank() - i);
      if (a > 1 && b >= 0 && a != b) return invalid_argument("Incompatible shapes: ", in, " vs. ", shape);
      if (a > 1) shape.set_dim(shape.rank() - i, a);
    }
  }
  c.output(0, std::move(shape));
  return {};
}

// ---- shapes of broadcasts ---------------------------------------------------------------------------

Status check_vectors(const KernelContext& c) {
  for (int i = 0; i < 2; ++i) {
    if (c.input(i).rank() != 1) return invalid_argument("In[", i, "] must be a vector.", c.input(i).shape());
  }
  return {};
}

// Dimension i counted from the last; 1 where the shape is too short.
int64_t from_end(const std::vector<int64_t>& s, size_t i) { return i < s.size() ? s[s.size() - 1 - i] : 1; }

Status incompatible(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return invalid_argument("Incompatible shapes: [", join(a), "] vs. [", join(b), "]");
}

Status run_broadcast_args(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_vectors(c));
  const auto a = ints_of(c.input(0)), b = ints_of(c.input(1));
  const size_t rank = std::max(a.size(), b.size());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {int64_t(rank)}));
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = from_end(a, i), y = from_end(b, i);
    if (x != y && x != 1 && y != 1) return incompatible(a, b);
    put_int(*out, int64_t(rank - 1 - i), x == 1 ? y : x);
  }
  return {};
}

Status broadcast_args_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape a, c.with_rank(0, 1));
  WEFT_ASSIGN(PartialShape b, c.with_rank(1, 1));
  c.output(0, {a.dim(0) < 0 || b.dim(0) < 0 ? kUnknownDim : std::max(a.dim(0), b.dim(0))});
  return {};
}

// The axes along which the gradient of each operand has to be summed.
Status run_broadcast_gradient_args(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_vectors(c));
  const auto a = ints_of(c.input(0)), b = ints_of(c.input(1));
  const size_t rank = std::max(a.size(), b.size());
  std::vector<int64_t> sum_a, sum_b;
  if (a != b) {
    for (size_t k = 0; k < rank; ++k) {
      const size_t i = rank - 1 - k;
      const int64_t x = from_end(a, i), y = from_end(b, i);
      if (x != y && x != 1 && y != 1) return incompatible(a, b);
      if (x == 1) sum_a.push_back(int64_t(k));
      if (y == 1) sum_b.push_back(int64_t(k));
    }
  }
  const std::vector<int64_t>* sums[] = {&sum_a, &sum_b};
  for (int i = 0; i < 2; ++i) {
    WEFT_ASSIGN(Tensor* out, c.allocate(i, {int64_t(sums[i]->size())}));
    for (size_t k = 0; k < sums[i]->size(); ++k) put_int(*out, int64_t(k), (*sums[i])[k]);
  }
  return {};
}

Status broadcast_gradient_args_shape(ShapeContext& c) {
  for (int i = 0; i < 2; ++i) {
    WEFT_RETURN_IF_ERROR(c.with_rank(i, 1).status());
    c.output(i, PartialShape::vector(kUnknownDim));
  }
  return {};
}

// The copies are summed: each dimension is seen as (copies, length).
Grads tile_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value shape = shape_of(g.x(0), g.x(1).dtype()), pairs[] = {g.x(1), shape};
  auto packed = g.apply("Pack", pairs, {{"axis", int64_t(1)}});
  if (packed.empty()) return g.none();
  const Value split = reshape(packed[0], ints(e, {-1}));
  const Value axes = g.one("Range", {scalar(e, DType::kInt32, 0), size_of(split), scalar(e, DType::kInt32, 2)});
  return {reshape(reduce("Sum", reshape(g.dy(), split), axes), shape), {}};
}

}  // namespace

void transpose(Registry& r) {
  r.add("BroadcastArgs")
      .in("s0: T")
      .in("s1: T")
      .out("r0: T")
      .attr("T: {int32, int64} = DT_INT32")
      .doc("The shape that two shapes broadcast to.")
      .on_gpu(OnGpu::kAllOnHost)
      .shape(broadcast_args_shape)
      .cpu(run_broadcast_args);

  r.add("BroadcastGradientArgs")
      .in("s0: T")
      .in("s1: T")
      .out("r0: T")
      .out("r1: T")
      .attr("T: {int32, int64} = DT_INT32")
      .doc("For each of two shapes the axes along which a gradient has to be summed to undo the broadcast.")
      .traits({.shrinks = true})
      .on_gpu(OnGpu::kAllOnHost)
      .shape(broadcast_gradient_args_shape)
      .no_grad()
      .cpu(run_broadcast_gradient_args);

  r.add("BroadcastTo")
      .in("input: T")
      .in("shape: Tidx")
      .out("output: T")
      .attr("T: type")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("The input repeated to the given shape.")
      .traits({.same_if_same_shape = true, .repeats = 0})
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(broadcast_to_shape)
      .grad([](const GradContext& g) -> Grads { return {sum_to(g.dy(), g.x()), {}}; })
      .cpu(run_broadcast_to);

  r.add("ConjugateTranspose")
      .in("x: T")
      .in("perm: Tperm")
      .out("y: T")
      .attr("T: type")
      .attr("Tperm: {int32, int64} = DT_INT32")
      .doc("The conjugates of the input with its dimensions in another order.")
      .shape(transpose_shape)
      .grad([](const GradContext& g) -> Grads { return {g.one("ConjugateTranspose", {g.dy(), unary("InvertPermutation", g.x(1))}), {}}; })
      .cpu(run_conjugate_transpose);

  r.add("InvertPermutation")
      .in("x: T")
      .out("y: T")
      .attr("T: {int32, int64} = DT_INT32")
      .doc("The permutation that undoes the given one.")
      .on_gpu(OnGpu::kAllOnHost)
      .shape(invert_permutation_shape)
      .no_grad()
      .cpu(run_invert_permutation);

  r.add("Reverse")
      .in("tensor: T")
      .in("dims: bool")
      .out("output: T")
      .attr(
          "T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, bfloat16, half, float, "
          "double, complex64, complex128, string}")
      .doc("The tensor reversed in the dimensions marked true.")
      .shape(reverse_shape)
      .grad([](const GradContext& g) -> Grads { return {g.one("Reverse", {g.dy(), g.x(1)}), {}}; })
      .cpu(run_reverse);

  r.add("ReverseSequence")
      .in("input: T")
      .in("seq_lengths: Tlen")
      .out("output: T")
      .attr("seq_dim: int")
      .attr("batch_dim: int = 0")
      .attr("T: type")
      .attr("Tlen: {int32, int64} = DT_INT64")
      .doc("The input with the first seq_lengths[i] slices of each batch entry reversed.")
      .shape(reverse_sequence_shape)
      .grad([](const GradContext& g) -> Grads {
        return {g.one("ReverseSequence", {g.dy(), g.x(1)}, {{"seq_dim", g.attr<int64_t>("seq_dim")}, {"batch_dim", g.attr<int64_t>("batch_dim")}}),
                {}};
      })
      .cpu(run_reverse_sequence);

  r.add("ReverseV2")
      .in("tensor: T")
      .in("axis: Tidx")
      .out("output: T")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr(
          "T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, half, float, "
          "double, complex64, complex128, string}")
      .doc("The tensor reversed along the given axes.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(reverse_v2_shape)
      .grad([](const GradContext& g) -> Grads { return {g.one("ReverseV2", {g.dy(), g.x(1)}), {}}; })
      .cpu(run_reverse_v2);

  r.add("Roll")
      .in("input: T")
      .in("shift: Tshift")
      .in("axis: Taxis")
      .out("output: T")
      .attr("T: type")
      .attr("Tshift: {int32, int64}")
      .attr("Taxis: {int32, int64}")
      .doc("The input shifted along axes, with what falls off at one end coming back at the other.")
      .shape(roll_shape)
      .grad([](const GradContext& g) -> Grads { return {g.one("Roll", {g.dy(), -g.x(1), g.x(2)}), {}, {}}; })
      .cpu(run_roll);

  r.add("Tile")
      .in("input: T")
      .in("multiples: Tmultiples")
      .out("output: T")
      .attr("T: type")
      .attr("Tmultiples: {int32, int64} = DT_INT32")
      .doc("The input repeated along each dimension.")
      .traits({.same_if_same_shape = true})
      .shape(tile_shape)
      .grad(tile_grad)
      .cpu(run_tile);

  r.add("TileGrad")
      .in("input: T")
      .in("multiples: int32")
      .out("output: T")
      .attr("T: type")
      .deprecated(3, "TileGrad has been replaced with reduce_sum")
      .doc("The gradient of Tile. TensorFlow's kernels ask for an attribute that the op does not have, so that it never runs.")
      .shape(shapes::unknown)
      .cpu_make([](const NodeInfo& node) -> Result<std::unique_ptr<Kernel>> {
        return invalid_argument("OpKernel 'TileGrad' has constraint on attr 'Tmultiples' not in NodeDef '", node.to_string(), "'");
      });

  r.add("Transpose")
      .in("x: T")
      .in("perm: Tperm")
      .out("y: T")
      .attr("T: type")
      .attr("Tperm: {int32, int64} = DT_INT32")
      .doc("The input with its dimensions in another order.")
      .shape(transpose_shape)
      .grad([](const GradContext& g) -> Grads { return {g.one("Transpose", {g.dy(), unary("InvertPermutation", g.x(1))}), {}}; })
      .cpu(run_transpose);

  set_layout(r, {"Transpose", "ConjugateTranspose"}, layouts::kTranspose);
  set_layout(r, {"BroadcastGradientArgs", "InvertPermutation"}, layouts::kReplicated);
  set_layout(r, {"BroadcastTo"}, layouts::kBroadcastTo);
  set_layout(r, {"Tile"}, layouts::kTile);
  set_api_trait(r, {"Transpose"}, ApiTrait::kUnchecked);
}

}  // namespace weft_engine::ops
