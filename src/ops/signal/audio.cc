// Sound: WAV files, spectrograms, cepstral coefficients.
#include "kernels/cpu/audio.h"

#include <algorithm>
#include <cmath>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/io/summary_values.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Walks over the bytes of a RIFF file, little-endian; never past the end.
class RiffReader {
 public:
  explicit RiffReader(std::string_view s) : s_(s) {}
  bool at_end() const { return at_ >= s_.size(); }
  Result<std::string_view> take(uint64_t n) {
    if (at_ > s_.size() || n > s_.size() - at_) return invalid_argument("Data too short when trying to read string");
    at_ += n;
    return s_.substr(at_ - n, n);
  }
  template <class T>
  Result<T> number() {
    WEFT_ASSIGN(std::string_view bytes, take(sizeof(T)));
    T v;
    std::memcpy(&v, bytes.data(), sizeof v);
    return v;
  }
  Status expect(std::string_view text) {
    WEFT_ASSIGN(std::string_view found, take(text.size()));
    if (found != text) return invalid_argument("Header mismatch: Expected ", text, " but found ", found);
    return {};
  }
  void skip(uint64_t n) { at_ += n; }

 private:
  std::string_view s_;
  uint64_t at_ = 0;
};

Status read_format(RiffReader& r, Wav& wav) {
  static constexpr std::string_view kSkipped[] = {"JUNK", "bext", "iXML", "qlty", "mext", "levl", "link", "axml"};
  WEFT_ASSIGN(std::string_view id, r.take(4));
  while (id != "fmt ") {
    if (std::find(std::begin(kSkipped), std::end(kSkipped), id) == std::end(kSkipped)) return invalid_argument("Unexpected field ", id);
    WEFT_ASSIGN(uint32_t size, r.number<uint32_t>());
    WEFT_RETURN_IF_ERROR(r.take(size).status());
    WEFT_ASSIGN(id, r.take(4));
  }
  WEFT_ASSIGN(uint32_t size, r.number<uint32_t>());
  if (size != 16 && size != 18) return invalid_argument("Bad format chunk size for WAV: Expected 16 or 18, but got", size);
  WEFT_ASSIGN(uint16_t format, r.number<uint16_t>());
  if (format != 1) return invalid_argument("Bad audio format for WAV: Expected 1 (PCM), but got", format);
  WEFT_ASSIGN(wav.channels, r.number<uint16_t>());
  if (wav.channels < 1) return invalid_argument("Bad number of channels for WAV: Expected at least 1, but got ", wav.channels);
  WEFT_ASSIGN(wav.sample_rate, r.number<uint32_t>());
  WEFT_ASSIGN(uint32_t bytes_per_second, r.number<uint32_t>());
  WEFT_ASSIGN(uint16_t bytes_per_frame, r.number<uint16_t>());
  WEFT_ASSIGN(uint16_t bits, r.number<uint16_t>());
  if (bits != 16) return invalid_argument("Can only read 16-bit WAV files, but received ", bits);
  const uint32_t expected = 2u * wav.channels, per_second = bytes_per_frame * wav.sample_rate;
  if (bytes_per_frame != expected) return invalid_argument("Bad bytes per sample in WAV header: Expected ", expected, " but got ", bytes_per_frame);
  if (bytes_per_second != per_second)
    return invalid_argument("Bad bytes per second in WAV header: Expected ", per_second, " but got ", bytes_per_second,
                            " (sample_rate=", wav.sample_rate, ", bytes_per_sample=", bytes_per_frame, ")");
  if (size == 18) r.skip(2);
  return {};
}

}  // namespace

Result<Wav> read_wav(std::string_view bytes) {
  RiffReader r(bytes);
  Wav wav;
  WEFT_RETURN_IF_ERROR(r.expect("RIFF"));
  WEFT_RETURN_IF_ERROR(r.number<uint32_t>().status());
  WEFT_RETURN_IF_ERROR(r.expect("WAVE"));
  WEFT_RETURN_IF_ERROR(read_format(r, wav));
  bool found = false;
  while (!r.at_end()) {
    WEFT_ASSIGN(std::string_view id, r.take(4));
    WEFT_ASSIGN(uint32_t size, r.number<uint32_t>());
    if (size > 0x7fffffffu) return invalid_argument("WAV data chunk '", id, "' is too large: ", size, " bytes, but the limit is ", 0x7fffffff);
    if (id != "data") {
      r.skip(size);
      continue;
    }
    if (found) return invalid_argument("More than one data chunk found in WAV");
    found = true;
    wav.frames = size / (2u * wav.channels);
    WEFT_ASSIGN(wav.data, r.take(uint64_t(wav.frames) * 2u * wav.channels));
  }
  if (!found) return invalid_argument("No data chunk found in WAV");
  return wav;
}
float Wav::sample(int64_t frame, int64_t channel) const {
  int16_t v = 0;
  std::memcpy(&v, data.data() + 2 * (frame * channels + channel), 2);
  return float(v) * (1.0f / 32768);
}

