// Datasets that come from tensors and numbers.
#include <limits>

#include "op/registry.h"
#include "ops/data/dataset.h"
#include "ops/data/seeds.h"
#include "ops/data/splits.h"

namespace weft_engine::ops::data {

namespace {

// The iterator of a source, by splits where the walk has them.
template <class I, class D>
Result<IteratorPtr> walk_source(const D& d, const IteratorContext& c) {
  return IteratorPtr(std::make_unique<I>(d, c.path && !c.path->splits.empty() ? c.path->splits[0] : nullptr));
}

class RangeDataset final : public Dataset {
 public:
  RangeDataset(int64_t start, int64_t stop, int64_t step, const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : Dataset("Range", types, shapes), start_(start), stop_(stop), step_(step) {}
  int64_t count() const override {
    if (step_ > 0 && stop_ == std::numeric_limits<int64_t>::max()) return kInfiniteCardinality;
    const __int128 distance = step_ > 0 ? __int128(stop_) - start_ : __int128(start_) - stop_;
    if (distance <= 0) return 0;
    const __int128 step = step_ > 0 ? __int128(step_) : -__int128(step_);
    return int64_t(std::min<__int128>((distance - 1) / step + 1, std::numeric_limits<int64_t>::max()));
  }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return walk_source<Walk>(*this, c); }
  bool splittable() const override { return true; }
  Status random_indexing() const override { return {}; }
  std::string debug_string() const override { return cat("RangeDatasetOp(", start_, ", ", stop_, ", ", step_, ")::Dataset"); }
  Status at(IteratorContext&, int64_t index, Element& out) const override { return element_of(start_ + index * step_, out); }

 private:
  class Walk final : public IteratorOf<RangeDataset> {
   public:
    Walk(const RangeDataset& d, std::shared_ptr<SplitProvider> splits) : IteratorOf(d), splits_(std::move(splits)), at_(d.start_) {}

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      if (splits_) {
        int64_t value = 0;
        WEFT_RETURN_IF_ERROR(next_split(*splits_, value, end));
        return end ? Status() : d().element_of(value, out);
      }
      end = done_ || (d().step_ > 0 ? at_ >= d().stop_ : at_ <= d().stop_);
      if (end) return {};
      const int64_t value = at_;
      done_ = __builtin_add_overflow(at_, d().step_, &at_);
      return d().element_of(value, out);
    }

   private:
    const std::shared_ptr<SplitProvider> splits_;
    int64_t at_;
    bool done_ = false;
  };
  Status element_of(int64_t value, Element& out) const {
    Status s =
        dispatch<int64_t, int32_t, float, double, half, bfloat16, int8_t, int16_t, uint8_t, uint16_t, uint32_t, uint64_t, complex64, complex128>(
            types()[0], [&]<class T>(Tag<T>) {
          WEFT_ASSIGN(Tensor t, Tensor::allocate(dtype_of<T>, Shape()));
              if constexpr (std::is_arithmetic_v<T>) t.data<T>()[0] = T(value);
              else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) t.data<T>()[0] = T(typename T::value_type(value));
              else t.data<T>()[0] = T(float(value));
              out.push_back(std::move(t));
              return Status();
            });
    if (s.code() == Code::kUnimplemented) return invalid_argument("Unsupported data type: ", dtype_name(types()[0]));
    return s;
  }
  const int64_t start_, stop_, step_;
};

Status run_range(KernelContext& c) {
  WEFT_ASSIGN(int64_t start, scalar_input<int64_t>(c, "start"));
  WEFT_ASSIGN(int64_t stop, scalar_input<int64_t>(c, "stop"));
  WEFT_ASSIGN(int64_t step, scalar_input<int64_t>(c, "step"));
  if (step == 0) return invalid_argument("step must be a non-zero integer.");
  return emit(c, std::make_shared<RangeDataset>(start, stop, step, attr_types(c), attr_shapes(c)));
}

std::vector<DType> types_of(const Element& element) {
  std::vector<DType> out;
  for (const Tensor& t : element) out.push_back(t.dtype());
  return out;
}

