// Datasets of batches: elements stacked, batches taken apart, cut again.
#include <algorithm>

#include "op/registry.h"
#include "ops/data/batch.h"

namespace weft_engine::ops::data {

Status stack(const std::vector<Element>& elements, Element& out) {
  out.clear();
  const size_t width = elements[0].size();
  for (const Element& e : elements) {
    if (e.size() != width) return invalid_argument("Cannot batch elements with different numbers of components: ", width, " and ", e.size());
  }
  for (size_t k = 0; k < width; ++k) {
    const Tensor& first = elements[0][k];
    Shape shape = first.shape();
    shape.insert_dim(0, int64_t(elements.size()));
    WEFT_ASSIGN(Tensor batch, Tensor::allocate(first.dtype(), shape));
    const int64_t n = first.num_elements();
    for (size_t i = 0; i < elements.size(); ++i) {
      const Tensor& t = elements[i][k];
      if (t.shape() != first.shape())
        return invalid_argument("Cannot batch tensors with different shapes in component ", k, ". First element had shape ", first.shape(),
                                " and element ", i, " had shape ", t.shape(), ".");
      if (t.dtype() != first.dtype())
        return invalid_argument("Cannot batch tensors of different types in component ", k, ": ", first.dtype(), " and ", t.dtype());
      copy_elements(t, 0, batch, int64_t(i) * n, n);
    }
    out.push_back(std::move(batch));
  }
  return {};
}

std::vector<PartialShape> batched_shapes(const std::vector<PartialShape>& shapes, int64_t size) {
  std::vector<PartialShape> out;
  for (const PartialShape& s : shapes) out.push_back(PartialShape::vector(size).concat(s));
  return out;
}

int64_t batched_cardinality(int64_t n, int64_t size, bool drop_remainder) {
  if (n < 0) return n;
  return n / size + (n % size != 0 && !drop_remainder);
}

namespace {

class BatchDataset final : public UnaryDataset {
 public:
  BatchDataset(std::string_view kind, const DatasetPtr& input, int64_t size, bool drop_remainder)
      : UnaryDataset(kind, input, input->types(),
                     batched_shapes(input->shapes(), drop_remainder || input->cardinality() == kInfiniteCardinality ? size : kUnknownDim)),
        size_(size),
        drop_remainder_(drop_remainder) {}
  int64_t count() const override { return batched_cardinality(input().cardinality(), size_, drop_remainder_); }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }
  Status random_indexing() const override {
    if (kind() != "Batch") return Dataset::random_indexing();
    if (!drop_remainder_) return failed_precondition("BatchDatasetV2 does not support global shuffling with `drop_remainder=False`.");
    return input().random_indexing();
  }
  Status at(IteratorContext& c, int64_t index, Element& out) const override {
    if (cardinality() < 0) return Dataset::at(c, index, out);
    const int64_t begin = index * size_, left = input().cardinality() - begin;
    std::vector<Element> elements;
    for (int64_t i = 0; i < std::min(left, size_); ++i) WEFT_RETURN_IF_ERROR(input().element_at(c, begin + i, elements.emplace_back()));
    return stack(elements, out);
  }

 private:
  class Walk final : public UnaryIterator<BatchDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      std::vector<Element> elements;
      while (int64_t(elements.size()) < d().size_) {
        Element e;
        WEFT_RETURN_IF_ERROR(pull(c, e, end));
        if (end) break;
        elements.push_back(std::move(e));
      }
      end = elements.empty() || (d().drop_remainder_ && int64_t(elements.size()) < d().size_);
      return end ? Status() : stack(elements, out);
    }
  };
  const int64_t size_;
  const bool drop_remainder_;
};

Status make_batch(KernelContext& c, std::string_view kind, bool drop_remainder) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t size, scalar_input<int64_t>(c, "batch_size"));
  if (size <= 0) return invalid_argument("Batch size must be greater than zero.");
  return emit(c, std::make_shared<BatchDataset>(kind, input, size, drop_remainder));
}

Status run_batch(KernelContext& c) { return make_batch(c, "Batch", false); }

Status run_batch_v2(KernelContext& c) {
  WEFT_ASSIGN(bool drop_remainder, scalar_input<bool>(c, "drop_remainder"));
  return make_batch(c, "Batch", drop_remainder);
}

Status run_parallel_batch(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_scalar(c, "num_parallel_calls"));
  WEFT_ASSIGN(bool drop_remainder, scalar_input<bool>(c, "drop_remainder"));
  return make_batch(c, "ParallelBatch", drop_remainder);
}

// All components of a batch must have rows, and equally many.
Status check_rows(const Element& batch) {
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].rank() == 0) return invalid_argument("Input element must have a non-scalar value in each component.");
    if (batch[i].dim(0) != batch[0].dim(0))
      return invalid_argument("Input element must have the same batch size in each component. Component 0 had size ", batch[0].dim(0),
                              " but component ", i, " had size, ", batch[i].dim(0), ".");
  }
  return {};
}

