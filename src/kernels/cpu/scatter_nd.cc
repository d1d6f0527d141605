#include "kernels/cpu/scatter_nd.h"

#include <algorithm>

#include "core/resource.h"
#include "core/tstring.h"
#include "core/variant.h"
#include "kernels/cpu/gather.h"

namespace weft_engine::kernels {

using namespace weft_engine::core;  // NOLINT

namespace {

// Numbers of plain integers wrap as TensorFlow's do; through unsigned, where that is defined.
template <class T>
T wrapped(Update op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  const uint64_t x = U(a), y = U(b);
  switch (op) {
    case Update::kAdd: return T(U(x + y));
    case Update::kSub: return T(U(x - y));
    case Update::kMul: return T(U(x * y));
    case Update::kDiv:
      if (b == 0) return T(0);
      if (std::is_signed_v<T> && b == T(-1)) return T(U(0 - x));
      return T(a / b);
    default: return b;
  }
}

template <Update kOp, class T>
T combine(const T& a, const T& b) {
  if constexpr (kOp == Update::kMin) return b < a ? b : a;
  else if constexpr (kOp == Update::kMax) return a < b ? b : a;
  else if constexpr (std::is_same_v<T, bool>) return kOp == Update::kAdd ? a || b : a && b;
  else if constexpr (std::is_integral_v<T>) return wrapped<T>(kOp, a, b);
  else if constexpr (kOp == Update::kAdd) return a + b;
  else if constexpr (kOp == Update::kSub) return a - b;
  else if constexpr (kOp == Update::kMul) return a * b;
  else return a / b;
}

template <>
tstring combine<Update::kAdd, tstring>(const tstring& a, const tstring& b) {
  return tstring(a.str() + b.str());
}

template <Update kOp, class T>
void apply(T* __restrict to, const T* __restrict from, int64_t n, bool broadcast) {
  if (broadcast) {
    const T value = *from;
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kOp == Update::kAssign) to[i] = value;
      else to[i] = combine<kOp>(to[i], value);
    }
    return;
  }
  auto step = [&](int64_t i) {
    if constexpr (kOp == Update::kAssign) to[i] = from[i];
    else to[i] = combine<kOp>(to[i], from[i]);
  };
  // Blocks of a fixed size become vector code even at -O2.
  constexpr int64_t kBlock = 16;
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    for (int64_t k = 0; k < kBlock; ++k) step(i + k);
  }
  for (; i < n; ++i) step(i);
}

template <Update kOp, class T>
Status update_rows(ThreadPool& pool, void* params, const void* updates, std::span<const int64_t> offsets, int64_t slice, bool broadcast) {
  T* to = static_cast<T*>(params);
  const T* from = static_cast<const T*>(updates);
  auto range = [&](int64_t begin, int64_t end) {
    for (size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] < begin || offsets[i] >= end) continue;
      apply<kOp>(to + offsets[i], broadcast ? from : from + int64_t(i) * slice, slice, broadcast);
    }
  };
  // Tasks own disjoint parts of params and look through all offsets, so that updates of one place keep
  // their order. Worth it only if the rows outweigh the looking.
  constexpr int64_t kParallelElements = 1 << 16, kParallelSlice = 16;
  const int64_t parts = std::min(pool.threads(), 8);
  int64_t limit = 0;
  for (int64_t o : offsets) limit = std::max(limit, o + 1);
  if (slice < kParallelSlice || int64_t(offsets.size()) * slice < kParallelElements || parts < 2) {
    range(0, limit);
    return {};
  }
  const int64_t part = (limit + parts - 1) / parts;
  pool.parallel_chunks(parts, [&](int64_t p) { range(p * part, (p + 1) * part); });
  return {};
}

using Rows = Status (*)(ThreadPool&, void*, const void*, std::span<const int64_t>, int64_t, bool);

template <Update kOp>
Rows arithmetic(DType t) {
  switch (t) {
#define WEFT_X(T) \
  case dtype_of<T>: return &update_rows<kOp, T>;
    WEFT_X(half)
    WEFT_X(bfloat16)
    WEFT_X(float)
    WEFT_X(double)
    WEFT_X(int8_t) WEFT_X(int16_t) WEFT_X(int32_t) WEFT_X(int64_t) WEFT_X(uint8_t) WEFT_X(uint16_t) WEFT_X(uint32_t) WEFT_X(uint64_t) default : break;
  }
  if constexpr (kOp != Update::kMin && kOp != Update::kMax) {
    switch (t) { WEFT_X(complex64) WEFT_X(complex128) default : break; }
  }
  if constexpr (kOp == Update::kAdd) {
    switch (t) { WEFT_X(bool) WEFT_X(tstring) default : break; }
  }
#undef WEFT_X
  return nullptr;
}

struct Pair {
  uint64_t a, b;
};

Rows assignment(DType t) {
  constexpr Update kOp = Update::kAssign;
  switch (t) {
    case DType::kString: return &update_rows<kOp, tstring>;
    case DType::kResource: return &update_rows<kOp, ResourceHandle>;
    case DType::kVariant: return &update_rows<kOp, Variant>;
    default: break;
  }
  switch (dtype_size(t)) {
    case 1: return &update_rows<kOp, uint8_t>;
    case 2: return &update_rows<kOp, uint16_t>;
    case 4: return &update_rows<kOp, uint32_t>;
    case 8: return &update_rows<kOp, uint64_t>;
    case 16: return &update_rows<kOp, Pair>;
    default: return nullptr;
  }
}

}  // namespace