namespace {

Status run_decode_wav(KernelContext& c) {
  const Tensor& contents = c.input(0);
  if (contents.rank() != 0) return invalid_argument("contents must be scalar, got shape ", contents.shape());
  WEFT_ASSIGN(Wav wav, read_wav(contents.data<tstring>()[0].view()));
  const int64_t wanted_channels = c.attr<int64_t>("desired_channels"), wanted_frames = c.attr<int64_t>("desired_samples");
  const int64_t channels = wanted_channels == -1 ? wav.channels : wanted_channels, frames = wanted_frames == -1 ? wav.frames : wanted_frames;
  if (frames > 0 && channels > INT32_MAX / frames)
    return resource_exhausted("desired_channels and desired_samples ask for too much: ", channels, " x ", frames);
  WEFT_ASSIGN(Tensor* audio, c.allocate(0, Shape({frames, channels})));
  WEFT_ASSIGN(Tensor* rate, c.allocate(1, Shape()));
  rate->data<int32_t>()[0] = int32_t(wav.sample_rate);
  float* out = audio->data<float>();
  for (int64_t i = 0; i < frames; ++i) {
    for (int64_t k = 0; k < channels; ++k) {
      // Silence behind the end; the last channel again where there are too few.
      *out++ = i < wav.frames ? wav.sample(i, std::min<int64_t>(k, wav.channels - 1)) : 0.0f;
    }
  }
  return {};
}

Status decode_wav_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  const int64_t channels = c.attr<int64_t>("desired_channels"), samples = c.attr<int64_t>("desired_samples");
  if (channels < -1) return invalid_argument("channels must be non-negative, got ", channels);
  if (samples < -1) return invalid_argument("samples must be non-negative, got ", samples);
  c.output(0, PartialShape::matrix(samples, channels));
  c.output(1, PartialShape::scalar());
  return {};
}

template <class T>
void put(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

int16_t to_sample(float v) {
  const float scaled = std::round(v * 32768.0f);
  if (std::isnan(scaled)) return 0;
  if (scaled <= -32768.0f) return -32768;
  return scaled >= 32767.0f ? 32767 : int16_t(scaled);
}

}  // namespace

Result<std::string> encode_wav(const float* samples, int64_t frames, int64_t channels, uint64_t rate) {
  constexpr uint64_t kHeader = 44, kMost32 = 0xffffffffu, kMost16 = 0xffffu;
  if (frames > 0 && channels == 0) return invalid_argument("audio is null");
  if (rate == 0 || rate > kMost32) return invalid_argument("sample_rate must be in (0, 2^32), got: ", rate);
  if (channels == 0 || uint64_t(channels) > kMost16) return invalid_argument("num_channels must be in (0, 2^16), got: ", channels);
  const uint64_t data = uint64_t(frames) * uint64_t(channels) * 2, file = kHeader + data;
  if (file > kMost32) return invalid_argument("Provided channels and frames cannot be encoded as a WAV.");
  std::string out;
  out.reserve(file);
  out += "RIFF";
  put(out, uint32_t(file - 8));
  out += "WAVEfmt ";
  put(out, uint32_t(16));
  put(out, uint16_t(1));
  put(out, uint16_t(channels));
  put(out, uint32_t(rate));
  put(out, uint32_t(rate * 2 * uint64_t(channels)));
  put(out, uint16_t(2 * channels));
  put(out, uint16_t(16));
  out += "data";
  put(out, uint32_t(data));
  for (int64_t i = 0; i < frames * channels; ++i) put(out, to_sample(samples[i]));
  return out;
}

namespace {

Status run_encode_wav(KernelContext& c) {
  const Tensor &audio = c.input(0), &rate = c.input(1);
  if (audio.rank() != 2) return invalid_argument("audio must be 2-dimensional", audio.shape());
  if (rate.rank() != 0) return invalid_argument("Input sample_rate should be a scalar tensor, got ", rate.shape(), " instead.");
  WEFT_ASSIGN(std::string bytes,
              encode_wav(audio.data<float>(), audio.dim(0), audio.dim(1), static_cast<uint64_t>(int64_t(rate.data<int32_t>()[0]))));
  WEFT_ASSIGN(Tensor* contents, c.allocate(0, Shape()));
  contents->data<tstring>()[0] = bytes;
  return {};
}

Status encode_wav_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 2).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  return shapes::scalar(c);
}

constexpr int64_t kMaxWindow = int64_t(1) << 30;

