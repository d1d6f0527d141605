// Images, sound and packed bytes for C++ sources of TensorFlow (core/lib/png, jpeg, gif, wav, io): the codecs of the ops.
#include <algorithm>
#include <cstring>

#include "capi/cc_internal.h"
#include "kernels/cpu/image_codec.h"
#include "ops/io/summary_values.h"
#include "wire/snappy.h"
#include "wire/zlib_stream.h"

using namespace weft_engine::capi;  // NOLINT
namespace kernels = weft_engine::kernels;

namespace {

// Decodes into rows of the caller's, by way of memory of ours where they are further apart than they are long.
template <class Decode>
Status decode_into(void* data, weft_allocate_pixels allocate, int bits, Decode&& decode) {
  void* to = nullptr;
  int64_t row_bytes = 0, own_row = 0, rows = 0;
  std::unique_ptr<char[]> own;
  const Status s = decode([&](const kernels::ImageSize& size) -> Result<void*> {
    const weft_image image{size.width, size.height, size.channels, bits, 0, nullptr, 0};
    own_row = size.width * size.channels * (bits / 8);
    rows = size.height;
    row_bytes = own_row;
    to = allocate(data, &image, &row_bytes);
    if (!to || row_bytes < own_row) return resource_exhausted("there is no memory for the pixels");
    if (row_bytes == own_row) return to;
    own.reset(new char[size_t(own_row) * size_t(rows)]);
    return static_cast<void*>(own.get());
  });
  if (!own || !s.ok()) return s;
  for (int64_t y = 0; y < rows; ++y) std::memcpy(static_cast<char*>(to) + y * row_bytes, own.get() + y * own_row, size_t(own_row));
  return s;
}

// The pixels without gaps between the rows.
Result<std::string_view> dense(const weft_image& image, std::string& memory) {
  const int64_t row = image.width * image.channels * (image.bits / 8);
  if (!image.pixels || image.width <= 0 || image.height <= 0 || image.channels < 1 || image.channels > 4 || (image.bits != 8 && image.bits != 16))
    return invalid_argument("an image of ", image.width, " by ", image.height, " with ", image.channels, " channels of ", image.bits, " bits");
  const char* from = static_cast<const char*>(image.pixels);
  const int64_t step = image.row_bytes ? image.row_bytes : row;
  if (step < row) return invalid_argument("Incompatible input stride");
  if (step == row) return std::string_view(from, size_t(row * image.height));
  for (int64_t y = 0; y < image.height; ++y) memory.append(from + y * step, size_t(row));
  return std::string_view(memory);
}

}  // namespace

TF_Status* weft_png_info(weft_text bytes, weft_image* image, void* sink, weft_add_text add) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(const kernels::PngInfo info, kernels::png_info(view_of(bytes)));
    *image = {info.size.width, info.size.height, info.size.channels, info.bits, info.color_type, nullptr, 0};
    for (const auto& [key, text] : info.texts) {
      if (add) add(sink, text_of(key), text_of(text));
    }
    return {};
  }));
}
TF_Status* weft_png_decode(weft_text bytes, int channels, int bits, void* data, weft_allocate_pixels allocate) {
  return returned(caught([&]() -> Status {
    if (channels < 0 || channels > 4 || (bits != 8 && bits != 16)) return invalid_argument(channels, " channels of ", bits, " bits");
    return decode_into(data, allocate, bits,
                       [&](const kernels::AllocatePixels& f) { return kernels::decode_png(view_of(bytes), channels, bits, f); });
  }));
}
TF_Status* weft_png_encode(const weft_image* image, int level, const weft_text* texts, size_t num_texts, TF_Buffer** out) {
  return returned(caught([&]() -> Status {
    std::string memory;
    WEFT_ASSIGN(const std::string_view pixels, dense(*image, memory));
    kernels::PngTexts all;
    for (size_t i = 0; i + 1 < num_texts; i += 2) all.emplace_back(string_of(texts[i]), string_of(texts[i + 1]));
    WEFT_ASSIGN(const std::string bytes, kernels::encode_png(pixels.data(), {image->height, image->width, image->channels}, image->bits, level, all));
    *out = new_buffer(bytes);
    return {};
  }));
}

