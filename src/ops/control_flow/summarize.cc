#include "ops/control_flow/summarize.h"

#include <algorithm>

#include "core/resource.h"
#include "core/variant.h"
#include "kernels/cpu/text.h"

namespace weft_engine::ops {
namespace {

using namespace weft_engine::core;

template <class T>
std::string number(const T& v) {
  std::string out;
  if constexpr (std::is_same_v<T, double>) kernels::append_shortest(out, v);
  else if constexpr (is_floating<T>) kernels::append_shortest(out, float(v));
  else append(out, +v);
  return out;
}

// TensorFlow prints complex and quantised numbers as "?".
std::string element(const Tensor& t, int64_t i, bool quote) {
  switch (t.dtype()) {
    case DType::kString: {
      const std::string_view s = t.data<tstring>()[i].view();
      return quote ? cat("\"", s, "\"") : kernels::c_escape(s);
    }
    case DType::kBool: return t.data<bool>()[i] ? "1" : "0";
    case DType::kVariant: return cat("<", t.data<Variant>()[i].type_name(), ">");
    case DType::kResource: {
      const auto* info = t.data<ResourceHandle>()[i].info();
      return cat("<", info ? info->name : std::string(), ">");
    }
#define WEFT_NUMBER(T, name) \
  case DType::name: return number(t.data<T>()[i]);
      WEFT_NUMBER(float, kFloat)
      WEFT_NUMBER(double, kDouble)
      WEFT_NUMBER(half, kHalf)
      WEFT_NUMBER(bfloat16, kBfloat16)
      WEFT_NUMBER(int8_t, kInt8)
      WEFT_NUMBER(int16_t, kInt16)
      WEFT_NUMBER(int32_t, kInt32)
      WEFT_NUMBER(int64_t, kInt64)
      WEFT_NUMBER(uint8_t, kUint8)
      WEFT_NUMBER(uint16_t, kUint16)
      WEFT_NUMBER(uint32_t, kUint32)
      WEFT_NUMBER(uint64_t, kUint64)
      WEFT_NUMBER(float8_e5m2, kFloat8E5m2)
      WEFT_NUMBER(float8_e4m3fn, kFloat8E4m3fn)
#undef WEFT_NUMBER
    default: return "?";
  }
}

void print_dim(const Tensor& t, int d, int64_t limit, int64_t& at, std::string& out) {
  const bool last = d + 1 == t.rank();
  for (int64_t i = 0; i < t.dim(d) && (at < limit || last); ++i) {
    if (last) {
      if (at >= limit) {
        if (d != 0) out += "...";
        return;
      }
      if (i) out += " ";
      out += element(t, at++, false);
    } else {
      out += "[";
      print_dim(t, d + 1, limit, at, out);
      out += "]";
    }
  }
}

void space_between(int d, int rank, std::string& out) {
  if (d + 1 == rank) {
    out += " ";
    return;
  }
  out.append(size_t(rank - 1 - d), '\n').append(size_t(d + 1), ' ');
}

void print_edges(const Tensor& t, int d, int64_t edge, int64_t at, std::string& out) {
  if (d == t.rank()) {
    out += element(t, at, true);
    return;
  }
  const int64_t n = t.dim(d), step = t.shape().elements_in(d + 1, t.rank());
  out += "[";
  for (int64_t i = 0; i < std::min(edge, n); ++i) {
    if (i) space_between(d, t.rank(), out);
    print_edges(t, d + 1, edge, at + i * step, out);
  }
  if (n > 2 * edge) {
    space_between(d, t.rank(), out);
    out += "...";
  }
  for (int64_t i = std::max(edge, n - edge); i < n; ++i) {
    space_between(d, t.rank(), out);
    print_edges(t, d + 1, edge, at + i * step, out);
  }
  out += "]";
}

bool is_irregular(DType t) { return !is_floating_type(t) && !is_integer_type(t) && t != DType::kString && t != DType::kBool; }

// Types without a printed form of their own come as a flat list.
std::string flat(const Tensor& t, int64_t limit) {
  std::string out;
  for (int64_t i = 0; i < limit; ++i) {
    if (i) out += " ";
    out += element(t, i, false);
  }
  if (limit < t.num_elements()) out += "...";
  return out;
}

}  // namespace

std::string summarize(const Tensor& t, int64_t limit) {
  const int64_t n = t.num_elements();
  if (n < 0 || (n > 0 && !t.raw())) return cat("uninitialized Tensor of ", n, " elements of type ", dtype_name(t.dtype()));
  limit = limit == -1 ? n : std::min(limit, n);
  if (limit == 0 && t.dtype() == DType::kBool) return "";  // TensorFlow's, too, lacks the dots here
  if (t.rank() == 0 || is_irregular(t.dtype())) return flat(t, limit);
  std::string out;
  int64_t at = 0;
  print_dim(t, 0, limit, at, out);
  if (n > limit) out += "...";
  return out;
}

std::string summarize_edges(const Tensor& t, int64_t edge) {
  const int64_t n = t.num_elements();
  if (n < 0 || (n > 0 && !t.raw())) return cat("uninitialized Tensor of ", n, " elements of type ", dtype_name(t.dtype()));
  edge = edge == -1 ? n : std::clamp<int64_t>(edge, 0, n);
  if (edge == 0 && t.dtype() == DType::kBool) return "";
  if (is_irregular(t.dtype())) return cat("[", flat(t, edge), "]");
  if (t.rank() == 0) return edge ? element(t, 0, true) : "...";
  std::string out;
  print_edges(t, 0, edge, 0, out);
  return out;
}

}  // namespace weft_engine::ops
