// Fourier transforms: lengths of small factors step by step, others as convolutions of a length that is a power of two (Bluestein). There are
// no matrix products in it, which GPUs may round.
#include <cmath>
#include <complex>

#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int64_t kMostPoints = 1 << 16;  // of an axis: each of its steps has as many factors in the code
constexpr int64_t kRadices[] = {4, 2, 3, 5, 7, 11, 13};

// Rows of complex numbers, [rows, n]; without `im` all are real.
struct Rows {
  Value re = nullptr, im = nullptr;
};

class Transform {
 public:
  Transform(ir::Builder& b, DType part, bool inverse) : b_(b), part_(part), sign_(inverse ? 1 : -1) {}

  Rows run(Rows x, const Dim& rows, int64_t n) {
    if (n <= 1 || !x.re) return x;
    for (int64_t p : kRadices) {
      if (n % p == 0) return step(x, rows, p, n / p);
    }
    return bluestein(x, rows, n);
  }

 private:
  // exp(+-2 pi i k / n), from the smallest angle.
  std::complex<double> root(int64_t k, int64_t n) const {
    k %= n;
    if (k * 4 % n == 0) {
      constexpr std::complex<double> kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
      const auto q = kQuarters[k * 4 / n];
      return {q.real(), sign_ * q.imag()};
    }
    const double angle = 2 * kPi * double(k) / double(n);
    return {std::cos(angle), sign_ * std::sin(angle)};
  }

  Value constant(const std::vector<double>& v) { return b_.convert(b_.constant(Tensor::vector(v)), part_); }
  Value plus(Value a, Value c) { return a && c ? b_.add(a, c) : a ? a : c; }
  Value minus(Value a, Value c) { return a && c ? b_.sub(a, c) : a ? a : b_.neg(c); }
  Value times(Value x, double c) { return c == 1 ? x : c == -1 ? b_.neg(x) : b_.mul(x, c); }
  // x times a number; null stands for zeros.
  Rows times(Rows x, std::complex<double> w) {
    Rows y;
    if (x.re && w.real() != 0) y.re = times(x.re, w.real());
    if (x.re && w.imag() != 0) y.im = times(x.re, w.imag());
    if (x.im && w.imag() != 0) y.re = minus(y.re, times(x.im, w.imag()));
    if (x.im && w.real() != 0) y.im = plus(y.im, times(x.im, w.real()));
    return y;
  }
  // x times a row of numbers.
  Rows times(Rows x, const std::vector<std::complex<double>>& w) {
    std::vector<double> re, im;
    for (const auto& v : w) re.push_back(v.real()), im.push_back(v.imag());
    const Value c = constant(re), s = constant(im);
    if (!x.im) return {b_.mul(x.re, c), b_.mul(x.re, s)};
    return {b_.sub(b_.mul(x.re, c), b_.mul(x.im, s)), b_.add(b_.mul(x.re, s), b_.mul(x.im, c))};
  }
  Rows whole(Rows x) {
    if (x.re && !x.im) x.im = b_.fill(part_, x.re->type.dims, 0);
    if (x.im && !x.re) x.re = b_.fill(part_, x.im->type.dims, 0);
    return x;
  }

  // n = p m. With j = j1 m + j2 and k = k1 + p k2: transforms of p numbers, a rotation each, and p transforms of m numbers.
  Rows step(Rows x, const Dim& rows, int64_t p, int64_t m) {
    std::vector<Rows> in;
    for (int64_t j = 0; j < p; ++j) {
      const auto part = [&](Value v) { return v ? b_.slice_axis(v, 1, j * m, m) : nullptr; };
      in.push_back({part(x.re), part(x.im)});
    }
    std::vector<Value> re, im;
    for (int64_t k = 0; k < p; ++k) {
      Rows sum = in[0];
      for (int64_t j = 1; j < p; ++j) {
        const Rows t = times(in[size_t(j)], root(j * k, p));
        sum = {plus(sum.re, t.re), plus(sum.im, t.im)};
      }
      sum = whole(sum);
      if (k > 0 && m > 1) {
        std::vector<std::complex<double>> turns;
        for (int64_t j = 0; j < m; ++j) turns.push_back(root(j * k, p * m));
        sum = times(sum, turns);
      }
      if (!sum.re || !sum.im) return {};
      re.push_back(b_.expand_dims(sum.re, 1));
      im.push_back(b_.expand_dims(sum.im, 1));
    }
    const Rows parts = run({b_.reshape(b_.concat(re, 1), {rows * Dim(p), m}), b_.reshape(b_.concat(im, 1), {rows * Dim(p), m})}, rows * Dim(p), m);
    const auto joined = [&](Value v) { return b_.reshape(b_.transpose(b_.reshape(v, {rows, p, m}), {0, 2, 1}), {rows, p * m}); };
    return {joined(parts.re), joined(parts.im)};
  }