TF_Status* weft_jpeg_info(weft_text bytes, weft_image* image) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(const kernels::ImageSize size, kernels::jpeg_size(view_of(bytes)));
    *image = {size.width, size.height, size.channels, 8, 0, nullptr, 0};
    return {};
  }));
}
TF_Status* weft_jpeg_decode(weft_text bytes, const weft_jpeg_options* o, void* data, weft_allocate_pixels allocate) {
  return returned(caught([&]() -> Status {
    if (o->channels != 0 && o->channels != 1 && o->channels != 3) return invalid_argument("JPEG with ", o->channels, " channels");
    if (o->ratio != 1 && o->ratio != 2 && o->ratio != 4 && o->ratio != 8) return invalid_argument("ratio must be 1, 2, 4, or 8, got ", o->ratio);
    kernels::JpegOptions options;
    options.channels = o->channels;
    options.ratio = o->ratio;
    options.fancy_upscaling = o->fancy_upscaling != 0;
    options.recover_truncated = o->recover_truncated != 0;
    options.acceptable_fraction = o->acceptable_fraction;
    options.fast_dct = o->fast_dct != 0;
    options.crop = o->crop != 0;
    options.crop_x = o->crop_x, options.crop_y = o->crop_y, options.crop_width = o->crop_width, options.crop_height = o->crop_height;
    return decode_into(data, allocate, 8, [&](const kernels::AllocatePixels& f) { return kernels::decode_jpeg(view_of(bytes), options, f); });
  }));
}
TF_Status* weft_jpeg_encode(const weft_image* image, const weft_jpeg_encoding* e, TF_Buffer** out) {
  return returned(caught([&]() -> Status {
    std::string memory;
    WEFT_ASSIGN(const std::string_view pixels, dense(*image, memory));
    if (image->bits != 8) return invalid_argument("JPEG of ", image->bits, " bits");
    const kernels::JpegEncoding encoding{.quality = e->quality,
                                         .progressive = e->progressive != 0,
                                         .optimize_size = e->optimize_size != 0,
                                         .chroma_downsampling = e->chroma_downsampling != 0,
                                         .density_in_cm = e->density_in_cm != 0,
                                         .x_density = e->x_density,
                                         .y_density = e->y_density,
                                         .xmp = string_of(e->xmp)};
    WEFT_ASSIGN(const std::string bytes,
                kernels::encode_jpeg(reinterpret_cast<const uint8_t*>(pixels.data()), {image->height, image->width, image->channels}, encoding));
    *out = new_buffer(bytes);
    return {};
  }));
}
TF_Status* weft_gif_decode(weft_text bytes, int all_frames, void* data, void* (*allocate)(void*, int64_t, int64_t, int64_t, int64_t)) {
  return returned(caught([&] {
    return kernels::decode_gif(view_of(bytes), all_frames != 0, [&](const kernels::ImageSize& size) -> Result<void*> {
      void* to = allocate(data, size.frames, size.width, size.height, size.channels);
      if (!to) return resource_exhausted("there is no memory for the pixels");
      return to;
    });
  }));
}

// ---- Sound ----

TF_Status* weft_wav_decode(weft_text bytes, uint32_t* rate, TF_Tensor** samples) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(const weft_engine::ops::Wav wav, weft_engine::ops::read_wav(view_of(bytes)));
    WEFT_ASSIGN(Tensor t, Tensor::allocate(DType::kFloat, Shape({wav.frames, wav.channels})));
    float* out = t.data<float>();
    for (int64_t i = 0; i < wav.frames; ++i) {
      for (int64_t k = 0; k < wav.channels; ++k) *out++ = wav.sample(i, k);
    }
    *rate = wav.sample_rate;
    *samples = new TF_Tensor{std::move(t)};
    return {};
  }));
}
TF_Status* weft_wav_encode(const float* samples, size_t frames, size_t channels, size_t rate, TF_Buffer** out) {
  return returned(caught([&]() -> Status {
    constexpr size_t kMost = 0xffffffffu;
    if (!samples && frames > 0) return invalid_argument("audio is null");
    if (frames > kMost) return invalid_argument("Provided channels and frames cannot be encoded as a WAV.");
    WEFT_ASSIGN(const std::string bytes, weft_engine::ops::encode_wav(samples, int64_t(frames), int64_t(std::min(channels, kMost)), rate));
    *out = new_buffer(bytes);
    return {};
  }));
}

// ---- Packed bytes ----

struct weft_zlib {
  std::unique_ptr<weft_engine::wire::ZlibStream> stream;
};
TF_Status* weft_zlib_new(int pack, int window_bits, int level, int memory_level, int strategy, weft_zlib** out) {
  return returned(caught([&]() -> Status {
    using weft_engine::wire::ZlibStream;
    auto made = pack ? ZlibStream::packing({window_bits, level, memory_level, strategy}) : ZlibStream::unpacking(window_bits);
    if (!made.ok()) return made.status();
    *out = new weft_zlib{std::move(made).value()};
    return {};
  }));
}
void weft_zlib_delete(weft_zlib* z) { delete z; }
TF_Status* weft_zlib_reset(weft_zlib* z) {
  return returned(caught([&] { return z->stream->reset(); }));
}
TF_Status* weft_zlib_step(weft_zlib* z, weft_text* in, char** out, size_t* out_size, int flush, int* ended) {
  return returned(caught([&] {
    std::string_view left = view_of(*in);
    bool end = false;
    const Status s = z->stream->step(left, *out, *out_size, static_cast<weft_engine::wire::ZlibStream::Flush>(flush), end);
    *in = text_of(left);
    *ended = end;
    return s;
  }));
}

TF_Status* weft_snappy_pack(weft_text bytes, TF_Buffer** out) {
  return returned(caught([&]() -> Status {
    if (bytes.size >= uint64_t(1) << 32) return resource_exhausted("a block of Snappy has less than four gigabytes, not ", bytes.size, " bytes");
    *out = new_buffer(weft_engine::wire::snappy_compress(view_of(bytes)));
    return {};
  }));
}
TF_Status* weft_snappy_unpack(weft_text bytes, TF_Buffer** out) {
  return returned(caught([&]() -> Status {
    const auto unpacked = weft_engine::wire::snappy_uncompress(view_of(bytes));
    if (!unpacked) return weft_engine::core::data_loss("Snappy_Uncompress failed.");
    *out = new_buffer(*unpacked);
    return {};
  }));
}
