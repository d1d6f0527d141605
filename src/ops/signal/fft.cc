// Fourier transforms over the last one, two or three axes, and over any.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/fft.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// ---- shape rules

template <int rank>
Status complex_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.with_rank_at_least(0, rank));
  c.output(0, std::move(s));
  return {};
}

template <int rank, bool forward>
Status real_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.with_rank_at_least(0, rank));
  WEFT_ASSIGN(PartialShape length, c.with_rank(1, 1));
  if (length.dim(0) >= 0 && length.dim(0) != rank) return invalid_argument("Dimension must be ", rank, " but is ", length.dim(0));
  if (!s.has_rank()) {
    c.output(0, PartialShape());
    return {};
  }
  const auto v = c.constant_ints(1);
  for (int i = 0; i < rank; ++i) {
    int64_t d = v && size_t(i) < v->size() ? (*v)[size_t(i)] : kUnknownDim;
    if (d < -1) return invalid_argument("Dimension size, given by scalar input, must be non-negative but is ", d);
    if (forward && i == rank - 1 && d > 0) d = d / 2 + 1;
    s.set_dim(s.rank() - rank + i, d);
  }
  c.output(0, std::move(s));
  return {};
}

// ---- kernels

// Transforms axes [from, to) of `in`, counted among the last `rank`, into t.
template <class Real>
void transform(KernelContext& c, const Tensor& in, Tensor& t, int rank, int from, int to, bool inverse, double factor) {
  const Shape& s = t.shape();
  for (int i = from; i < to; ++i) {
    const int axis = s.rank() - rank + i;
    kernels::fft_axis((i == from ? in : t).data<std::complex<Real>>(), t.data<std::complex<Real>>(), s.elements_in(0, axis), s.dim(axis),
                      s.elements_in(axis + 1, s.rank()), inverse, Real(i == from ? factor : 1.0), c.pool());
  }
}

template <int rank, bool inverse>
Status run_complex(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() < rank) return invalid_argument("Input must have rank of at least ", rank, " but got: ", in.shape());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  if (in.num_elements() == 0) return {};
  const double factor = inverse ? 1.0 / double(in.shape().elements_in(in.rank() - rank, in.rank())) : 1.0;
  if (in.dtype() == DType::kComplex64) transform<float>(c, in, *out, rank, 0, rank, inverse, factor);
  else transform<double>(c, in, *out, rank, 0, rank, inverse, factor);
  return {};
}

// The first elements along each axis, as many as `shape` says, zeros where there are not so many: the tensor itself if nothing changes.
Result<Tensor> fitted(KernelContext& c, const Tensor& t, const Shape& shape) {
  if (t.shape() == shape) return t;
  WEFT_ASSIGN(Tensor out, c.temp(t.dtype(), shape));
  Shape both = shape;
  for (int axis = 0; axis < both.rank(); ++axis) both.set_dim(axis, std::min(shape.dim(axis), t.dim(axis)));
  if (both != shape) std::memset(out.raw(), 0, out.byte_size());
  const size_t bytes = dtype_size(t.dtype());
  const int last = both.rank() - 1;
  const int64_t row = both.dim(last), rows = row ? both.num_elements() / row : 0;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t rest = r, from = 0, to = 0, step = t.dim(last), out_step = shape.dim(last);
    for (int axis = last - 1; axis >= 0; --axis) {
      from += rest % both.dim(axis) * step;
      to += rest % both.dim(axis) * out_step;
      rest /= both.dim(axis);
      step *= t.dim(axis);
      out_step *= shape.dim(axis);
    }
    std::memcpy(static_cast<char*>(out.raw()) + size_t(to) * bytes, static_cast<const char*>(t.raw()) + size_t(from) * bytes, size_t(row) * bytes);
  }
  return out;
}

