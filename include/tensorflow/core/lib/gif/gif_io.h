// SPDX-License-Identifier: Apache-2.0
//
// GIF files as pixels, by the codec of the image ops.
#ifndef TENSORFLOW_CORE_LIB_GIF_GIF_IO_H_
#define TENSORFLOW_CORE_LIB_GIF_GIF_IO_H_

#include <functional>
#include <string>

#include "tensorflow/core/platform/status.h"
#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {
namespace gif {

// Into memory that the caller gives for frames, width, height and channels (3); the first frame alone where animations are not expanded. Null, and why, for
// what cannot be read.
inline uint8* Decode(const void* bytes, int size, const std::function<uint8*(int, int, int, int)>& allocate_output, std::string* error,
                     bool expand_animations = true) {
  struct Output {
    const std::function<uint8*(int, int, int, int)>& allocate;
    uint8* pixels;
  } out{allocate_output, nullptr};
  const auto allocate = [](void* data, int64_t frames, int64_t width, int64_t height, int64_t channels) -> void* {
    auto* o = static_cast<Output*>(data);
    return o->pixels = o->allocate(static_cast<int>(frames), static_cast<int>(width), static_cast<int>(height), static_cast<int>(channels));
  };
  const weft_text text = {static_cast<const char*>(bytes), size < 0 ? 0 : static_cast<size_t>(size)};
  const Status s = internal::FromC(weft_gif_decode(text, expand_animations, &out, allocate));
  if (s.ok()) return out.pixels;
  if (error) *error = std::string(s.message());
  return nullptr;
}

}  // namespace gif
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_GIF_GIF_IO_H_
