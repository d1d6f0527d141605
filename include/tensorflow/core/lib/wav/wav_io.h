// SPDX-License-Identifier: Apache-2.0
//
// WAV files of 16 bits a sample, as the ops DecodeWav and EncodeWav read and write them.
#ifndef TENSORFLOW_CORE_LIB_WAV_WAV_IO_H_
#define TENSORFLOW_CORE_LIB_WAV_WAV_IO_H_

#include <string>
#include <vector>

#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {
namespace wav {

// Samples in [-1, 1], those of a frame side by side. T is std::string or tstring.
template <class T>
Status EncodeAudioAsS16LEWav(const float* audio, size_t sample_rate, size_t num_channels, size_t num_frames, T* wav_string) {
  if (!audio) return errors::InvalidArgument("audio is null");
  if (!wav_string) return errors::InvalidArgument("wav_string is null");
  if (num_channels == 0 && sample_rate != 0) return errors::InvalidArgument("num_channels must be in (0, 2^16), got: 0");
  TF_Buffer* bytes = nullptr;
  TF_RETURN_IF_ERROR(internal::FromC(weft_wav_encode(audio, num_frames, num_channels, sample_rate, &bytes)));
  wav_string->assign(static_cast<const char*>(bytes->data), bytes->length);
  TF_DeleteBuffer(bytes);
  return OkStatus();
}
// `sample_count` is that of the frames.
inline Status DecodeLin16WaveAsFloatVector(const std::string& wav_string, std::vector<float>* float_values, uint32* sample_count,
                                           uint16* channel_count, uint32* sample_rate) {
  TF_Tensor* samples = nullptr;
  TF_RETURN_IF_ERROR(internal::FromC(weft_wav_decode({wav_string.data(), wav_string.size()}, sample_rate, &samples)));
  weft_tensor_info info;
  weft_tensor_describe(samples, &info);
  const auto* values = static_cast<const float*>(info.data);
  float_values->assign(values, values + info.elements);
  *sample_count = static_cast<uint32>(info.shape.dims[0]);
  *channel_count = static_cast<uint16>(info.shape.dims[1]);
  TF_DeleteTensor(samples);
  return OkStatus();
}

}  // namespace wav
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_WAV_WAV_IO_H_