// Checks lengths against the input; fills in the shapes of what is read of the input and of the output.
Status real_shapes(const Tensor& in, const Tensor& length, int rank, bool forward, Shape& read, Shape& out) {
  if (in.rank() < rank) return invalid_argument("Input must have rank of at least ", rank, " but got: ", in.shape());
  if (length.rank() != 1 || length.dim(0) != rank) return invalid_argument("fft_length must have shape [", rank, "]");
  read = out = in.shape();
  for (int i = 0; i < rank; ++i) {
    const int64_t n = length.data<int32_t>()[i];
    if (n < 0) return invalid_argument("fft_length[", i, "] must >= 0, but got: ", n);
    const int axis = in.rank() - rank + i;
    const bool last = i == rank - 1;
    const int64_t needed = !forward && last ? n / 2 + 1 : n;
    if (in.dim(axis) != 0 && in.dim(axis) < needed) {
      return invalid_argument("Input dimension ", axis, " must have length of at least ", needed, " but got: ", in.dim(axis));
    }
    read.set_dim(axis, needed);
    out.set_dim(axis, forward && last && n != 0 ? n / 2 + 1 : n);
  }
  return {};
}

template <class Real>
Status transform_real(KernelContext& c, const Tensor& in, Tensor& out, int rank, bool forward, int64_t n) {
  const int64_t lines = (forward ? in : out).num_elements() / n;
  using Complex = std::complex<Real>;
  if (forward) {
    kernels::real_fft(in.data<Real>(), out.data<Complex>(), lines, n, c.pool());
    transform<Real>(c, out, out, rank, 0, rank - 1, false, 1.0);
    return {};
  }
  Tensor work = in;
  if (rank > 1) {
    if (in.raw() == c.input(0).raw()) {  // not ours to change
      WEFT_ASSIGN(work, in.copy());
    }
    transform<Real>(c, work, work, rank, 0, rank - 1, true, 1.0);
  }
  const double count = double(out.shape().elements_in(out.rank() - rank, out.rank()));
  kernels::inverse_real_fft(work.data<Complex>(), out.data<Real>(), lines, n, Real(1.0 / count), c.pool());
  return {};
}

template <int rank, bool forward>
Status run_real(KernelContext& c) {
  const Tensor &in = c.input(0), &length = c.input(1);
  Shape read, shape;
  WEFT_RETURN_IF_ERROR(real_shapes(in, length, rank, forward, read, shape));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  const DType real = forward ? in.dtype() : out->dtype(), complex = forward ? out->dtype() : in.dtype();
  if ((real == DType::kFloat) != (complex == DType::kComplex64)) {
    return invalid_argument("Wrong types for ", forward ? "forward" : "backward", " real FFT: in=", int(in.dtype()), " out=", int(out->dtype()));
  }
  if (in.num_elements() == 0) std::memset(out->raw(), 0, out->byte_size());
  if (in.num_elements() == 0 || out->num_elements() == 0) return {};
  const int64_t n = length.data<int32_t>()[rank - 1];
  WEFT_ASSIGN(Tensor source, fitted(c, in, read));
  return real == DType::kFloat ? transform_real<float>(c, source, *out, rank, forward, n) : transform_real<double>(c, source, *out, rank, forward, n);
}

// ---- over axes that an input names: as numpy's fftn, with the lengths that another input names. TensorFlow has no kernels for the CPU.

enum class NdKind { kForward, kInverse, kReal, kInverseReal };

// The axes from zero on; what is wrong with them.
Result<std::vector<int>> nd_axes(const std::vector<int64_t>& given, int64_t lengths, int rank) {
  if (int64_t(given.size()) != lengths) return invalid_argument("axes must have same length as fft_length, got ", given.size(), " and ", lengths);
  std::vector<int> axes;
  for (int64_t a : given) {
    if (a < -rank || a >= rank) return invalid_argument("axis ", a, " is out of range for an input of rank ", rank);
    axes.push_back(int(a < 0 ? a + rank : a));
    if (std::count(axes.begin(), axes.end(), axes.back()) > 1) return invalid_argument("axes must be unique, got ", a, " twice");
  }
  return axes;
}

