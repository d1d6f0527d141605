// The parts of ICU that ops need. Its data is 30 MB, so the library is loaded at the first use of what
// only it can do; plain Unicode encodings never need it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/status.h"
#include "kernels/cpu/text.h"

namespace weft_engine::kernels {

// Full case mapping of UTF-8, by the rules of no particular language; broken parts become U+FFFD.
core::Result<std::string> icu_change_case(std::string_view utf8, bool upper);

// The script of each code point (ISO 15924 numbers as ICU counts them); -1 where it is not a code point.
// Characters younger than Unicode 13, which is TensorFlow's, are unknown.
core::Status icu_scripts(const int32_t* code_points, int32_t* scripts, int64_t n);

// Decodes one string after another from an encoding that ICU knows by name.
class IcuDecoder {
 public:
  // InvalidArgument if there is no such encoding.
  static core::Result<IcuDecoder> open(const std::string& encoding);
  DecodedChar next(std::string_view s, size_t at);

 private:
  struct Close {
    void operator()(void* converter) const;
  };
  std::unique_ptr<void, Close> converter_;
};

}  // namespace weft_engine::kernels