class UnbatchDataset final : public UnaryDataset {
 public:
  explicit UnbatchDataset(const DatasetPtr& input) : UnaryDataset("Unbatch", input, input->types(), rows(input->shapes())) {
    for (const PartialShape& s : input->shapes()) {
      if (rows_ < 0 && s.has_rank() && s.rank() > 0) rows_ = s.dim(0);
    }
  }
  int64_t count() const override {
    const int64_t n = input().cardinality();
    if (n <= 0 && n != kUnknownCardinality) return n;
    int64_t product;
    return n > 0 && rows_ > 0 && !__builtin_mul_overflow(n, rows_, &product) ? product : kUnknownCardinality;
  }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<UnbatchDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      while (batch_.empty() || at_ >= batch_[0].dim(0)) {
        batch_.clear();
        Element batch;
        WEFT_RETURN_IF_ERROR(pull(c, batch, end));
        if (end) return {};
        WEFT_RETURN_IF_ERROR(check_rows(batch));
        batch_ = std::move(batch);
        at_ = 0;
      }
      for (const Tensor& t : batch_) {
        WEFT_ASSIGN(Tensor row, take_row(t, at_));
        out.push_back(std::move(row));
      }
      ++at_;
      return {};
    }

   private:
    Element batch_;
    int64_t at_ = 0;
  };
  static std::vector<PartialShape> rows(const std::vector<PartialShape>& shapes) {
    std::vector<PartialShape> out;
    for (const PartialShape& s : shapes) out.push_back(s.has_rank() && s.rank() > 0 ? s.slice(1, s.rank()) : PartialShape::unknown());
    return out;
  }
  int64_t rows_ = -1;
};

Status run_unbatch(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  return emit(c, std::make_shared<UnbatchDataset>(input));
}

// Each batch cut into equal parts for a number of replicas; parts may be smaller, or empty, at the end.
class RebatchDataset final : public UnaryDataset {
 public:
  RebatchDataset(const DatasetPtr& input, int64_t replicas, const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : UnaryDataset("Rebatch", input, types, shapes), replicas_(replicas) {}
  int64_t count() const override { return kUnknownCardinality; }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<RebatchDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      if (part_ == 0) {
        batch_.clear();
        WEFT_RETURN_IF_ERROR(pull(c, batch_, end));
        if (end) return {};
        for (size_t i = 0; i < batch_.size(); ++i) {
          if (batch_[i].rank() == 0)
            return invalid_argument(
                "Cannot rebatch dataset: All components must have at least one dimension. Perhaps your input dataset is not batched? Component ", i,
                " is scalar.");
        }
      }
      for (const Tensor& t : batch_) {
        const int64_t rows = t.dim(0), step = rows / d().replicas_ + (rows % d().replicas_ != 0);
        const int64_t end_row = std::min((part_ + 1) * step, rows), begin = std::min(part_ * step, end_row);
        WEFT_ASSIGN(Tensor rows_taken, take_rows(t, begin, end_row));
        out.push_back(std::move(rows_taken));
      }
      part_ = (part_ + 1) % d().replicas_;
      return {};
    }

   private:
    Element batch_;
    int64_t part_ = 0;
  };
  const int64_t replicas_;
};

Status run_rebatch(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t replicas, scalar_input<int64_t>(c, "num_replicas"));
  if (replicas <= 0) return invalid_argument("num_replicas must be greater than zero.");
  return emit(c, std::make_shared<RebatchDataset>(input, replicas, attr_types(c), attr_shapes(c)));
}

