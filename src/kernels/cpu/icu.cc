#include "kernels/cpu/icu.h"

#include <dlfcn.h>
#include <unicode/uchar.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_err.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/uvernum.h>

namespace weft_engine::kernels {
namespace {

using core::Result;
using core::Status;

// ICU's headers rename every function with the version; so must the look-up.
#define WEFT_TEXT_(x) #x
#define WEFT_TEXT(x) WEFT_TEXT_(x)
#define WEFT_ICU_FUNCTIONS(X) \
  X(u_strToLower)             \
  X(u_strToUpper)             \
  X(uscript_getScript) X(ucnv_open) X(ucnv_close) X(u_charAge) X(ucnv_setToUCallBack) X(ucnv_getNextUChar) X(UCNV_TO_U_CALLBACK_SUBSTITUTE)

struct Icu {
#define WEFT_X(f) decltype(&::f) f##_p = nullptr;
  WEFT_ICU_FUNCTIONS(WEFT_X)
#undef WEFT_X
  bool loaded = false;

  Icu() {
    void* library = dlopen("libicuuc.so." U_ICU_VERSION_SHORT, RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    loaded = true;
#define WEFT_X(f)                                                          \
  f##_p = reinterpret_cast<decltype(f##_p)>(dlsym(library, WEFT_TEXT(f))); \
  loaded = loaded && f##_p;
    WEFT_ICU_FUNCTIONS(WEFT_X)
#undef WEFT_X
  }
};

const Icu& icu() {
  static const Icu* loaded = new Icu();  // never unloaded: other threads may still be inside at exit
  return *loaded;
}

constexpr int kUnicodeVersion = 13;

Status missing() { return core::unavailable("this needs ICU (libicuuc.so." U_ICU_VERSION_SHORT "), which could not be loaded"); }

// Notes the error and puts in U+FFFD.
void on_bad_input(const void* context, UConverterToUnicodeArgs* args, const char* units, int32_t length, UConverterCallbackReason reason,
                  UErrorCode* error) {
  if (reason == UCNV_UNASSIGNED || reason == UCNV_ILLEGAL || reason == UCNV_IRREGULAR) *const_cast<bool*>(static_cast<const bool*>(context)) = true;
  icu().UCNV_TO_U_CALLBACK_SUBSTITUTE_p(nullptr, args, units, length, reason, error);
}

}  // namespace

Result<std::string> icu_change_case(std::string_view utf8, bool upper) {
  if (!icu().loaded) return missing();
  std::u16string in;
  for (size_t at = 0; at < utf8.size();) {
    const DecodedChar c = next_utf8(utf8, at);
    at += size_t(c.bytes);
    if (c.value >= 0x10000) {
      in.push_back(char16_t(0xD7C0 + (c.value >> 10)));
      in.push_back(char16_t(0xDC00 | (c.value & 0x3FF)));
    } else {
      in.push_back(char16_t(c.value));
    }
  }
  constexpr size_t kMost = 1 << 29;  // ICU counts in 32 bits, and one letter may become three
  if (in.size() > kMost) return core::invalid_argument("string too long to change its case");
  auto change = upper ? icu().u_strToUpper_p : icu().u_strToLower_p;
  std::u16string out(in.size() + in.size() / 4 + 16, u'\0');
  for (int tries = 0; tries < 2; ++tries) {
    UErrorCode error = U_ZERO_ERROR;
    const int32_t n = change(out.data(), int32_t(out.size()), in.data(), int32_t(in.size()), "", &error);
    out.resize(size_t(n));
    if (error != U_BUFFER_OVERFLOW_ERROR) break;
  }
  std::string result;
  for (size_t i = 0; i < out.size(); ++i) {
    char32_t c = out[i];
    if ((c & 0xFC00) == 0xD800 && i + 1 < out.size()) c = 0x10000 + ((c & 0x3FF) << 10) + (out[++i] & 0x3FF);
    append_utf8(result, c);
  }
  return result;
}

Status icu_scripts(const int32_t* code_points, int32_t* scripts, int64_t n) {
  if (!icu().loaded) return missing();
  for (int64_t i = 0; i < n; ++i) {
    UErrorCode error = U_ZERO_ERROR;
    const auto script = icu().uscript_getScript_p(code_points[i], &error);
    UVersionInfo age = {};
    if (U_SUCCESS(error)) icu().u_charAge_p(code_points[i], age);
    scripts[i] = U_FAILURE(error) ? -1 : age[0] > kUnicodeVersion ? int32_t(USCRIPT_UNKNOWN) : int32_t(script);
  }
  return {};
}

void IcuDecoder::Close::operator()(void* converter) const { icu().ucnv_close_p(static_cast<UConverter*>(converter)); }

Result<IcuDecoder> IcuDecoder::open(const std::string& encoding) {
  if (!icu().loaded) return missing();
  UErrorCode error = U_ZERO_ERROR;
  UConverter* converter = icu().ucnv_open_p(encoding.c_str(), &error);
  IcuDecoder d;
  if (converter) d.converter_.reset(converter);
  if (U_FAILURE(error) || !converter) return core::invalid_argument("Could not create converter for input encoding: ", encoding);
  return d;
}

DecodedChar IcuDecoder::next(std::string_view s, size_t at) {
  auto* converter = static_cast<UConverter*>(converter_.get());
  bool bad = false;
  UErrorCode error = U_ZERO_ERROR;
  icu().ucnv_setToUCallBack_p(converter, on_bad_input, &bad, nullptr, nullptr, &error);
  const char *from = s.data() + at, *end = s.data() + s.size();
  const UChar32 c = icu().ucnv_getNextUChar_p(converter, &from, end, &error);
  if (U_FAILURE(error)) from = end;
  return {char32_t(c), int(from - (s.data() + at)), bad};
}

}  // namespace weft_engine::kernels
