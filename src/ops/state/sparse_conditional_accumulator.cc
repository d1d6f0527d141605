// Conditional accumulators of sparse gradients: rows of a tensor, by index. Each row is averaged over the
// gradients that had it.
#include <algorithm>

#include "kernels/cpu/accumulate.h"
#include "ops/state/conditional_accumulator.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

class SparseAccumulator final : public AccumulatorBase {
 public:
  SparseAccumulator(const KernelContext& c, std::string name) : AccumulatorBase(c, std::move(name)) {}
  static Result<std::shared_ptr<AccumulatorBase>> make(const KernelContext& c, std::string name) {
    return std::shared_ptr<AccumulatorBase>(std::make_shared<SparseAccumulator>(c, std::move(name)));
  }

 private:
  int shape_rank() const { return shape_.has_rank() ? shape_.rank() : -1; }
  Status check(const KernelContext& c, bool first) const;
  Status check_shape_input(const Tensor& shape) const;
  Status merge(KernelContext& c, const Tensor& indices, const Tensor& values);

  Status add(KernelContext& c, bool first) override {
    WEFT_RETURN_IF_ERROR(check(c, first));
    const Tensor &indices = c.input(2), &values = c.input(3);
    if (!first) return merge(c, indices, values);
    WEFT_ASSIGN(values_, values.copy());
    const auto rows = indices.span<int64_t>();
    indices_.assign(rows.begin(), rows.end());
    counts_.assign(rows.size(), 1);
    return {};
  }

  Status give(KernelContext& c, int64_t) override;

  std::vector<int64_t> indices_, counts_;  // of each row: its index, and how many gradients had it
  Tensor values_;
};

Status SparseAccumulator::check_shape_input(const Tensor& shape) const {
  if (shape_rank() > shape.num_elements())
    return invalid_argument("Shape mismatch: expected shape rank at least ", shape_rank(), ", got ", shape.num_elements());
  for (int i = 0; i < shape_rank(); ++i) {
    const int64_t got = shape.data<int64_t>()[i];
    if (shape_.dim(i) != kUnknownDim && shape_.dim(i) != got)
      return invalid_argument("Shape mismatch: expected shape dim ", i, " to be ", shape_.dim(i), ", got ", got);
  }
  return {};
}

Status SparseAccumulator::check(const KernelContext& c, bool first) const {
  if (c.num_inputs() != 5) return not_found("No attr named 'has_known_shape' in NodeDef:");
  const Tensor &indices = c.input(2), &values = c.input(3);
  if (indices.rank() != 1) return invalid_argument("Input indices should be vector but received shape: ", indices.shape());
  if (values.rank() == 0) return invalid_argument("Values cannot be 0-dimensional.");
  if (values.dim(0) != indices.dim(0)) return invalid_argument("Expected ", indices.dim(0), " non-empty input values, got ", values.dim(0));
  if (c.attr<bool>("has_known_shape")) WEFT_RETURN_IF_ERROR(check_shape_input(c.input(4)));
  if (shape_rank() > 0 && shape_.dim(0) != kUnknownDim) {
    const auto rows = indices.span<int64_t>();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] >= shape_.dim(0))
        return invalid_argument("Shape mismatch: index of slice ", i, " exceeded limits of shape; index is ", rows[i], " exceeded ", shape_.dim(0));
    }
  }
  if (!first) {
    if (values_.rank() != values.rank()) return invalid_argument("Shape mismatch: expected values rank ", values_.rank(), ", got ", values.rank());
    for (int i = 1; i < values.rank(); ++i) {
      if (values_.dim(i) != values.dim(i))
        return invalid_argument("Shape mismatch: expected values dim ", i, " to be ", values_.dim(i), ", got ", values.dim(i));
    }
    return {};
  }
  if (shape_rank() > values.rank()) return invalid_argument("Shape mismatch: expected values rank at least ", shape_rank(), ", got ", values.rank());
  for (int i = 1; i < shape_rank(); ++i) {
    if (shape_.dim(i) != kUnknownDim && shape_.dim(i) != values.dim(i))
      return invalid_argument("Shape mismatch: expected values dim ", i, " to be ", shape_.dim(i), ", got ", values.dim(i));
  }
  return {};
}