Status run_spectrogram(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int64_t window = c.attr<int64_t>("window_size"), stride = c.attr<int64_t>("stride");
  const bool squared = c.attr<bool>("magnitude_squared");
  if (in.rank() != 2) return invalid_argument("input must be 2-dimensional", in.shape());
  if (window < 2 || window > kMaxWindow || stride < 1)
    return invalid_argument("Spectrogram initialization failed for window size ", window, " and stride ", stride);
  const int64_t samples = in.dim(0), channels = in.dim(1), bins = kernels::Spectrogram::bins_for(window);
  const int64_t slices = samples < window ? 0 : 1 + (samples - window) / stride;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({channels, slices, bins})));
  if (out->num_elements() == 0) return {};
  const double cost = double(bins) * 40;
  c.pool().parallel_for(channels * slices, cost, [&](int64_t begin, int64_t end) {
    kernels::Spectrogram spectrogram(window);
    for (int64_t i = begin; i < end; ++i)
      spectrogram.compute(in.data<float>() + i % slices * stride * channels + i / slices, channels, squared, out->data<float>() + i * bins);
  });
  return {};
}

Status spectrogram_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 2));
  const int64_t window = c.attr<int64_t>("window_size"), stride = c.attr<int64_t>("stride");
  if (window <= 1) return invalid_argument("window size must be > 1, got ", window);
  if (stride <= 0) return invalid_argument("stride must be strictly positive, got ", stride);
  if (window > kMaxWindow) return invalid_argument("window size must not exceed ", kMaxWindow, ", got ", window);
  const int64_t samples = in.dim(0);
  const int64_t slices = samples < 0 ? kUnknownDim : samples < window ? 0 : 1 + (samples - window) / stride;
  c.output(0, {in.dim(1), slices, kernels::Spectrogram::bins_for(window)});
  return {};
}

Status run_mfcc(KernelContext& c) {
  const Tensor &in = c.input(0), &rate_in = c.input(1);
  if (in.rank() != 3) return invalid_argument("spectrogram must be 3-dimensional", in.shape());
  if (rate_in.rank() != 0) return invalid_argument("Input sample_rate should be a scalar tensor, got ", rate_in.shape(), " instead.");
  const int32_t rate = rate_in.data<int32_t>()[0];
  const kernels::Mfcc::Options options{.lower_hz = c.attr<float>("lower_frequency_limit"),
                                       .upper_hz = c.attr<float>("upper_frequency_limit"),
                                       .channels = c.attr<int64_t>("filterbank_channel_count"),
                                       .coefficients = c.attr<int64_t>("dct_coefficient_count")};
  constexpr int64_t kMaxChannels = 1 << 12;  // the transform needs channels * coefficients numbers
  const int64_t bins = in.dim(2);
  if (bins < 2 || rate <= 0 || options.channels < 1 || options.channels > kMaxChannels || options.coefficients < 1 ||
      options.coefficients > options.channels || !(options.lower_hz >= 0) || !(options.upper_hz > options.lower_hz))
    return invalid_argument("Mfcc initialization failed for channel count ", bins, ", sample rate ", rate, " and filterbank_channel_count ",
                            options.channels);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({in.dim(0), in.dim(1), options.coefficients})));
  const int64_t rows = in.dim(0) * in.dim(1);
  if (rows == 0) return {};
  kernels::Mfcc mfcc(bins, rate, options);
  for (int64_t i = 0; i < rows; ++i) mfcc.compute(in.data<float>() + i * bins, out->data<float>() + i * options.coefficients);
  return {};
}

Status mfcc_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 3));
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  c.output(0, {in.dim(0), in.dim(1), std::max<int64_t>(c.attr<int64_t>("dct_coefficient_count"), kUnknownDim)});
  return {};
}

}  // namespace

void audio(Registry& r) {
  r.add("AudioSpectrogram")
      .doc("The spectrum of sound over time.")
      .in("input: float")
      .out("spectrogram: float")
      .attr("window_size: int")
      .attr("stride: int")
      .attr("magnitude_squared: bool = false")
      .shape(spectrogram_shape)
      .cpu(run_spectrogram);

  r.add("DecodeWav")
      .doc("Samples from a 16-bit PCM WAV file.")
      .in("contents: string")
      .out("audio: float")
      .out("sample_rate: int32")
      .attr("desired_channels: int = -1")
      .attr("desired_samples: int = -1")
      .shape(decode_wav_shape)
      .cpu(run_decode_wav);

  r.add("EncodeWav")
      .doc("A 16-bit PCM WAV file from samples.")
      .in("audio: float")
      .in("sample_rate: int32")
      .out("contents: string")
      .shape(encode_wav_shape)
      .cpu(run_encode_wav);

  r.add("Mfcc")
      .doc("Mel-frequency cepstral coefficients of a spectrogram.")
      .in("spectrogram: float")
      .in("sample_rate: int32")
      .out("output: float")
      .attr("upper_frequency_limit: float = 4e+03")
      .attr("lower_frequency_limit: float = 2e+01")
      .attr("filterbank_channel_count: int = 40")
      .attr("dct_coefficient_count: int = 13")
      .shape(mfcc_shape)
      .cpu(run_mfcc);
}

}  // namespace weft_engine::ops
