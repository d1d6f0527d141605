// Batches of dense elements of different sizes as sparse tensors.
#include <algorithm>

#include "op/registry.h"
#include "op/tensor_variant.h"
#include "ops/data/batch.h"

namespace weft_engine::ops::data {

namespace {

class DenseToSparseBatchDataset final : public UnaryDataset {
 public:
  DenseToSparseBatchDataset(const DatasetPtr& input, int64_t size, PartialShape row)
      : UnaryDataset("DenseToSparseBatch", input, {DType::kVariant}, {{3}}), size_(size), row_(std::move(row)) {}
  int64_t count() const override { return batched_cardinality(input().cardinality(), size_, false); }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<DenseToSparseBatchDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      std::vector<Tensor> rows;
      int64_t total = 0;
      std::vector<int64_t> dims = {0};
      for (int64_t dim : d().row_.dims()) dims.push_back(std::max<int64_t>(dim, 0));
      while (int64_t(rows.size()) < d().size_) {
        Element e;
        WEFT_RETURN_IF_ERROR(pull(c, e, end));
        if (end) break;
        if (e.size() != 1) return invalid_argument("an element has ", e.size(), " components, expected 1");
        WEFT_RETURN_IF_ERROR(fit(e[0], dims));
        total += e[0].num_elements();
        rows.push_back(std::move(e[0]));
      }
      end = rows.empty();
      if (end) return {};
      dims[0] = int64_t(rows.size());
      return join(rows, total, dims, out);
    }

   private:
    // A row must be within the row shape; where that is open, the largest row says.
    Status fit(const Tensor& t, std::vector<int64_t>& dims) const {
      const PartialShape& row = d().row_;
      bool fits = t.rank() == row.rank() && t.dtype() == d().input().types()[0];
      for (int i = 0; fits && i < t.rank(); ++i) {
        if (row.dim(i) == kUnknownDim) dims[size_t(i) + 1] = std::max(dims[size_t(i) + 1], t.dim(i));
        else if (t.dim(i) > row.dim(i)) return data_loss("Input element had shape (", t.shape(), ") that is larger than the row shape (", row, ").");
      }
      return fits ? Status() : invalid_argument("Input element had shape (", t.shape(), ") that is incompatible with the row shape (", row, ").");
    }
    Status join(const std::vector<Tensor>& rows, int64_t total, const std::vector<int64_t>& dims, Element& out) const {
      const int64_t rank = int64_t(dims.size());
      WEFT_ASSIGN(Tensor indices, Tensor::allocate(DType::kInt64, {total, rank}));
      WEFT_ASSIGN(Tensor values, Tensor::allocate(d().input().types()[0], {total}));
      WEFT_ASSIGN(Tensor shape, Tensor::allocate(DType::kInt64, {rank}));
      std::copy(dims.begin(), dims.end(), shape.data<int64_t>());
      int64_t at = 0;
      for (size_t row = 0; row < rows.size(); ++row) {
        const Tensor& t = rows[row];
        const int64_t n = t.num_elements();
        copy_elements(t, 0, values, at, n);
        for (int64_t i = 0; i < n; ++i) {
          int64_t* index = indices.data<int64_t>() + (at + i) * rank;
          index[0] = int64_t(row);
          int64_t rest = i;
          for (int k = t.rank() - 1; k >= 0; --k) {
            index[k + 1] = rest % t.dim(k);
            rest /= t.dim(k);
          }
        }
        at += n;
      }
      // As SerializeSparse gives it: one tensor of three variants.
      WEFT_ASSIGN(Tensor sparse, Tensor::allocate(DType::kVariant, {3}));
      sparse.data<Variant>()[0] = wrap_tensor(std::move(indices));
      sparse.data<Variant>()[1] = wrap_tensor(std::move(values));
      sparse.data<Variant>()[2] = wrap_tensor(std::move(shape));
      out.push_back(std::move(sparse));
      return {};
    }
  };
  const int64_t size_;
  const PartialShape row_;
};

Status run_dense_to_sparse_batch(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  if (input->types().size() != 1) return invalid_argument("DenseToSparseBatchDataset only supports inputs with a single component.");
  WEFT_ASSIGN(int64_t size, scalar_input<int64_t>(c, "batch_size"));
  if (size <= 0) return invalid_argument("Batch size must be greater than zero.");
  const Tensor& shape = c.input("row_shape");
  if (shape.rank() != 1) return invalid_argument("row_shape must be a vector");
  std::vector<int64_t> dims(shape.span<int64_t>().begin(), shape.span<int64_t>().end());
  if (dims.size() >= size_t(kMaxRank)) return invalid_argument("row_shape has too many dimensions: ", dims.size());
  for (int64_t dim : dims) {
    if (dim < -1) return invalid_argument("Dimension ", dim, " must be >= -1");
  }
  return emit(c, std::make_shared<DenseToSparseBatchDataset>(input, size, PartialShape(std::move(dims))));
}

}  // namespace

void sparse_batches(Registry& r) {
  r.add("DenseToSparseBatchDataset")
      .in("input_dataset: variant")
      .in("batch_size: int64")
      .in("row_shape: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset of batches as sparse tensors, of elements that may differ in size.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"batch_size"}); })
      .cpu(run_dense_to_sparse_batch);

  r.add("ExperimentalDenseToSparseBatchDataset")
      .in("input_dataset: variant")
      .in("batch_size: int64")
      .in("row_shape: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of DenseToSparseBatchDataset.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"batch_size"}); })
      .cpu(run_dense_to_sparse_batch);
}

}  // namespace weft_engine::ops::data
