#include "kernels/cpu/unique.h"

#include <bit>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "core/tstring.h"

namespace weft_engine::kernels {
namespace {

using core::DType;

// Elements as 64-bit words that are equal exactly when the elements are; NaN is marked.
struct Words {
  std::vector<uint64_t> words;
  std::vector<bool> nan;  // empty for types without
};

template <class T>
void copy_words(const void* x, int64_t n, std::vector<uint64_t>& out) {
  for (int64_t i = 0; i < n; ++i) out[size_t(i)] = uint64_t(static_cast<const T*>(x)[i]);
}

template <class T>
void float_words(const void* x, int64_t n, Words& out) {
  out.nan.resize(size_t(n));
  for (int64_t i = 0; i < n; ++i) {
    const double v = double(static_cast<const T*>(x)[i]);
    out.nan[size_t(i)] = v != v;
    out.words[size_t(i)] = v == 0 ? 0 : std::bit_cast<uint64_t>(v);
  }
}

Words words_of(DType type, const void* x, int64_t n) {
  Words out;
  out.words.resize(size_t(n));
  switch (type) {
    case DType::kString: {
      std::unordered_map<std::string_view, uint64_t> known;
      for (int64_t i = 0; i < n; ++i) {
        const std::string_view s(static_cast<const core::tstring*>(x)[i]);
        out.words[size_t(i)] = known.emplace(s, known.size()).first->second;
      }
      break;
    }
    case DType::kFloat: float_words<float>(x, n, out); break;
    case DType::kDouble: float_words<double>(x, n, out); break;
    case DType::kHalf: float_words<core::half>(x, n, out); break;
    case DType::kBfloat16: float_words<core::bfloat16>(x, n, out); break;
    default:
      switch (core::dtype_size(type)) {
        case 1: copy_words<uint8_t>(x, n, out.words); break;
        case 2: copy_words<uint16_t>(x, n, out.words); break;
        case 4: copy_words<uint32_t>(x, n, out.words); break;
        case 8: copy_words<uint64_t>(x, n, out.words); break;
        default: break;
      }
  }
  return out;
}

uint64_t mix(uint64_t h) {
  h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

}  // namespace

UniqueSlices unique_slices(DType type, const void* x, int64_t outer, int64_t n, int64_t inner) {
  const Words w = words_of(type, x, outer * n * inner);
  UniqueSlices out;
  out.group.resize(size_t(n));
  // An open table of group numbers, at most half full.
  size_t size = 16;
  while (size < size_t(n) * 2) size *= 2;
  std::vector<int64_t> table(size, -1);
  auto at = [&](int64_t slice, int64_t o, int64_t i) { return size_t((o * n + slice) * inner + i); };
  auto equal = [&](int64_t a, int64_t b) {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        if (w.words[at(a, o, i)] != w.words[at(b, o, i)]) return false;
      }
    }
    return true;
  };
  for (int64_t s = 0; s < n; ++s) {
    uint64_t hash = 0;
    bool nan = false;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        hash = mix(hash * 31 + w.words[at(s, o, i)]);
        nan = nan || (!w.nan.empty() && w.nan[at(s, o, i)]);
      }
    }
    int64_t group = -1;
    size_t slot = mix(hash) & (size - 1);
    if (!nan) {
      for (; table[slot] >= 0; slot = (slot + 1) & (size - 1)) {
        if (equal(out.first[size_t(table[slot])], s)) {
          group = table[slot];
          break;
        }
      }
    }
    if (group < 0) {
      group = int64_t(out.first.size());
      out.first.push_back(s);
      out.counts.push_back(0);
      if (!nan) table[slot] = group;
    }
    out.group[size_t(s)] = group;
    ++out.counts[size_t(group)];
  }
  return out;
}

}  // namespace weft_engine::kernels
