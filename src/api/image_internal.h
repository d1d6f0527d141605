// What the files of tf.image share.
#pragma once

#include <string>

#include "api/op_args.h"
#include "weft/image.h"

namespace weft::image {

[[noreturn]] inline void fail(const std::string& message) { throw Error(Code::kInvalidArgument, message); }

inline int image_rank(const Tensor& images, const char* who) {
  const int rank = api::known_rank(images);
  if (rank != 3 && rank != 4) fail(std::string(who) + ": images must have 3 or 4 dimensions");
  return rank;
}
// What f does to images of floats, for those of any type.
template <class F>
Tensor as_floats(const Tensor& images, F f) {
  const DType t = images.dtype();
  if (t == DType::float32 || t == DType::float16) return f(images);
  return convert_image_dtype(f(convert_image_dtype(images, DType::float32)), t, true);
}

}  // namespace weft::image
