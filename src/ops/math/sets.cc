// Sets along the last dimension: sizes, unions, intersections, differences; and the difference of two lists.
#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "kernels/cpu/group_table.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/sparse/sparse_tensor.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

#define WEFT_SET_TYPES int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, tstring

// A sparse operand, its dense shape checked, read group by group: rows that agree in all but the last index.
class SparseSets {
 public:
  static Result<SparseSets> make(KernelContext& c, int base, bool validate) {
    SparseSets s(c.input(base), c.input(base + 1));
    WEFT_ASSIGN(s.shape_, dense_shape_of(c.input(base + 2)));
    if (s.shape_.rank() < 2) return invalid_argument("Invalid rank ", s.shape_.rank(), ".");
    WEFT_RETURN_IF_ERROR(check_sparse_parts(*s.indices_, *s.values_, s.shape_.rank()));
    if (validate) WEFT_RETURN_IF_ERROR(check_sparse_order(*s.indices_, s.shape_.dims()));
    s.find_end();
    return s;
  }

  const Shape& shape() const { return shape_; }
  bool done() const { return begin_ >= indices_->dim(0); }
  std::span<const int64_t> key() const { return row(begin_).first(size_t(shape_.rank() - 1)); }
  void next() {
    begin_ = end_;
    find_end();
  }

  // Not validated on the way in, indices are checked here, with TensorFlow's words.
  Status check_group() const {
    for (int d = 0; d < shape_.rank(); ++d) {
      if (shape_.dim(d) <= 0) return internal_error("Invalid dim_size[", d, "] = ", shape_.dim(d), ".");
      for (int64_t i = begin_; i < end_; ++i) {
        const int64_t at = row(i)[size_t(d)];
        if (at < 0 || at >= shape_.dim(d)) return internal_error("indices[", i - begin_, ", ", d, "] expected < ", shape_.dim(d), ", got ", at, ".");
      }
    }
    return {};
  }
  // The values of the group, sorted, each once.
  template <class T>
  void read(std::vector<T>& out) const {
    out.assign(values_->data<T>() + begin_, values_->data<T>() + end_);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
  }

 private:
  SparseSets(const Tensor& indices, const Tensor& values) : indices_(&indices), values_(&values) {}
  std::span<const int64_t> row(int64_t i) const { return {indices_->data<int64_t>() + i * shape_.rank(), size_t(shape_.rank())}; }
  void find_end() {
    if (done()) return;
    const auto head = key();
    for (end_ = begin_ + 1; end_ < indices_->dim(0); ++end_) {
      if (!std::equal(head.begin(), head.end(), row(end_).begin())) break;
    }
  }

  const Tensor *indices_, *values_;
  Shape shape_;
  int64_t begin_ = 0, end_ = 0;
};

int64_t flat_index(std::span<const int64_t> key, const Shape& group) {
  int64_t at = 0;
  for (size_t d = 0; d < key.size(); ++d) at = at * group.dim(int(d)) + key[d];
  return at;
}

std::vector<int64_t> group_key(int64_t flat, const Shape& group) {
  std::vector<int64_t> key(size_t(group.rank()));
  for (int d = group.rank() - 1; d >= 0; --d) {
    key[size_t(d)] = flat % group.dim(d);
    flat /= group.dim(d);
  }
  return key;
}

Result<Shape> common_groups(const Shape& a, const Shape& b) {
  for (const Shape* s : {&a, &b}) {
    if (s->rank() < 2) return invalid_argument("Shape ", *s, " has rank ", s->rank(), " < 2");
  }
  const Shape x = a.slice(0, a.rank() - 1), y = b.slice(0, b.rank() - 1);
  if (x != y) return invalid_argument("Mismatched shapes ", x, " vs ", y);
  return x;
}

enum class SetOp { kMinus, kReverseMinus, kIntersection, kUnion };

Result<SetOp> read_op(const KernelContext& c) {
  std::string name = c.attr<std::string>("set_operation");
  for (char& ch : name) ch = ch >= 'A' && ch <= 'Z' ? char(ch + 32) : ch;
  if (name == "a-b") return SetOp::kMinus;
  if (name == "b-a") return SetOp::kReverseMinus;
  if (name == "intersection") return SetOp::kIntersection;
  if (name == "union") return SetOp::kUnion;
  return invalid_argument("Invalid set_operation ", name, ".");
}

// Collects the result of each group and writes them as one sparse tensor.
template <class T>
class SetWriter {
 public:
  explicit SetWriter(SetOp op) : op_(op) {}

