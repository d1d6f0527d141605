#include "kernels/cpu/audio.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace weft_engine::kernels {

int64_t Spectrogram::bins_for(int64_t window) { return int64_t(std::bit_ceil(uint64_t(window))) / 2 + 1; }

Spectrogram::Spectrogram(int64_t window) : length_(int64_t(std::bit_ceil(uint64_t(window)))), window_(size_t(window)), work_(size_t(length_)) {
  for (int64_t i = 0; i < window; ++i) window_[size_t(i)] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * double(i) / double(window));
  for (int64_t i = 0; i < length_ / 2; ++i) roots_.push_back(std::polar(1.0, -2 * std::numbers::pi * double(i) / double(length_)));
}

// In place, radix two: the input goes to bit-reversed places first.
void Spectrogram::transform() {
  const size_t n = work_.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(work_[i], work_[j]);
  }
  for (size_t half = 1; half < n; half *= 2) {
    const size_t step = n / (2 * half);
    for (size_t begin = 0; begin < n; begin += 2 * half) {
      for (size_t k = 0; k < half; ++k) {
        const std::complex<double> r = roots_[k * step], x = work_[begin + k + half], a = work_[begin + k];
        const std::complex<double> b(x.real() * r.real() - x.imag() * r.imag(), x.real() * r.imag() + x.imag() * r.real());
        work_[begin + k] = a + b;
        work_[begin + k + half] = a - b;
      }
    }
  }
}

void Spectrogram::compute(const float* samples, int64_t stride, bool squared, float* out) {
  for (size_t i = 0; i < work_.size(); ++i) work_[i] = i < window_.size() ? double(samples[int64_t(i) * stride]) * window_[i] : 0.0;
  transform();
  for (int64_t i = 0; i < bins(); ++i) {
    const auto& x = work_[size_t(i)];
    const auto power = float(x.real() * x.real() + x.imag() * x.imag());
    out[i] = squared ? power : std::sqrt(power);
  }
}

namespace {

double mel(double hz) { return 1127.0 * std::log1p(hz / 700.0); }

}  // namespace

Mfcc::Mfcc(int64_t bins, double sample_rate, const Options& options)
    : options_(options), bins_(bins), band_(size_t(bins), -2), weight_(size_t(bins), 0.0), work_(size_t(options.channels)) {
  const int64_t channels = options.channels;
  const double low = mel(options.lower_hz), spacing = (mel(options.upper_hz) - low) / double(channels + 1);
  auto center = [&](int64_t c) { return low + spacing * double(c + 1); };
  const double hz_per_bin = 0.5 * sample_rate / double(bins - 1);
  // The constant part never counts; the limits may be far outside the spectrum.
  first_ = int64_t(std::min(1.5 + options.lower_hz / hz_per_bin, double(bins)));
  last_ = int64_t(std::min(options.upper_hz / hz_per_bin, double(bins)));
  int64_t channel = 0;
  for (int64_t i = first_; i <= std::min(last_, bins - 1); ++i) {
    const double m = mel(double(i) * hz_per_bin);
    while (channel < channels && center(channel) < m) ++channel;
    const int64_t b = band_[size_t(i)] = channel - 1;
    weight_[size_t(i)] = b >= 0 ? (center(b + 1) - m) / (center(b + 1) - center(b)) : (center(0) - m) / (center(0) - low);
  }
  const double norm = std::sqrt(2.0 / double(channels)), angle = std::numbers::pi / double(channels);
  cosines_.resize(size_t(options.coefficients * channels));
  for (int64_t i = 0; i < options.coefficients; ++i)
    for (int64_t j = 0; j < channels; ++j) cosines_[size_t(i * channels + j)] = norm * std::cos(double(i) * angle * (double(j) + 0.5));
}

void Mfcc::compute(const float* spectrum, float* out) {
  constexpr double kFloor = 1e-12;
  std::fill(work_.begin(), work_.end(), 0.0);
  const int64_t channels = options_.channels;
  for (int64_t i = first_; i <= last_ && last_ < bins_; ++i) {
    const double magnitude = std::sqrt(double(spectrum[i])), weighted = magnitude * weight_[size_t(i)];
    const int64_t b = band_[size_t(i)];
    if (b >= 0) work_[size_t(b)] += weighted;
    if (b + 1 < channels) work_[size_t(b + 1)] += magnitude - weighted;
  }
  // A spectrum that ends below the upper limit gives nothing at all.
  for (double& v : work_) v = last_ < bins_ ? std::log(std::max(v, kFloor)) : 0.0;
  for (int64_t i = 0; i < options_.coefficients; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < channels; ++j) sum += cosines_[size_t(i * channels + j)] * work_[size_t(j)];
    out[i] = float(sum);
  }
}

}  // namespace weft_engine::kernels
