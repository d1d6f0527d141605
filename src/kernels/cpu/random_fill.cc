#include "kernels/cpu/random_fill.h"

#include <algorithm>

namespace weft_engine::kernels {

using namespace weft_engine::core;

namespace {

// Block g of the generator makes elements [g * kGroup, (g + 1) * kGroup).
template <int kGroup, class T, class F>
void fill_groups(ThreadPool& pool, const Philox& gen, T* out, int64_t n, double cost, F make) {
  pool.parallel_for((n + kGroup - 1) / kGroup, cost, [&](int64_t begin, int64_t end) {
    Philox local = gen;
    local.skip(uint64_t(begin));
    for (int64_t g = begin; g < end; ++g) {
      T group[kGroup];
      make(local(), group);
      std::copy_n(group, std::min<int64_t>(kGroup, n - g * kGroup), out + g * kGroup);
    }
  });
}

template <class T>
void normals(const Philox::Block& b, T* out) {
  if constexpr (std::is_same_v<T, double>) {
    box_muller(b[0], b[1], b[2], b[3], out);
  } else {
    float f[4];
    box_muller(b[0], b[1], f);
    box_muller(b[2], b[3], f + 2);
    for (int i = 0; i < 4; ++i) out[i] = T(f[i]);
  }
}

template <class T>
void uniforms(const Philox::Block& b, T* out) {
  if constexpr (std::is_same_v<T, double>) {
    out[0] = uniform_double(b[0], b[1]);
    out[1] = uniform_double(b[2], b[3]);
  } else {
    for (size_t i = 0; i < 4; ++i) {
      if constexpr (std::is_same_v<T, float>) out[i] = uniform_float(b[i]);
      else if constexpr (std::is_same_v<T, half>) out[i] = uniform_half(b[i]);
      else out[i] = uniform_bfloat(b[i]);
    }
  }
}

// A group draws until it is full, from a stretch of blocks of its own.
template <class T>
void truncated_normals(ThreadPool& pool, const Philox& gen, T* out, int64_t n) {
  constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;
  constexpr uint64_t kBlocks = kGroup * kReservedBlocks / 4;
  using Draw = std::conditional_t<std::is_same_v<T, double>, double, float>;
  pool.parallel_for((n + kGroup - 1) / kGroup, 120, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      Philox local = gen;
      local.skip(uint64_t(g) * kBlocks);
      T group[kGroup];
      for (int filled = 0; filled < kGroup;) {
        Draw draws[4];
        normals<Draw>(local(), draws);
        for (int i = 0; i < int(16 / (2 * sizeof(Draw))) * 2 && filled < kGroup; ++i) {
          if (std::abs(draws[i]) < Draw(2)) group[filled++] = T(draws[i]);
        }
      }
      std::copy_n(group, std::min<int64_t>(kGroup, n - g * kGroup), out + g * kGroup);
    }
  });
}

template <class T>
bool fill(ThreadPool& pool, const Philox& gen, Distribution distribution, void* data, int64_t n) {
  constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;
  T* out = static_cast<T*>(data);
  switch (distribution) {
    case Distribution::kUniform: fill_groups<kGroup>(pool, gen, out, n, 10, uniforms<T>); break;
    case Distribution::kNormal: fill_groups<kGroup>(pool, gen, out, n, 80, normals<T>); break;
    case Distribution::kTruncatedNormal: truncated_normals(pool, gen, out, n); break;
  }
  return true;
}

uint64_t joined(uint32_t low, uint32_t high) { return low | uint64_t(high) << 32; }

}  // namespace

bool fill_random(ThreadPool& pool, const Philox& gen, Distribution distribution, DType dtype, void* out, int64_t n) {
  switch (dtype) {
    case DType::kFloat: return fill<float>(pool, gen, distribution, out, n);
    case DType::kDouble: return fill<double>(pool, gen, distribution, out, n);
    case DType::kHalf: return fill<half>(pool, gen, distribution, out, n);
    case DType::kBfloat16: return fill<bfloat16>(pool, gen, distribution, out, n);
    default: return false;
  }
}

void fill_uniform_int32(ThreadPool& pool, const Philox& gen, uint32_t low, uint32_t high, uint32_t* out, int64_t n) {
  const uint32_t range = high - low;
  fill_groups<4>(pool, gen, out, n, 12, [=](const Philox::Block& b, uint32_t* o) {
    for (size_t i = 0; i < 4; ++i) o[i] = low + b[i] % range;
  });
}

void fill_uniform_int64(ThreadPool& pool, const Philox& gen, uint64_t low, uint64_t high, uint64_t* out, int64_t n) {
  const uint64_t range = high - low;
  fill_groups<2>(pool, gen, out, n, 12, [=](const Philox::Block& b, uint64_t* o) {
    o[0] = low + joined(b[0], b[1]) % range;
    o[1] = low + joined(b[2], b[3]) % range;
  });
}

void fill_bits32(ThreadPool& pool, const Philox& gen, uint32_t* out, int64_t n) {
  fill_groups<4>(pool, gen, out, n, 8, [](const Philox::Block& b, uint32_t* o) { std::copy_n(b.data(), 4, o); });
}

void fill_bits64(ThreadPool& pool, const Philox& gen, uint64_t* out, int64_t n) {
  fill_groups<2>(pool, gen, out, n, 8, [](const Philox::Block& b, uint64_t* o) {
    o[0] = joined(b[0], b[1]);
    o[1] = joined(b[2], b[3]);
  });
}

}  // namespace weft_engine::kernels
