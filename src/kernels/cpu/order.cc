#include "kernels/cpu/order.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/cpu/sort_items.h"

namespace weft_engine::kernels {
namespace {

using core::DType;
using core::Status;
using core::ThreadPool;

constexpr int64_t kMostItems = int64_t(1) << 32;  // whose places are 32 bits

template <class T>
bool less(T a, T b) {
  if constexpr (core::is_floating<T>) return a < b || (a == a && b != b);
  else return a < b;
}

void store_index(void* out, int64_t at, int64_t value, int size) {
  if (size == 8) static_cast<int64_t*>(out)[at] = value;
  else if (size == 4) static_cast<int32_t*>(out)[at] = int32_t(value);
  else static_cast<int16_t*>(out)[at] = int16_t(value);
}

// f.template operator()<T>() for the T of the type.
template <class F>
Status for_type(DType type, F f) {
  switch (type) {
    case DType::kFloat: f.template operator()<float>(); break;
    case DType::kDouble: f.template operator()<double>(); break;
    case DType::kHalf: f.template operator()<core::half>(); break;
    case DType::kBfloat16: f.template operator()<core::bfloat16>(); break;
    case DType::kInt8: f.template operator()<int8_t>(); break;
    case DType::kInt16: f.template operator()<int16_t>(); break;
    case DType::kInt32: f.template operator()<int32_t>(); break;
    case DType::kInt64: f.template operator()<int64_t>(); break;
    case DType::kUint8:
    case DType::kBool: f.template operator()<uint8_t>(); break;
    case DType::kUint16: f.template operator()<uint16_t>(); break;
    case DType::kUint32: f.template operator()<uint32_t>(); break;
    case DType::kUint64: f.template operator()<uint64_t>(); break;
    default: return core::unimplemented("no order for type ", core::dtype_name(type));
  }
  return {};
}

template <class T>
int64_t index_of_greatest(const T* x, int64_t n) {
  T best = std::numeric_limits<T>::lowest();
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] > best) best = x[i], at = i;
  }
  return at;
}

// A heap of the k best, the worst in front, with one spare place at the end.
template <class Before>
void heap_top_k(int64_t n, int64_t k, Before before, std::vector<int64_t>& heap) {
  heap.clear();
  bool full = false;
  for (int64_t i = 0; i < n; ++i) {
    if (!full) {
      heap.push_back(i);
      if (int64_t(heap.size()) == k + 1) {
        std::make_heap(heap.begin(), heap.end(), before);
        std::pop_heap(heap.begin(), heap.end(), before);
        full = true;
      }
    } else if (before(i, heap.front())) {
      heap.back() = i;
      std::push_heap(heap.begin(), heap.end(), before);
      std::pop_heap(heap.begin(), heap.end(), before);
    }
  }
  heap.resize(size_t(k));
}

// Room for the items of a row, kept from row to row.
template <class T>
struct Items {
  std::vector<SortItemOf<T>> row, other;
};

template <class T>
void top_k_row(const T* x, int64_t n, int64_t k, bool sorted, Items<T>& items, std::vector<int64_t>& order) {
  if (k == 1) {  // NaN, which no comparison finds, is passed over here, as TensorFlow does
    order.assign(1, index_of_greatest(x, n));
    return;
  }
  if (!sorted && k < n) return heap_top_k(n, k, [x](int64_t a, int64_t b) { return less(x[b], x[a]) || (!less(x[a], x[b]) && a < b); }, order);
  using Key = decltype(sort_key(T()));
  const auto greatest_first = [x](size_t i) { return SortItemOf<T>(Key(~sort_key(x[i])), i); };
  if (k * 8 < n) {
    least_items(size_t(n), size_t(k), greatest_first, items.row);
  } else {
    items.row.resize(size_t(n));
    for (size_t i = 0; i < size_t(n); ++i) items.row[i] = greatest_first(i);
    if (k < n) std::nth_element(items.row.begin(), items.row.begin() + k, items.row.end());
    if (k < n) std::sort(items.row.begin(), items.row.begin() + k);  // places are no longer in order
    else sort_items(items.row.data(), size_t(n), items.other);
  }
  order.resize(size_t(k));
  for (size_t i = 0; i < size_t(k); ++i) order[i] = int64_t(items.row[i].at());
}

}  // namespace

