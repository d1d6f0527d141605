#include "kernels/cpu/unique.h"

#include <bit>
#include <cstring>
#include <string_view>
#include <functional>
#include <unordered_map>

#include "core/tstring.h"
#include "kernels/cpu/group_table.h"

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

// Slices in the order of their first appearance: slice s belongs to the group whose first slice has its hash and is `equal(first, s)`.
template <class Hash, class Equal>
UniqueSlices group_slices(int64_t n, const Hash& hash, const Equal& equal) {
  UniqueSlices out;
  out.group.resize(size_t(n));
  GroupTable table;
  for (int64_t s = 0; s < n; ++s) {
    const int64_t group = table.find_or_add(hash(s), [&](int64_t g) { return equal(out.first[size_t(g)], s); });
    if (group == int64_t(out.first.size())) {
      out.first.push_back(s);
      out.counts.push_back(0);
    }
    out.group[size_t(s)] = group;
    ++out.counts[size_t(group)];
  }
  return out;
}

// One element a slice, of a type whose words are told apart by their hashes.
template <class T>
UniqueSlices unique_words(const T* x, int64_t n) {
  return group_slices(n, [&](int64_t i) { return hash_word(uint64_t(x[i])); }, [](int64_t, int64_t) { return true; });
}

UniqueSlices unique_strings(const core::tstring* x, int64_t n) {
  return group_slices(
      n, [&](int64_t i) { return hash_word(std::hash<std::string_view>{}(std::string_view(x[i]))); },
      [&](int64_t first, int64_t i) { return std::string_view(x[first]) == std::string_view(x[i]); });
}

}  // namespace

UniqueSlices unique_slices(DType type, const void* x, int64_t outer, int64_t n, int64_t inner) {
  if (outer * inner == 1) {
    if (type == DType::kInt32 || type == DType::kUint32) return unique_words(static_cast<const uint32_t*>(x), n);
    if (type == DType::kInt64 || type == DType::kUint64) return unique_words(static_cast<const uint64_t*>(x), n);
    if (type == DType::kString) return unique_strings(static_cast<const core::tstring*>(x), n);
  }
  const Words w = words_of(type, x, outer * n * inner);
  auto at = [&](int64_t slice, int64_t o, int64_t i) { return size_t((o * n + slice) * inner + i); };
  bool nan = false;  // in the slice that is looked for: it is equal to nothing, and has a place of its own in the table
  auto hash = [&](int64_t s) {
    uint64_t hash = 0;
    nan = false;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        hash = hash_word(hash * 31 + w.words[at(s, o, i)]);
        nan = nan || (!w.nan.empty() && w.nan[at(s, o, i)]);
      }
    }
    return nan ? hash_word(hash + uint64_t(s)) : hash;
  };
  auto equal = [&](int64_t a, int64_t b) {
    if (nan) return false;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        if (w.words[at(a, o, i)] != w.words[at(b, o, i)]) return false;
      }
    }
    return true;
  };
  return group_slices(n, hash, equal);
}

}  // namespace weft_engine::kernels
