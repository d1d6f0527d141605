#include "wire/crc32c.h"

#include <array>
#include <cstring>

#include "core/cpu_features.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft_engine::wire {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78u;  // reflected: bit 31 is the coefficient of x^0

// a * b modulo the polynomial, in the same reflected form.
constexpr uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b & 1 ? (b >> 1) ^ kPolynomial : b >> 1;
  }
  return product;
}

// x^n modulo the polynomial.
constexpr uint32_t power_of_x(uint64_t n) {
  uint32_t result = 1u << 31, square = 1u << 30;
  for (; n; n >>= 1) {
    if (n & 1) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}

// Eight tables, so that eight bytes are taken at a time: entry b of table k is the checksum of byte b
// with k zero bytes behind it.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables t{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int i = 0; i < 8; ++i) crc = crc & 1 ? (crc >> 1) ^ kPolynomial : crc >> 1;
    t[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 255];
  }
  return t;
}

constexpr Tables kTables = make_tables();

uint32_t extend_by_table(uint32_t crc, const uint8_t* p, size_t n) {
  crc = ~crc;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 255];
  }
  for (; n; --n, ++p) crc = (crc >> 8) ^ kTables[0][(crc ^ *p) & 255];
  return ~crc;
}

#if defined(__x86_64__)

// The crc32 instruction takes eight bytes with a latency of three cycles, so three streams run side by
// side and are joined at the end of each block. Joining: the carry-less product of a reflected checksum
// with x^(8n - 33), reduced by the same instruction, is the checksum with n zero bytes behind it.
template <size_t kStream>
__attribute__((target("sse4.2,pclmul"))) uint64_t extend_in_threes(uint64_t crc, const uint8_t*& p, size_t& n) {
  constexpr uint64_t kOne = power_of_x(8 * kStream - 33), kTwo = power_of_x(16 * kStream - 33);
  const __m128i factors = _mm_set_epi64x(int64_t(kOne), int64_t(kTwo));
  for (; n >= 3 * kStream; n -= 3 * kStream, p += 3 * kStream) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < kStream; i += 8) {
      uint64_t x, y, z;
      std::memcpy(&x, p + i, 8);
      std::memcpy(&y, p + kStream + i, 8);
      std::memcpy(&z, p + 2 * kStream + i, 8);
      a = _mm_crc32_u64(a, x);
      b = _mm_crc32_u64(b, y);
      c = _mm_crc32_u64(c, z);
    }
    const __m128i far = _mm_clmulepi64_si128(_mm_cvtsi64_si128(int64_t(a)), factors, 0x00);
    const __m128i near = _mm_clmulepi64_si128(_mm_cvtsi64_si128(int64_t(b)), factors, 0x10);
    const uint64_t joined = uint64_t(_mm_cvtsi128_si64(_mm_xor_si128(far, near)));
    crc = _mm_crc32_u64(0, joined) ^ c;
  }
  return crc;
}

__attribute__((target("sse4.2,pclmul"))) uint32_t extend_by_instruction(uint32_t start, const uint8_t* p, size_t n) {
  uint64_t crc = uint32_t(~start);
  crc = extend_in_threes<4096>(crc, p, n);
  crc = extend_in_threes<256>(crc, p, n);
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  for (; n; --n, ++p) crc = _mm_crc32_u8(uint32_t(crc), *p);
  return ~uint32_t(crc);
}

bool have_instruction() {
  static const bool have = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") && core::cpu_level() != core::CpuLevel::kGeneric;
  }();
  return have;
}

#endif

}  // namespace

uint32_t crc32c_extend(uint32_t crc, const void* data, size_t n) {
  const auto* p = static_cast<const uint8_t*>(data);
#if defined(__x86_64__)
  if (have_instruction()) return extend_by_instruction(crc, p, n);
#endif
  return extend_by_table(crc, p, n);
}

uint32_t crc32c_combine(uint32_t first, uint32_t second, uint64_t second_length) { return multiply(power_of_x(8 * second_length), first) ^ second; }

}  // namespace weft_engine::wire
