#include "api/array_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "api/engine_names.h"
#include "core/cat.h"
#include "core/float_types.h"
#include "core/resource.h"
#include "core/variant.h"

namespace weft::api {
namespace {

constexpr int64_t kThreshold = 1000;  // elements beyond which the middle is left out
constexpr int64_t kEdge = 3;          // and how many stay at each side
constexpr size_t kLineWidth = 75;
constexpr int kPrecision = 8;  // digits behind the point in arrays
constexpr double kSmall = 1e-4;

// A type of numbers with a point, and from which size on it is shown with an exponent: in arrays, and as a scalar.
struct FloatKind {
  int bits;
  double array_limit, scalar_limit;
};
constexpr FloatKind kHalf{16, 1e3, 1e3}, kFloat{32, 1e6, 1e6}, kDouble{64, 1e8, 1e16};

double rounded(double v, const FloatKind& kind) {
  return kind.bits == 64 ? v : kind.bits == 32 ? double(float(v)) : double(float(core::half(float(v))));
}

// The digits of |v| without a point, and the power of ten of the first.
struct Digits {
  std::string text;
  int exponent = 0;
};

Digits parse_scientific(const char* begin, const char* end) {
  Digits d;
  const char* e = std::find(begin, end, 'e');
  for (const char* p = begin; p < e; ++p) {
    if (*p != '.') d.text += *p;
  }
  std::from_chars(e + 1 + (e[1] == '+'), end, d.exponent);
  return d;
}
Digits exact(double v, int digits_behind) {
  char text[64];
  const int n = std::snprintf(text, sizeof text, "%.*e", digits_behind, v);
  return parse_scientific(text, text + n);
}
// The fewest digits that mean v and no other value of its type.
Digits shortest(double v, const FloatKind& kind) {
  if (kind.bits == 16) {
    for (int n = 0; n < 5; ++n) {
      char text[64];
      std::snprintf(text, sizeof text, "%.*e", n, v);
      if (rounded(std::strtod(text, nullptr), kHalf) == v) return exact(v, n);
    }
  }
  char text[64];
  const auto r = kind.bits == 32 ? std::to_chars(text, text + sizeof text, float(v), std::chars_format::scientific)
                                 : std::to_chars(text, text + sizeof text, v, std::chars_format::scientific);
  return parse_scientific(text, r.ptr);
}

// A number in front of and behind the point; the exponent, if there is one, without "e".
struct Parts {
  std::string whole, fraction, exponent;
};

void trim_zeros(std::string& s) { s.erase(s.find_last_not_of('0') + 1); }

Parts positional(double v, const FloatKind& kind, int precision) {
  const double a = std::fabs(v);
  Parts p;
  if (std::signbit(v)) p.whole = "-";
  Digits d = shortest(a, kind);
  if (int(d.text.size()) - 1 - d.exponent > precision) {
    std::string text(400, '\0');
    text.resize(size_t(std::snprintf(text.data(), text.size(), "%.*f", precision, a)));
    const size_t point = text.find('.');
    p.whole += text.substr(0, point);
    p.fraction = point == text.npos ? "" : text.substr(point + 1);
  } else if (d.exponent < 0) {
    p.whole += "0";
    p.fraction = a == 0 ? "" : std::string(size_t(-d.exponent - 1), '0') + d.text;
  } else {
    const size_t whole = size_t(d.exponent) + 1;
    if (d.text.size() < whole) d.text.append(whole - d.text.size(), '0');
    p.whole += d.text.substr(0, whole);
    p.fraction = d.text.substr(whole);
  }
  trim_zeros(p.fraction);
  return p;
}

// `least`: digits behind the point that are shown even if fewer mean the value.
Parts scientific(double v, const FloatKind& kind, int precision, int least = 0) {
  const double a = std::fabs(v);
  Digits d = shortest(a, kind);
  const int behind = int(d.text.size()) - 1;
  if (a != 0 && (behind > precision || behind < least)) d = exact(a, std::clamp(behind, least, precision));
  Parts p;
  if (std::signbit(v)) p.whole = "-";
  p.whole += d.text.substr(0, 1);
  p.fraction = d.text.substr(1);
  trim_zeros(p.fraction);
  if (p.fraction.size() < size_t(least)) p.fraction.append(size_t(least) - p.fraction.size(), '0');
  const std::string digits = std::to_string(std::abs(d.exponent));
  p.exponent = (d.exponent < 0 ? "-" : "+") + std::string(digits.size() < 2 ? 1 : 0, '0') + digits;
  return p;
}

std::string special(double v, bool plus) { return std::isnan(v) ? (plus ? "+nan" : "nan") : v < 0 ? "-inf" : plus ? "+inf" : "inf"; }

std::string left_padded(std::string s, size_t width) { return s.size() < width ? std::string(width - s.size(), ' ') + s : s; }

// How the numbers of one array are shown: all with an exponent or none, points below each other.
class FloatColumn {
 public:
  FloatColumn(const std::vector<double>& values, const FloatKind& kind, bool plus) : kind_(kind), plus_(plus) {
    double largest = 0, least = INFINITY;
    bool any_finite = false, any_special = false, minus_inf = false;
    for (double v : values) {
      if (!std::isfinite(v)) {
        any_special = true;
        minus_inf |= std::isinf(v) && v < 0;
        continue;
      }
      any_finite = true;
      if (v == 0) continue;
      largest = std::max(largest, std::fabs(v));
      least = std::min(least, std::fabs(v));
    }
    exponents_ = largest > 0 && (largest >= kind.array_limit || least < rounded(kSmall, kind) || rounded(largest / least, kind) > 1000);
    size_t fraction = 0, exponent = 0;
    for (double v : values) {
      if (!std::isfinite(v)) continue;
      const Parts p = parts(v, 0);
      left_ = std::max(left_, p.whole.size());
      fraction = std::max(fraction, p.fraction.size());
      exponent = std::max(exponent, p.exponent.size());
    }
    if (exponents_) precision_ = int(fraction);
    right_ = fraction + (exponents_ ? 1 + exponent : 0);
    exponent_size_ = exponent;
    if (!any_finite) left_ = right_ = 0;
    if (any_special) {
      const size_t behind = right_ + 1;
      left_ = std::max(left_, 3 - std::min<size_t>(behind, 3));
      const size_t inf = 3 + (minus_inf || plus_ ? 1 : 0);
      left_ = std::max(left_, inf - std::min(behind, inf));
    }
  }