class TensorDataset final : public Dataset {
 public:
  explicit TensorDataset(Element element) : Dataset("Tensor", types_of(element), shapes_of(element)), element_(std::move(element)) {}
  int64_t count() const override { return 1; }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return walk_source<Walk>(*this, c); }
  bool splittable() const override { return true; }
  Status random_indexing() const override { return {}; }
  Status at(IteratorContext&, int64_t, Element& out) const override {
    out = element_;
    return {};
  }

 private:
  class Walk final : public IteratorOf<TensorDataset> {
   public:
    Walk(const TensorDataset& d, std::shared_ptr<SplitProvider> splits) : IteratorOf(d), splits_(std::move(splits)) {}

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      int64_t index = 0;
      if (splits_ && !done_) WEFT_RETURN_IF_ERROR(next_split(*splits_, index, done_));
      end = done_;
      done_ = true;
      if (!end) out = d().element_;
      return {};
    }

   private:
    const std::shared_ptr<SplitProvider> splits_;
    bool done_ = false;
  };
  static std::vector<PartialShape> shapes_of(const Element& element) {
    std::vector<PartialShape> out;
    for (const Tensor& t : element) out.push_back(t.shape());
    return out;
  }
  const Element element_;
};

Status run_tensor(KernelContext& c) {
  auto dataset = std::make_shared<TensorDataset>(inputs_of(c, "components"));
  WEFT_RETURN_IF_ERROR(verify_types(dataset->types(), c.attr<std::vector<DType>>("Toutput_types")));
  WEFT_RETURN_IF_ERROR(verify_shapes(dataset->shapes(), attr_shapes(c)));
  return emit(c, std::move(dataset));
}

class TensorSliceDataset final : public Dataset {
 public:
  explicit TensorSliceDataset(Element whole) : Dataset("TensorSlice", types_of(whole), rows_of(whole)), whole_(std::move(whole)) {}
  int64_t count() const override { return whole_[0].dim(0); }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return walk_source<Walk>(*this, c); }
  bool splittable() const override { return true; }
  Status random_indexing() const override { return {}; }
  Status at(IteratorContext&, int64_t index, Element& out) const override { return rows_at(index, out); }

 private:
  class Walk final : public IteratorOf<TensorSliceDataset> {
   public:
    Walk(const TensorSliceDataset& d, std::shared_ptr<SplitProvider> splits) : IteratorOf(d), splits_(std::move(splits)) {}

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      if (splits_) {
        int64_t index = 0;
        WEFT_RETURN_IF_ERROR(next_split(*splits_, index, end));
        if (end) return {};
        if (index < 0 || index >= d().cardinality()) return internal_error("the split ", index, " is no row of ", d().cardinality());
        return d().rows_at(index, out);
      }
      end = at_ >= d().cardinality();
      if (end) return {};
      return d().rows_at(at_++, out);
    }

   private:
    const std::shared_ptr<SplitProvider> splits_;
    int64_t at_ = 0;
  };
  Status rows_at(int64_t index, Element& out) const {
    for (const Tensor& t : whole_) {
      WEFT_ASSIGN(Tensor row, take_row(t, index));
      out.push_back(std::move(row));
    }
    return {};
  }
  static std::vector<PartialShape> rows_of(const Element& whole) {
    std::vector<PartialShape> out;
    for (const Tensor& t : whole) out.push_back(t.shape().slice(1, t.rank()));
    return out;
  }
  const Element whole_;
};

Status run_tensor_slice(KernelContext& c) {
  Element whole = inputs_of(c, "components");
  for (const Tensor& t : whole) {
    if (t.rank() < 1) return invalid_argument("All components must be at least 1-dimensional");
    if (t.dim(0) != whole[0].dim(0)) return invalid_argument("All components must have the same size in the 0th dimension");
  }
  auto dataset = std::make_shared<TensorSliceDataset>(std::move(whole));
  WEFT_RETURN_IF_ERROR(verify_types(dataset->types(), c.attr<std::vector<DType>>("Toutput_types")));
  WEFT_RETURN_IF_ERROR(verify_shapes(dataset->shapes(), attr_shapes(c)));
  return emit(c, std::move(dataset));
}