Status top_k(DType type, bool sorted, const void* x, int64_t rows, int64_t n, int64_t k, void* values, void* indices, int index_size,
             ThreadPool& pool) {
  if (k <= 0 || rows <= 0) return {};
  if (n > kMostItems) return core::unimplemented("the greatest of more than ", kMostItems, " elements in a row");
  return for_type(type, [&]<class T>() {
    pool.parallel_for(rows, double(n) * 5, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> order;
      Items<T> items;
      for (int64_t r = begin; r < end; ++r) {
        const T* row = static_cast<const T*>(x) + r * n;
        top_k_row(row, n, k, sorted, items, order);
        for (int64_t i = 0; i < k; ++i) {
          static_cast<T*>(values)[r * k + i] = row[order[size_t(i)]];
          store_index(indices, r * k + i, order[size_t(i)], index_size);
        }
      }
    });
  });
}

Status nth_element(DType type, const void* x, int64_t rows, int64_t columns, int64_t n, void* out, ThreadPool& pool) {
  if (columns > kMostItems) return core::unimplemented("the n-th of more than ", kMostItems, " elements in a row");
  return for_type(type, [&]<class T>() {
    pool.parallel_for(rows, double(columns) * 5, [&](int64_t begin, int64_t end) {
      Items<T> items;
      items.row.resize(size_t(columns));
      for (int64_t r = begin; r < end; ++r) {
        const T* row = static_cast<const T*>(x) + r * columns;
        for (size_t i = 0; i < size_t(columns); ++i) items.row[i] = SortItemOf<T>(sort_key(row[i]), i);
        std::nth_element(items.row.begin(), items.row.begin() + n, items.row.end());
        static_cast<T*>(out)[r] = row[items.row[size_t(n)].at()];
      }
    });
  });
}

Status sort_rows(DType type, const void* x, int64_t rows, int64_t n, int64_t* permutation, ThreadPool& pool) {
  if (n > kMostItems) return core::unimplemented("sorting more than ", kMostItems, " elements in a row");
  return for_type(type, [&]<class T>() {
    pool.parallel_for(rows, double(n) * 20, [&](int64_t begin, int64_t end) {
      Items<T> items;
      items.row.resize(size_t(n));
      for (int64_t r = begin; r < end; ++r) {
        const T* row = static_cast<const T*>(x) + r * n;
        for (size_t i = 0; i < size_t(n); ++i) items.row[i] = SortItemOf<T>(sort_key(row[i]), i);
        sort_items(items.row.data(), size_t(n), items.other);
        for (size_t i = 0; i < size_t(n); ++i) permutation[r * n + int64_t(i)] = int64_t(items.row[i].at());
      }
    });
  });
}

namespace {

// Where `value` could stand, for kAtOnce values: their steps do not wait for each other, and none of them is a branch.
constexpr int64_t kAtOnce = 8;
template <bool upper, class T>
void search(const T* row, int64_t n, const T* values, int64_t count, int64_t* at) {
  const auto passed = [](T element, T value) { return upper ? !(value < element) : element < value; };
  std::fill_n(at, count, 0);
  for (int64_t length = n; length > 1;) {
    const int64_t half = length / 2;
    for (int64_t i = 0; i < count; ++i) at[i] += half & -int64_t(passed(row[at[i] + half - 1], values[i]));
    length -= half;
  }
  for (int64_t i = 0; i < count && n > 0; ++i) at[i] += passed(row[at[i]], values[i]);
}

}  // namespace

Status search_rows(DType type, bool upper, const void* sorted, int64_t rows, int64_t n, const void* values, int64_t m, void* out, int out_size,
                   ThreadPool& pool) {
  return for_type(type, [&]<class T>() {
    const int64_t groups = (m + kAtOnce - 1) / kAtOnce;
    pool.parallel_for(rows * groups, 60, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const int64_t first = g % groups * kAtOnce, count = std::min(kAtOnce, m - first), i = g / groups * m + first;
        const T* row = static_cast<const T*>(sorted) + g / groups * n;
        int64_t at[kAtOnce];
        (upper ? search<true, T> : search<false, T>)(row, n, static_cast<const T*>(values) + i, count, at);
        for (int64_t k = 0; k < count; ++k) store_index(out, i + k, at[k], out_size);
      }
    });
  });
}

}  // namespace weft_engine::kernels