  // j k = (j^2 + k^2 - (k - j)^2) / 2: a convolution.
  Rows bluestein(Rows x, const Dim& rows, int64_t n) {
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    std::vector<std::complex<double>> chirp, kernel(static_cast<size_t>(m));
    for (int64_t k = 0; k < n; ++k) {
      chirp.push_back(root(k * k % (2 * n), 2 * n));
      kernel[size_t(k)] = std::conj(chirp.back());
      if (k) kernel[size_t(m - k)] = kernel[size_t(k)];
    }
    const auto longer = [&](Value v) { return b_.pad(v, b_.scalar(part_, 0), {0, 0}, {0, m - n}); };
    const auto first = [&](Value v) { return b_.slice_axis(v, 1, 0, n); };
    x = times(x, chirp);
    Transform forward(b_, part_, false), back(b_, part_, true);
    const Rows there = forward.run({longer(x.re), longer(x.im)}, rows, m);
    const Rows y = back.run(times(there, transformed(kernel)), rows, m);
    return times({b_.mul(first(y.re), 1.0 / double(m)), b_.mul(first(y.im), 1.0 / double(m))}, chirp);
  }

  // Of numbers: the length is a power of two.
  static std::vector<std::complex<double>> transformed(std::vector<std::complex<double>> v) {
    const size_t n = v.size();
    if (n == 1) return v;
    std::vector<std::complex<double>> even, odd;
    for (size_t i = 0; i < n; ++i) (i % 2 ? odd : even).push_back(v[i]);
    even = transformed(std::move(even));
    odd = transformed(std::move(odd));
    for (size_t k = 0; k < n / 2; ++k) {
      const double angle = -2 * kPi * double(k) / double(n);
      const auto turned = odd[k] * std::complex<double>(std::cos(angle), std::sin(angle));
      v[k] = even[k] + turned;
      v[k + n / 2] = even[k] - turned;
    }
    return v;
  }

  ir::Builder& b_;
  const DType part_;
  const double sign_;
};

// Along one axis of a tensor in parts.
Rows along(ir::Builder& b, Rows x, int axis, bool inverse) {
  if (!x.re) return {};
  const int rank = x.re->rank();
  const int64_t n = x.re->dim(axis).value();
  if (n <= 1) return x;
  std::vector<int> order;
  for (int d = 0; d < rank; ++d) {
    if (d != axis) order.push_back(d);
  }
  order.push_back(axis);
  std::vector<int> back(static_cast<size_t>(rank));
  for (int d = 0; d < rank; ++d) back[size_t(order[size_t(d)])] = d;
  Dims moved;
  for (int d : order) moved.push_back(x.re->dim(d));
  const Dim rows = product(dims_of(x.re, 0, axis)) * product(dims_of(x.re, axis + 1, rank));
  const auto lines = [&](Value v) { return v ? b.reshape(b.transpose(v, order), {rows, n}) : nullptr; };
  const Rows y = Transform(b, x.re->type.dtype, inverse).run({lines(x.re), lines(x.im)}, rows, n);
  const auto placed = [&](Value v) { return b.transpose(b.reshape(v, moved), back); };
  if (!y.re || !y.im) return {};
  return {placed(y.re), placed(y.im)};
}

Rows scaled(ir::Builder& b, Rows x, double factor) {
  if (factor == 1 || !x.re) return x;
  return {b.mul(x.re, factor), x.im ? b.mul(x.im, factor) : nullptr};
}

// The sizes of the last `rank` axes as numbers.
bool fixed_axes(LowerContext& l, int rank) {
  const Value x = l.x();
  if (!x) return false;
  if (x->rank() < rank) {
    l.fail(invalid_argument("Input must have rank of at least ", rank, " but got: ", shape_text(l.b, x->type.dims)));
    return false;
  }
  for (int d = x->rank() - rank; d < x->rank(); ++d) {
    if (!x->dim(d).is_const()) l.unsupported("open lengths");
    else if (x->dim(d).value() > kMostPoints) l.unsupported("so long a transform");
  }
  return l.ok();
}

