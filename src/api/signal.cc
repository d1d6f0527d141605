// Windows, frames and what is made of them. Lengths of signals may be unknown while a function is traced.
#include "weft/signal.h"

#include <cmath>
#include <numbers>

#include "api/op_args.h"
#include "weft/math.h"
#include "weft/raw/array.h"
#include "weft/raw/math.h"

namespace weft::signal {
namespace {

using std::numbers::pi;

[[noreturn]] void fail(const std::string& message) { throw Error(Code::kInvalidArgument, message); }

Tensor number(double v, DType t) { return cast(Tensor(v), t); }
// 0, 1, ... n - 1.
Tensor count(int64_t n, DType t) { return cast(range(Tensor(n)), t); }
Tensor ones_of(int64_t n, DType t) { return ones({n}, t); }
void check_length(int64_t length) {
  if (length < 0) fail("the length of a window must not be negative, got " + std::to_string(length));
}

// a - b * cos(2 pi i / n)
Tensor raised_cosine(int64_t length, const WindowOptions& o, double a, double b) {
  check_length(length);
  if (length == 1) return ones_of(1, o.dtype);
  const int64_t n = length + (o.periodic && length % 2 == 0 ? 1 : 0) - 1;
  return number(a, o.dtype) - number(b, o.dtype) * cos(number(2 * pi, o.dtype) * count(length, o.dtype) / number(double(n), o.dtype));
}

int rank_of(const Tensor& x, const char* who, int least) {
  const int rank = api::known_rank(x);
  if (rank < least) fail(std::string(who) + ": the input needs at least " + std::to_string(least) + " dimensions, of a known number");
  return rank;
}
// The sizes of all dimensions as an int64 vector; of one as a vector with one element.
Tensor sizes(const Tensor& x) { return shape(x, DType::int64); }
Tensor size_of(const Tensor& x, int axis) { return sizes(x)[{slice(axis, axis + 1)}]; }

int64_t power_of_two(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

}  // namespace

Tensor hann_window(int64_t length, const WindowOptions& o) { return raised_cosine(length, o, 0.5, 0.5); }
Tensor hamming_window(int64_t length, const WindowOptions& o) { return raised_cosine(length, o, 0.54, 0.46); }
Tensor default_window(int64_t length, DType dtype) { return hann_window(length, {.dtype = dtype}); }
Tensor kaiser_window(int64_t length, double beta, DType dtype) {
  check_length(length);
  if (length == 1) return ones_of(1, dtype);
  const double half = double(length - 1) / 2;
  const Tensor at = (count(length, dtype) - number(half, dtype)) / number(half, dtype);
  const Tensor inside = sqrt(maximum(number(1, dtype) - square(at), number(0, dtype)));
  return raw::BesselI0(number(beta, dtype) * inside) / raw::BesselI0(number(beta, dtype));
}
Tensor kaiser_bessel_derived_window(int64_t length, double beta, DType dtype) {
  check_length(length);
  const Tensor sums = cumsum(kaiser_window(length / 2 + 1, beta, dtype));
  const Tensor half = sqrt(sums[{slice(_, -1)}] / sums[-1]);
  return concat({half, reverse(half, {0})}, 0);
}
Tensor vorbis_window(int64_t length, DType dtype) {
  check_length(length);
  const Tensor at = (count(length, dtype) + number(0.5, dtype)) * number(pi / double(std::max<int64_t>(length, 1)), dtype);
  return sin(number(pi / 2, dtype) * square(sin(at)));
}

Tensor frame(const Tensor& signal, int64_t frame_length, int64_t frame_step, const FrameOptions& o) {
  const int rank = rank_of(signal, "frame", 1);
  if (frame_length < 0 || frame_step < 1) fail("frame: frame_length must not be negative, and frame_step must be above 0");
  const int64_t axis = o.axis < 0 ? o.axis + rank : o.axis;
  if (axis < 0 || axis >= rank) fail("frame: there is no axis " + std::to_string(o.axis));
  const Tensor length = size_of(signal, int(axis)), step(frame_step), zero(int64_t(0));
  Tensor padded = signal, frames;
  if (o.pad_end) {
    frames = floordiv(length + (frame_step - 1), step);
    const Tensor missing = maximum(zero, Tensor(frame_length) + step * (frames - Tensor(int64_t(1))) - length);
    const Tensor none = zeros({1}, DType::int64);
    std::vector<Tensor> pads;
    for (int i = 0; i < rank; ++i) pads.push_back(concat({none, i == axis ? missing : none}, 0));
    padded = raw::PadV2(signal, stack(pads), cast(Tensor(o.pad_value), signal.dtype()));
  } else {
    frames = maximum(zero, floordiv(length - Tensor(frame_length), step) + Tensor(int64_t(1)));
  }
  const Tensor starts = expand_dims(range(zero, reshape(frames, {}), Tensor(int64_t(1))) * step, 1);
  return gather(padded, starts + expand_dims(range(Tensor(frame_length)), 0), axis);
}

Tensor overlap_and_add(const Tensor& signal, int64_t frame_step) {
  const int rank = rank_of(signal, "overlap_and_add", 2);
  if (frame_step < 1) fail("overlap_and_add: frame_step must be above 0");
  const Tensor outer = sizes(signal)[{slice(_, rank - 2)}], frames = size_of(signal, rank - 2), length = size_of(signal, rank - 1);
  const Tensor one(int64_t(1)), zero(int64_t(0));
  const auto counted = [&](const Tensor& n) { return range(zero, reshape(n, {}), one); };
  const Tensor places = reshape(expand_dims(counted(frames) * Tensor(frame_step), 1) + expand_dims(counted(length), 0), {-1});
  const Tensor total = (frames - one) * Tensor(frame_step) + length;
  // Rows are places of frames, columns the signals of the batch.
  const Tensor columns = transpose(raw::Reshape(signal, concat({Tensor{int64_t(-1)}, frames * length}, 0)));
  const Tensor sums = raw::UnsortedSegmentSum(columns, places, maximum(zero, reshape(total, {})));
  return raw::Reshape(transpose(sums), concat({outer, total}, 0));
}

Tensor stft(const Tensor& signals, int64_t frame_length, int64_t frame_step, const StftOptions& o) {
  Tensor frames = frame(signals, frame_length, frame_step, {.pad_end = o.pad_end});
  if (o.window_fn) frames = frames * o.window_fn(frame_length, frames.dtype());
  return rfft(frames, {o.fft_length ? o.fft_length : power_of_two(frame_length)});
}
Tensor inverse_stft(const Tensor& stfts, int64_t frame_length, int64_t frame_step, const InverseStftOptions& o) {
  const int64_t fft_length = o.fft_length ? o.fft_length : power_of_two(frame_length);
  Tensor frames = irfft(stfts, {fft_length});
  if (frame_length <= fft_length) {
    frames = frames[{ellipsis, slice(0, frame_length)}];
  } else {
    std::vector<std::pair<int64_t, int64_t>> pads(size_t(rank_of(frames, "inverse_stft", 2)));
    pads.back().second = frame_length - fft_length;
    frames = pad(frames, pads);
  }
  if (o.window_fn) frames = frames * o.window_fn(frame_length, frames.dtype());
  return overlap_and_add(frames, frame_step);
}
WindowFunction inverse_stft_window_fn(int64_t frame_step, WindowFunction forward) {
  if (frame_step < 1) fail("inverse_stft_window_fn: frame_step must be above 0");
  return [=](int64_t frame_length, DType dtype) {
    const Tensor window = forward(frame_length, dtype);
    const int64_t overlaps = (frame_length + frame_step - 1) / frame_step;
    const Tensor squares = reshape(pad(square(window), {{0, overlaps * frame_step - frame_length}}), {overlaps, frame_step});
    const Tensor sums = tile(reduce_sum(squares, {.axis = {0}}), {overlaps});
    return window / sums[{slice(0, frame_length)}];
  };
}

Tensor mdct(const Tensor& signals, int64_t frame_length, const MdctOptions& o) {
  if (frame_length % 4) fail("mdct: frame_length must be a multiple of 4, got " + std::to_string(frame_length));
  Tensor frames = frame(signals, frame_length, frame_length / 2, {.pad_end = o.pad_end});
  if (o.window_fn) frames = frames * o.window_fn(frame_length, frames.dtype());
  else frames = frames * number(std::sqrt(0.5), frames.dtype());
  const int last = rank_of(frames, "mdct", 2) - 1;
  const std::vector<Tensor> quarters = split(frames, 4, last);
  const Tensor first = -reverse(quarters[2], {last}) - quarters[3], second = quarters[0] - reverse(quarters[1], {last});
  return dct(concat({first, second}, last), {.type = 4, .norm = o.norm});
}
Tensor inverse_mdct(const Tensor& mdcts, const InverseMdctOptions& o) {
  const int last = rank_of(mdcts, "inverse_mdct", 2) - 1;
  const PartialShape known = mdcts.partial_shape();
  const int64_t half = known.dims[size_t(last)];
  if (half < 0) fail("inverse_mdct: the number of coefficients must be known");
  Tensor back = dct(mdcts, {.type = 4, .norm = o.norm});
  if (o.norm.empty()) back = back * number(0.5 / double(half), back.dtype());
  const std::vector<Tensor> halves = split(back, 2, last);
  Tensor frames = concat({halves[1], -reverse(halves[1], {last}), -reverse(halves[0], {last}), -halves[0]}, last);
  frames = frames * (o.window_fn ? o.window_fn(2 * half, frames.dtype()) : number(std::sqrt(0.5), frames.dtype()));
  return overlap_and_add(frames, half);
}

Tensor linear_to_mel_weight_matrix(const MelOptions& o) {
  if (o.num_mel_bins <= 0) fail("num_mel_bins must be positive. Got: " + std::to_string(o.num_mel_bins));
  if (o.lower_edge_hertz < 0) fail("lower_edge_hertz must be non-negative. Got: " + std::to_string(o.lower_edge_hertz));
  if (o.lower_edge_hertz >= o.upper_edge_hertz) fail("lower_edge_hertz must be below upper_edge_hertz");
  if (o.sample_rate <= 0) fail("sample_rate must be positive. Got: " + std::to_string(o.sample_rate));
  if (o.upper_edge_hertz > o.sample_rate / 2) fail("upper_edge_hertz must not be larger than the Nyquist frequency, half of sample_rate");
  const auto mel = [&](const Tensor& hertz) { return number(1127, o.dtype) * log(number(1, o.dtype) + hertz / number(700, o.dtype)); };
  const auto value = [&](double v) { return number(v, o.dtype); };
  const Tensor bins = expand_dims(mel(linspace(value(0), value(o.sample_rate / 2), o.num_spectrogram_bins)[{slice(1, _)}]), 1);
  const Tensor edges = linspace(mel(value(o.lower_edge_hertz)), mel(value(o.upper_edge_hertz)), o.num_mel_bins + 2);
  const Tensor lower = edges[{slice(_, -2)}], center = edges[{slice(1, -1)}], upper = edges[{slice(2, _)}];
  const Tensor rising = (bins - lower) / (center - lower), falling = (upper - bins) / (upper - center);
  return pad(maximum(value(0), minimum(rising, falling)), {{1, 0}, {0, 0}});  // the first bin is the mean
}
Tensor mfccs_from_log_mel_spectrograms(const Tensor& x) {
  const Tensor bins = cast(reshape(size_of(x, rank_of(x, "mfccs_from_log_mel_spectrograms", 1) - 1), {}), x.dtype());
  return dct(x) * rsqrt(bins * number(2, x.dtype()));
}

}  // namespace weft::signal