  std::string text(double v) const {
    if (!std::isfinite(v)) return left_padded(special(v, plus_), left_ + right_ + 1);
    Parts p = parts(v, exponents_ ? precision_ : 0);
    std::string out = left_padded(p.whole, left_) + "." + p.fraction;
    if (exponents_) {
      const std::string digits = p.exponent.substr(1);
      out += "e" + p.exponent.substr(0, 1) + std::string(exponent_size_ - p.exponent.size(), '0') + digits;
    } else {
      out.append(right_ - p.fraction.size(), ' ');
    }
    return out;
  }

 private:
  Parts parts(double v, int least) const {
    Parts p = exponents_ ? scientific(v, kind_, precision_, least) : positional(v, kind_, precision_);
    if (plus_ && p.whole[0] != '-') p.whole = "+" + p.whole;
    return p;
  }

  const FloatKind& kind_;
  bool plus_, exponents_ = false;
  int precision_ = kPrecision;
  size_t left_ = 0, right_ = 0, exponent_size_ = 0;
};

// A single number: all its digits.
std::string scalar_text(double v, const FloatKind& kind, bool point, bool plus = false) {
  if (!std::isfinite(v)) return special(v, plus);
  const double a = std::fabs(v);
  const bool exponent = a != 0 && (a >= kind.scalar_limit || a < rounded(kSmall, kDouble));
  const Parts p = exponent ? scientific(v, kind, 400) : positional(v, kind, 400);
  std::string out = (plus && !std::signbit(v) ? "+" : "") + p.whole;
  if (!p.fraction.empty()) out += "." + p.fraction;
  else if (point && !exponent) out += ".0";
  return exponent ? out + "e" + p.exponent : out;
}
std::string complex_scalar(double re, double im, const FloatKind& kind) {
  if (re == 0 && !std::signbit(re)) return scalar_text(im, kind, false) + "j";
  return "(" + scalar_text(re, kind, false) + scalar_text(im, kind, false, true) + "j)";
}

// bytes as Python writes them.
std::string in_quotes(std::string_view s) {
  const char quote = s.find('\'') != s.npos && s.find('"') == s.npos ? '"' : '\'';
  std::string out = std::string("b") + quote;
  for (const char c : s) {
    if (c == quote || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c == '\r') out += "\\r";
    else if (c >= ' ' && c < 127) out += c;
    else {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(c));
      out += hex;
    }
  }
  return out + quote;
}

// The elements that are shown, in order.
void shown_offsets(const core::Tensor& t, int dim, int64_t base, bool cut, std::vector<int64_t>& out) {
  if (dim == t.rank()) {
    out.push_back(base);
    return;
  }
  const int64_t n = t.dim(dim);
  for (int64_t i = 0; i < n; ++i) {
    if (cut && n > 2 * kEdge && i == kEdge) i = n - kEdge;
    shown_offsets(t, dim + 1, base * n + i, cut, out);
  }
}

using Cells = std::vector<std::string>;

template <class T>
Cells float_cells(const core::Tensor& t, const std::vector<int64_t>& shown, const FloatKind& kind) {
  const T* data = t.data<T>();
  if (t.rank() == 0) return {scalar_text(double(data[0]), kind, true)};
  std::vector<double> values;
  for (int64_t i : shown) values.push_back(double(data[i]));
  const FloatColumn column(values, kind, false);
  Cells out;
  for (double v : values) out.push_back(column.text(v));
  return out;
}
template <class T>
Cells complex_cells(const core::Tensor& t, const std::vector<int64_t>& shown, const FloatKind& kind) {
  const T* data = t.data<T>();
  if (t.rank() == 0) return {complex_scalar(double(data[0].real()), double(data[0].imag()), kind)};
  std::vector<double> real, imag;
  for (int64_t i : shown) {
    real.push_back(double(data[i].real()));
    imag.push_back(double(data[i].imag()));
  }
  const FloatColumn r(real, kind, false), im(imag, kind, true);
  Cells out;
  for (size_t i = 0; i < real.size(); ++i) {
    std::string second = im.text(imag[i]);
    second.insert(second.find_last_not_of(' ') + 1, "j");
    out.push_back(r.text(real[i]) + second);
  }
  return out;
}
Cells aligned(Cells cells) {
  size_t width = 0;
  for (const auto& c : cells) width = std::max(width, c.size());
  for (auto& c : cells) c = left_padded(std::move(c), width);
  return cells;
}
template <class T>
std::string element(const T& v) {
  if constexpr (std::is_same_v<T, core::tstring>) return in_quotes(v.view());
  else if constexpr (std::is_same_v<T, core::ResourceHandle>) return "<resource>";
  else if constexpr (std::is_same_v<T, core::Variant>) return core::cat("<", v.type_name(), ">");
  else if constexpr (std::is_same_v<T, bool>) return v ? "True" : "False";
  else if constexpr (core::is_narrow_float<T>) {  // types of ml_dtypes, which print themselves
    const float f = float(v);
    char text[40];
    std::snprintf(text, sizeof text, "%g", double(f));
    return std::isnan(f) ? "nan" : text;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return std::to_string(v);
  } else {
    return std::to_string(int64_t(v));
  }
}
template <class T>
Cells plain_cells(const core::Tensor& t, const std::vector<int64_t>& shown, bool align) {
  Cells out;
  for (int64_t i : shown) out.push_back(element(t.data<T>()[i]));
  return align ? aligned(std::move(out)) : out;
}

Cells cells_of(const core::Tensor& t, const std::vector<int64_t>& shown) {
  using namespace core;  // NOLINT: types by the names of the table
  switch (t.dtype()) {
    case core::DType::kHalf: return float_cells<half>(t, shown, kHalf);
    case core::DType::kFloat: return float_cells<float>(t, shown, kFloat);
    case core::DType::kDouble: return float_cells<double>(t, shown, kDouble);
    case core::DType::kComplex64: return complex_cells<complex64>(t, shown, kFloat);
    case core::DType::kComplex128: return complex_cells<complex128>(t, shown, kDouble);
    case core::DType::kBool: {
      Cells out = plain_cells<bool>(t, shown, false);
      if (t.rank() > 0) {
        for (auto& c : out) c = left_padded(std::move(c), 5);  // also where all are True
      }
      return out;
    }
    case core::DType::kInt8: return plain_cells<int8_t>(t, shown, true);
    case core::DType::kInt16: return plain_cells<int16_t>(t, shown, true);
    case core::DType::kInt32: return plain_cells<int32_t>(t, shown, true);
    case core::DType::kInt64: return plain_cells<int64_t>(t, shown, true);
    case core::DType::kUint8: return plain_cells<uint8_t>(t, shown, true);
    case core::DType::kUint16: return plain_cells<uint16_t>(t, shown, true);
    case core::DType::kUint32: return plain_cells<uint32_t>(t, shown, true);
    case core::DType::kUint64: return plain_cells<uint64_t>(t, shown, true);
    // What numpy has no type of its own for is not aligned.
    case core::DType::kQint8: return plain_cells<qint8>(t, shown, false);
    case core::DType::kQuint8: return plain_cells<quint8>(t, shown, false);
    case core::DType::kQint16: return plain_cells<qint16>(t, shown, false);
    case core::DType::kQuint16: return plain_cells<quint16>(t, shown, false);
    case core::DType::kQint32: return plain_cells<qint32>(t, shown, false);
    case core::DType::kInt4: return plain_cells<int4>(t, shown, false);
    case core::DType::kUint4: return plain_cells<uint4>(t, shown, false);
    case core::DType::kInt2: return plain_cells<int2>(t, shown, false);
    case core::DType::kUint2: return plain_cells<uint2>(t, shown, false);
    case core::DType::kBfloat16: return plain_cells<bfloat16>(t, shown, false);
    case core::DType::kFloat8E5m2: return plain_cells<float8_e5m2>(t, shown, false);
    case core::DType::kFloat8E4m3fn: return plain_cells<float8_e4m3fn>(t, shown, false);
    case core::DType::kFloat8E4m3fnuz: return plain_cells<float8_e4m3fnuz>(t, shown, false);
    case core::DType::kFloat8E4m3b11fnuz: return plain_cells<float8_e4m3b11fnuz>(t, shown, false);
    case core::DType::kFloat8E5m2fnuz: return plain_cells<float8_e5m2fnuz>(t, shown, false);
    case core::DType::kFloat4E2m1fn: return plain_cells<float4_e2m1fn>(t, shown, false);
    case core::DType::kString: return plain_cells<tstring>(t, shown, false);
    case core::DType::kResource: return plain_cells<ResourceHandle>(t, shown, false);
    case core::DType::kVariant: return plain_cells<Variant>(t, shown, false);
    default: return Cells(shown.size(), "?");
  }
}

// Nested brackets; rows that are too long continue on the next line.
class Layout {
 public:
  Layout(const core::Tensor& t, const Cells& cells, bool cut) : t_(t), cells_(cells), cut_(cut) {}
  std::string text() { return nested(0, kLineWidth); }

