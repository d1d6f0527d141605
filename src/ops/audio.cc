#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void audio(Registry& r) {
  r.add("AudioSpectrogram")
      .in("input: float")
      .out("spectrogram: float")
      .attr("window_size: int")
      .attr("stride: int")
      .attr("magnitude_squared: bool = false");

  r.add("DecodeWav")
      .in("contents: string")
      .out("audio: float")
      .out("sample_rate: int32")
      .attr("desired_channels: int = -1")
      .attr("desired_samples: int = -1");

  r.add("EncodeWav")
      .in("audio: float")
      .in("sample_rate: int32")
      .out("contents: string");

  r.add("Mfcc")
      .in("spectrogram: float")
      .in("sample_rate: int32")
      .out("output: float")
      .attr("upper_frequency_limit: float = 4e+03")
      .attr("lower_frequency_limit: float = 2e+01")
      .attr("filterbank_channel_count: int = 40")
      .attr("dct_coefficient_count: int = 13");
}

}  // namespace weft::ops
