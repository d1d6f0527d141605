// JPEG by libjpeg-turbo, loaded at the first use. The library reports errors by longjmp: every function
// here that calls it holds plain data only, and sets its own place to jump to.
#include <dlfcn.h>
#include <cstdio>
#include <jpeglib.h>
#include <setjmp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/cpu/image_codec.h"

namespace weft_engine::kernels {
namespace {

using core::Result;
using core::Status;

#define WEFT_JPEG_FUNCTIONS(X)   \
  X(jpeg_std_error)              \
  X(jpeg_CreateDecompress)       \
  X(jpeg_destroy_decompress)     \
  X(jpeg_read_header)            \
  X(jpeg_calc_output_dimensions) \
  X(jpeg_start_decompress)       \
  X(jpeg_read_scanlines)         \
  X(jpeg_crop_scanline)          \
  X(jpeg_skip_scanlines)         \
  X(jpeg_resync_to_restart)      \
  X(jpeg_CreateCompress)         \
  X(jpeg_destroy_compress)       \
  X(jpeg_set_defaults)           \
  X(jpeg_set_quality) X(jpeg_simple_progression) X(jpeg_start_compress) X(jpeg_write_scanlines) X(jpeg_write_marker) X(jpeg_finish_compress)

struct Library {
#define WEFT_X(f) decltype(&::f) f = nullptr;
  WEFT_JPEG_FUNCTIONS(WEFT_X)
#undef WEFT_X
  bool loaded = false;

