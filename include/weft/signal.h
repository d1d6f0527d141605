// tf.signal: Fourier and cosine transforms, windows, and frames of signals. Transforms are along the last axes; axes in front of them are batches.
//
//   weft::Tensor audio = weft::random::normal({2, 8000});
//   weft::Tensor spectrum = weft::signal::stft(audio, 512, 128);
//   weft::Tensor mel = weft::tensordot(weft::abs(spectrum), weft::signal::linear_to_mel_weight_matrix({.num_spectrogram_bins = 257}), 1);
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weft/tensor.h"

namespace weft::signal {

// The Fourier transform of complex numbers over the last axis, the last two, the last three.
WEFT_API Tensor fft(const Tensor& x);
WEFT_API Tensor fft2d(const Tensor& x);
WEFT_API Tensor fft3d(const Tensor& x);
// The inverse transform.
WEFT_API Tensor ifft(const Tensor& x);
WEFT_API Tensor ifft2d(const Tensor& x);
WEFT_API Tensor ifft3d(const Tensor& x);
// The transform of real numbers: the half that is not redundant. The input is cut or padded with zeros to fft_length, a number for each axis; none: as it is.
WEFT_API Tensor rfft(const Tensor& x, const std::vector<int64_t>& fft_length = {});
WEFT_API Tensor rfft2d(const Tensor& x, const std::vector<int64_t>& fft_length = {});
WEFT_API Tensor rfft3d(const Tensor& x, const std::vector<int64_t>& fft_length = {});
// The inverse of rfft. The result has fft_length numbers; none: 2 * (n - 1), n the input's.
WEFT_API Tensor irfft(const Tensor& x, const std::vector<int64_t>& fft_length = {});
WEFT_API Tensor irfft2d(const Tensor& x, const std::vector<int64_t>& fft_length = {});
WEFT_API Tensor irfft3d(const Tensor& x, const std::vector<int64_t>& fft_length = {});
// Transforms over any axes; no axes: the last ones, as many as there are lengths, or all.
WEFT_API Tensor fftnd(const Tensor& x, const std::vector<int64_t>& fft_length = {}, const std::vector<int64_t>& axes = {});
WEFT_API Tensor ifftnd(const Tensor& x, const std::vector<int64_t>& fft_length = {}, const std::vector<int64_t>& axes = {});
WEFT_API Tensor rfftnd(const Tensor& x, const std::vector<int64_t>& fft_length = {}, const std::vector<int64_t>& axes = {});
WEFT_API Tensor irfftnd(const Tensor& x, const std::vector<int64_t>& fft_length = {}, const std::vector<int64_t>& axes = {});
// The frequency zero moved to the middle of axes; no axes: of all.
WEFT_API Tensor fftshift(const Tensor& x, const std::vector<int64_t>& axes = {});
// The inverse of fftshift.
WEFT_API Tensor ifftshift(const Tensor& x, const std::vector<int64_t>& axes = {});

struct WindowOptions {
  bool periodic = true;
  DType dtype = DType::float32;
};
// Hann's window of a length.
WEFT_API Tensor hann_window(int64_t length, const WindowOptions& options = {});
// Hamming's window.
WEFT_API Tensor hamming_window(int64_t length, const WindowOptions& options = {});
// Kaiser's window.
WEFT_API Tensor kaiser_window(int64_t length, double beta = 12, DType dtype = DType::float32);
// The window of Kaiser and Bessel for mdct.
WEFT_API Tensor kaiser_bessel_derived_window(int64_t length, double beta = 12, DType dtype = DType::float32);
// Vorbis' window, which fits mdct.
WEFT_API Tensor vorbis_window(int64_t length, DType dtype = DType::float32);
// A window by its length and type. An empty function stands for no window.
using WindowFunction = std::function<Tensor(int64_t length, DType dtype)>;
// hann_window, periodic.
WEFT_API Tensor default_window(int64_t length, DType dtype);

struct FrameOptions {
  bool pad_end = false;  // the last frames are filled up with pad_value
  double pad_value = 0;
  int64_t axis = -1;
};
// Overlapping frames of a signal: frame_length numbers, every frame_step.
WEFT_API Tensor frame(const Tensor& signal, int64_t frame_length, int64_t frame_step, const FrameOptions& options = {});
// The sum of overlapping frames, [..., frames, frame_length].
WEFT_API Tensor overlap_and_add(const Tensor& signal, int64_t frame_step);
struct StftOptions {
  int64_t fft_length = 0;  // 0: the smallest power of 2 that holds a frame
  WindowFunction window_fn = default_window;
  bool pad_end = false;
};
// The Fourier transforms of a signal's frames.
WEFT_API Tensor stft(const Tensor& signals, int64_t frame_length, int64_t frame_step, const StftOptions& options = {});
struct InverseStftOptions {
  int64_t fft_length = 0;
  WindowFunction window_fn = default_window;
};
// The signal of which these are the transforms; the window must be inverse_stft_window_fn's for the same signal.
WEFT_API Tensor inverse_stft(const Tensor& stfts, int64_t frame_length, int64_t frame_step, const InverseStftOptions& options = {});
// The window for inverse_stft that belongs to a window of stft.
WEFT_API WindowFunction inverse_stft_window_fn(int64_t frame_step, WindowFunction forward_window_fn = default_window);

struct DctOptions {
  int64_t type = 2;  // 1 to 4
  int64_t n = 0;  // the input is cut or padded to it; 0: as it is
  std::string norm;  // "ortho", or nothing
};
// The discrete cosine transform along the last axis.
WEFT_API Tensor dct(const Tensor& x, const DctOptions& options = {});
// The transform that is the inverse of dct up to a factor; with "ortho" the inverse.
WEFT_API Tensor idct(const Tensor& x, const DctOptions& options = {});
struct MdctOptions {
  WindowFunction window_fn = vorbis_window;
  bool pad_end = false;
  std::string norm;  // "ortho", or nothing
};
// The modified cosine transform of frames that overlap by half; frame_length is a multiple of 4.
WEFT_API Tensor mdct(const Tensor& signals, int64_t frame_length, const MdctOptions& options = {});
struct InverseMdctOptions {
  WindowFunction window_fn = vorbis_window;
  std::string norm;
};
// The signal of which these are the transforms.
WEFT_API Tensor inverse_mdct(const Tensor& mdcts, const InverseMdctOptions& options = {});

struct MelOptions {
  int64_t num_mel_bins = 20, num_spectrogram_bins = 129;
  double sample_rate = 8000, lower_edge_hertz = 125, upper_edge_hertz = 3800;
  DType dtype = DType::float32;
};
// The matrix that makes mel bins of the bins of a spectrogram: [spectrogram bins, mel bins].
WEFT_API Tensor linear_to_mel_weight_matrix(const MelOptions& options = {});
// The mel-frequency cepstral coefficients of logarithms of mel bins.
WEFT_API Tensor mfccs_from_log_mel_spectrograms(const Tensor& log_mel_spectrograms);

}  // namespace weft::signal
