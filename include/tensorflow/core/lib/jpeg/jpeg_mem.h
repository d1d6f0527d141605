// SPDX-License-Identifier: Apache-2.0
//
// JPEG files by the engine's codec: libjpeg is not linked, and its names are declared here where its header is not there.
#ifndef TENSORFLOW_CORE_LIB_JPEG_JPEG_MEM_H_
#define TENSORFLOW_CORE_LIB_JPEG_JPEG_MEM_H_

#if defined(__has_include) && __has_include(<jpeglib.h>)
#include <stddef.h>
#include <stdio.h>
// clang-format off
#include <jpeglib.h>
// clang-format on
#else
typedef enum { JDCT_ISLOW, JDCT_IFAST, JDCT_FLOAT } J_DCT_METHOD;
#define JDCT_DEFAULT JDCT_IFAST
#endif

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/tstring.h"
#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {
namespace jpeg {

struct UncompressFlags {
  int ratio = 1;       // 1, 2, 4 or 8: smaller by that
  int components = 0;  // 1 or 3; 0: as in the file
  bool fancy_upscaling = true;
  bool try_recover_truncated_jpeg = false;
  float min_acceptable_fraction = 1.0;
  int stride = 0;  // bytes from one row to the next; 0: rows without gaps
  J_DCT_METHOD dct_method = JDCT_IFAST;
  bool crop = false;
  int crop_x = 0, crop_y = 0, crop_width = 0, crop_height = 0;
};

// Null for what cannot be read. allocate_output gets width, height and components, and gives the memory, or null to give up.
inline uint8* Uncompress(const void* srcdata, int datasize, const UncompressFlags& flags, int64_t* nwarn,
                         std::function<uint8*(int, int, int)> allocate_output) {
  struct Output {
    const std::function<uint8*(int, int, int)>& allocate;
    const int stride;
    uint8* pixels;
  } output{allocate_output, flags.stride, nullptr};
  if (nwarn) *nwarn = 0;
  if (!srcdata || datasize <= 0) return nullptr;
  weft_jpeg_options o{};
  o.channels = flags.components;
  o.ratio = flags.ratio;
  o.fancy_upscaling = flags.fancy_upscaling;
  o.recover_truncated = flags.try_recover_truncated_jpeg;
  o.acceptable_fraction = flags.min_acceptable_fraction;
  o.fast_dct = flags.dct_method != JDCT_ISLOW;
  o.crop = flags.crop;
  o.crop_x = flags.crop_x, o.crop_y = flags.crop_y, o.crop_width = flags.crop_width, o.crop_height = flags.crop_height;
  const Status s = internal::FromC(weft_jpeg_decode({static_cast<const char*>(srcdata), static_cast<size_t>(datasize)}, &o, &output,
                                                    [](void* to, const weft_image* image, int64_t* row_bytes) -> void* {
                                                      auto* out = static_cast<Output*>(to);
                                                      out->pixels = out->allocate(static_cast<int>(image->width), static_cast<int>(image->height),
                                                                                  static_cast<int>(image->channels));
                                                      if (out->stride) *row_bytes = out->stride;
                                                      return out->pixels;
                                                    }));
  if (!s.ok()) LOG(ERROR) << s.message();
  return s.ok() ? output.pixels : nullptr;
}
// To be freed with delete[].
inline uint8* Uncompress(const void* srcdata, int datasize, const UncompressFlags& flags, int* width, int* height, int* components, int64_t* nwarn) {
  uint8* memory = nullptr;
  uint8* pixels = Uncompress(srcdata, datasize, flags, nwarn, [&](int w, int h, int c) {
    if (width) *width = w;
    if (height) *height = h;
    if (components) *components = c;
    const size_t row = flags.stride ? static_cast<size_t>(flags.stride) : static_cast<size_t>(w) * static_cast<size_t>(c);
    return memory = new uint8[row * static_cast<size_t>(h)];
  });
  if (!pixels) delete[] memory;
  return pixels;
}

inline bool GetImageInfo(const void* srcdata, int datasize, int* width, int* height, int* components) {
  weft_image image{};
  const bool read =
      srcdata && datasize > 0 && internal::FromC(weft_jpeg_info({static_cast<const char*>(srcdata), static_cast<size_t>(datasize)}, &image)).ok();
  if (width) *width = static_cast<int>(image.width);
  if (height) *height = static_cast<int>(image.height);
  if (components) *components = static_cast<int>(image.channels);
  return read;
}

// The bytes of a pixel in the low byte; 0x100: the other way round.
enum Format { FORMAT_GRAYSCALE = 0x001, FORMAT_RGB = 0x003, FORMAT_RGBA = 0x004, FORMAT_ABGR = 0x104 };

struct CompressFlags {
  Format format;
  int quality = 95;
  bool progressive = false;
  bool optimize_jpeg_size = false;
  bool chroma_downsampling = true;
  int density_unit = 1;  // 1: inches, 2: centimetres
  int x_density = 300, y_density = 300;
  std::string_view xmp_metadata;
  int stride = 0;
};

// What is transparent is left out.
inline bool Compress(const void* srcdata, int width, int height, const CompressFlags& flags, tstring* output) {
  const int bytes = flags.format & 0xff, channels = bytes == 1 ? 1 : 3;
  if (flags.stride && flags.stride < static_cast<int64_t>(width) * bytes) {
    LOG(ERROR) << "Incompatible input stride";
    return false;
  }
  weft_image image{width, height, channels, 8, 0, srcdata, flags.stride ? flags.stride : static_cast<int64_t>(width) * bytes};
  std::vector<uint8> rgb;
  if (bytes == 4 && srcdata && width > 0 && height > 0) {
    rgb.reserve(static_cast<size_t>(width) * static_cast<size_t>(height) * 3);
    for (int y = 0; y < height; ++y) {
      const uint8* row = static_cast<const uint8*>(srcdata) + y * image.row_bytes;
      for (int x = 0; x < width; ++x, row += 4) {
        for (int c = 0; c < 3; ++c) rgb.push_back(row[flags.format == FORMAT_ABGR ? 3 - c : c]);
      }
    }
    image.pixels = rgb.data();
    image.row_bytes = static_cast<int64_t>(width) * 3;
  }
  weft_jpeg_encoding e{};
  e.quality = flags.quality;
  e.progressive = flags.progressive;
  e.optimize_size = flags.optimize_jpeg_size;
  e.chroma_downsampling = flags.chroma_downsampling;
  e.density_in_cm = flags.density_unit == 2;
  e.x_density = flags.x_density, e.y_density = flags.y_density;
  e.xmp = internal::Text(flags.xmp_metadata);
  TF_Buffer* out = nullptr;
  const Status s = internal::FromC(weft_jpeg_encode(&image, &e, &out));
  if (!s.ok()) {
    LOG(ERROR) << s.message();
    return false;
  }
  output->assign(static_cast<const char*>(out->data), out->length);
  TF_DeleteBuffer(out);
  return true;
}
inline tstring Compress(const void* srcdata, int width, int height, const CompressFlags& flags) {
  tstring out;
  Compress(srcdata, width, height, flags, &out);
  return out;
}

}  // namespace jpeg
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_JPEG_JPEG_MEM_H_
