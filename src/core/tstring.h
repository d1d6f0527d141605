// A string element of a tensor: 24 bytes with exactly the layout of TensorFlow's TF_TString, so that
// C clients may read and write them in place. The low two bits of the first word tell the kind:
// small (up to 22 bytes inside), large (own heap block), offset and view (borrowed bytes).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace weft_engine::core {

class tstring {
 public:
  tstring() { std::memset(raw_, 0, sizeof raw_); }
  tstring(std::string_view s) : tstring() { assign(s); }       // NOLINT: implicit on purpose
  tstring(const std::string& s) : tstring(std::string_view(s)) {}  // NOLINT
  tstring(const char* s) : tstring(std::string_view(s)) {}         // NOLINT
  tstring(const tstring& o) : tstring() { assign(o); }
  tstring(tstring&& o) noexcept {
    std::memcpy(raw_, o.raw_, sizeof raw_);
    std::memset(o.raw_, 0, sizeof raw_);
  }
  tstring& operator=(const tstring& o) {
    if (this != &o) assign(std::string_view(o));
    return *this;
  }
  tstring& operator=(tstring&& o) noexcept {
    if (this != &o) {
      release();
      std::memcpy(raw_, o.raw_, sizeof raw_);
      std::memset(o.raw_, 0, sizeof raw_);
    }
    return *this;
  }
  tstring& operator=(std::string_view s) {
    assign(s);
    return *this;
  }
  tstring& operator=(const std::string& s) { return *this = std::string_view(s); }
  tstring& operator=(const char* s) { return *this = std::string_view(s); }
  ~tstring() { release(); }

  size_t size() const {
    switch (kind()) {
      case kSmall: return uint8_t(raw_[0]) >> 2;
      case kOffset: return word32(0) >> 2;
      default: return word(0) >> 2;
    }
  }
  bool empty() const { return size() == 0; }
  const char* data() const {
    switch (kind()) {
      case kSmall: return raw_ + 1;
      case kLarge: return pointer(16);
      case kOffset: return raw_ + word32(4);
      default: return pointer(8);
    }
  }
  operator std::string_view() const { return {data(), size()}; }  // NOLINT: implicit on purpose
  std::string_view view() const { return {data(), size()}; }
  std::string str() const { return std::string(view()); }
  std::string to_string() const { return str(); }

  void assign(std::string_view s);
  // A writable block of n bytes whose contents are not defined.
  char* resize_uninitialized(size_t n);

  friend bool operator==(const tstring& a, const tstring& b) { return a.view() == b.view(); }
  friend bool operator!=(const tstring& a, const tstring& b) { return a.view() != b.view(); }
  friend bool operator<(const tstring& a, const tstring& b) { return a.view() < b.view(); }
  friend bool operator>(const tstring& a, const tstring& b) { return a.view() > b.view(); }
  friend bool operator<=(const tstring& a, const tstring& b) { return a.view() <= b.view(); }
  friend bool operator>=(const tstring& a, const tstring& b) { return a.view() >= b.view(); }

 private:
  enum Kind : uint8_t { kSmall = 0, kLarge = 1, kOffset = 2, kView = 3 };
  static constexpr size_t kSmallCapacity = 22;
  Kind kind() const { return Kind(raw_[0] & 3); }
  uint64_t word(int at) const {
    uint64_t v;
    std::memcpy(&v, raw_ + at, 8);
    return v;
  }
  uint32_t word32(int at) const {
    uint32_t v;
    std::memcpy(&v, raw_ + at, 4);
    return v;
  }
  const char* pointer(int at) const {
    const char* p;
    std::memcpy(&p, raw_ + at, 8);
    return p;
  }
  void release() {
    if (kind() == kLarge) std::free(const_cast<char*>(pointer(16)));
  }
  alignas(8) char raw_[24];
};
static_assert(sizeof(tstring) == 24);

}  // namespace weft_engine::core

template <>
struct std::hash<weft_engine::core::tstring> {
  size_t operator()(const weft_engine::core::tstring& s) const { return std::hash<std::string_view>()(s.view()); }
};