  void add(std::span<const int64_t> key, const std::vector<T>& a, const std::vector<T>& b) {
    const size_t before = values_.size();
    const auto to = std::back_inserter(values_);
    switch (op_) {
      case SetOp::kMinus: std::set_difference(a.begin(), a.end(), b.begin(), b.end(), to); break;
      case SetOp::kReverseMinus: std::set_difference(b.begin(), b.end(), a.begin(), a.end(), to); break;
      case SetOp::kIntersection: std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), to); break;
      case SetOp::kUnion: std::set_union(a.begin(), a.end(), b.begin(), b.end(), to); break;
    }
    const size_t count = values_.size() - before;
    most_ = std::max(most_, int64_t(count));
    for (size_t i = 0; i < count; ++i) {
      indices_.insert(indices_.end(), key.begin(), key.end());
      indices_.push_back(int64_t(i));
    }
  }

  Status write(KernelContext& c, const Shape& group) {
    const int64_t n = int64_t(values_.size()), rank = group.rank() + 1;
    WEFT_ASSIGN(Tensor* indices, c.allocate(0, Shape({n, rank})));
    WEFT_ASSIGN(Tensor* values, c.allocate(1, Shape({n})));
    WEFT_ASSIGN(Tensor* shape, c.allocate(2, Shape({rank})));
    std::copy(indices_.begin(), indices_.end(), indices->data<int64_t>());
    std::move(values_.begin(), values_.end(), values->data<T>());
    std::copy_n(group.dims().data(), rank - 1, shape->data<int64_t>());
    shape->data<int64_t>()[rank - 1] = most_;
    return {};
  }

 private:
  SetOp op_;
  std::vector<int64_t> indices_;
  std::vector<T> values_;
  int64_t most_ = 0;
};

template <class T>
void read_dense(const Tensor& t, int64_t group, std::vector<T>& out) {
  const int64_t n = t.dim(t.rank() - 1);
  out.assign(t.data<T>() + group * n, t.data<T>() + (group + 1) * n);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

Status run_dense_dense(KernelContext& c) {
  const Tensor &a = c.input(0), &b = c.input(1);
  WEFT_ASSIGN(SetOp op, read_op(c));
  WEFT_ASSIGN(Shape group, common_groups(a.shape(), b.shape()));
  WEFT_RETURN_IF_ERROR(group.check());
  return dispatch<WEFT_SET_TYPES>(a.dtype(), [&]<class T>(Tag<T>) {
    SetWriter<T> writer(op);
    std::vector<T> x, y;
    // Without any element there may be any number of groups, all empty.
    const int64_t groups = a.num_elements() || b.num_elements() ? group.num_elements() : 0;
    for (int64_t g = 0; g < groups; ++g) {
      read_dense(a, g, x);
      read_dense(b, g, y);
      writer.add(group_key(g, group), x, y);
    }
    return writer.write(c, group);
  });
}

Status run_dense_sparse(KernelContext& c) {
  const Tensor& a = c.input(0);
  WEFT_ASSIGN(SetOp op, read_op(c));
  WEFT_ASSIGN(SparseSets b, SparseSets::make(c, 1, c.attr<bool>("validate_indices")));
  WEFT_ASSIGN(Shape group, common_groups(a.shape(), b.shape()));
  return dispatch<WEFT_SET_TYPES>(a.dtype(), [&]<class T>(Tag<T>) -> Status {
    SetWriter<T> writer(op);
    std::vector<T> x, y;
    if (a.num_elements() == 0) {
      // Only the groups of the sparse operand matter, as far as they come in order.
      for (int64_t last = -1; !b.done(); b.next()) {
        const auto key = b.key();
        WEFT_RETURN_IF_ERROR(b.check_group());
        const int64_t at = flat_index(key, group);
        if (at <= last) break;
        last = at;
        b.read(y);
        writer.add(key, x, y);
      }
      return writer.write(c, group);
    }
    for (int64_t g = 0; g < group.num_elements(); ++g) {
      const auto key = group_key(g, group);
      read_dense(a, g, x);
      y.clear();
      if (!b.done() && std::ranges::equal(b.key(), key)) {
        WEFT_RETURN_IF_ERROR(b.check_group());
        b.read(y);
        b.next();
      }
      writer.add(key, x, y);
    }
    return writer.write(c, group);
  });
}

Status run_sparse_sparse(KernelContext& c) {
  const bool validate = c.attr<bool>("validate_indices");
  WEFT_ASSIGN(SetOp op, read_op(c));
  WEFT_ASSIGN(SparseSets a, SparseSets::make(c, 0, validate));
  WEFT_ASSIGN(SparseSets b, SparseSets::make(c, 3, validate));
  WEFT_ASSIGN(Shape group, common_groups(a.shape(), b.shape()));
  return dispatch<WEFT_SET_TYPES>(c.input(1).dtype(), [&]<class T>(Tag<T>) -> Status {
    SetWriter<T> writer(op);
    std::vector<T> x, y;
    while (!a.done() || !b.done()) {
      const bool from_a = !a.done() && (b.done() || !std::ranges::lexicographical_compare(b.key(), a.key()));
      const bool from_b = !b.done() && (a.done() || !std::ranges::lexicographical_compare(a.key(), b.key()));
      const auto key = from_a ? a.key() : b.key();
      x.clear();
      y.clear();
      if (from_a) {
        WEFT_RETURN_IF_ERROR(a.check_group());
        a.read(x);
      }
      if (from_b) {
        WEFT_RETURN_IF_ERROR(b.check_group());
        b.read(y);
      }
      writer.add(key, x, y);
      if (from_a) a.next();
      if (from_b) b.next();
    }
    return writer.write(c, group);
  });
}

Status run_set_size(KernelContext& c) {
  WEFT_ASSIGN(SparseSets sets, SparseSets::make(c, 0, c.attr<bool>("validate_indices")));
  const Shape group = sets.shape().slice(0, sets.shape().rank() - 1);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, group));
  std::fill_n(out->data<int32_t>(), out->num_elements(), 0);
  return dispatch<WEFT_SET_TYPES>(c.input(1).dtype(), [&]<class T>(Tag<T>) -> Status {
    std::vector<T> values;
    for (; !sets.done(); sets.next()) {
      WEFT_RETURN_IF_ERROR(sets.check_group());
      sets.read(values);
      out->data<int32_t>()[flat_index(sets.key(), group)] = int32_t(values.size());
    }
    return {};
  });
}