// Both are taken to be in order of the index, as TensorFlow does: what is not is merged all the same.
Status SparseAccumulator::merge(KernelContext& c, const Tensor& indices, const Tensor& values) {
  struct Row {
    int64_t mine, theirs;  // -1: not there
  };
  const auto theirs = indices.span<int64_t>();
  std::vector<Row> rows;
  for (size_t i = 0, j = 0; i < indices_.size() || j < theirs.size();) {
    const bool left = i < indices_.size() && (j == theirs.size() || indices_[i] <= theirs[j]);
    const bool right = j < theirs.size() && (i == indices_.size() || theirs[j] <= indices_[i]);
    rows.push_back({left ? int64_t(i) : -1, right ? int64_t(j) : -1});
    i += left;
    j += right;
  }
  const Shape row_shape = values.shape().slice(1, values.rank());
  const int64_t width = row_shape.num_elements(), bytes = width * int64_t(dtype_size(dtype_));
  WEFT_ASSIGN(Tensor sum, Tensor::allocate(dtype_, Shape({int64_t(rows.size())}).concat(row_shape)));
  std::vector<int64_t> sum_indices, sum_counts;
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto [i, j] = rows[r];
    const bool both = i >= 0 && j >= 0;
    copy_elements(i >= 0 ? values_ : values, (i >= 0 ? i : j) * width, sum, int64_t(r) * width, width);
    auto at = [bytes](const auto& t, int64_t row) { return static_cast<const char*>(t.raw()) + row * bytes; };
    if (both && !kernels::accumulate(dtype_, const_cast<char*>(at(sum, int64_t(r))), at(values, j), width, false, c.pool()))
      return unimplemented("no kernel for type ", dtype_);
    sum_indices.push_back(i >= 0 ? indices_[size_t(i)] : theirs[size_t(j)]);
    sum_counts.push_back(i >= 0 ? counts_[size_t(i)] + both : 1);
  }
  values_ = std::move(sum);
  indices_ = std::move(sum_indices);
  counts_ = std::move(sum_counts);
  return {};
}

Status SparseAccumulator::give(KernelContext& c, int64_t) {
  if (c.num_outputs() != 3) return invalid_argument("the accumulator '", name_, "' holds sparse gradients");
  const int64_t width = indices_.empty() ? 0 : values_.num_elements() / int64_t(indices_.size());
  if (mean_) {
    WEFT_RETURN_IF_ERROR((dispatch<half, float, double>(dtype_, [&]<class T>(Tag<T>) {
      T* x = values_.data<T>();
      for (int64_t n : counts_) {
        for (int64_t k = 0; k < width; ++k, ++x) *x = T(*x / T(float(n)));
      }
      return Status();
    })));
  }
  // The first size is the declared one, the others are those of the values.
  std::vector<int64_t> dims = values_.shape().vec();
  dims[0] = shape_rank() > 0 ? shape_.dim(0) : -1;
  c.set_output(0, Tensor::vector(indices_));
  c.set_output(1, std::move(values_));
  c.set_output(2, Tensor::vector(dims));
  values_ = {};
  return {};
}

Status ref_handle(ShapeContext& c) {
  c.output(0, {2});
  return {};
}

Status take_shape(ShapeContext& c) {
  c.output(0, PartialShape::vector(kUnknownDim));
  c.output(1, PartialShape::unknown());
  c.output(2, PartialShape::vector(kUnknownDim));
  return {};
}

}  // namespace

void sparse_conditional_accumulator(Registry& r) {
  r.add("SparseAccumulatorApplyGradient")
      .doc("Adds a sparse gradient unless its step is past, by a version 1 handle.")
      .in("handle: Ref(string)")
      .in("local_step: int64")
      .in("gradient_indices: int64")
      .in("gradient_values: dtype")
      .in("gradient_shape: int64")
      .attr(kGradientTypes)
      .attr("has_known_shape: bool")
      .shape(shapes::no_outputs)
      .cpu(run_apply_gradient);

  r.add("SparseAccumulatorTakeGradient")
      .doc("Takes the sum or mean of sparse gradients when enough came, and starts the next step, by a version 1 handle.")
      .in("handle: Ref(string)")
      .in("num_required: int32")
      .out("indices: int64")
      .out("values: dtype")
      .out("shape: int64")
      .attr(kGradientTypes)
      .shape(take_shape)
      .cpu_make(AsyncKernel<run_take_gradient>::create);

  r.add("SparseConditionalAccumulator")
      .doc("Makes or finds an accumulator of sparse gradients, behind a version 1 handle.")
      .out("handle: Ref(string)")
      .attr(kGradientTypes)
      .attr("shape: shape")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'")
      .stateful()
      .effect_free()
      .shape(ref_handle)
      .cpu_make(HandleKernel<SparseAccumulator, AccumulatorBase>::create, types<half, float, double>("dtype"));
}

}  // namespace weft_engine::ops
