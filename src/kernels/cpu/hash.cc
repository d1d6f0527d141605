#include "kernels/cpu/hash.h"

#include <bit>
#include <cstring>
#include <utility>

namespace weft_engine::kernels {
namespace {

static_assert(std::endian::native == std::endian::little, "the hashes read words as they lie in memory");

// FarmHash, https://github.com/google/farmhash: the 64-bit fingerprint ("farmhashna").
constexpr uint64_t kK0 = 0xc3a5c85c97cb3127, kK1 = 0xb492b66fbe98f273, kK2 = 0x9ae16a3b2f90404f;
constexpr uint64_t kMurmurMul = 0xc6a4a7935bd1e995;

uint64_t word(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}
uint64_t word32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
uint64_t byte(std::string_view s, size_t i) { return static_cast<uint8_t>(s[i]); }
uint64_t fold(uint64_t v) { return v ^ (v >> 47); }
uint64_t turn(uint64_t v, int n) { return std::rotr(v, n); }

uint64_t mix(uint64_t u, uint64_t v, uint64_t mul) {
  const uint64_t a = fold((u ^ v) * mul);
  return fold((v ^ a) * mul) * mul;
}

uint64_t farm_to_16(std::string_view s) {
  const size_t n = s.size();
  const uint64_t mul = kK2 + n * 2;
  const char* p = s.data();
  if (n >= 8) {
    const uint64_t a = word(p) + kK2, b = word(p + n - 8);
    return mix(turn(b, 37) * mul + a, (turn(a, 25) + b) * mul, mul);
  }
  if (n >= 4) return mix(n + (word32(p) << 3), word32(p + n - 4), mul);
  if (n == 0) return kK2;
  const uint64_t y = byte(s, 0) + (byte(s, n >> 1) << 8), z = n + (byte(s, n - 1) << 2);
  return fold((y * kK2) ^ (z * kK0)) * kK2;
}

uint64_t farm_to_32(std::string_view s) {
  const size_t n = s.size();
  const uint64_t mul = kK2 + n * 2;
  const char* p = s.data();
  const uint64_t a = word(p) * kK1, b = word(p + 8), c = word(p + n - 8) * mul, d = word(p + n - 16) * kK2;
  return mix(turn(a + b, 43) + turn(c, 30) + d, a + turn(b + kK2, 18) + c, mul);
}

uint64_t farm_to_64(std::string_view s) {
  const size_t n = s.size();
  const uint64_t mul = kK2 + n * 2;
  const char* p = s.data();
  const uint64_t a = word(p) * kK2, b = word(p + 8), c = word(p + n - 8) * mul, d = word(p + n - 16) * kK2;
  const uint64_t y = turn(a + b, 43) + turn(c, 30) + d, z = mix(y, a + turn(b + kK2, 18) + c, mul);
  const uint64_t e = word(p + 16) * mul, f = word(p + 24);
  const uint64_t g = (y + word(p + n - 32)) * mul, h = (z + word(p + n - 24)) * mul;
  return mix(turn(e + f, 43) + turn(g, 30) + h, e + turn(f + a, 18) + g, mul);
}

// The state that long strings run through, 64 bytes at a time.
struct FarmState {
  uint64_t x, y, z;
  std::pair<uint64_t, uint64_t> v{0, 0}, w{0, 0};

