#include "core/shape.h"

namespace weft_engine::core {

int64_t multiply_without_overflow(int64_t a, int64_t b) {
  int64_t r;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r)) return -1;
  return r;
}

Shape::Shape(std::span<const int64_t> dims) { assign(dims); }

void Shape::assign(std::span<const int64_t> dims) {
  rank_ = int(dims.size());
  if (rank_ > kInline) heap_ = new int64_t[size_t(rank_)];
  if (rank_) std::memcpy(data(), dims.data(), size_t(rank_) * 8);
  count();
}

void Shape::count() {
  int64_t n = 1;
  bool zero = false;
  for (int64_t d : dims()) {
    if (d < 0) {
      num_elements_ = -1;
      return;
    }
    zero |= d == 0;
  }
  // TensorFlow refuses a product that overflows even where a later dimension is zero only if the zero
  // comes later; we accept any shape with a zero in it.
  if (zero) {
    num_elements_ = 0;
    return;
  }
  for (int64_t d : dims()) {
    n = multiply_without_overflow(n, d);
    if (n < 0) break;
  }
  num_elements_ = n;
}

Status Shape::check() const {
  if (valid()) return {};
  int64_t n = 1;
  for (int64_t d : dims()) {
    if (d < 0) return invalid_argument("Expected shape dimensions to be non-negative, got ", d);
    int64_t next = multiply_without_overflow(n, d);
    if (next < 0) return invalid_argument("Encountered overflow when multiplying ", n, " with ", d, ", result: -1");
    n = next;
  }
  return internal_error("shape ", to_string(), " is marked invalid");
}

Result<Shape> Shape::make(std::span<const int64_t> dims) {
  if (dims.size() > size_t(kMaxRank))
    return invalid_argument("Shape ", join(dims), " has too many dimensions (", dims.size(), "); the most is ", kMaxRank);
  Shape s(dims);
  WEFT_RETURN_IF_ERROR(s.check());
  return s;
}

void Shape::set_dim(int i, int64_t d) {
  data()[i] = d;
  count();
}

void Shape::add_dim(int64_t d) { insert_dim(rank_, d); }

void Shape::insert_dim(int at, int64_t d) {
  if (rank_ < kInline) {
    for (int i = rank_; i > at; --i) inline_[i] = inline_[i - 1];
    inline_[at] = d;
    ++rank_;
    count();
    return;
  }
  auto v = vec();
  v.insert(v.begin() + at, d);
  release();
  assign(v);
}

void Shape::remove_dim(int at) {
  auto v = vec();
  v.erase(v.begin() + at);
  release();
  assign(v);
}

Shape Shape::with_dim(int i, int64_t d) const {
  Shape s = *this;
  s.set_dim(i, d);
  return s;
}

Shape Shape::slice(int begin, int end) const { return Shape(dims().subspan(size_t(begin), size_t(end - begin))); }

Shape Shape::concat(const Shape& tail) const {
  auto v = vec();
  v.insert(v.end(), tail.dims().begin(), tail.dims().end());
  return Shape(v);
}

int64_t Shape::elements_in(int begin, int end) const {
  // An empty tensor may have huge dimensions beside its zero: their product wraps, which is harmless
  // where nothing is stored, but must not be undefined.
  uint64_t n = 1;
  for (int i = begin; i < end; ++i) n *= uint64_t(dim(i));
  return int64_t(n);
}

std::string Shape::to_string() const { return cat("[", join(dims()), "]"); }

bool PartialShape::fully_known() const {
  if (!known_) return false;
  for (int64_t d : dims_) {
    if (d < 0) return false;
  }
  return true;
}

std::optional<int64_t> PartialShape::num_elements() const {
  if (!fully_known()) return std::nullopt;
  int64_t n = Shape(dims_).num_elements();
  return n < 0 ? std::nullopt : std::optional(n);
}

std::optional<Shape> PartialShape::concrete() const {
  if (!fully_known()) return std::nullopt;
  return Shape(dims_);
}

PartialShape PartialShape::slice(int begin, int end) const {
  if (!known_) return unknown();
  return PartialShape(std::vector<int64_t>(dims_.begin() + begin, dims_.begin() + end));
}

PartialShape PartialShape::concat(const PartialShape& tail) const {
  if (!known_ || !tail.known_) return unknown();
  auto v = dims_;
  v.insert(v.end(), tail.dims_.begin(), tail.dims_.end());
  return PartialShape(std::move(v));
}

bool PartialShape::compatible_with(const PartialShape& o) const {
  if (!known_ || !o.known_) return true;
  if (dims_.size() != o.dims_.size()) return false;
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i] >= 0 && o.dims_[i] >= 0 && dims_[i] != o.dims_[i]) return false;
  }
  return true;
}

Result<PartialShape> PartialShape::merge_with(const PartialShape& o) const {
  if (!known_) return o;
  if (!o.known_) return *this;
  if (dims_.size() != o.dims_.size()) return invalid_argument("Shapes must be equal rank, but are ", dims_.size(), " and ", o.dims_.size());
  PartialShape merged = *this;
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i] < 0) merged.dims_[i] = o.dims_[i];
    else if (o.dims_[i] >= 0 && o.dims_[i] != dims_[i])
      return invalid_argument("Dimension ", i, " in both shapes must be equal, but are ", dims_[i], " and ", o.dims_[i], ". Shapes are ", to_string(),
                              " and ", o.to_string(), ".");
  }
  return merged;
}

std::string PartialShape::to_string() const {
  if (!known_) return "<unknown>";
  std::string out = "[";
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (i) out += ",";
    if (dims_[i] < 0) out += "?";
    else append(out, dims_[i]);
  }
  return out + "]";
}

}  // namespace weft_engine::core
