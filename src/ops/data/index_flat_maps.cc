// Datasets that flatten others so that each element can still be found by its index.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "op/registry.h"
#include "ops/data/captured_function.h"
#include "ops/data/dataset.h"
#include "ops/control_flow/summarize.h"

namespace weft_engine::ops::data {

namespace {

std::string describe(const Tensor& t) {
  return cat("Tensor<type: ", dtype_name(t.dtype()), " shape: ", t.shape(), " values: ", summarize(t, 3), ">");
}

// A number of elements or an index, from what a function gave.
Result<int64_t> index_of(const Tensor& t) {
  Result<int64_t> bad = invalid_argument(
      "The `index_map_func` for `index_flat_map` is expected to return two int32/int64 values representing the element index and "
      "an offset within the element. Got: ",
      describe(t));
  if (t.num_elements() < 1) return bad;
  switch (t.dtype()) {
    case DType::kInt64: return t.data<int64_t>()[0];
    case DType::kInt32: return int64_t(t.data<int32_t>()[0]);
    case DType::kUint64: return int64_t(t.data<uint64_t>()[0]);
    case DType::kUint32: return int64_t(t.data<uint32_t>()[0]);
    default: return bad;
  }
}

class IndexFlatMapDataset final : public UnaryDataset {
 public:
  IndexFlatMapDataset(const DatasetPtr& input, FunctionPtr map, FunctionPtr index_map, int64_t cardinality, const std::vector<DType>& types,
                      const std::vector<PartialShape>& shapes)
      : UnaryDataset("IndexFlatMap", input, types, shapes), map_(std::move(map)), index_map_(std::move(index_map)), cardinality_(cardinality) {}
  int64_t count() const override { return cardinality_; }
  Status random_indexing() const override { return {}; }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }
  Status at(IteratorContext& c, int64_t index, Element& out) const override {
    if (!c.shuffles) return UnaryDataset::at(c, index, out);
    int64_t row, offset;
    WEFT_RETURN_IF_ERROR(find(c, index, row, offset));
    Element args, mapped;
    WEFT_RETURN_IF_ERROR(input().element_at(c, row, args));
    WEFT_RETURN_IF_ERROR(map_->call(c, std::move(args), mapped));
    return slice(mapped, offset, out);
  }

 private:
  Status find(IteratorContext& c, int64_t index, int64_t& row, int64_t& offset) const {
    Element place;
    WEFT_RETURN_IF_ERROR(index_map_->call(c, {Tensor::scalar(index)}, place));
    if (place.size() != 2) {
      std::string got;
      for (const Tensor& t : place) got += (got.empty() ? "" : ", ") + describe(t);
      return invalid_argument(
          "The `index_map_fn` for `index_flat_map` is expected to return two int values representing the element index and an offset within the "
          "element. Got: {",
          got, "}");
    }
    WEFT_ASSIGN(row, index_of(place[0]));
    WEFT_ASSIGN(offset, index_of(place[1]));
    return {};
  }
  static Status slice(const Element& mapped, int64_t offset, Element& out) {
    for (const Tensor& t : mapped) {
      if (t.rank() == 0) {
        out.push_back(t);
        continue;
      }
      if (offset < 0 || offset >= t.dim(0))
        return invalid_argument("The offset ", offset, " within an element of `index_flat_map` is not in [0, ", t.dim(0), ").");
      WEFT_ASSIGN(Tensor row, take_row(t, offset));
      out.push_back(std::move(row));
    }
    return {};
  }
  class Walk final : public UnaryIterator<IndexFlatMapDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      int64_t row, offset;
      WEFT_RETURN_IF_ERROR(d().find(c, given_, row, offset));
      if (row > row_ || mapped_.empty()) {
        mapped_.clear();
        Element args;
        WEFT_RETURN_IF_ERROR(pull(c, args, end));
        if (end) return {};
        WEFT_RETURN_IF_ERROR(d().map_->call(c, std::move(args), mapped_));
        row_ = row;
      }
      WEFT_RETURN_IF_ERROR(slice(mapped_, offset, out));
      ++given_;
      return {};
    }

   private:
    int64_t given_ = 0, row_ = 0;
    Element mapped_;  // the element that row_ became
  };
  const FunctionPtr map_, index_map_;
  const int64_t cardinality_;
};

Status run_index_flat_map(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(FunctionPtr map, CapturedFunction::make(c, "map_func", "map_func_other_args"));
  WEFT_ASSIGN(FunctionPtr index_map, CapturedFunction::make(c, "index_map_func", "index_map_func_other_args"));
  WEFT_ASSIGN(int64_t cardinality, scalar_input<int64_t>(c, "output_cardinality"));
  return emit(c, std::make_shared<IndexFlatMapDataset>(input, std::move(map), std::move(index_map), cardinality, attr_types(c), attr_shapes(c)));
}

// So many elements of each input that their numbers are as the weights and one input is used up.
class WeightedFlatMapDataset final : public Dataset {
 public:
  WeightedFlatMapDataset(std::vector<DatasetPtr> inputs, std::vector<int64_t> ends, const std::vector<DType>& types, std::vector<PartialShape> shapes)
      : Dataset("WeightedFlatMap", types, std::move(shapes), std::move(inputs)), ends_(std::move(ends)) {}
  int64_t count() const override { return ends_.back(); }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override {
    auto it = std::make_unique<Walk>(*this);
    for (const DatasetPtr& input : inputs()) {
      WEFT_ASSIGN(IteratorPtr iterator, input->make_iterator(c));
      it->inputs_.push_back(std::move(iterator));
    }
    return IteratorPtr(std::move(it));
  }

