// PNG, https://www.w3.org/TR/png: decoding to 8 or 16 bits with the conversions that libpng offers, and encoding.
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "core/cat.h"
#include "kernels/cpu/image_codec.h"
#include "kernels/cpu/png_rows.h"

namespace weft_engine::kernels {
namespace {

using core::Result;
using core::Status;

constexpr size_t kRowsBytes = size_t(1) << 18;  // that are decompressed at once
constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
enum ColorType { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgba = 6 };

uint32_t big_endian(const char* p) {
  const auto* b = reinterpret_cast<const uint8_t*>(p);
  return uint32_t(b[0]) << 24 | uint32_t(b[1]) << 16 | uint32_t(b[2]) << 8 | b[3];
}

Status bad_header() { return core::invalid_argument("Invalid PNG. Failed to initialize decoder."); }
Status bad_data(std::string_view bytes) { return core::invalid_argument("Invalid PNG data, size ", bytes.size()); }

struct Header {
  int64_t width = 0, height = 0;
  int depth = 0, color = 0;
  bool interlaced = false;

  int samples() const { return color == kRgb ? 3 : color == kGrayAlpha ? 2 : color == kRgba ? 4 : 1; }
  int bits_per_pixel() const { return samples() * depth; }
  int64_t row_bytes(int64_t pixels) const { return (pixels * bits_per_pixel() + 7) / 8; }
  bool valid() const {
    const bool depth_fits =
        depth == 8 || (depth == 16 && color != kPalette) || ((depth == 1 || depth == 2 || depth == 4) && (color == kGray || color == kPalette));
    const bool color_fits = color == kGray || color == kRgb || color == kPalette || color == kGrayAlpha || color == kRgba;
    constexpr int64_t kMost = 1000000;  // libpng's limit for either side
    return depth_fits && color_fits && width > 0 && height > 0 && width <= kMost && height <= kMost;
  }
};

struct Pass {
  int x, y, dx, dy;
};
constexpr Pass kWhole[] = {{0, 0, 1, 1}};
constexpr Pass kAdam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

struct File {
  Header header;
  std::vector<std::string_view> data;  // IDAT chunks
  bool has_pixels = false;             // one has begun
  std::string_view palette, transparency;
  PngTexts texts;
};

Status read_header(std::string_view body, Header& h) {
  if (body.size() != 13) return bad_header();
  h.width = big_endian(body.data());
  h.height = big_endian(body.data() + 4);
  h.depth = uint8_t(body[8]);
  h.color = uint8_t(body[9]);
  h.interlaced = body[12] == 1;
  if (!h.valid() || body[10] != 0 || body[11] != 0 || uint8_t(body[12]) > 1) return bad_header();
  return {};
}

// What is wrong before the image data keeps a decoder from starting; the rest is bad data.
Status read_chunks(std::string_view s, File& f) {
  const std::string_view bytes = s;
  if (!s.starts_with(kSignature)) return bad_header();
  s.remove_prefix(kSignature.size());
  bool first = true, ended = false;
  auto broken = [&] { return f.data.empty() ? bad_header() : bad_data(bytes); };
  while (s.size() >= 12) {
    const uint32_t n = big_endian(s.data());
    f.has_pixels = f.has_pixels || s.substr(4, 4) == "IDAT";
    if (n > s.size() - 12) break;
    const std::string_view type = s.substr(4, 4), body = s.substr(8, n);
    const uint32_t crc = uint32_t(crc32(0, reinterpret_cast<const Bytef*>(s.data() + 4), n + 4));
    const bool critical = (type[0] & 0x20) == 0, intact = crc == big_endian(s.data() + 8 + n);
    s.remove_prefix(size_t(n) + 12);
    if (!intact && critical) return type == "IDAT" ? bad_data(bytes) : broken();
    if (!intact) continue;
    if (first != (type == "IHDR")) return broken();
    first = false;
    if (type == "IHDR") {
      if (Status status = read_header(body, f.header); !status.ok()) return status;
    } else if (f.has_pixels && type != "IDAT" && type != "IEND") {
      continue;  // too late to count
    } else if (type == "PLTE") {
      if (n % 3 || n > 768 || n == 0) return broken();
      f.palette = body;
    } else if (type == "tRNS") {
      f.transparency = body;
    } else if (type == "tEXt") {
      const size_t end = std::min(body.find('\0'), body.size());
      f.texts.emplace_back(body.substr(0, end), body.substr(std::min(end + 1, body.size())));
    } else if (type == "IDAT") {
      f.data.push_back(body);
    } else if (type == "IEND") {
      ended = true;
      break;
    }
  }
  if (first) return bad_header();
  if (f.data.empty()) return bad_header();
  if (!ended) return bad_data(bytes);
  if (f.header.color == kPalette && f.palette.empty()) return bad_header();
  return {};
}

// The bytes of all IDAT chunks, decompressed as they are asked for.
class Inflow {
 public:
  explicit Inflow(const std::vector<std::string_view>& chunks) : chunks_(chunks) { ready_ = inflateInit(&z_) == Z_OK; }
  Inflow(const Inflow&) = delete;
  ~Inflow() {
    if (ready_) inflateEnd(&z_);
  }
  bool read(uint8_t* to, size_t n) {
    if (!ready_) return false;
    z_.next_out = to;
    z_.avail_out = uInt(n);
    while (z_.avail_out > 0) {
      if (z_.avail_in == 0) {
        if (next_ == chunks_.size()) return false;
        z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(chunks_[next_].data()));
        z_.avail_in = uInt(chunks_[next_++].size());
        continue;
      }
      const int result = inflate(&z_, Z_NO_FLUSH);
      if (result == Z_STREAM_END && z_.avail_out > 0) return false;
      if (result != Z_OK && result != Z_STREAM_END) return false;
    }
    return true;
  }

