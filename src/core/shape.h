// Shape: the dimensions of a tensor, all known. PartialShape: dimensions or the rank may be unknown;
// what shape rules, attributes and graphs use.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/status.h"

namespace weft_engine::core {

inline constexpr int kMaxRank = 254;

// Up to six dimensions live inside; more go to the heap.
// A shape made from dimensions that are negative, or whose product overflows, is kept as it is but is
// not valid(): num_elements() is -1 and no tensor can be allocated with it, so a kernel may compute a
// shape from untrusted numbers and let the allocation report the error.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);
  explicit Shape(const std::vector<int64_t>& dims) : Shape(std::span<const int64_t>(dims)) {}
  Shape(const Shape& o) { copy(o); }
  Shape(Shape&& o) noexcept { steal(o); }
  Shape& operator=(const Shape& o) {
    if (this != &o) {
      release();
      copy(o);
    }
    return *this;
  }
  Shape& operator=(Shape&& o) noexcept {
    if (this != &o) {
      release();
      steal(o);
    }
    return *this;
  }
  ~Shape() { release(); }

  // Checked construction from untrusted numbers, with TensorFlow's error texts.
  static Result<Shape> make(std::span<const int64_t> dims);

  int rank() const { return rank_; }
  int64_t dim(int i) const { return data()[i]; }
  int64_t operator[](int i) const { return data()[i]; }
  std::span<const int64_t> dims() const { return {data(), size_t(rank_)}; }
  std::vector<int64_t> vec() const { return {dims().begin(), dims().end()}; }
  int64_t num_elements() const { return num_elements_; }
  bool valid() const { return num_elements_ >= 0; }
  // Why the shape is not valid, in TensorFlow's words; OK if it is.
  Status check() const;

  void set_dim(int i, int64_t d);
  void add_dim(int64_t d);
  void insert_dim(int at, int64_t d);
  void remove_dim(int at);
  Shape with_dim(int i, int64_t d) const;
  Shape slice(int begin, int end) const;       // dims [begin, end)
  Shape concat(const Shape& tail) const;
  int64_t elements_in(int begin, int end) const;  // product of dims [begin, end)

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_ || a.num_elements_ != b.num_elements_) return false;
    const int64_t *x = a.data(), *y = b.data();
    for (int i = 0; i < a.rank_; ++i) {
      if (x[i] != y[i]) return false;
    }
    return true;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }
  std::string to_string() const;  // "[2,3]"

 private:
  static constexpr int kInline = 6;
  const int64_t* data() const { return rank_ <= kInline ? inline_ : heap_; }
  int64_t* data() { return rank_ <= kInline ? inline_ : heap_; }
  void release() {
    if (rank_ > kInline) delete[] heap_;
  }
  void copy(const Shape& o) {
    rank_ = o.rank_;
    num_elements_ = o.num_elements_;
    if (rank_ <= kInline) {
      std::memcpy(inline_, o.inline_, sizeof inline_);
    } else {
      heap_ = new int64_t[size_t(rank_)];
      std::memcpy(heap_, o.heap_, size_t(rank_) * 8);
    }
  }
  void steal(Shape& o) noexcept {
    rank_ = o.rank_;
    num_elements_ = o.num_elements_;
    std::memcpy(inline_, o.inline_, sizeof inline_);  // covers the pointer too
    o.rank_ = 0;
    o.num_elements_ = 1;
  }
  void assign(std::span<const int64_t> dims);
  void count();

  int rank_ = 0;
  int64_t num_elements_ = 1;
  union {
    int64_t inline_[kInline] = {};
    int64_t* heap_;
  };
};

inline constexpr int64_t kUnknownDim = -1;

class PartialShape {
 public:
  PartialShape() = default;  // unknown rank
  PartialShape(std::vector<int64_t> dims) : known_(true), dims_(std::move(dims)) {}  // NOLINT
  PartialShape(std::initializer_list<int64_t> dims) : known_(true), dims_(dims) {}
  PartialShape(const Shape& s) : known_(true), dims_(s.vec()) {}  // NOLINT
  static PartialShape unknown() { return {}; }
  static PartialShape unknown_of_rank(int rank) { return PartialShape(std::vector<int64_t>(size_t(rank), kUnknownDim)); }
  static PartialShape scalar() { return PartialShape(std::vector<int64_t>{}); }
  static PartialShape vector(int64_t n) { return PartialShape(std::vector<int64_t>{n}); }
  static PartialShape matrix(int64_t m, int64_t n) { return PartialShape(std::vector<int64_t>{m, n}); }

  bool has_rank() const { return known_; }
  int rank() const { return known_ ? int(dims_.size()) : -1; }
  int64_t dim(int i) const { return known_ ? dims_[size_t(i < 0 ? i + int(dims_.size()) : i)] : kUnknownDim; }
  const std::vector<int64_t>& dims() const { return dims_; }
  bool fully_known() const;
  std::optional<int64_t> num_elements() const;
  std::optional<Shape> concrete() const;  // if fully known
  void add_dim(int64_t d) { dims_.push_back(d); }
  void set_dim(int i, int64_t d) { dims_[size_t(i)] = d; }
  PartialShape slice(int begin, int end) const;
  PartialShape concat(const PartialShape& tail) const;

  // Could both describe one tensor?
  bool compatible_with(const PartialShape& o) const;
  Result<PartialShape> merge_with(const PartialShape& o) const;
  friend bool operator==(const PartialShape& a, const PartialShape& b) { return a.known_ == b.known_ && a.dims_ == b.dims_; }
  std::string to_string() const;  // "[2,?]" or "<unknown>"

 private:
  bool known_ = false;
  std::vector<int64_t> dims_;
};

// Product of two sizes that are not negative; -1 on overflow.
int64_t multiply_without_overflow(int64_t a, int64_t b);

}  // namespace weft_engine::core
