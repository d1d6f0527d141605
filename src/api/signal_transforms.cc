// Fourier and cosine transforms.
#include <cmath>
#include <numbers>

#include "api/op_args.h"
#include "weft/math.h"
#include "weft/raw/array.h"
#include "weft/raw/signal.h"
#include "weft/signal.h"

namespace weft::signal {
namespace {

using std::numbers::pi;

[[noreturn]] void fail(const std::string& message) { throw Error(Code::kInvalidArgument, message); }

DType complex_of(DType t) { return t == DType::float64 || t == DType::complex128 ? DType::complex128 : DType::complex64; }
DType real_of(DType t) { return t == DType::float64 || t == DType::complex128 ? DType::float64 : DType::float32; }
Tensor number(double v, DType t) { return cast(Tensor(v), t); }
int rank_of(const Tensor& x, const char* who, int least) {
  const int rank = api::known_rank(x);
  if (rank < least) fail(std::string(who) + ": the input needs at least " + std::to_string(least) + " dimensions, of a known number");
  return rank;
}

Tensor last_sizes(const Tensor& x, int rank, int n) { return shape(x)[{slice(rank - n, rank)}]; }

// Zeros behind the last axes, up to these sizes.
Tensor padded_to(const Tensor& x, int rank, const Tensor& wanted, int n) {
  const Tensor missing = maximum(Tensor(int32_t(0)), wanted - last_sizes(x, rank, n));
  const Tensor all = concat({zeros({rank - n}, DType::int32), missing}, 0);
  return raw::Pad(x, stack({zeros({rank}, DType::int32), all}, 1));
}
Tensor int32s(const std::vector<int64_t>& v) { return cast(api::ints(v), DType::int32); }

void check_lengths(const std::vector<int64_t>& lengths, int n) {
  if (!lengths.empty() && int(lengths.size()) != n)
    fail("fft_length must have " + std::to_string(n) + " numbers, got " + std::to_string(lengths.size()));
}

template <class Op>
Tensor real_transform(Op op, const char* who, const Tensor& x, const std::vector<int64_t>& fft_length, int n) {
  const int rank = rank_of(x, who, n);
  check_lengths(fft_length, n);
  const Tensor input = x.dtype() == DType::float64 ? x : cast(x, DType::float32);
  if (fft_length.empty()) return op(input, last_sizes(input, rank, n), {.Tcomplex = complex_of(input.dtype())});
  const Tensor lengths = int32s(fft_length);
  return op(padded_to(input, rank, lengths, n), lengths, {.Tcomplex = complex_of(input.dtype())});
}
template <class Op>
Tensor inverse_real_transform(Op op, const char* who, const Tensor& x, const std::vector<int64_t>& fft_length, int n) {
  const int rank = rank_of(x, who, n);
  check_lengths(fft_length, n);
  if (fft_length.empty()) {
    const Tensor have = last_sizes(x, rank, n);
    const Tensor last = maximum(Tensor(int32_t(0)), (have[{slice(-1, _)}] - Tensor(int32_t(1))) * Tensor(int32_t(2)));
    return op(x, concat({have[{slice(_, -1)}], last}, 0), {.Treal = real_of(x.dtype())});
  }
  std::vector<int64_t> needed = fft_length;
  needed.back() = needed.back() / 2 + 1;
  return op(padded_to(x, rank, int32s(needed), n), int32s(fft_length), {.Treal = real_of(x.dtype())});
}

// The axes and lengths of a transform over any axes.
struct Axes {
  Tensor lengths, axes;
};
Axes axes_of(const Tensor& x, const std::vector<int64_t>& fft_length, std::vector<int64_t> axes, bool half) {
  const int rank = rank_of(x, "fftnd", 1);
  if (axes.empty()) {
    const int n = fft_length.empty() ? rank : int(fft_length.size());
    for (int i = 0; i < n; ++i) axes.push_back(i - n);
  }
  if (!fft_length.empty() && fft_length.size() != axes.size()) fail("fftnd: as many lengths as axes are needed");
  if (!fft_length.empty()) return {int32s(fft_length), int32s(axes)};
  std::vector<int64_t> at;
  for (int64_t a : axes) at.push_back(a < 0 ? a + rank : a);
  Tensor lengths = gather(shape(x), int32s(at));
  if (half) lengths = concat({lengths[{slice(_, -1)}], (lengths[{slice(-1, _)}] - Tensor(int32_t(1))) * Tensor(int32_t(2))}, 0);
  return {lengths, int32s(axes)};
}

Tensor shifted(const Tensor& x, std::vector<int64_t> axes, bool back) {
  const int rank = rank_of(x, "fftshift", 1);
  if (axes.empty()) {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  std::vector<int64_t> at;
  for (int64_t a : axes) at.push_back(a < 0 ? a + rank : a);
  const Tensor half = floordiv(gather(shape(x), int32s(at)), Tensor(int32_t(2)));
  return raw::Roll(x, back ? -half : half, int32s(at));
}

// Cut or padded along the last axis.
Tensor fitted(const Tensor& x, int rank, int64_t n) {
  if (n == 0) return x;
  if (n < 0) fail("dct: n must not be negative");
  return padded_to(x, rank, int32s({n}), 1)[{ellipsis, slice(0, n)}];
}

}  // namespace

Tensor fft(const Tensor& x) { return raw::FFT(x); }
Tensor fft2d(const Tensor& x) { return raw::FFT2D(x); }
Tensor fft3d(const Tensor& x) { return raw::FFT3D(x); }
Tensor ifft(const Tensor& x) { return raw::IFFT(x); }
Tensor ifft2d(const Tensor& x) { return raw::IFFT2D(x); }
Tensor ifft3d(const Tensor& x) { return raw::IFFT3D(x); }
Tensor rfft(const Tensor& x, const std::vector<int64_t>& n) {
  return real_transform([](auto&& a, auto&& b, raw::RFFTOptions o) { return raw::RFFT(a, b, o); }, "rfft", x, n, 1);
}
Tensor rfft2d(const Tensor& x, const std::vector<int64_t>& n) {
  return real_transform([](auto&& a, auto&& b, raw::RFFT2DOptions o) { return raw::RFFT2D(a, b, o); }, "rfft2d", x, n, 2);
}
Tensor rfft3d(const Tensor& x, const std::vector<int64_t>& n) {
  return real_transform([](auto&& a, auto&& b, raw::RFFT3DOptions o) { return raw::RFFT3D(a, b, o); }, "rfft3d", x, n, 3);
}
Tensor irfft(const Tensor& x, const std::vector<int64_t>& n) {
  return inverse_real_transform([](auto&& a, auto&& b, raw::IRFFTOptions o) { return raw::IRFFT(a, b, o); }, "irfft", x, n, 1);
}
Tensor irfft2d(const Tensor& x, const std::vector<int64_t>& n) {
  return inverse_real_transform([](auto&& a, auto&& b, raw::IRFFT2DOptions o) { return raw::IRFFT2D(a, b, o); }, "irfft2d", x, n, 2);
}
Tensor irfft3d(const Tensor& x, const std::vector<int64_t>& n) {
  return inverse_real_transform([](auto&& a, auto&& b, raw::IRFFT3DOptions o) { return raw::IRFFT3D(a, b, o); }, "irfft3d", x, n, 3);
}
Tensor fftnd(const Tensor& x, const std::vector<int64_t>& n, const std::vector<int64_t>& axes) {
  const Axes a = axes_of(x, n, axes, false);
  return raw::FFTND(x, a.lengths, a.axes);
}
Tensor ifftnd(const Tensor& x, const std::vector<int64_t>& n, const std::vector<int64_t>& axes) {
  const Axes a = axes_of(x, n, axes, false);
  return raw::IFFTND(x, a.lengths, a.axes);
}
Tensor rfftnd(const Tensor& x, const std::vector<int64_t>& n, const std::vector<int64_t>& axes) {
  const Axes a = axes_of(x, n, axes, false);
  return raw::RFFTND(x, a.lengths, a.axes, {.Tcomplex = complex_of(x.dtype())});
}
Tensor irfftnd(const Tensor& x, const std::vector<int64_t>& n, const std::vector<int64_t>& axes) {
  const Axes a = axes_of(x, n, axes, true);
  return raw::IRFFTND(x, a.lengths, a.axes, {.Treal = real_of(x.dtype())});
}
Tensor fftshift(const Tensor& x, const std::vector<int64_t>& axes) { return shifted(x, axes, false); }
Tensor ifftshift(const Tensor& x, const std::vector<int64_t>& axes) { return shifted(x, axes, true); }

Tensor dct(const Tensor& input, const DctOptions& o) {
  if (o.type < 1 || o.type > 4) fail("Types I, II, III and IV (I)DCT are supported. Received: " + std::to_string(o.type));
  if (!o.norm.empty() && o.norm != "ortho") fail("Unknown normalization. Expected None or 'ortho', got: " + o.norm);
  const bool ortho = !o.norm.empty();
  if (o.type == 1 && ortho) fail("Normalization is not supported for the Type-I DCT.");
  const int rank = rank_of(input, "dct", 1);
  const Tensor x = fitted(input, rank, o.n);
  const DType t = x.dtype();
  const int64_t n = x.partial_shape().dims.back();
  if (n < 0) fail("dct: the length of the last axis must be known");
  const Tensor zero = number(0, t);
  const auto counted = [&] { return cast(range(Tensor(n)), t); };
  const auto weights = [&](double first, double others) { return concat({expand_dims(number(first, t), 0), fill({n - 1}, number(others, t))}, 0); };
  switch (o.type) {
    case 1: {
      if (n < 2) fail("DCT-I requires the dimension to be greater than one.");
      return real(rfft(concat({x, reverse(x, {rank - 1})[{ellipsis, slice(1, -1)}]}, rank - 1)));
    }
    case 2: {
      const Tensor angle = -counted() * number(pi * 0.5 / double(n), t);
      const Tensor scale = number(2, complex_of(t)) * exp(weft::complex(zero, angle));
      const Tensor made = real(rfft(x, {2 * n})[{ellipsis, slice(0, n)}] * scale);
      return ortho ? made * weights(0.5 / std::sqrt(double(n)), 0.5 * std::sqrt(2 / double(n))) : made;
    }
    case 3: {
      const Tensor scaled = ortho ? x * weights(std::sqrt(double(n)), std::sqrt(double(n) * 0.5)) : x * number(double(n), t);
      const Tensor angle = counted() * number(pi * 0.5 / double(n), t);
      const Tensor scale = number(2, complex_of(t)) * exp(weft::complex(zero, angle));
      return irfft(scale * weft::complex(scaled, zero), {2 * n})[{ellipsis, slice(0, n)}];
    }
    default: {
      // The odd elements of a transform of twice the length.
      const Tensor made = dct(x, {.n = 2 * n})[{ellipsis, slice(1, _, 2)}];
      return ortho ? made * number(std::sqrt(0.5 / double(n)), t) : made;
    }
  }
}
Tensor idct(const Tensor& x, const DctOptions& o) { return dct(x, {.type = o.type == 2 ? 3 : o.type == 3 ? 2 : o.type, .n = o.n, .norm = o.norm}); }

}  // namespace weft::signal
