// Image files as pixels. Every decoder takes bytes from anyone and answers with an image or a Status.
// PNG (over zlib), GIF and BMP are read by hand; JPEG and WebP by their libraries, loaded at first use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status.h"

namespace weft_engine::kernels {

// Where a decoder puts its pixels once it knows how many there are: rows of height * width * channels
// samples (times frames, for animations). Returns null if there is no memory.
struct ImageSize {
  int64_t height = 0, width = 0, channels = 0, frames = 1;
};
using AllocatePixels = std::function<core::Result<void*>(const ImageSize&)>;

// ---- PNG. channels: 1 to 4, or 0 for what the file has. bits: 8 or 16 (native order).
core::Status decode_png(std::string_view bytes, int channels, int bits, const AllocatePixels& allocate);
// What stands in front of the pixels: channels as decode_png gives them where it is asked for 0, bits of a sample, and the file's texts.
using PngTexts = std::vector<std::pair<std::string, std::string>>;
struct PngInfo {
  ImageSize size;
  int bits = 0, color_type = 0;
  PngTexts texts;
};
core::Result<PngInfo> png_info(std::string_view bytes);
// level: -1 to 9.
core::Result<std::string> encode_png(const void* pixels, const ImageSize& size, int bits, int level, const PngTexts& texts = {});

// ---- GIF: all frames (or the first), RGB.
core::Status decode_gif(std::string_view bytes, bool all_frames, const AllocatePixels& allocate);

// ---- BMP. channels: 3 or 4, or 0 for what the file has.
core::Status decode_bmp(std::string_view bytes, int channels, const AllocatePixels& allocate);

// ---- JPEG.
struct JpegOptions {
  int channels = 0;              // 0, 1 or 3
  int ratio = 1;                 // 1, 2, 4 or 8: scale down
  bool fancy_upscaling = true;
  bool recover_truncated = false;
  float acceptable_fraction = 1;
  bool fast_dct = true;           // TensorFlow's default
  bool crop = false;
  int64_t crop_y = 0, crop_x = 0, crop_height = 0, crop_width = 0;
};
core::Status decode_jpeg(std::string_view bytes, const JpegOptions& options, const AllocatePixels& allocate);
core::Result<ImageSize> jpeg_size(std::string_view bytes);
struct JpegEncoding {
  int quality = 95;
  bool progressive = false, optimize_size = false, chroma_downsampling = true, density_in_cm = false;
  int x_density = 300, y_density = 300;
  std::string xmp = {};
};
core::Result<std::string> encode_jpeg(const uint8_t* pixels, const ImageSize& size, const JpegEncoding& encoding);

// ---- WebP. channels: 3, 4, or 0 for what the file has.
core::Status decode_webp(std::string_view bytes, int channels, const AllocatePixels& allocate);

}  // namespace weft_engine::kernels