 private:
  z_stream z_ = {};
  bool ready_ = false;
  const std::vector<std::string_view>& chunks_;
  size_t next_ = 0;
};

// Undoes the filter of one row in place; `up` is the row above or zeros.
bool unfilter(int filter, uint8_t* row, const uint8_t* up, size_t n, size_t bpp) {
  if (filter > 4) return false;
  if (filter > 0) WEFT_BEST_ISA(png_unfilter)(filter, row, up, n, bpp);
  return true;
}

struct Pixel {
  uint16_t r, g, b, a;
};

// Turns samples of the file into the channels asked for. All is done in 8 bits, or in 16 where the file has
// them; the depth asked for comes last. libpng works in this order, and roundings depend on it.
class Converter {
 public:
  Converter(const File& f, int channels, int bits) : f_(f), h_(f.header), channels_(channels), bits_(bits) {}

  // Transparent colours count only in a palette.
  static int natural_channels(const File& f) {
    if (f.header.color == kPalette) return f.transparency.empty() ? 3 : 4;
    return f.header.samples();
  }

  // The file's bytes are the result.
  bool copies() const { return h_.depth == 8 && bits_ == 8 && h_.color != kPalette && channels_ == h_.samples(); }

  void store(const uint8_t* row, int64_t x, void* out, int64_t at) const {
    const Pixel p = pixel(row, x);
    const uint16_t grey[] = {is_color() ? luminance(p) : p.r, p.a}, full[] = {p.r, p.g, p.b, p.a};
    const uint16_t* v = channels_ <= 2 ? grey : full;
    for (int k = 0; k < channels_; ++k) {
      if (bits_ == 8) static_cast<uint8_t*>(out)[at * channels_ + k] = uint8_t(h_.depth == 16 ? v[k] >> 8 : v[k]);
      else static_cast<uint16_t*>(out)[at * channels_ + k] = uint16_t(h_.depth == 16 ? v[k] : v[k] * 257);
    }
  }

 private:
  bool is_color() const { return h_.color == kRgb || h_.color == kPalette || h_.color == kRgba; }
  // TensorFlow fills in the largest value of the file's depth, not of eight bits.
  uint16_t opaque() const { return uint16_t((1 << h_.depth) - 1); }
  uint16_t most() const { return h_.depth == 16 ? 65535 : 255; }
  // Sample k of pixel x as the file has it.
  uint16_t sample(const uint8_t* row, int64_t x, int k) const {
    const int64_t i = x * h_.samples() + k;
    if (h_.depth == 16) return uint16_t(row[2 * i] << 8 | row[2 * i + 1]);
    if (h_.depth == 8) return row[i];
    const int per_byte = 8 / h_.depth;
    return uint16_t(row[i / per_byte] >> ((per_byte - 1 - i % per_byte) * h_.depth) & ((1 << h_.depth) - 1));
  }
  uint16_t scale(uint16_t v) const { return h_.depth >= 8 ? v : uint16_t(v * 255 / ((1 << h_.depth) - 1)); }

