// WebP by libwebp, loaded at the first use; its interface is declared here since only the library itself is
// common.
#include <dlfcn.h>

#include <type_traits>

#include "kernels/cpu/image_codec.h"

namespace weft_engine::kernels {
namespace {

// decode.h, WEBP_DECODER_ABI_VERSION 0x02..
struct Features {
  int width, height, has_alpha, has_animation, format;
  uint32_t pad[5];
};
constexpr int kAbi = 0x0209;

struct Library {
  int (*features)(const uint8_t*, size_t, Features*, int) = nullptr;
  uint8_t* (*rgb)(const uint8_t*, size_t, uint8_t*, size_t, int) = nullptr;
  uint8_t* (*rgba)(const uint8_t*, size_t, uint8_t*, size_t, int) = nullptr;
  Library() {
    void* library = dlopen("libwebp.so.7", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    auto find = [&](const char* name, auto& f) { f = reinterpret_cast<std::decay_t<decltype(f)>>(dlsym(library, name)); };
    find("WebPGetFeaturesInternal", features);
    find("WebPDecodeRGBInto", rgb);
    find("WebPDecodeRGBAInto", rgba);
  }
  bool loaded() const { return features && rgb && rgba; }
};

const Library& lib() {
  static const Library* library = new Library();
  return *library;
}

}  // namespace

core::Status decode_webp(std::string_view bytes, int channels, const AllocatePixels& allocate) {
  if (!lib().loaded()) return core::unavailable("this needs libwebp (libwebp.so.7), which could not be loaded");
  if (channels != 0 && channels != 3 && channels != 4) return core::invalid_argument("WebP only supports 3 or 4 channels");
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  Features f = {};
  if (lib().features(data, bytes.size(), &f, kAbi) != 0 || f.width <= 0 || f.height <= 0)
    return core::invalid_argument("Failed to decode WebP header.");
  if (f.has_animation) return core::unimplemented("animated WebP images are not supported");
  if (channels == 0) channels = f.has_alpha ? 4 : 3;
  auto memory = allocate({f.height, f.width, channels});
  if (!memory.ok()) return memory.status();
  const auto stride = int64_t(f.width) * channels;
  auto decode = channels == 4 ? lib().rgba : lib().rgb;
  if (!decode(data, bytes.size(), static_cast<uint8_t*>(*memory), size_t(stride * f.height), int(stride)))
    return core::invalid_argument("Failed to decode WebP image");
  return {};
}

}  // namespace weft_engine::kernels