// The rows of a sparse tensor whose indices are sorted by row.
class SparseTensorSliceDataset final : public Dataset {
 public:
  SparseTensorSliceDataset(Tensor indices, Tensor values, Tensor dense_shape)
      : Dataset("SparseTensorSlice", {DType::kInt64, values.dtype(), DType::kInt64},
                {{kUnknownDim, indices.dim(1) - 1}, {kUnknownDim}, {indices.dim(1) - 1}}),
        indices_(std::move(indices)),
        values_(std::move(values)),
        dense_shape_(std::move(dense_shape)) {}
  int64_t count() const override { return dense_shape_.data<int64_t>()[0]; }
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public IteratorOf<SparseTensorSliceDataset> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      end = row_ >= d().cardinality();
      if (end) return {};
      const int64_t rank = d().indices_.dim(1), total = d().indices_.dim(0);
      const int64_t* index = d().indices_.data<int64_t>();
      int64_t first = at_;
      while (first < total && index[first * rank] < row_) ++first;
      for (at_ = first; at_ < total && index[at_ * rank] == row_;) ++at_;
      ++row_;
      WEFT_ASSIGN(Tensor indices, Tensor::allocate(DType::kInt64, {at_ - first, rank - 1}));
      for (int64_t i = first; i < at_; ++i) std::copy_n(index + i * rank + 1, rank - 1, indices.data<int64_t>() + (i - first) * (rank - 1));
      WEFT_ASSIGN(Tensor values, Tensor::allocate(d().values_.dtype(), {at_ - first}));
      copy_elements(d().values_, first, values, 0, at_ - first);
      WEFT_ASSIGN(Tensor shape, Tensor::allocate(DType::kInt64, {rank - 1}));
      copy_elements(d().dense_shape_, 1, shape, 0, rank - 1);
      out = {std::move(indices), std::move(values), std::move(shape)};
      return {};
    }

   private:
    int64_t row_ = 0, at_ = 0;
  };
  const Tensor indices_, values_, dense_shape_;
};

Status run_sparse_tensor_slice(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  if (indices.rank() != 2) return invalid_argument("Input indices must be a matrix. Got: ", indices.shape());
  if (values.rank() != 1) return invalid_argument("Input values must be a vector. Got: ", values.shape());
  if (shape.rank() != 1) return invalid_argument("Input shape must be a vector. Got: ", shape.shape());
  if (values.dim(0) != indices.dim(0))
    return invalid_argument("Number of values must match first dimension of indices. Got ", values.dim(0),
                            " values, indices shape: ", indices.shape());
  if (shape.dim(0) != indices.dim(1))
    return invalid_argument("Number of dimensions must match second dimension of indices. Got ", shape.dim(0),
                            " dimensions, indices shape: ", indices.shape());
  if (shape.num_elements() < 1) return invalid_argument("The shape argument requires at least one element.");
  const int64_t* index = indices.data<int64_t>();
  const int64_t rank = indices.dim(1);
  for (int64_t i = 1; i < indices.dim(0); ++i) {
    if (index[i * rank] < index[(i - 1) * rank])
      return unimplemented("The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not currently supported.");
  }
  return emit(c, std::make_shared<SparseTensorSliceDataset>(indices, values, shape));
}

class RandomDataset final : public Dataset {
 public:
  RandomDataset(std::shared_ptr<SeedGenerator> seeds, const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : Dataset("Random", types, shapes), seeds_(std::move(seeds)) {}
  int64_t count() const override { return kInfiniteCardinality; }
  SeedGenerator* seeds() const override { return seeds_.get(); }
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public IteratorOf<RandomDataset> {
   public:
    explicit Walk(const RandomDataset& d) : IteratorOf(d), draws_(d.seeds_->next()) {}

   protected:
    Status advance(IteratorContext&, Element& out, bool&) override {
      out.push_back(Tensor::scalar(int64_t(draws_())));
      return {};
    }

   private:
    Draws draws_;
  };
  const std::shared_ptr<SeedGenerator> seeds_;
};

Status run_random(KernelContext& c) {
  WEFT_ASSIGN(Seeds seeds, seeds_input(c));
  return emit(c, std::make_shared<RandomDataset>(std::make_shared<SeedGenerator>(seeds, false), attr_types(c), attr_shapes(c)));
}

Status run_random_v2(KernelContext& c) {
  WEFT_ASSIGN(Seeds seeds, seeds_input(c));
  WEFT_ASSIGN(std::shared_ptr<SeedGenerator> generator, generator_input(c));
  if (!generator) generator = std::make_shared<SeedGenerator>(seeds, c.attr<bool>("rerandomize_each_iteration"));
  return emit(c, std::make_shared<RandomDataset>(std::move(generator), attr_types(c), attr_shapes(c)));
}

// Elements given one after the other: components of the first, then of the second.
class ListDataset final : public Dataset {
 public:
  ListDataset(Element tensors, const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : Dataset("List", types, shapes), tensors_(std::move(tensors)) {}
  int64_t count() const override { return int64_t(tensors_.size() / types().size()); }
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }
  Status random_indexing() const override { return {}; }
  Status at(IteratorContext&, int64_t index, Element& out) const override { return take(index, out); }

