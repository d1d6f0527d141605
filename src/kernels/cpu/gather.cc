#include "kernels/cpu/gather.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "core/resource.h"
#include "core/tstring.h"
#include "core/variant.h"

namespace weft_engine::kernels {

using core::DType;
using core::ThreadPool;

namespace {

// Calls copy(i, offset(i)) in parallel: the first element of the row to take, or a negative number for none.
template <class Copy, class Offset>
void each_row(ThreadPool& pool, int64_t rows, double cost, Copy copy, Offset offset) {
  pool.parallel_for(rows, cost, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) copy(i, offset(i));
  });
}

// Rows of a size known to the compiler become a load and a store.
template <int kBytes, class Offset>
void rows_of(ThreadPool& pool, const char* params, int64_t size, char* out, int64_t rows, Offset offset) {
  each_row(
      pool, rows, 2,
      [&](int64_t i, int64_t at) {
        if (at < 0) std::memset(out + i * kBytes, 0, kBytes);
        else std::memcpy(out + i * kBytes, params + at * size, kBytes);
      },
      offset);
}

template <class Element, class Offset>
void object_rows(ThreadPool& pool, const void* params, void* out, int64_t rows, int64_t inner, Offset offset) {
  const auto* from = static_cast<const Element*>(params);
  auto* to = static_cast<Element*>(out);
  each_row(
      pool, rows, 20.0 * double(inner),
      [&](int64_t i, int64_t at) {
        if (at < 0) std::fill_n(to + i * inner, inner, Element());
        else std::copy_n(from + at, inner, to + i * inner);
      },
      offset);
}

// `offset(i)` counts in elements.
template <class Offset>
void copy_rows(ThreadPool& pool, DType dtype, const void* params, void* out, int64_t rows, int64_t inner, Offset offset) {
  switch (dtype) {
    case DType::kString: return object_rows<core::tstring>(pool, params, out, rows, inner, offset);
    case DType::kResource: return object_rows<core::ResourceHandle>(pool, params, out, rows, inner, offset);
    case DType::kVariant: return object_rows<core::Variant>(pool, params, out, rows, inner, offset);
    default: break;
  }
  const auto* from = static_cast<const char*>(params);
  auto* to = static_cast<char*>(out);
  const int64_t size = int64_t(core::dtype_size(dtype)), bytes = inner * size;
  switch (bytes) {
    case 0: return;
    case 1: return rows_of<1>(pool, from, size, to, rows, offset);
    case 2: return rows_of<2>(pool, from, size, to, rows, offset);
    case 4: return rows_of<4>(pool, from, size, to, rows, offset);
    case 8: return rows_of<8>(pool, from, size, to, rows, offset);
    case 16: return rows_of<16>(pool, from, size, to, rows, offset);
    default: break;
  }
  each_row(
      pool, rows, double(bytes) / 8 + 5,
      [&](int64_t i, int64_t at) {
        if (at < 0) std::memset(to + i * bytes, 0, size_t(bytes));
        else std::memcpy(to + i * bytes, from + at * size, size_t(bytes));
      },
      offset);
}

}  // namespace

template <class Index>
int64_t first_bad_index(const Index* indices, int64_t n, int64_t limit) {
  // Blocks without a branch inside vectorise; the exact place matters only when there is an error.
  constexpr int64_t kBlock = 256;
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t e = std::min(n, b + kBlock);
    bool bad = false;
    for (int64_t i = b; i < e; ++i) bad |= uint64_t(int64_t(indices[i])) >= uint64_t(limit);
    if (!bad) continue;
    for (int64_t i = b; i < e; ++i) {
      if (uint64_t(int64_t(indices[i])) >= uint64_t(limit)) return i;
    }
  }
  return -1;
}

template <class Index>
void gather(ThreadPool& pool, DType dtype, const void* params, int64_t batch, int64_t outer, int64_t limit, int64_t inner, const Index* indices,
            int64_t n, void* out) {
  const int64_t rows = batch * outer * n;
  if (rows == 0 || inner == 0) return;
  if (batch * outer == 1) return copy_rows(pool, dtype, params, out, rows, inner, [=](int64_t i) { return int64_t(indices[i]) * inner; });
  copy_rows(pool, dtype, params, out, rows, inner, [=](int64_t i) {
    const int64_t group = i / n, b = group / outer;
    return (group * limit + int64_t(indices[b * n + i % n])) * inner;
  });
}

void gather_offsets(ThreadPool& pool, DType dtype, const void* params, const int64_t* offsets, int64_t n, int64_t inner, void* out) {
  if (inner == 0) return;
  copy_rows(pool, dtype, params, out, n, inner, [=](int64_t i) { return offsets[i]; });
}

std::string position_text(const core::Shape& shape, int64_t flat) {
  if (shape.rank() == 0) return "";
  std::string out;
  for (int i = shape.rank(); i-- > 0;) {
    const int64_t d = std::max<int64_t>(shape.dim(i), 1);
    out = core::cat(i ? "," : "[", i ? flat % d : flat, out);
    flat /= d;
  }
  return out + "]";
}

#define WEFT_X(Index)                                               \
  template int64_t first_bad_index(const Index*, int64_t, int64_t); \
  template void gather(ThreadPool&, DType, const void*, int64_t, int64_t, int64_t, int64_t, const Index*, int64_t, void*);
WEFT_X(int16_t)
WEFT_X(int32_t)
WEFT_X(int64_t)
#undef WEFT_X

}  // namespace weft_engine::kernels