// --- ListDiff

// NaN is equal to nothing; 0 is -0.
template <class T>
uint64_t value_hash(const T& v) {
  if constexpr (std::is_same_v<T, tstring>) return kernels::hash_word(std::hash<std::string_view>{}(v.view()));
  else if constexpr (std::is_integral_v<T>) return kernels::hash_word(uint64_t(v));
  else return kernels::hash_word(double(v) == 0 ? 0 : std::bit_cast<uint64_t>(double(v)));
}

Status run_list_diff(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1);
  if (x.rank() != 1) return invalid_argument("x should be a 1D vector.");
  if (y.rank() != 1) return invalid_argument("y should be a 1D vector.");
  if (x.dim(0) >= std::numeric_limits<int32_t>::max()) return invalid_argument("x too large for int32 indexing");
  std::vector<int64_t> kept;
  WEFT_RETURN_IF_ERROR((dispatch<WEFT_REALS, tstring>(x.dtype(), [&]<class T>(Tag<T>) {
    kernels::GroupTable gone;
    std::vector<int64_t> first;  // where each distinct value of y stands
    const auto same = [&](const T& v) { return [&](int64_t g) { return y.data<T>()[first[size_t(g)]] == v; }; };
    for (int64_t i = 0; i < y.dim(0); ++i) {
      const T& v = y.data<T>()[i];
      if (v == v && gone.find_or_add(value_hash(v), same(v)) == int64_t(first.size())) first.push_back(i);
    }
    for (int64_t i = 0; i < x.dim(0); ++i) {
      const T& v = x.data<T>()[i];
      if (gone.find(value_hash(v), same(v)) < 0) kept.push_back(i);
    }
    return Status();
  })));
  WEFT_ASSIGN(Tensor values, pick_values(x, kept));
  c.set_output(0, std::move(values));
  WEFT_ASSIGN(Tensor* indices, c.allocate(1, Shape({int64_t(kept.size())})));
  if (indices->dtype() == DType::kInt64) std::copy(kept.begin(), kept.end(), indices->data<int64_t>());
  else std::transform(kept.begin(), kept.end(), indices->data<int32_t>(), [](int64_t i) { return int32_t(i); });
  return {};
}

// --- shape rules

void output_sets(ShapeContext& c, int64_t rank) {
  c.output(0, PartialShape::matrix(kUnknownDim, rank));
  c.output(1, PartialShape::vector(kUnknownDim));
  c.output(2, PartialShape::vector(rank));
}