 private:
  size_t input_of(int64_t index) const { return size_t(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin()); }
  class Walk final : public IteratorOf<WeightedFlatMapDataset> {
   public:
    using IteratorOf::IteratorOf;
    std::vector<IteratorPtr> inputs_;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      end = given_ >= d().count();
      if (end) return {};
      WEFT_RETURN_IF_ERROR(inputs_[d().input_of(given_)]->next(c, out, end));
      ++given_;
      return {};
    }

   private:
    int64_t given_ = 0;
  };
  const std::vector<int64_t> ends_;  // of the elements of each input among all
};

std::string type_list(const std::vector<DType>& types) {
  std::string out;
  for (DType t : types) out += (out.empty() ? "" : ", ") + dtype_name(t);
  return out;
}

Status check_element_types(const std::vector<DatasetPtr>& inputs, const std::vector<DType>& types, std::vector<PartialShape>& shapes) {
  for (size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i]->types() != types)
      return invalid_argument("All inputs to WeightedFlatMap must have the same output types. Input ", i,
                              " has output types: ", type_list(inputs[i]->types()), ". Expected: ", type_list(types), ".");
  }
  for (size_t i = 1; i < inputs.size(); ++i) {
    const auto& got = inputs[i]->shapes();
    if (got.size() != shapes.size())
      return invalid_argument("All inputs to WeightedFlatMap must have compatible outputs. Input ", i, " has ", got.size(),
                              " components. Expected to have ", shapes.size(), " components.");
    for (size_t k = 0; k < shapes.size(); ++k) {
      if (!shapes[k].compatible_with(got[k]))
        return invalid_argument("All inputs to WeightedFlatMap must have compatible output shapes. Component ", k, " of input ", i,
                                " has shape: ", got[k], ". Expected to be compatible with shape: ", shapes[k], ".");
      WEFT_ASSIGN(shapes[k], shapes[k].merge_with(got[k]));
    }
  }
  return {};
}

// How many elements of each input are taken.
Status normalize(const std::vector<double>& weights, std::vector<int64_t>& sizes) {
  const double largest = *std::max_element(weights.begin(), weights.end());
  double least = std::numeric_limits<double>::max();
  size_t least_input = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const double n = double(sizes[i]) * weights[i] / largest;
    if (n < least) {
      least = n;
      least_input = i;
    }
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    const double n = least * weights[i] / weights[least_input];
    const uint64_t wanted = n < 18446744073709551616.0 ? uint64_t(n) : UINT64_MAX;
    if (wanted > uint64_t(sizes[i]))
      return invalid_argument("Input ", i, " needs to have at least ", wanted, " elements. It only has ", sizes[i], " elements.");
    sizes[i] = int64_t(wanted);
  }
  return {};
}

Status run_weighted_flat_map(KernelContext& c) {
  const auto tensors = c.input_list("input_datasets"), weight_list = c.input_list("weights");
  if (tensors.size() != weight_list.size())
    return invalid_argument("`input_datasets` and `weights` of the WeightedFlatMap must have the same size. Got ", tensors.size(), " datasets and ",
                            weight_list.size(), " weights.");
  std::vector<DatasetPtr> inputs;
  for (const Tensor* t : tensors) {
    WEFT_ASSIGN(DatasetPtr input, dataset_of_tensor(*t));
    inputs.push_back(std::move(input));
  }
  std::vector<PartialShape> shapes = attr_shapes(c);
  WEFT_RETURN_IF_ERROR(check_element_types(inputs, attr_types(c), shapes));
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    sizes.push_back(inputs[i]->cardinality());
    if (sizes[i] < 0)
      return invalid_argument("Cardinalities of the inputs must be known. Input ", i, " has ",
                              sizes[i] == kInfiniteCardinality ? "INFINITE" : "UNKNOWN", " cardinality.");
  }
  std::vector<double> weights;
  for (size_t i = 0; i < weight_list.size(); ++i) {
    if (weight_list[i]->num_elements() != 1)
      return invalid_argument("`weights` must be scalars. Input ", i, " has a weight of shape ", weight_list[i]->shape());
    weights.push_back(weight_list[i]->data<double>()[0]);
    if (!(weights[i] > 0)) return invalid_argument("`weights` must be greater than 0.0. Input ", i, " has a weight of ", weights[i]);
  }
  WEFT_RETURN_IF_ERROR(normalize(weights, sizes));
  for (size_t i = 1; i < sizes.size(); ++i) {
    if (__builtin_add_overflow(sizes[i - 1], sizes[i], &sizes[i])) return invalid_argument("The inputs of WeightedFlatMap have too many elements.");
  }
  return emit(c, std::make_shared<WeightedFlatMapDataset>(std::move(inputs), std::move(sizes), attr_types(c), std::move(shapes)));
}

}  // namespace

void index_flat_maps(Registry& r) {
  r.add("IndexFlatMapDataset")
      .in("input_dataset: variant")
      .in("map_func_other_args: Tmap_func_args")
      .in("index_map_func_other_args: Tindex_map_func_args")
      .in("output_cardinality: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("map_func: func")
      .attr("index_map_func: func")
      .attr("Tmap_func_args: list(type) >= 0")
      .attr("Tindex_map_func_args: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of the rows of mapped elements; a function maps an index to its row.")
      .shape(shapes::scalar)
      .cpu(run_index_flat_map);

  r.add("WeightedFlatMapDataset")
      .in("input_datasets: N * variant")
      .in("weights: M * double")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("N: int >= 2")
      .attr("M: int >= 2")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of elements of several others, one after the other, in numbers as their weights.")
      .shape(shapes::scalar)
      .cpu(run_weighted_flat_map);
}

}  // namespace weft_engine::ops::data