// Batches of given sizes, in turn, whatever the sizes of the batches that come.
class RebatchV2Dataset final : public UnaryDataset {
 public:
  RebatchV2Dataset(const DatasetPtr& input, std::vector<int64_t> sizes, bool drop_remainder, const std::vector<DType>& types,
                   const std::vector<PartialShape>& shapes)
      : UnaryDataset("RebatchV2", input, types, shapes), sizes_(std::move(sizes)), drop_remainder_(drop_remainder) {}
  int64_t count() const override { return kUnknownCardinality; }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<RebatchV2Dataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      end = !input_;
      if (end) return {};
      const int64_t wanted = d().sizes_[turn_];
      std::vector<Element> parts;
      int64_t got = 0;
      while (got < wanted) {
        if (at_ < 0) {
          WEFT_RETURN_IF_ERROR(pull(c, batch_, end));
          if (end) break;
          WEFT_RETURN_IF_ERROR(check_rows(batch_));
          if (batch_.empty()) return invalid_argument("an element without components cannot be batched");
          at_ = 0;
        }
        const int64_t rows = batch_[0].dim(0), stop = std::min(rows, at_ + (wanted - got));
        Element part;
        for (const Tensor& t : batch_) part.push_back(t.slice_rows(at_, stop));
        parts.push_back(std::move(part));
        got += stop - at_;
        at_ = stop == rows ? -1 : stop;
      }
      turn_ = (turn_ + 1) % d().sizes_.size();
      end = (got == 0 && wanted > 0) || (d().drop_remainder_ && got < wanted);
      if (end) return {};
      return wanted == 0 ? empty(out) : join(parts, got, out);
    }

   private:
    Status empty(Element& out) const {
      for (size_t i = 0; i < d().types().size(); ++i) {
        Shape shape({0});
        if (i < d().shapes().size() && d().shapes()[i].rank() > 0) {
          std::vector<int64_t> dims = d().shapes()[i].dims();
          dims[0] = 0;
          for (int64_t& dim : dims) dim = std::max<int64_t>(dim, 0);
          shape = Shape(dims);
        }
        WEFT_ASSIGN(Tensor t, Tensor::allocate(d().types()[i], shape));
        out.push_back(std::move(t));
      }
      return {};
    }
    static Status join(const std::vector<Element>& parts, int64_t rows, Element& out) {
      if (parts.size() == 1) {
        for (const Tensor& t : parts[0]) {
          WEFT_ASSIGN(Tensor aligned, take_rows(t, 0, t.dim(0)));
          out.push_back(std::move(aligned));
        }
        return {};
      }
      for (size_t k = 0; k < parts[0].size(); ++k) {
        const Tensor& first = parts[0][k];
        const Shape row = first.shape().slice(1, first.rank());
        WEFT_ASSIGN(Tensor whole, Tensor::allocate(first.dtype(), first.shape().with_dim(0, rows)));
        int64_t at = 0;
        for (const Element& part : parts) {
          const Tensor& t = part[k];
          if (t.dtype() != first.dtype() || t.shape().slice(1, t.rank()) != row)
            return invalid_argument("Cannot join batches with rows of different shapes: ", row, " and ", t.shape().slice(1, t.rank()));
          copy_elements(t, 0, whole, at, t.num_elements());
          at += t.num_elements();
        }
        out.push_back(std::move(whole));
      }
      return {};
    }
    Element batch_;
    int64_t at_ = -1;  // the first row not given yet; -1: none left
    size_t turn_ = 0;
  };
  const std::vector<int64_t> sizes_;
  const bool drop_remainder_;
};

Status run_rebatch_v2(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  const Tensor& sizes = c.input("batch_sizes");
  if (sizes.rank() > 1) return invalid_argument("`batch_sizes` must be a scalar or a vector.");
  if (sizes.num_elements() < 1) return invalid_argument("`batch_sizes` must not be empty.");
  std::vector<int64_t> list(sizes.span<int64_t>().begin(), sizes.span<int64_t>().end());
  for (int64_t n : list) {
    if (n < 0) return invalid_argument("`batch_sizes` must not be negative, got ", n);
  }
  WEFT_ASSIGN(bool drop_remainder, scalar_input<bool>(c, "drop_remainder"));
  return emit(c, std::make_shared<RebatchV2Dataset>(input, std::move(list), drop_remainder, attr_types(c), attr_shapes(c)));
}

}  // namespace

void batches(Registry& r) {
  r.add("BatchDataset")
      .in("input_dataset: variant")
      .in("batch_size: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A former version of BatchDatasetV2.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"batch_size"}); })
      .cpu(run_batch);

  r.add("BatchDatasetV2")
      .in("input_dataset: variant")
      .in("batch_size: int64")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("parallel_copy: bool = false")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that stacks elements into batches.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"batch_size", "drop_remainder"}); })
      .cpu(run_batch_v2);

  r.add("ParallelBatchDataset")
      .in("input_dataset: variant")
      .in("batch_size: int64")
      .in("num_parallel_calls: int64")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("parallel_copy: bool = false")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("deterministic: string = 'default'")
      .attr("metadata: string = ''")
      .doc("As BatchDatasetV2, with several batches made at once.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"batch_size", "num_parallel_calls", "drop_remainder"}); })
      .cpu(run_parallel_batch);

  r.add("UnbatchDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of the rows of the elements of another.")
      .shape(shapes::scalar)
      .cpu(run_unbatch);

  r.add("ExperimentalUnbatchDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of UnbatchDataset.")
      .shape(shapes::scalar)
      .cpu(run_unbatch);

  r.add("RebatchDataset")
      .in("input_dataset: variant")
      .in("num_replicas: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_fallback: bool = true")
      .doc("A dataset that cuts each batch into parts for a number of replicas.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_replicas"}); })
      .cpu(run_rebatch);

  r.add("ExperimentalRebatchDataset")
      .in("input_dataset: variant")
      .in("num_replicas: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_fallback: bool = true")
      .doc("The former name of RebatchDataset.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_replicas"}); })
      .cpu(run_rebatch);

  r.add("RebatchDatasetV2")
      .in("input_dataset: variant")
      .in("batch_sizes: int64")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset that cuts the rows of batches into batches of other sizes.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"drop_remainder"}); })
      .cpu(run_rebatch_v2);
}

}  // namespace weft_engine::ops::data
