#include "core/tstring.h"

#include <new>

namespace weft_engine::core {

void tstring::assign(std::string_view s) {
  if (kind() == kLarge && s.data() >= pointer(16) && s.data() < pointer(16) + size()) {
    *this = tstring(std::string(s));  // the source is inside this string
    return;
  }
  char* to = resize_uninitialized(s.size());
  if (!s.empty()) std::memmove(to, s.data(), s.size());
}

char* tstring::resize_uninitialized(size_t n) {
  if (n <= kSmallCapacity) {
    release();
    std::memset(raw_, 0, sizeof raw_);
    raw_[0] = char(n << 2);
    return raw_ + 1;
  }
  if (kind() == kLarge && word(8) >= n) {
    uint64_t head = (uint64_t(n) << 2) | kLarge;
    std::memcpy(raw_, &head, 8);
    char* p = const_cast<char*>(pointer(16));
    p[n] = 0;
    return p;
  }
  const uint64_t capacity = ((uint64_t(n) + 1 + 15) & ~uint64_t(15)) - 1;
  char* p = static_cast<char*>(std::malloc(capacity + 1));
  if (!p) throw std::bad_alloc();
  p[n] = 0;
  release();
  uint64_t head = (uint64_t(n) << 2) | kLarge;
  std::memcpy(raw_, &head, 8);
  std::memcpy(raw_ + 8, &capacity, 8);
  std::memcpy(raw_ + 16, &p, 8);
  return p;
}

}  // namespace weft_engine::core