Status scatter_update(ThreadPool& pool, Update op, DType dtype, void* params, const void* updates, std::span<const int64_t> offsets, int64_t slice,
                      bool broadcast) {
  Rows rows = nullptr;
  switch (op) {
    case Update::kAssign: rows = assignment(dtype); break;
    case Update::kAdd: rows = arithmetic<Update::kAdd>(dtype); break;
    case Update::kSub: rows = arithmetic<Update::kSub>(dtype); break;
    case Update::kMul: rows = arithmetic<Update::kMul>(dtype); break;
    case Update::kDiv: rows = arithmetic<Update::kDiv>(dtype); break;
    case Update::kMin: rows = arithmetic<Update::kMin>(dtype); break;
    case Update::kMax: rows = arithmetic<Update::kMax>(dtype); break;
  }
  if (!rows) return unimplemented("no scatter update for type ", dtype_name(dtype));
  if (slice == 0 || offsets.empty()) return {};
  return rows(pool, params, updates, offsets, slice, broadcast);
}

Result<ScatterNdSizes> check_scatter_nd(const Shape& params, const Shape& indices, const Shape& updates) {
  if (params.rank() < 1) return invalid_argument("Output must be at least 1-D, got shape: ", params);
  const bool none = indices.num_elements() == 0 && updates.num_elements() == 0;
  if (!none && (params.num_elements() == 0 || indices.num_elements() == 0 || updates.num_elements() == 0))
    return invalid_argument("Indices and updates specified for empty output.  indices shape: ", indices);
  const int64_t leading = indices.rank() > 0 ? indices.dim(0) : 1, update_leading = updates.rank() > 0 ? updates.dim(0) : 1;
  if (indices.rank() < 1 || updates.rank() < 1 || leading != update_leading)
    return invalid_argument("Dimensions [0,1) of indices[shape=", indices, "] = ", leading, " must match dimensions [0,1) of updates[shape=", updates,
                            "] = ", update_leading);
  ScatterNdSizes s;
  const int batch = indices.rank() > 1 ? indices.rank() - 1 : 1;
  s.tuple = indices.rank() > 1 ? indices.dim(indices.rank() - 1) : 1;
  auto head_differs = [&] {
    return invalid_argument("Dimensions [0,", batch, ") of indices[shape=", indices, "] must match dimensions [0,", batch,
                            ") of updates[shape=", updates, "]");
  };
  auto tail_differs = [&] {
    return invalid_argument("Dimensions [", s.tuple, ",", params.rank(), ") of input[shape=", params, "] must match dimensions [", s.tuple, ",",
                            updates.rank(), ") of updates[shape=", updates, "]");
  };
  if (updates.rank() < batch) return head_differs();
  if (s.tuple > params.rank() || updates.rank() != batch + params.rank() - int(s.tuple)) return tail_differs();
  for (int i = 0; i < batch; ++i) {
    if (updates.dim(i) != indices.dim(i)) return head_differs();
  }
  for (int i = batch; i < updates.rank(); ++i) {
    if (updates.dim(i) != params.dim(i - batch + int(s.tuple))) return tail_differs();
  }
  // A vector of indices is one tuple to TensorFlow, of which it reads the first number.
  s.updates = indices.rank() > 1 ? indices.elements_in(0, batch) : std::min<int64_t>(1, indices.dim(0));
  s.slice = params.elements_in(int(s.tuple), params.rank());
  return s;
}

template <class Index>
int64_t scatter_nd_offsets(const Index* indices, const ScatterNdSizes& sizes, const Shape& params, int64_t* offsets) {
  int64_t bad = -1;
  for (int64_t i = 0; i < sizes.updates; ++i) {
    int64_t offset = 0;
    bool inside = true;
    for (int64_t k = 0; k < sizes.tuple; ++k) {
      const int64_t x = int64_t(indices[i * sizes.tuple + k]), d = params.dim(int(k));
      inside &= x >= 0 && x < d;
      offset = offset * d + (inside ? x : 0);
    }
    offsets[i] = inside ? offset * sizes.slice : -1;
    if (!inside) bad = i;
  }
  return bad;
}

template <class Index>
Status scatter_nd_error(const Index* indices, const Shape& indices_shape, const ScatterNdSizes& sizes, const Shape& params, int64_t bad,
                        std::string_view what) {
  const Shape tuples = indices_shape.rank() > 1 ? indices_shape.slice(0, indices_shape.rank() - 1) : indices_shape;
  return invalid_argument("indices", position_text(tuples, bad), " = [", join(std::span(indices + bad * sizes.tuple, size_t(sizes.tuple)), ", "),
                          "] does not index into ", what, " ", params);
}

#define WEFT_X(Index)                                                                               \
  template int64_t scatter_nd_offsets(const Index*, const ScatterNdSizes&, const Shape&, int64_t*); \
  template Status scatter_nd_error(const Index*, const Shape&, const ScatterNdSizes&, const Shape&, int64_t, std::string_view);
WEFT_X(int16_t)
WEFT_X(uint16_t)
WEFT_X(int32_t)
WEFT_X(int64_t)
#undef WEFT_X

}  // namespace weft_engine::kernels
