#include "kernels/cpu/order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace weft_engine::kernels {
namespace {

using core::DType;
using core::Status;
using core::ThreadPool;

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

template <class T>
void top_k_row(const T* x, int64_t n, int64_t k, bool sorted, std::vector<int64_t>& order) {
  if (k == 1) {  // NaN, which no comparison finds, is passed over here, as TensorFlow does
    order.assign(1, index_of_greatest(x, n));
    return;
  }
  auto before = [x](int64_t a, int64_t b) { return less(x[b], x[a]) || (!less(x[a], x[b]) && a < b); };
  if (!sorted && k < n) return heap_top_k(n, k, before, order);
  order.resize(size_t(n));
  std::iota(order.begin(), order.end(), 0);
  if (k * 8 < n) {
    std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
  } else {
    if (k < n) std::nth_element(order.begin(), order.begin() + k, order.end(), before);
    std::sort(order.begin(), order.begin() + k, before);
  }
}

}  // namespace

Status top_k(DType type, bool sorted, const void* x, int64_t rows, int64_t n, int64_t k, void* values, void* indices, int index_size,
             ThreadPool& pool) {
  if (k <= 0 || rows <= 0) return {};
  return for_type(type, [&]<class T>() {
    pool.parallel_for(rows, double(n) * 5, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> order;
      for (int64_t r = begin; r < end; ++r) {
        const T* row = static_cast<const T*>(x) + r * n;
        top_k_row(row, n, k, sorted, order);
        for (int64_t i = 0; i < k; ++i) {
          static_cast<T*>(values)[r * k + i] = row[order[size_t(i)]];
          store_index(indices, r * k + i, order[size_t(i)], index_size);
        }
      }
    });
  });
}

Status nth_element(DType type, const void* x, int64_t rows, int64_t columns, int64_t n, void* out, ThreadPool& pool) {
  return for_type(type, [&]<class T>() {
    pool.parallel_for(rows, double(columns) * 5, [&](int64_t begin, int64_t end) {
      std::vector<T> copy;
      for (int64_t r = begin; r < end; ++r) {
        const T* row = static_cast<const T*>(x) + r * columns;
        copy.assign(row, row + columns);
        std::nth_element(copy.begin(), copy.begin() + n, copy.end(), less<T>);
        static_cast<T*>(out)[r] = copy[size_t(n)];
      }
    });
  });
}

Status sort_rows(DType type, const void* x, int64_t rows, int64_t n, int64_t* permutation, ThreadPool& pool) {
  return for_type(type, [&]<class T>() {
    pool.parallel_for(rows, double(n) * 20, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* row = static_cast<const T*>(x) + r * n;
        int64_t* order = permutation + r * n;
        std::iota(order, order + n, 0);
        std::stable_sort(order, order + n, [row](int64_t a, int64_t b) { return less(row[a], row[b]); });
      }
    });
  });
}

Status search_rows(DType type, bool upper, const void* sorted, int64_t rows, int64_t n, const void* values, int64_t m, void* out, int out_size,
                   ThreadPool& pool) {
  return for_type(type, [&]<class T>() {
    pool.parallel_for(rows * m, 30, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* row = static_cast<const T*>(sorted) + i / m * n;
        const T v = static_cast<const T*>(values)[i];
        const T* at = upper ? std::upper_bound(row, row + n, v) : std::lower_bound(row, row + n, v);
        store_index(out, i, at - row, out_size);
      }
    });
  });
}

}  // namespace weft_engine::kernels
