// SPDX-License-Identifier: Apache-2.0
//
// PNG files by the engine's codec: no libpng is needed, whose names are declared here where its header is not there.
#ifndef TENSORFLOW_CORE_LIB_PNG_PNG_IO_H_
#define TENSORFLOW_CORE_LIB_PNG_PNG_IO_H_

#if defined(__has_include) && __has_include(<png.h>)
#include <png.h>
#else
typedef unsigned char png_byte;
typedef png_byte* png_bytep;
typedef unsigned int png_uint_32;
#endif

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/tstring.h"
#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {
namespace png {

// What CommonInitDecode found. The file's bytes must stay until CommonFinishDecode.
struct DecodeContext {
  const uint8* data = nullptr;
  int data_left = 0;
  png_uint_32 width = 0, height = 0;
  int num_passes = 1;
  int color_type = 0, bit_depth = 0;  // of the file
  int channels = 0;                   // of the result
  bool need_to_synthesize_16 = false;
  bool error_condition = false;
  int desired_bits = 8;
};

namespace internal {
using Texts = std::vector<std::pair<std::string, std::string>>;
inline void AddText(void* sink, weft_text key, weft_text text) {
  static_cast<Texts*>(sink)->emplace_back(::tensorflow::internal::View(key), ::tensorflow::internal::View(text));
}
inline bool Info(std::string_view bytes, weft_image* image, Texts* texts) {
  return ::tensorflow::internal::FromC(weft_png_info(::tensorflow::internal::Text(bytes), image, texts, texts ? &AddText : nullptr)).ok();
}
}  // namespace internal

inline bool DecodeHeader(std::string_view png_string, int* width, int* height, int* components, int* channel_bit_depth,
                         std::vector<std::pair<std::string, std::string>>* metadata) {
  weft_image image{};
  if (metadata) metadata->clear();
  if (!internal::Info(png_string, &image, metadata)) return false;
  *width = static_cast<int>(image.width);
  *height = static_cast<int>(image.height);
  if (components) *components = static_cast<int>(image.channels);
  if (channel_bit_depth) *channel_bit_depth = image.bits;
  return true;
}

// desired_channels 0: those of the file; desired_channel_bits is 8 or 16. Then there is memory to allocate, and CommonFinishDecode fills it.
inline bool CommonInitDecode(std::string_view png_string, int desired_channels, int desired_channel_bits, DecodeContext* context) {
  CHECK(desired_channel_bits == 8 || desired_channel_bits == 16) << "desired_channel_bits = " << desired_channel_bits;
  CHECK(0 <= desired_channels && desired_channels <= 4) << "desired_channels = " << desired_channels;
  weft_image image{};
  context->error_condition = !internal::Info(png_string, &image, nullptr);
  if (context->error_condition) return false;
  context->data = reinterpret_cast<const uint8*>(png_string.data());
  context->data_left = static_cast<int>(png_string.size());
  context->width = static_cast<png_uint_32>(image.width);
  context->height = static_cast<png_uint_32>(image.height);
  context->color_type = image.png_color_type;
  context->bit_depth = image.bits;
  context->channels = desired_channels ? desired_channels : static_cast<int>(image.channels);
  context->need_to_synthesize_16 = image.bits < 16 && desired_channel_bits == 16;
  context->desired_bits = desired_channel_bits;
  return true;
}
// Samples of 16 bits are in the order of the machine's bytes.
inline bool CommonFinishDecode(png_bytep data, int row_bytes, DecodeContext* context) {
  struct Rows {
    png_bytep data;
    int row_bytes;
  } rows{data, row_bytes};
  const std::string_view bytes(reinterpret_cast<const char*>(context->data), static_cast<size_t>(context->data_left));
  const Status s = ::tensorflow::internal::FromC(weft_png_decode(::tensorflow::internal::Text(bytes), context->channels, context->desired_bits, &rows,
                                                                 [](void* to, const weft_image*, int64_t* row) -> void* {
                                                                   *row = static_cast<Rows*>(to)->row_bytes;
                                                                   return static_cast<Rows*>(to)->data;
                                                                 }));
  context->error_condition = !s.ok();
  return s.ok();
}
inline void CommonFreeDecode(DecodeContext* context) { *context = DecodeContext(); }

// compression: -1 to 9. T is std::string or tstring.
template <class T>
bool WriteImageToBuffer(const void* image, int width, int height, int row_bytes, int num_channels, int channel_bits, int compression, T* png_string,
                        const std::vector<std::pair<std::string, std::string>>* metadata) {
  CHECK(image != nullptr) << "image";
  CHECK(png_string != nullptr) << "png_string";
  const weft_image pixels{width, height, num_channels, channel_bits, 0, image, row_bytes};
  std::vector<weft_text> texts;
  if (metadata) {
    for (const auto& entry : *metadata)
      texts.insert(texts.end(), {::tensorflow::internal::Text(entry.first), ::tensorflow::internal::Text(entry.second)});
  }
  TF_Buffer* out = nullptr;
  png_string->resize(0);
  if (!::tensorflow::internal::FromC(weft_png_encode(&pixels, compression, texts.data(), texts.size(), &out)).ok()) return false;
  png_string->append(static_cast<const char*>(out->data), out->length);
  TF_DeleteBuffer(out);
  return true;
}

}  // namespace png
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_PNG_PNG_IO_H_