// The rank of the sparse operand at inputs i to i + 2; -1 if it is not known.
Result<int64_t> sparse_rank(const ShapeContext& c, int i) {
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, i));
  const int64_t rows = c.input(i).dim(0), values = c.input(i + 1).dim(0), columns = c.input(i).dim(1), rank = c.input(i + 2).dim(0);
  if (rows >= 0 && values >= 0 && rows != values)
    return invalid_argument("Number of elements in index (", rows, ") and values (", values, ") do not match.");
  if (columns >= 0 && rank >= 0 && columns != rank) return invalid_argument("Index rank (", columns, ") and shape rank (", rank, ") do not match.");
  return rank;
}

Status dense_dense_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape a, c.with_rank_at_least(0, 2));
  WEFT_ASSIGN(PartialShape b, c.with_rank_at_least(1, 2));
  if (a.has_rank() && b.has_rank()) {
    WEFT_RETURN_IF_ERROR(c.with_rank(1, a.rank()).status());
    WEFT_RETURN_IF_ERROR(a.slice(0, a.rank() - 1).merge_with(b.slice(0, b.rank() - 1)).status());
  }
  output_sets(c, std::max(a.rank(), b.rank()));
  return {};
}

Status dense_sparse_shape(ShapeContext& c) {
  WEFT_ASSIGN(int64_t rank, sparse_rank(c, 1));
  WEFT_ASSIGN(PartialShape a, c.with_rank_at_least(0, 2));
  if (a.has_rank()) {
    WEFT_ASSIGN(rank, ShapeContext::merge_dim(a.rank(), rank));
  }
  output_sets(c, rank);
  return {};
}

Status sparse_sparse_shape(ShapeContext& c) {
  int64_t rank = kUnknownDim;
  for (int i = 0; i < 2; ++i) {
    WEFT_ASSIGN(int64_t given, sparse_rank(c, 3 * i));
    if (given >= 0 && given < 2) return invalid_argument("Input ", i, ", expected rank >= 2, got ", given, ".");
    WEFT_ASSIGN(rank, ShapeContext::merge_dim(rank, given));
  }
  output_sets(c, rank);
  return {};
}

Status list_diff_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 1).status());
  c.output(0, PartialShape::vector(kUnknownDim));
  c.output(1, PartialShape::vector(kUnknownDim));
  return {};
}

}  // namespace

void sets(Registry& r) {
  r.add("DenseToDenseSetOperation")
      .in("set1: T")
      .in("set2: T")
      .out("result_indices: int64")
      .out("result_values: T")
      .out("result_shape: int64")
      .attr("set_operation: string")
      .attr("validate_indices: bool = true")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
      .doc("Set operation along the last dimension of two dense tensors; the result is sparse, each set sorted.")
      .shape(dense_dense_shape)
      .no_grad()
      .cpu(run_dense_dense);

  r.add("DenseToSparseSetOperation")
      .in("set1: T")
      .in("set2_indices: int64")
      .in("set2_values: T")
      .in("set2_shape: int64")
      .out("result_indices: int64")
      .out("result_values: T")
      .out("result_shape: int64")
      .attr("set_operation: string")
      .attr("validate_indices: bool = true")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
      .doc("Set operation along the last dimension of a dense and a sparse tensor; the result is sparse, each set sorted.")
      .shape(dense_sparse_shape)
      .no_grad()
      .cpu(run_dense_sparse);

  r.add("ListDiff")
      .in("x: T")
      .in("y: T")
      .out("out: T")
      .out("idx: out_idx")
      .attr("T: type")
      .attr("out_idx: {int32, int64} = DT_INT32")
      .doc("The values of x that are not in y, in order, and where they stood.")
      .traits({.shrinks = true})
      .shape(list_diff_shape)
      .cpu(run_list_diff, types<WEFT_REALS, tstring>("T"));

  r.add("SetSize")
      .in("set_indices: int64")
      .in("set_values: T")
      .in("set_shape: int64")
      .out("size: int32")
      .attr("validate_indices: bool = true")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
      .doc("The number of different values along the last dimension of a sparse tensor.")
      .shape(shapes::unknown)
      .no_grad()
      .cpu(run_set_size);

  r.add("SparseToSparseSetOperation")
      .in("set1_indices: int64")
      .in("set1_values: T")
      .in("set1_shape: int64")
      .in("set2_indices: int64")
      .in("set2_values: T")
      .in("set2_shape: int64")
      .out("result_indices: int64")
      .out("result_values: T")
      .out("result_shape: int64")
      .attr("set_operation: string")
      .attr("validate_indices: bool = true")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
      .doc("Set operation along the last dimension of two sparse tensors; the result is sparse, each set sorted.")
      .shape(sparse_sparse_shape)
      .no_grad()
      .cpu(run_sparse_sparse);
}

}  // namespace weft_engine::ops