template <NdKind kind>
Status nd_shape(ShapeContext& c) {
  PartialShape s = c.input(0);
  WEFT_ASSIGN(PartialShape length, c.with_rank(1, 1));
  WEFT_ASSIGN(PartialShape places, c.with_rank(2, 1));
  WEFT_ASSIGN([[maybe_unused]] int64_t count, ShapeContext::merge_dim(length.dim(0), places.dim(0)));
  const auto lengths = c.constant_ints(1), given = c.constant_ints(2);
  if (!s.has_rank() || !given) {
    c.output(0, s.has_rank() ? PartialShape(std::vector<int64_t>(size_t(s.rank()), kUnknownDim)) : PartialShape());
    return {};
  }
  WEFT_ASSIGN(std::vector<int> axes, nd_axes(*given, int64_t(given->size()), s.rank()));
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t n = lengths && i < lengths->size() ? (*lengths)[i] : kUnknownDim;
    if (n < -1) return invalid_argument("Dimension size, given by scalar input, must be non-negative but is ", n);
    if (kind == NdKind::kReal && i + 1 == axes.size() && n > 0) n = n / 2 + 1;
    s.set_dim(axes[i], n);
  }
  c.output(0, std::move(s));
  return {};
}

template <class Real>
void transform_axis(KernelContext& c, Tensor& t, int axis, bool inverse, double factor) {
  const Shape& s = t.shape();
  auto* const data = t.data<std::complex<Real>>();
  kernels::fft_axis(data, data, s.elements_in(0, axis), s.dim(axis), s.elements_in(axis + 1, s.rank()), inverse, Real(factor), c.pool());
}

// The other half along the axis: the conjugates, backwards.
template <class Real>
void mirror(Tensor& t, int axis) {
  const Shape& s = t.shape();
  const int64_t n = s.dim(axis), inner = s.elements_in(axis + 1, s.rank()), outer = s.elements_in(0, axis);
  auto* x = t.data<std::complex<Real>>();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t k = n / 2 + 1; k < n; ++k) {
      for (int64_t i = 0; i < inner; ++i) x[(o * n + k) * inner + i] = std::conj(x[(o * n + n - k) * inner + i]);
    }
  }
}

template <NdKind kind, class Real>
Status transform_nd(KernelContext& c, const std::vector<int>& axes, const Shape& whole) {
  using Complex = std::complex<Real>;
  constexpr DType type = std::is_same_v<Real, float> ? DType::kComplex64 : DType::kComplex128;
  const Tensor& in = c.input(0);
  Shape read = whole;
  if (kind == NdKind::kInverseReal) read.set_dim(axes.back(), whole.dim(axes.back()) / 2 + 1);
  WEFT_ASSIGN(Tensor source, fitted(c, in, read));
  if (kind == NdKind::kInverseReal) {
    WEFT_ASSIGN(source, fitted(c, source, whole));
  }
  WEFT_ASSIGN(Tensor work, c.temp(type, whole));
  if (kind == NdKind::kReal) {
    std::copy_n(source.data<Real>(), whole.num_elements(), work.data<Complex>());
  } else {
    std::memcpy(work.raw(), source.raw(), work.byte_size());
  }
  const bool inverse = kind == NdKind::kInverse || kind == NdKind::kInverseReal;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (kind == NdKind::kInverseReal && i + 1 == axes.size()) mirror<Real>(work, axes[i]);
    transform_axis<Real>(c, work, axes[i], inverse, inverse ? 1.0 / double(whole.dim(axes[i])) : 1.0);
  }
  if (kind == NdKind::kInverseReal) {
    WEFT_ASSIGN(Tensor* out, c.allocate(0, whole));
    const Complex* x = work.data<Complex>();
    for (int64_t i = 0; i < whole.num_elements(); ++i) out->data<Real>()[i] = x[i].real();
    return {};
  }
  Shape shape = whole;
  if (kind == NdKind::kReal) shape.set_dim(axes.back(), whole.dim(axes.back()) / 2 + 1);
  WEFT_ASSIGN(Tensor result, fitted(c, work, shape));
  c.set_output(0, std::move(result));
  return {};
}

