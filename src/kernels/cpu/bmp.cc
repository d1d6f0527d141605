// Windows bitmaps without compression: 8-bit grey, 24-bit and 32-bit colour.
#include <algorithm>
#include <cstring>

#include "core/shape.h"
#include "kernels/cpu/image_codec.h"

namespace weft_engine::kernels {

namespace {

using core::multiply_without_overflow;

template <class T>
T read(std::string_view s, size_t at) {
  T v;
  std::memcpy(&v, s.data() + at, sizeof v);
  return v;
}

}  // namespace

core::Status decode_bmp(std::string_view bytes, int channels, const AllocatePixels& allocate) {
  constexpr size_t kHeader = 32;  // as far as the fields that are read
  if (bytes.size() < kHeader)
    return core::invalid_argument("Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got ",
                                  bytes.size(), " bytes");
  const auto offset = int64_t(read<int32_t>(bytes, 10)), width = int64_t(read<int32_t>(bytes, 18)), signed_height = int64_t(read<int32_t>(bytes, 22));
  const int bits = read<uint16_t>(bytes, 28);
  const int64_t height = signed_height < 0 ? -signed_height : signed_height;
  if (width < 0) return core::invalid_argument("Width must be positive");
  if (signed_height == INT32_MIN) return core::invalid_argument("Height is too large");
  const int64_t file_channels = bits / 8;
  if (file_channels != 1 && file_channels != 3 && file_channels != 4)
    return core::invalid_argument("Number of channels inherent in the image must be 1, 3 or 4, was ", file_channels);
  if (width <= 0 || height <= 0) return core::invalid_argument("Invalid bmp size ", width, "x", height);
  const int64_t row = (width * file_channels + 3) / 4 * 4;
  const int64_t size = multiply_without_overflow(row, height);
  if (offset < 0 || size < 0 || offset + size != int64_t(bytes.size()))
    return core::invalid_argument("Input size should match (header_size + row_size * abs_height) but they differ by ",
                                  size < 0 ? size : int64_t(bytes.size()) - offset - size);
  const int64_t made = channels ? channels : file_channels;
  auto memory = allocate({height, width, made});
  if (!memory.ok()) return memory.status();
  auto* out = static_cast<uint8_t*>(*memory);
  for (int64_t y = 0; y < height; ++y) {
    const auto* from = reinterpret_cast<const uint8_t*>(bytes.data()) + offset + (signed_height < 0 ? y : height - 1 - y) * row;
    for (int64_t x = 0; x < width; ++x, from += file_channels, out += made) {
      // The file has blue first; grey is all three.
      for (int k = 0; k < std::min<int>(int(made), 3); ++k) out[k] = from[file_channels == 1 ? 0 : 2 - k];
      if (made == 4) out[3] = file_channels == 4 ? from[3] : 255;
    }
  }
  return {};
}

}  // namespace weft_engine::kernels