  Library() {
    // The name of libjpeg's sixth interface, which the header describes too.
    void* library = JPEG_LIB_VERSION == 62 ? dlopen("libjpeg.so.62", RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) return;
    loaded = true;
#define WEFT_X(f)                                        \
  f = reinterpret_cast<decltype(f)>(dlsym(library, #f)); \
  loaded = loaded && f;
    WEFT_JPEG_FUNCTIONS(WEFT_X)
#undef WEFT_X
  }
};

const Library& lib() {
  static const Library* library = new Library();
  return *library;
}

Status missing() { return core::unavailable("this needs libjpeg-turbo (libjpeg.so.62), which could not be loaded"); }

struct ErrorManager {
  jpeg_error_mgr base;
  jmp_buf place;
};

[[noreturn]] void on_error(j_common_ptr info) { longjmp(reinterpret_cast<ErrorManager*>(info->err)->place, 1); }
void on_message(j_common_ptr) {}

// Reads from memory; at the end either pretends that the picture ends, or stops.
struct Source {
  jpeg_source_mgr base;
  bool pretend_end;
};

const JOCTET kEnd[] = {0xFF, JPEG_EOI};

void source_nothing(j_decompress_ptr) {}
boolean source_fill(j_decompress_ptr info) {
  auto* source = reinterpret_cast<Source*>(info->src);
  if (!source->pretend_end) return FALSE;
  source->base.next_input_byte = kEnd;
  source->base.bytes_in_buffer = sizeof kEnd;
  return TRUE;
}
void source_skip(j_decompress_ptr info, long n) {
  jpeg_source_mgr& s = *info->src;
  if (n <= 0) return;
  if (size_t(n) > s.bytes_in_buffer) {
    s.bytes_in_buffer = 0;
    source_fill(info);
    return;
  }
  s.next_input_byte += n;
  s.bytes_in_buffer -= size_t(n);
}

// A progressive file may ask for endless passes over a large picture.
void check_passes(j_common_ptr info) {
  constexpr int kMostScans = 500;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMostScans) on_error(info);
}

struct Decoder {
  jpeg_decompress_struct info;
  ErrorManager errors;
  Source source;
  jpeg_progress_mgr progress;
  JDIMENSION width, height;  // of what is wanted
  JDIMENSION first_row;
  int channels, file_channels;
};

enum class Outcome { kOk, kBroken, kTooLarge, kBadCrop };

Outcome open(Decoder& d, const char* bytes, size_t n, bool pretend_end) {
  std::memset(&d, 0, sizeof d);
  d.info.err = lib().jpeg_std_error(&d.errors.base);
  d.errors.base.error_exit = on_error;
  d.errors.base.output_message = on_message;
  if (setjmp(d.errors.place)) return Outcome::kBroken;
  lib().jpeg_CreateDecompress(&d.info, JPEG_LIB_VERSION, sizeof d.info);
  d.source.base = {reinterpret_cast<const JOCTET*>(bytes), n, source_nothing, source_fill, source_skip, lib().jpeg_resync_to_restart, source_nothing};
  d.source.pretend_end = pretend_end;
  d.info.src = &d.source.base;
  d.progress.progress_monitor = check_passes;
  d.info.progress = &d.progress;
  if (lib().jpeg_read_header(&d.info, TRUE) != JPEG_HEADER_OK) return Outcome::kBroken;
  return Outcome::kOk;
}

Outcome start(Decoder& d, const JpegOptions& o) {
  if (setjmp(d.errors.place)) return Outcome::kBroken;
  d.channels = o.channels ? o.channels : std::min(d.info.num_components, 3);
  if (d.channels == 1) d.info.out_color_space = JCS_GRAYSCALE;
  else if (d.channels != 3) return Outcome::kBroken;
  else d.info.out_color_space = d.info.jpeg_color_space == JCS_CMYK || d.info.jpeg_color_space == JCS_YCCK ? JCS_CMYK : JCS_RGB;
  d.file_channels = d.info.out_color_space == JCS_CMYK ? 4 : d.channels;
  d.info.do_fancy_upsampling = o.fancy_upscaling;
  d.info.scale_num = 1;
  d.info.scale_denom = unsigned(o.ratio);
  d.info.dct_method = o.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
  lib().jpeg_calc_output_dimensions(&d.info);
  constexpr int64_t kMostPixels = int64_t(1) << 29;
  if (d.info.output_width == 0 || d.info.output_height == 0) return Outcome::kBroken;
  if (int64_t(d.info.output_width) * d.info.output_height >= kMostPixels) return Outcome::kTooLarge;
  d.width = d.info.output_width;
  d.height = d.info.output_height;
  const bool started = lib().jpeg_start_decompress(&d.info);
  if (!o.crop) return started || o.acceptable_fraction < 1 ? Outcome::kOk : Outcome::kBroken;
  if (o.crop_x < 0 || o.crop_y < 0 || o.crop_width <= 0 || o.crop_height <= 0 || o.crop_x + o.crop_width > d.width ||
      o.crop_y + o.crop_height > d.height)
    return Outcome::kBadCrop;
  if (!started) return Outcome::kBroken;
  d.width = JDIMENSION(o.crop_width);
  d.height = JDIMENSION(o.crop_height);
  d.first_row = JDIMENSION(o.crop_y);
  // The library cuts at block borders: what it gives begins further left.
  JDIMENSION x = JDIMENSION(o.crop_x), width = d.width;
  lib().jpeg_crop_scanline(&d.info, &x, &width);
  if (d.info.output_width < d.width) return Outcome::kBroken;
  if (lib().jpeg_skip_scanlines(&d.info, d.first_row) != d.first_row) return Outcome::kBroken;
  return Outcome::kOk;
}

// Inks to light; Adobe's files store them inverted.
void cmyk_to_rgb(const uint8_t* from, JDIMENSION n, bool inverted, uint8_t* to) {
  for (JDIMENSION i = 0; i < n; ++i, from += 4, to += 3) {
    for (int c = 0; c < 3; ++c) to[c] = uint8_t(inverted ? from[3] * from[c] / 255 : (255 - from[3]) * (255 - from[c]) / 255);
  }
}

// Fills `out` row by row; `line` has room for one row of the library's. Says how many rows were read.
Outcome read_rows(Decoder& d, bool recover, uint8_t* pixels, uint8_t* line, JDIMENSION& rows) {
  rows = 0;
  if (setjmp(d.errors.place)) return Outcome::kBroken;
  const size_t row = size_t(d.width) * size_t(d.channels), skip = size_t(d.info.output_width - d.width) * size_t(d.file_channels);
  for (; rows < d.height; ++rows) {
    uint8_t* out = pixels + rows * row;
    JSAMPROW to = line;
    if (lib().jpeg_read_scanlines(&d.info, &to, 1) == 0) {
      if (!recover) return Outcome::kOk;
      // Even the first row missing: black; else the row above again.
      if (rows == 0) std::memset(out, 0, row);
      else std::memcpy(out, out - row, row);
      continue;
    }
    if (d.file_channels == 4) cmyk_to_rgb(line + skip, d.width, d.info.saw_Adobe_marker, out);
    else std::memcpy(out, line + skip, row);
  }
  return Outcome::kOk;
}

Status invalid_data() { return core::invalid_argument("jpeg::Uncompress failed. Invalid JPEG data or crop window."); }

// Frees the library's memory on every way out.
struct Closer {
  Decoder& d;
  ~Closer() { lib().jpeg_destroy_decompress(&d.info); }
};

}  // namespace

Status decode_jpeg(std::string_view bytes, const JpegOptions& options, const AllocatePixels& allocate) {
  if (!lib().loaded) return missing();
  auto decoder = std::make_unique<Decoder>();
  Decoder& d = *decoder;
  Outcome outcome = open(d, bytes.data(), bytes.size(), options.recover_truncated);
  Closer closer{d};
  if (outcome != Outcome::kOk) return invalid_data();
  // A block of 64 pixels is at least one bit, unless its coding is arithmetic; small images may be cut short all the same, as in TensorFlow.
  constexpr int64_t kSmall = int64_t(1) << 26;
  if (!options.recover_truncated && !d.info.arith_code && int64_t(d.info.image_width) * d.info.image_height > kSmall &&
      int64_t(d.info.image_width) * d.info.image_height / 512 > int64_t(bytes.size()))
    return invalid_data();
  outcome = start(d, options);
  if (outcome != Outcome::kOk) return invalid_data();
  auto memory = allocate({int64_t(d.height), int64_t(d.width), d.channels});
  if (!memory.ok()) return memory.status();
  auto* out = static_cast<uint8_t*>(*memory);
  std::vector<uint8_t> line(size_t(d.info.output_width) * size_t(d.file_channels));
  JDIMENSION rows = 0;
  if (read_rows(d, options.recover_truncated, out, line.data(), rows) != Outcome::kOk) return invalid_data();
  if (float(rows) / float(d.height) < std::min(1.0f, options.acceptable_fraction)) return invalid_data();
  const size_t row = size_t(d.width) * size_t(d.channels);
  std::memset(out + size_t(rows) * row, 0, size_t(d.height - rows) * row);
  return {};
}

Result<ImageSize> jpeg_size(std::string_view bytes) {
  if (!lib().loaded) return missing();
  auto decoder = std::make_unique<Decoder>();
  const Outcome outcome = open(*decoder, bytes.data(), bytes.size(), false);
  Closer closer{*decoder};
  if (outcome != Outcome::kOk) return core::invalid_argument("Invalid JPEG data, size ", bytes.size());
  return ImageSize{int64_t(decoder->info.image_height), int64_t(decoder->info.image_width), decoder->info.num_components};
}

namespace {

// Grows by itself; memory is C's, since a jump may leave at any time.
struct Sink {
  jpeg_destination_mgr base;
  uint8_t* data;
  size_t size, capacity;
};

void sink_start(j_compress_ptr info) {
  auto* sink = reinterpret_cast<Sink*>(info->dest);
  sink->base.next_output_byte = sink->data;
  sink->base.free_in_buffer = sink->capacity;
}
boolean sink_grow(j_compress_ptr info) {
  auto* sink = reinterpret_cast<Sink*>(info->dest);
  auto* more = static_cast<uint8_t*>(std::realloc(sink->data, sink->capacity * 2));
  if (!more) on_error(reinterpret_cast<j_common_ptr>(info));
  sink->data = more;
  sink->base.next_output_byte = more + sink->capacity;
  sink->base.free_in_buffer = sink->capacity;
  sink->capacity *= 2;
  return TRUE;
}
void sink_end(j_compress_ptr info) {
  auto* sink = reinterpret_cast<Sink*>(info->dest);
  sink->size = sink->capacity - sink->base.free_in_buffer;
}

struct Encoder {
  jpeg_compress_struct info;
  ErrorManager errors;
  Sink sink;
};

bool compress(Encoder& e, const uint8_t* pixels, const ImageSize& size, const JpegEncoding& o) {
  e.info.err = lib().jpeg_std_error(&e.errors.base);
  e.errors.base.error_exit = on_error;
  e.errors.base.output_message = on_message;
  if (setjmp(e.errors.place)) return false;
  lib().jpeg_CreateCompress(&e.info, JPEG_LIB_VERSION, sizeof e.info);
  e.sink.base.init_destination = sink_start;
  e.sink.base.empty_output_buffer = sink_grow;
  e.sink.base.term_destination = sink_end;
  e.info.dest = &e.sink.base;
  e.info.image_width = JDIMENSION(size.width);
  e.info.image_height = JDIMENSION(size.height);
  e.info.input_components = int(size.channels);
  e.info.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  lib().jpeg_set_defaults(&e.info);
  if (o.optimize_size) e.info.optimize_coding = TRUE;
  e.info.density_unit = o.density_in_cm ? 2 : 1;
  e.info.X_density = UINT16(o.x_density);
  e.info.Y_density = UINT16(o.y_density);
  lib().jpeg_set_quality(&e.info, o.quality, TRUE);
  if (o.progressive) lib().jpeg_simple_progression(&e.info);
  if (!o.chroma_downsampling)
    for (int i = 0; i < e.info.num_components; ++i) e.info.comp_info[i].h_samp_factor = e.info.comp_info[i].v_samp_factor = 1;
  lib().jpeg_start_compress(&e.info, TRUE);
  if (!o.xmp.empty()) lib().jpeg_write_marker(&e.info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(o.xmp.data()), unsigned(o.xmp.size()));
  while (e.info.next_scanline < e.info.image_height) {
    auto* row = const_cast<uint8_t*>(pixels) + size_t(e.info.next_scanline) * size_t(size.width) * size_t(size.channels);
    lib().jpeg_write_scanlines(&e.info, &row, 1);
  }
  lib().jpeg_finish_compress(&e.info);
  return true;
}

}  // namespace

Result<std::string> encode_jpeg(const uint8_t* pixels, const ImageSize& size, const JpegEncoding& encoding) {
  if (!lib().loaded) return missing();
  JpegEncoding o = encoding;
  constexpr std::string_view kXmp("http://ns.adobe.com/xap/1.0/\0", 29);
  constexpr size_t kMostMarker = 65533;
  if (!o.xmp.empty()) o.xmp.insert(0, kXmp);
  if (o.xmp.size() > kMostMarker) return core::invalid_argument("JPEG encoding failed");
  auto encoder = std::make_unique<Encoder>();
  std::memset(encoder.get(), 0, sizeof *encoder);
  encoder->sink.capacity = 1 << 16;
  encoder->sink.data = static_cast<uint8_t*>(std::malloc(encoder->sink.capacity));
  if (!encoder->sink.data) return core::resource_exhausted("out of memory");
  const bool good = compress(*encoder, pixels, size, o);
  lib().jpeg_destroy_compress(&encoder->info);
  std::string out(reinterpret_cast<const char*>(encoder->sink.data), good ? encoder->sink.size : 0);
  std::free(encoder->sink.data);
  if (!good) return core::internal_error("JPEG encoding failed");
  return out;
}

}  // namespace weft_engine::kernels