template <NdKind kind>
Status run_nd(KernelContext& c) {
  const Tensor &in = c.input(0), &length = c.input(1), &places = c.input(2);
  if (length.rank() != 1 || places.rank() != 1)
    return invalid_argument("fft_length and axes must be vectors, got shapes ", length.shape(), " and ", places.shape());
  const int32_t* given = places.data<int32_t>();
  WEFT_ASSIGN(std::vector<int> axes, nd_axes(std::vector<int64_t>(given, given + places.num_elements()), length.num_elements(), in.rank()));
  constexpr bool real = kind == NdKind::kReal || kind == NdKind::kInverseReal;
  if (real && axes.empty()) return invalid_argument("a transform of real numbers needs an axis");
  Shape whole = in.shape();
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t n = length.data<int32_t>()[i];
    if (n < 0) return invalid_argument("fft_length[", i, "] must >= 0, but got: ", n);
    whole.set_dim(axes[i], n);
  }
  WEFT_RETURN_IF_ERROR(whole.check());
  const bool single = in.dtype() == DType::kFloat || in.dtype() == DType::kComplex64;
  const DType out = c.output_type(0);
  if (single != (out == DType::kFloat || out == DType::kComplex64))
    return invalid_argument("Wrong types for real FFT: in=", int(in.dtype()), " out=", int(out));
  if (whole.num_elements() == 0) {
    if (kind == NdKind::kReal && whole.dim(axes.back())) whole.set_dim(axes.back(), whole.dim(axes.back()) / 2 + 1);
    return c.allocate(0, whole).status();
  }
  if (in.rank() == 0) {  // then there are no axes
    c.set_output(0, in);
    return {};
  }
  return single ? transform_nd<kind, float>(c, axes, whole) : transform_nd<kind, double>(c, axes, whole);
}

// ---- gradients -----------------------------------------------------------------------------------------

std::string named(std::string_view op, int rank) { return rank == 1 ? std::string(op) : cat(op, rank, "D"); }

// The number of points that are transformed together.
Value points(const GradContext& g, const Value& x, int rank, DType type) {
  Emitter& e = g.emitter();
  const Value last = g.one("StridedSlice", {shape_of(x), ints(e, {-rank}), ints(e, {0}), ints(e, {1})}, {{"end_mask", int64_t(1)}});
  return cast(reduce("Prod", last, scalar(e, DType::kInt32, 0)), type);
}

template <int rank>
Grads fft_grad(const GradContext& g) {
  return {g.one(named("IFFT", rank), {g.dy()}) * points(g, g.dy(), rank, g.dy().dtype())};
}
template <int rank>
Grads ifft_grad(const GradContext& g) {
  return {g.one(named("FFT", rank), {g.dy()}) / points(g, g.dy(), rank, g.dy().dtype())};
}

// The half that is not there has no gradient: zeros in its place, and a whole transform back.
template <int rank>
Grads rfft_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value dy = g.dy(), x = g.x(0);
  const Value length = element(g.x(1), -1), missing = length - element(shape_of(dy), -1), zero = scalar(e, DType::kInt32, 0);
  const Value lead_shape[] = {reshape(rank_of(dy) - 1, ints(e, {1})), ints(e, {2})};
  const Value last[] = {ints(e, {0}), reshape(missing, ints(e, {1}))};
  const Value padding[] = {fill(concat(lead_shape, 0), zero), expand_dims(concat(last, 0), 0)};
  const Value whole = g.one("Pad", {dy, concat(padding, 0)});
  const Value back = g.one(named("IFFT", rank), {whole}) * points(g, whole, rank, whole.dtype());
  return {reshape(g.one("Real", {back}, {{"Tout", x.dtype()}}), shape_of(x)), {}};
}

// Every frequency but the first, and the last of an even length, stands for two.
template <int rank>
Grads irfft_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const DType real = g.dy().dtype();
  const Value one = ints(e, {1}), length = element(g.x(1), -1), odd = binary("FloorMod", length, scalar(e, DType::kInt32, 2));
  const Value count = element(shape_of(g.x(0)), -1);
  const Value twos = fill(reshape(count - 2 + odd, one), scalar(e, real, 2)), last = fill(reshape(1 - odd, one), scalar(e, real, 1));
  const Value parts[] = {fill(one, scalar(e, real, 1)), twos, last};
  const Value scale = concat(parts, 0) / points(g, g.dy(), rank, real);
  const Value forward = g.one(named("RFFT", rank), {g.dy(), g.x(1)}, {{"Tcomplex", g.x(0).dtype()}});
  return {forward * cast(scale, g.x(0).dtype()), {}};
}

