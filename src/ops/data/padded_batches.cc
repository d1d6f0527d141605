// Datasets of batches whose elements are padded to one shape.
#include <algorithm>

#include "op/registry.h"
#include "ops/data/batch.h"

namespace weft_engine::ops::data {

namespace {

// Fills a tensor with one value.
void fill(Tensor& t, const Tensor& value) {
  const int64_t n = t.num_elements();
  if (n > 0) copy_elements(value, 0, t, 0, 1);
  for (int64_t done = 1; done < n; done *= 2) copy_elements(t, 0, t, done, std::min(done, n - done));
}

// Copies an element into the corner of its row, line by line.
void copy_corner(const Tensor& element, Tensor& batch, int64_t row) {
  const int rank = element.rank();
  const int64_t line = rank ? element.dim(rank - 1) : 1, lines = line ? element.num_elements() / line : 0;
  const int64_t row_size = batch.shape().elements_in(1, batch.rank());
  std::vector<int64_t> at(size_t(rank), 0);
  for (int64_t i = 0; i < lines; ++i) {
    int64_t offset = 0;
    for (int d = 0; d < rank; ++d) offset = offset * batch.dim(d + 1) + at[size_t(d)];
    copy_elements(element, i * line, batch, row * row_size + offset, line);
    for (int d = rank - 2; d >= 0 && ++at[size_t(d)] == element.dim(d); --d) at[size_t(d)] = 0;
  }
}

class PaddedBatchDataset final : public UnaryDataset {
 public:
  PaddedBatchDataset(const DatasetPtr& input, int64_t size, bool drop_remainder, std::vector<PartialShape> padded, Element values)
      : UnaryDataset("PaddedBatch", input, input->types(),
                     batched_shapes(padded, drop_remainder || input->cardinality() == kInfiniteCardinality ? size : kUnknownDim)),
        size_(size),
        drop_remainder_(drop_remainder),
        padded_(std::move(padded)),
        values_(std::move(values)) {}
  int64_t count() const override { return batched_cardinality(input().cardinality(), size_, drop_remainder_); }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<PaddedBatchDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      std::vector<Element> elements;
      while (int64_t(elements.size()) < d().size_) {
        Element e;
        WEFT_RETURN_IF_ERROR(pull(c, e, end));
        if (end) break;
        if (e.size() != d().padded_.size()) return invalid_argument("an element has ", e.size(), " components, expected ", d().padded_.size());
        elements.push_back(std::move(e));
      }
      end = elements.empty() || (d().drop_remainder_ && int64_t(elements.size()) < d().size_);
      if (end) return {};
      for (size_t k = 0; k < d().padded_.size(); ++k) {
        WEFT_ASSIGN(Tensor batch, pad(elements, k));
        out.push_back(std::move(batch));
      }
      return {};
    }

   private:
    Result<Tensor> pad(const std::vector<Element>& elements, size_t k) const {
      const PartialShape& wanted = d().padded_[k];
      std::vector<int64_t> dims = {int64_t(elements.size())};
      for (int64_t dim : wanted.dims()) dims.push_back(std::max<int64_t>(dim, 0));
      for (const Element& e : elements) {
        const Tensor& t = e[k];
        if (t.rank() != wanted.rank())
          return invalid_argument("All elements in a batch must have the same rank as the padded shape for component", k, ": expected rank ",
                                  wanted.rank(), " but got element with rank ", t.rank());
        for (int i = 0; i < t.rank(); ++i) {
          if (wanted.dim(i) == kUnknownDim) dims[size_t(i) + 1] = std::max(dims[size_t(i) + 1], t.dim(i));
          else if (t.dim(i) > wanted.dim(i)) return data_loss("Attempted to pad to a smaller size than the input element.");
        }
      }
      WEFT_ASSIGN(Tensor batch, Tensor::allocate(d().types()[k], Shape(dims)));
      fill(batch, d().values_[k]);
      for (size_t i = 0; i < elements.size(); ++i) {
        if (elements[i][k].dtype() != batch.dtype())
          return invalid_argument("component ", k, " must be ", batch.dtype(), ", but is ", elements[i][k].dtype());
        copy_corner(elements[i][k], batch, int64_t(i));
      }
      return batch;
    }
  };
  const int64_t size_;
  const bool drop_remainder_;
  const std::vector<PartialShape> padded_;
  const Element values_;
};

Status make_padded_batch(KernelContext& c, bool drop_remainder) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t size, scalar_input<int64_t>(c, "batch_size"));
  if (size <= 0) return invalid_argument("Batch size must be greater than zero.");
  const auto shapes = c.input_list("padded_shapes");
  const size_t width = input->shapes().size();
  if (shapes.size() != width)
    return invalid_argument("Number of padded shapes (", shapes.size(), ") must match the number of components in the input dataset's elements (",
                            width, ")");
  std::vector<PartialShape> padded;
  for (const Tensor* t : shapes) {
    if (t->rank() != 1) return invalid_argument("All padded shapes must be vectors");
    std::vector<int64_t> dims(t->span<int64_t>().begin(), t->span<int64_t>().end());
    for (int64_t dim : dims) {
      if (dim < -1) return invalid_argument("Dimension ", dim, " must be >= -1");
    }
    padded.emplace_back(std::move(dims));
  }
  Element values = inputs_of(c, "padding_values");
  if (values.size() != width)
    return invalid_argument("Number of padding values (", values.size(), ") must match the number of components in the input dataset's elements (",
                            width, ")");
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].rank() != 0) return invalid_argument("All padding values must be scalars");
    if (values[i].dtype() != input->types()[i])
      return invalid_argument("Mismatched type between padding value ", i, " and input dataset's component ", i, ": ", values[i].dtype(), " vs. ",
                              input->types()[i]);
  }
  return emit(c, std::make_shared<PaddedBatchDataset>(input, size, drop_remainder, std::move(padded), std::move(values)));
}

Status run_padded_batch(KernelContext& c) { return make_padded_batch(c, false); }

Status run_padded_batch_v2(KernelContext& c) {
  WEFT_ASSIGN(bool drop_remainder, scalar_input<bool>(c, "drop_remainder"));
  return make_padded_batch(c, drop_remainder);
}

}  // namespace

void padded_batches(Registry& r) {
  r.add("PaddedBatchDataset")
      .in("input_dataset: variant")
      .in("batch_size: int64")
      .in("padded_shapes: N * int64")
      .in("padding_values: Toutput_types")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:Toutput_types), VAR:Toutput_types))")
      .attr("Toutput_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("N: int >= 1")
      .attr("metadata: string = ''")
      .doc("A former version of PaddedBatchDatasetV2.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"batch_size"}); })
      .cpu(run_padded_batch);

  r.add("PaddedBatchDatasetV2")
      .in("input_dataset: variant")
      .in("batch_size: int64")
      .in("padded_shapes: N * int64")
      .in("padding_values: Toutput_types")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:Toutput_types), VAR:Toutput_types))")
      .attr("parallel_copy: bool = false")
      .attr("Toutput_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("N: int >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that pads elements to one shape and stacks them into batches.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"batch_size", "drop_remainder"}); })
      .cpu(run_padded_batch_v2);
}

}  // namespace weft_engine::ops::data