template <int rank, bool inverse>
LoweredList fft(LowerContext& l) {
  if (!fixed_axes(l, rank)) return {};
  const Value x = l.x();
  Rows z{l.b.real(x), l.b.imag(x)};
  double points = 1;
  for (int d = x->rank() - rank; d < x->rank(); ++d) {
    points *= double(x->dim(d).value());
    z = along(l.b, z, d, inverse);
  }
  z = scaled(l.b, z, inverse && points > 0 ? 1 / points : 1);
  return {l.b.complex(z.re, z.im)};
}

// The first elements along the last axes, zeros where the axis is empty.
Value fitted(LowerContext& l, Value x, const std::vector<int64_t>& sizes) {
  Dims low(static_cast<size_t>(x->rank())), high(low.size());
  const size_t first = low.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t have = x->dim(int(first + i)).value();
    if (have != 0 && have < sizes[i]) {
      l.fail(invalid_argument("Input dimension ", first + i, " must have length of at least ", sizes[i], " but got: ", have));
      return nullptr;
    }
    high[first + i] = sizes[i] - have;
  }
  return l.b.pad(x, l.b.scalar(x->type.dtype, 0), low, high);
}

std::optional<std::vector<int64_t>> lengths(LowerContext& l, int rank) {
  auto n = l.ints(1);
  if (!n) return std::nullopt;
  if (int(n->size()) != rank) {
    l.fail(invalid_argument("fft_length must have shape [", rank, "]"));
    return std::nullopt;
  }
  for (size_t i = 0; i < n->size(); ++i) {
    if ((*n)[i] < 0) l.fail(invalid_argument("fft_length[", i, "] must >= 0, but got: ", (*n)[i]));
    if ((*n)[i] > kMostPoints) l.unsupported("so long a transform");
  }
  return l.ok() ? n : std::nullopt;
}

bool types_fit(LowerContext& l, DType real, DType complex) {
  if (ir::complex_type(real) == complex) return true;
  l.fail(invalid_argument("Wrong types for real FFT: in=", int(l.type().dtype), " out=", int(l.out_type())));
  return false;
}

template <int rank>
LoweredList rfft(LowerContext& l) {
  const auto n = lengths(l, rank);
  if (!n || !fixed_axes(l, rank) || !types_fit(l, l.type().dtype, l.out_type())) return {};
  const Value x = fitted(l, l.x(), *n);
  if (!x) return {};
  const int last = x->rank() - 1;
  Rows z = along(l.b, {x, nullptr}, last, false);
  if (!z.im) z.im = l.b.fill(x->type.dtype, x->type.dims, 0);
  const int64_t half = n->back() ? n->back() / 2 + 1 : 0;
  z = {l.b.slice_axis(z.re, last, 0, half), l.b.slice_axis(z.im, last, 0, half)};
  for (int d = last - rank + 1; d < last; ++d) z = along(l.b, z, d, false);
  return {l.b.complex(z.re, z.im)};
}

template <int rank>
LoweredList irfft(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto n = lengths(l, rank);
  if (!n || !fixed_axes(l, rank) || !types_fit(l, l.out_type(), l.type().dtype)) return {};
  std::vector<int64_t> read = *n;
  read.back() = read.back() / 2 + 1;
  const Value x = fitted(l, l.x(), read);
  if (!x) return {};
  const int last = x->rank() - 1;
  Rows z{b.real(x), b.imag(x)};
  double points = double(n->back());
  for (int d = last - rank + 1; d < last; ++d) {
    points *= double(x->dim(d).value());
    z = along(b, z, d, true);
  }
  // The other half: the conjugates, backwards.
  const int64_t size = n->back(), more = size - read.back();
  const auto both = [&](Value v, bool im) {
    if (more < 0) return b.slice_axis(v, last, 0, size);
    if (more == 0) return v;
    const Value other = b.reverse(b.slice_axis(v, last, 1, more), {last});
    return b.concat({v, im ? b.neg(other) : other}, last);
  };
  z = along(b, {both(z.re, false), both(z.im, true)}, last, true);
  return {scaled(b, z, points > 0 ? 1 / points : 1).re};
}

}  // namespace

void lower_fft(Registry& r) {
  r.lower("FFT", fft<1, false>);
  r.lower("FFT2D", fft<2, false>);
  r.lower("FFT3D", fft<3, false>);
  r.lower("IFFT", fft<1, true>);
  r.lower("IFFT2D", fft<2, true>);
  r.lower("IFFT3D", fft<3, true>);
  r.lower("IRFFT", irfft<1>);
  r.lower("IRFFT2D", irfft<2>);
  r.lower("IRFFT3D", irfft<3>);
  r.lower("RFFT", rfft<1>);
  r.lower("RFFT2D", rfft<2>);
  r.lower("RFFT3D", rfft<3>);
}

}  // namespace weft_engine::ops