 private:
  class Walk final : public IteratorOf<ListDataset> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      end = at_ >= d().cardinality();
      return end ? Status() : d().take(at_++, out);
    }

   private:
    int64_t at_ = 0;
  };
  Status take(int64_t index, Element& out) const {
    const size_t width = types().size();
    out.assign(tensors_.begin() + ptrdiff_t(size_t(index) * width), tensors_.begin() + ptrdiff_t(size_t(index + 1) * width));
    return {};
  }
  const Element tensors_;
};

Status run_list(KernelContext& c) {
  Element tensors = inputs_of(c, "tensors");
  const auto& types = attr_types(c);
  if (tensors.size() % types.size() != 0) return invalid_argument("Number of tensors must be a multiple of the number of components");
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t k = i % types.size();
    if (tensors[i].dtype() != types[k])
      return invalid_argument("Data type mismatch at component ", k, ": expected ", types[k], " but got ", tensors[i].dtype(), ".");
    if (k < attr_shapes(c).size() && !attr_shapes(c)[k].compatible_with(tensors[i].shape()))
      return invalid_argument("Incompatible shapes at component ", k, ": expected ", attr_shapes(c)[k], " but got ", tensors[i].shape(), ".");
  }
  return emit(c, std::make_shared<ListDataset>(std::move(tensors), types, attr_shapes(c)));
}

}  // namespace

void sources(Registry& r) {
  r.add("RangeDataset")
      .in("start: int64")
      .in("stop: int64")
      .in("step: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .attr("replicate_on_split: bool = false")
      .stateful()
      .doc("A dataset of the numbers from start to stop in steps.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"start", "stop", "step"}); })
      .cpu(run_range);

  r.add("TensorDataset")
      .in("components: Toutput_types")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:Toutput_types), VAR:Toutput_types))")
      .attr("Toutput_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of a single element.")
      .shape(shapes::scalar)
      .cpu(run_tensor);

  r.add("TensorSliceDataset")
      .in("components: Toutput_types")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:Toutput_types), VAR:Toutput_types))")
      .attr("Toutput_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("is_files: bool = false")
      .attr("metadata: string = ''")
      .attr("replicate_on_split: bool = false")
      .stateful()
      .doc("A dataset of the rows of tensors.")
      .shape(shapes::scalar)
      .cpu(run_tensor_slice);

  r.add("SparseTensorSliceDataset")
      .in("indices: int64")
      .in("values: Tvalues")
      .in("dense_shape: int64")
      .out("handle: variant")
      .full_type("DATASET(TENSOR(VAR:Tvalues))")
      .attr("Tvalues: type")
      .stateful()
      .doc("A dataset of the rows of a sparse tensor.")
      .shape(shapes::scalar)
      .cpu(run_sparse_tensor_slice);

  r.add("RandomDataset")
      .in("seed: int64")
      .in("seed2: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of random numbers.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"seed", "seed2"}); })
      .cpu(run_random);

  r.add("RandomDatasetV2")
      .in("seed: int64")
      .in("seed2: int64")
      .in("seed_generator: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("rerandomize_each_iteration: bool = false")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of random numbers, the same or others in each walk.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"seed", "seed2", "seed_generator"}); })
      .cpu(run_random_v2);

  r.add("ExperimentalRandomDataset")
      .in("seed: int64")
      .in("seed2: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The former name of RandomDataset.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"seed", "seed2"}); })
      .cpu(run_random);

  r.add("ListDataset")
      .in("tensors: Tinput_types")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("Tinput_types: list(type) >= 1")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of elements that are given one by one.")
      .shape(shapes::scalar)
      .cpu(run_list);
}

}  // namespace weft_engine::ops::data