template <int rank>
void transforms(Registry& r, const char* const (&names)[6]) {
  for (int i = 0; i < 2; ++i) {
    r.add(names[i])
        .doc(i ? "The inverse Fourier transform over the last axes." : "The Fourier transform over the last axes.")
        .in("input: Tcomplex")
        .out("output: Tcomplex")
        .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
        .library({LibraryCall::Kind::kFourier, rank, i == 1})
        .shape(complex_shape<rank>)
        .batch(batch_leading<1>)
        .grad(i ? ifft_grad<rank> : fft_grad<rank>)
        .cpu(i ? run_complex<rank, true> : run_complex<rank, false>);
    // Of old graphs; TensorFlow has no kernels for these.
    r.add(names[4 + i])
        .doc("As the op without Batch; of old graphs.")
        .in("input: complex64")
        .out("output: complex64")
        .deprecated(15, r.intern(cat("Use ", names[i])))
        .shape(shapes::unknown);
  }
  r.add(names[2])
      .doc("The Fourier transform of real numbers over the last axes: the half that is not redundant.")
      .in("input: Treal")
      .in("fft_length: int32")
      .out("output: Tcomplex")
      .attr("Treal: {float, double} = DT_FLOAT")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
      .library({LibraryCall::Kind::kFourier, rank, false, true})
      .shape(real_shape<rank, true>)
      .batch(batch_leading<1>)
      .grad(rfft_grad<rank>)
      .cpu(run_real<rank, true>);
  r.add(names[3])
      .doc("The inverse of the Fourier transform of real numbers over the last axes.")
      .in("input: Tcomplex")
      .in("fft_length: int32")
      .out("output: Treal")
      .attr("Treal: {float, double} = DT_FLOAT")
      .attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
      .library({LibraryCall::Kind::kFourier, rank, true, true})
      .shape(real_shape<rank, false>)
      .batch(batch_leading<1>)
      .grad(irfft_grad<rank>)
      .cpu(run_real<rank, false>);
}

void transforms_nd(Registry& r) {
  const auto add = [&](const char* name, const char* doc, const char* in, const char* out) -> OpBuilder {
    auto op = r.add(name).in(in).in("fft_length: int32").in("axes: int32").out(out);
    if (in != std::string_view("input: Tcomplex") || out != std::string_view("output: Tcomplex")) op.attr("Treal: {float, double} = DT_FLOAT");
    return op.attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64").doc(doc);
  };
  add("FFTND", "The Fourier transform over some axes.", "input: Tcomplex", "output: Tcomplex")
      .shape(nd_shape<NdKind::kForward>)
      .cpu(run_nd<NdKind::kForward>);
  add("IFFTND", "The inverse Fourier transform over some axes.", "input: Tcomplex", "output: Tcomplex")
      .shape(nd_shape<NdKind::kInverse>)
      .cpu(run_nd<NdKind::kInverse>);
  add("RFFTND", "The Fourier transform of real numbers over some axes: the half along the last of them that is not redundant.", "input: Treal",
      "output: Tcomplex")
      .shape(nd_shape<NdKind::kReal>)
      .cpu(run_nd<NdKind::kReal>);
  add("IRFFTND", "The inverse of the Fourier transform of real numbers over some axes.", "input: Tcomplex", "output: Treal")
      .shape(nd_shape<NdKind::kInverseReal>)
      .cpu(run_nd<NdKind::kInverseReal>);
}

}  // namespace

void fft(Registry& r) {
  transforms_nd(r);
  transforms<1>(r, {"FFT", "IFFT", "RFFT", "IRFFT", "BatchFFT", "BatchIFFT"});
  transforms<2>(r, {"FFT2D", "IFFT2D", "RFFT2D", "IRFFT2D", "BatchFFT2D", "BatchIFFT2D"});
  transforms<3>(r, {"FFT3D", "IFFT3D", "RFFT3D", "IRFFT3D", "BatchFFT3D", "BatchIFFT3D"});
}

}  // namespace weft_engine::ops