  Pixel pixel(const uint8_t* row, int64_t x) const {
    const bool keyed = !f_.transparency.empty();
    if (h_.color == kPalette) {
      const size_t i = sample(row, x, 0);
      Pixel p{0, 0, 0, keyed ? most() : opaque()};
      if (i * 3 + 3 <= f_.palette.size())
        p.r = uint8_t(f_.palette[i * 3]), p.g = uint8_t(f_.palette[i * 3 + 1]), p.b = uint8_t(f_.palette[i * 3 + 2]);
      if (i < f_.transparency.size()) p.a = uint8_t(f_.transparency[i]);
      return p;
    }
    const uint16_t r = sample(row, x, 0), g = is_color() ? sample(row, x, 1) : r, b = is_color() ? sample(row, x, 2) : r;
    uint16_t a = keyed ? (is_transparent(r, g, b) ? uint16_t(0) : most()) : opaque();
    if (h_.color == kGrayAlpha) a = sample(row, x, 1);
    else if (h_.color == kRgba) a = sample(row, x, 3);
    return {scale(r), scale(g), scale(b), a};
  }
  bool is_transparent(uint16_t r, uint16_t g, uint16_t b) const {
    auto value = [&](size_t k) { return uint16_t(uint8_t(f_.transparency[2 * k]) << 8 | uint8_t(f_.transparency[2 * k + 1])); };
    if (h_.color == kGray) return f_.transparency.size() >= 2 && r == value(0);
    return f_.transparency.size() >= 6 && r == value(0) && g == value(1) && b == value(2);
  }
  // libpng's weights for 0.299, 0.587 and 0.114, in 15 bits; it rounds in 16 bits and cuts in 8.
  uint16_t luminance(const Pixel& p) const {
    if (h_.depth < 16 && p.r == p.g && p.g == p.b) return p.r;
    constexpr uint32_t kRed = 9797, kGreen = 19234, kBlue = 32768 - kRed - kGreen;
    return uint16_t((kRed * p.r + kGreen * p.g + kBlue * p.b + (h_.depth == 16 ? 16384 : 0)) >> 15);
  }

  const File& f_;
  const Header& h_;
  int channels_, bits_;
};

}  // namespace

Status decode_png(std::string_view bytes, int channels, int bits, const AllocatePixels& allocate) {
  File f;
  if (Status status = read_chunks(bytes, f); !status.ok()) return status;
  const Header& h = f.header;
  if (channels == 0) channels = Converter::natural_channels(f);
  constexpr int64_t kMostPixels = int64_t(1) << 29;  // TensorFlow's limit
  if (h.width * h.height >= kMostPixels) return core::invalid_argument("PNG size too large for int: ", h.width, " by ", h.height);
  // No file compresses better than 1:1032 (a stored block of matches), so a short one cannot fill a large image.
  size_t compressed = 0;
  for (auto c : f.data) compressed += c.size();
  if (uint64_t(h.row_bytes(h.width)) * uint64_t(h.height) / 1100 > compressed + 1024) return bad_data(bytes);
  auto memory = allocate({h.height, h.width, channels});
  if (!memory.ok()) return memory.status();
  const Converter converter(f, channels, bits);
  Inflow in(f.data);
  const size_t bpp = size_t(std::max(1, h.bits_per_pixel() / 8));
  for (const Pass& p : h.interlaced ? std::span<const Pass>(kAdam7) : std::span<const Pass>(kWhole)) {
    const int64_t width = (h.width - p.x + p.dx - 1) / p.dx, height = (h.height - p.y + p.dy - 1) / p.dy;
    if (width <= 0 || height <= 0) continue;
    // Several rows at once: zlib copies its window at the end of each call.
    const auto n = size_t(h.row_bytes(width)), step = n + 1;
    const int64_t at_once = std::clamp<int64_t>(int64_t(kRowsBytes / step), 1, height);
    std::vector<uint8_t> rows(size_t(at_once) * step + kPngSlack), last(n + kPngSlack, 0);
    for (int64_t first = 0; first < height; first += at_once) {
      const int64_t count = std::min(at_once, height - first);
      if (!in.read(rows.data(), size_t(count) * step)) return bad_data(bytes);
      for (int64_t y = 0; y < count; ++y) {
        uint8_t* const row = rows.data() + size_t(y) * step + 1;
        if (!unfilter(row[-1], row, y ? row - step : last.data(), n, bpp)) return bad_data(bytes);
        const int64_t line = (p.y + (first + y) * p.dy) * h.width;
        if (converter.copies() && !h.interlaced) {
          std::memcpy(static_cast<uint8_t*>(*memory) + line * channels, row, n);
        } else {
          for (int64_t x = 0; x < width; ++x) converter.store(row, x, *memory, line + p.x + x * p.dx);
        }
      }
      std::memcpy(last.data(), rows.data() + size_t(count - 1) * step + 1, n);
    }
  }
  return {};
}

