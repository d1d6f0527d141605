// Sound: spectrograms and mel-frequency cepstral coefficients, computed in double as TensorFlow does.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace weft_engine::kernels {

// Magnitudes of the spectrum of windows of one channel.
class Spectrogram {
 public:
  // A periodic Hann window; the transform is as long as the next power of two. window >= 2.
  explicit Spectrogram(int64_t window);
  int64_t bins() const { return length_ / 2 + 1; }
  static int64_t bins_for(int64_t window);
  // `samples` are window samples, `stride` apart; writes bins() magnitudes or their squares.
  void compute(const float* samples, int64_t stride, bool squared, float* out);

 private:
  void transform();
  int64_t length_;
  std::vector<double> window_;
  std::vector<std::complex<double>> roots_, work_;
};

// Cepstral coefficients of one spectrum of squared magnitudes.
class Mfcc {
 public:
  struct Options {
    double lower_hz = 20, upper_hz = 4000;
    int64_t channels = 40, coefficients = 13;
  };
  // The options must have been checked: bins >= 2, sample_rate > 0, channels >= 1, 0 <= lower < upper.
  Mfcc(int64_t bins, double sample_rate, const Options& options);
  void compute(const float* spectrum, float* out);

 private:
  Options options_;
  int64_t bins_, first_ = 0, last_ = 0;
  std::vector<int64_t> band_;    // the channel whose right flank a bin lies on
  std::vector<double> weight_, cosines_, work_;
};

}  // namespace weft_engine::kernels