  static std::pair<uint64_t, uint64_t> weak(const char* p, uint64_t a, uint64_t b) {
    const uint64_t w0 = word(p), w1 = word(p + 8), w2 = word(p + 16), w3 = word(p + 24);
    a += w0;
    b = turn(b + a + w3, 21);
    const uint64_t c = a;
    a += w1 + w2;
    return {a + w3, b + turn(a, 44) + c};
  }
  // The last block is taken with another multiplier and weight.
  void block(const char* p, uint64_t mul, uint64_t weight) {
    x = turn(x + y + v.first + word(p + 8), 37) * mul;
    y = turn(y + v.second + word(p + 48), 42) * mul;
    x ^= w.second * weight;
    y += v.first * weight + word(p + 40);
    z = turn(z + w.first, 33) * mul;
    v = weak(p, v.second * mul, x + w.first);
    w = weak(p + 32, z + w.second, y + word(p + 16));
    std::swap(z, x);
  }
};

uint64_t farm_long(std::string_view s) {
  constexpr uint64_t kSeed = 81;
  const char* p = s.data();
  FarmState t{.x = kSeed, .y = kSeed * kK1 + 113, .z = 0};
  t.z = fold(t.y * kK2 + 113) * kK2;
  t.x = t.x * kK2 + word(p);
  const size_t tail = (s.size() - 1) & 63;
  const char* end = p + (s.size() - 1) / 64 * 64;
  for (; p != end; p += 64) t.block(p, kK1, 1);
  const uint64_t mul = kK1 + ((t.z & 0xff) << 1);
  t.w.first += tail;
  t.v.first += t.w.first;
  t.w.first += t.v.first;
  t.block(end + tail - 63, mul, 9);
  return mix(mix(t.v.first, t.w.first, mul) + fold(t.y) * kK0 + t.z, mix(t.v.second, t.w.second, mul) + t.x, mul);
}

struct SipState {
  uint64_t v0, v1, v2, v3;
  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void take(uint64_t m) {
    v3 ^= m;
    round();
    round();
    v0 ^= m;
  }
};

// The 128-bit fingerprint is CityHash128 of FarmHash's "farmhashcc".
using Pair = std::pair<uint64_t, uint64_t>;
uint64_t mix(uint64_t u, uint64_t v) { return mix(u, v, 0x9ddfea08eb382d69); }

Pair city_short(std::string_view s, Pair seed) {
  const size_t n = s.size();
  const char* p = s.data();
  uint64_t a = seed.first, b = seed.second, c = 0, d = 0;
  if (n <= 16) {
    a = fold(a * kK1) * kK1;
    c = b * kK1 + farm_to_16(s);
    d = fold(a + (n >= 8 ? word(p) : c));
  } else {
    c = mix(word(p + n - 8) + kK1, a);
    d = mix(b + n, c + word(p + n - 16));
    a += d;
    for (int64_t left = int64_t(n) - 16; left > 0; left -= 16, p += 16) {
      a = (a ^ fold(word(p) * kK1) * kK1) * kK1;
      b ^= a;
      c = (c ^ fold(word(p + 8) * kK1) * kK1) * kK1;
      d ^= c;
    }
  }
  a = mix(a, c);
  b = mix(d, b);
  return {a ^ b, mix(b, a)};
}

Pair city_long(std::string_view s, Pair seed) {
  size_t n = s.size();
  const char* p = s.data();
  FarmState t{.x = seed.first, .y = seed.second, .z = n * kK1};
  t.v.first = turn(t.y ^ kK1, 49) * kK1 + word(p);
  t.v.second = turn(t.v.first, 42) * kK1 + word(p + 8);
  t.w.first = turn(t.y + t.z, 35) * kK1 + t.x;
  t.w.second = turn(t.x + word(p + 88), 53) * kK1;
  for (; n >= 128; n -= 128, p += 128) {
    t.block(p, kK1, 1);
    t.block(p + 64, kK1, 1);
  }
  auto& [x, y, z, v, w] = t;
  x += turn(v.first + z, 49) * kK0;
  y = y * kK0 + turn(w.second, 37);
  z = z * kK0 + turn(w.first, 27);
  w.first *= 9;
  v.first *= kK0;
  // 32 bytes at a time from the end; the last piece reaches back into what was hashed above.
  for (size_t done = 0; done < n;) {
    done += 32;
    const char* piece = p + n - done;
    y = turn(x + y, 42) * kK0 + v.second;
    w.first += word(piece + 16);
    x = x * kK0 + w.first;
    z += w.second + word(piece);
    w.second += v.first;
    v = FarmState::weak(piece, v.first + z, v.second);
    v.first *= kK0;
  }
  x = mix(x, v.first);
  y = mix(y + z, w.first);
  return {mix(x + v.second, w.second) + y, mix(x + w.second, y + v.second)};
}

}  // namespace

std::pair<uint64_t, uint64_t> fingerprint128(std::string_view s) {
  Pair seed{kK0, kK1};
  if (s.size() >= 16) {
    seed = {word(s.data()), word(s.data() + 8) + kK0};
    s.remove_prefix(16);
  }
  return s.size() < 128 ? city_short(s, seed) : city_long(s, seed);
}

uint64_t fingerprint64(std::string_view s) {
  if (s.size() <= 16) return farm_to_16(s);
  if (s.size() <= 32) return farm_to_32(s);
  if (s.size() <= 64) return farm_to_64(s);
  return farm_long(s);
}

uint64_t fingerprint_cat64(uint64_t a, uint64_t b) {
  uint64_t r = a ^ kMurmurMul;
  r ^= fold(b * kMurmurMul) * kMurmurMul;
  r *= kMurmurMul;
  return fold(fold(r) * kMurmurMul);
}

// SipHash, Aumasson and Bernstein 2012, section 2.
uint64_t sip_hash(uint64_t key0, uint64_t key1, std::string_view s) {
  SipState t{0x736f6d6570736575 ^ key0, 0x646f72616e646f6d ^ key1, 0x6c7967656e657261 ^ key0, 0x7465646279746573 ^ key1};
  const char* p = s.data();
  size_t n = s.size();
  for (; n >= 8; n -= 8, p += 8) t.take(word(p));
  uint64_t last = 0;
  if (n) std::memcpy(&last, p, n);
  t.take(last | (uint64_t(s.size()) << 56));
  t.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) t.round();
  return t.v0 ^ t.v1 ^ t.v2 ^ t.v3;
}

}  // namespace weft_engine::kernels