 private:
  std::string nested(int dim, size_t width) {
    const std::string indent(size_t(dim) + 1, ' ');
    const int64_t n = t_.dim(dim);
    const bool summarize = cut_ && n > 2 * kEdge;
    const int64_t count = summarize ? 2 * kEdge + 1 : n;
    std::string done, line = indent;
    for (int64_t i = 0; i < count; ++i) {
      const bool dots = summarize && i == kEdge;
      if (dim + 1 < t_.rank()) {
        if (i) done += std::string(size_t(t_.rank() - dim - 1), '\n') + indent;
        done += dots ? "..." : nested(dim + 1, width - 1);
        continue;
      }
      const std::string_view word = dots ? std::string_view("...") : cells_[next_++];
      if (i) line += ' ';
      if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
        line.erase(line.find_last_not_of(' ') + 1);
        done += line + "\n";
        line = indent;
      }
      line += word;
    }
    if (dim + 1 == t_.rank()) {
      done += line;
      done.erase(0, indent.size());
    }
    return "[" + done + "]";
  }

  const core::Tensor& t_;
  const Cells& cells_;
  bool cut_;
  size_t next_ = 0;
};

}  // namespace

std::string array_text(const core::Tensor& t) {
  if (t.num_elements() == 0) return "[]";
  const bool cut = t.num_elements() > kThreshold;
  std::vector<int64_t> shown;
  shown_offsets(t, 0, 0, cut, shown);
  const Cells cells = cells_of(t, shown);
  return t.rank() == 0 ? cells[0] : Layout(t, cells, cut).text();
}

}  // namespace weft::api
