// Sorting numbers together with where they stood: a number becomes an unsigned key of the same order, key and place one item. Items need no look at the numbers while they
// are sorted, and many of them are sorted by their digits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/float_types.h"

namespace weft_engine::kernels {

// Keys in the order of the numbers: NaN is the greatest, the two zeros are equal.
template <class T>
auto sort_key(T v) {
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    constexpr Bits kSign = Bits(1) << (sizeof(T) * 8 - 1);
    const Bits bits = std::bit_cast<Bits>(T(v + T(0)));  // minus zero becomes zero
    return v != v ? Bits(~Bits(0)) : Bits(bits ^ (bits & kSign ? ~Bits(0) : kSign));
  } else if constexpr (core::is_floating<T>) {
    return sort_key(float(v));
  } else if constexpr (sizeof(T) == 8) {
    return uint64_t(v) ^ (std::is_signed_v<T> ? uint64_t(1) << 63 : 0);
  } else {
    return uint32_t(int64_t(v)) ^ (std::is_signed_v<T> ? uint32_t(1) << 31 : 0);
  }
}

// Key and place: those of 32 bits in one word.
template <class Key>
struct SortItem {
  Key key;
  uint64_t place;
  SortItem() = default;
  SortItem(Key k, uint64_t p) : key(k), place(p) {}
  uint64_t at() const { return place; }
  uint64_t digits() const { return key; }
  bool operator<(const SortItem& o) const { return key < o.key || (key == o.key && place < o.place); }
};
template <>
struct SortItem<uint32_t> {
  uint64_t word;
  SortItem() = default;
  SortItem(uint32_t key, uint64_t place) : word(uint64_t(key) << 32 | place) {}  // place is below 2^32
  uint64_t at() const { return word & 0xffffffffu; }
  uint64_t digits() const { return word >> 32; }
  bool operator<(const SortItem& o) const { return word < o.word; }
};
template <class T>
using SortItemOf = SortItem<decltype(sort_key(T()))>;

// By key and then by place; items come with their places in order. `other` is room that is kept from call to call.
template <class Item>
void sort_items(Item* items, size_t n, std::vector<Item>& other) {
  constexpr size_t kFew = 128, kMany = 1 << 15;
  if (n < kFew) return std::sort(items, items + n);
  constexpr int kBits = sizeof(Item) == 8 ? 32 : 64;
  const int width = n < kMany ? 8 : 11, passes = (kBits + width - 1) / width;
  const size_t buckets = size_t(1) << width, mask = buckets - 1;
  std::vector<uint64_t> counts(buckets * size_t(passes), 0);
  for (size_t i = 0; i < n; ++i) {
    uint64_t digits = items[i].digits();
    for (int p = 0; p < passes; ++p, digits >>= width) ++counts[size_t(p) * buckets + (digits & mask)];
  }
  if (other.size() < n) other.resize(n);
  Item *from = items, *to = other.data();
  for (int p = 0; p < passes; ++p) {
    uint64_t* const at = counts.data() + size_t(p) * buckets;
    if (at[from[0].digits() >> (p * width) & mask] == n) continue;  // all have this digit
    uint64_t sum = 0;
    for (size_t b = 0; b < buckets; ++b) sum += std::exchange(at[b], sum);
    for (size_t i = 0; i < n; ++i) to[at[from[i].digits() >> (p * width) & mask]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::copy(from, from + n, items);
}

// The k least of n items, in order, in `best`; item(i) makes them one after the other. Most are passed over by one comparison.
template <class Item, class Make>
void least_items(size_t n, size_t k, Make item, std::vector<Item>& best) {
  const size_t room = std::max<size_t>(2 * k, 64);
  best.clear();
  size_t i = 0;
  for (; i < n && best.size() < room; ++i) best.push_back(item(i));
  while (i < n) {
    std::nth_element(best.begin(), best.begin() + int64_t(k) - 1, best.end());
    best.resize(k);
    const Item limit = best[k - 1];
    for (; i < n && best.size() < room; ++i) {
      const Item next = item(i);
      if (next < limit) best.push_back(next);
    }
  }
  if (k < best.size()) std::nth_element(best.begin(), best.begin() + int64_t(k), best.end());
  best.resize(std::min(k, best.size()));
  std::sort(best.begin(), best.end());
}

}  // namespace weft_engine::kernels