namespace {

void put_chunk(std::string& out, std::string_view type, std::string_view body) {
  auto put = [&](uint32_t v) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(char(v >> shift));
  };
  put(uint32_t(body.size()));
  const size_t at = out.size();
  out.append(type).append(body);
  put(uint32_t(crc32(0, reinterpret_cast<const Bytef*>(out.data() + at), uInt(out.size() - at))));
}

// The filter whose row has the smallest sum of absolute values, as libpng chooses. `lines` has room for two rows.
void filter_row(const uint8_t* row, const uint8_t* up, size_t n, size_t bpp, std::vector<uint8_t>& lines, std::string& out) {
  uint8_t *best = lines.data(), *line = best + n;
  uint64_t best_sum = ~uint64_t(0);
  char best_filter = 0;
  for (char filter = 0; filter <= 4; ++filter) {
    const uint64_t sum = WEFT_BEST_ISA(png_filter)(filter, row, up, n, bpp, line);
    if (sum >= best_sum) continue;
    best_sum = sum;
    best_filter = filter;
    std::swap(best, line);
  }
  out.push_back(best_filter);
  out.append(reinterpret_cast<const char*>(best), n);
}

// As libpng asks for it: rows that went through a filter are small numbers, in which short matches are worth little.
bool deflate_rows(const std::string& raw, int level, std::string& packed) {
  z_stream z = {};
  if (deflateInit2(&z, level, Z_DEFLATED, MAX_WBITS, 8, Z_FILTERED) != Z_OK) return false;
  packed.resize(deflateBound(&z, uLong(raw.size())));
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  size_t in = raw.size(), out = packed.size();
  int result = Z_OK;
  while (result == Z_OK) {  // by pieces: zlib counts in 32 bits
    constexpr size_t kPiece = size_t(1) << 30;
    z.avail_in = uInt(std::min(in, kPiece));
    z.avail_out = uInt(std::min(out, kPiece));
    const size_t had_in = z.avail_in, had_out = z.avail_out;
    result = deflate(&z, had_in == in ? Z_FINISH : Z_NO_FLUSH);
    in -= had_in - z.avail_in;
    out -= had_out - z.avail_out;
  }
  deflateEnd(&z);
  packed.resize(packed.size() - out);
  return result == Z_STREAM_END;
}

}  // namespace

Result<PngInfo> png_info(std::string_view bytes) {
  File f;
  const Status status = read_chunks(bytes, f);
  const bool has_header = f.has_pixels && f.header.width > 0 && (f.header.color != kPalette || !f.palette.empty());
  if (!has_header) return status.ok() ? bad_header() : status;  // pixels that are damaged do not matter here
  return PngInfo{{f.header.height, f.header.width, Converter::natural_channels(f)}, f.header.depth, f.header.color, std::move(f.texts)};
}

Result<std::string> encode_png(const void* pixels, const ImageSize& size, int bits, int level, const PngTexts& texts) {
  const size_t bpp = size_t(size.channels * bits / 8), n = size_t(size.width) * bpp;
  std::string raw;
  raw.reserve((n + 1) * size_t(size.height));
  std::vector<uint8_t> row(n), up(n, 0), lines(2 * n);
  const auto* from = static_cast<const uint8_t*>(pixels);
  for (int64_t y = 0; y < size.height; ++y, from += n) {
    if (bits == 8) {
      filter_row(from, y ? from - n : up.data(), n, bpp, lines, raw);
      continue;
    }
    for (size_t i = 0; i < n; i += 2) row[i] = from[i + 1], row[i + 1] = from[i];
    filter_row(row.data(), up.data(), n, bpp, lines, raw);
    row.swap(up);
  }
  std::string packed;
  if (!deflate_rows(raw, level, packed)) return core::internal_error("Failed to encode image as PNG");
  std::string header(13, '\0');
  for (int i = 0; i < 4; ++i) {
    header[size_t(i)] = char(size.width >> (24 - 8 * i));
    header[size_t(i) + 4] = char(size.height >> (24 - 8 * i));
  }
  constexpr char kColors[] = {0, kGray, kGrayAlpha, kRgb, kRgba};
  header[8] = char(bits);
  header[9] = kColors[size.channels];
  std::string out(kSignature);
  put_chunk(out, "IHDR", header);
  for (const auto& [key, text] : texts) put_chunk(out, "tEXt", core::cat(key, std::string_view("\0", 1), text));
  constexpr size_t kChunk = 1 << 20;
  for (size_t at = 0; at < packed.size(); at += kChunk) put_chunk(out, "IDAT", std::string_view(packed).substr(at, kChunk));
  put_chunk(out, "IEND", "");
  return out;
}

}  // namespace weft_engine::kernels
