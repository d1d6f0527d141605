// Datasets made of several others: one after the other, side by side, or as a third one directs.
#include <algorithm>
#include <limits>

#include "op/registry.h"
#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

namespace {

class ConcatenateDataset final : public Dataset {
 public:
  ConcatenateDataset(const DatasetPtr& first, const DatasetPtr& second)
      : Dataset("Concatenate", first->types(), common_shapes(first->shapes(), second->shapes()), {first, second}) {}
  int64_t count() const override {
    const int64_t a = inputs()[0]->cardinality(), b = inputs()[1]->cardinality();
    if (a == kInfiniteCardinality || b == kInfiniteCardinality) return kInfiniteCardinality;
    if (a == kUnknownCardinality || b == kUnknownCardinality) return kUnknownCardinality;
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
  }
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }
  Status random_indexing() const override {
    WEFT_RETURN_IF_ERROR(inputs()[0]->random_indexing());
    return inputs()[1]->random_indexing();
  }
  Status at(IteratorContext& c, int64_t index, Element& out) const override {
    const int64_t first = inputs()[0]->cardinality();
    return first >= 0 && index >= first ? inputs()[1]->element_at(c, index - first, out) : inputs()[0]->element_at(c, index, out);
  }

 private:
  class Walk final : public IteratorOf<ConcatenateDataset> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      for (; at_ < d().inputs().size(); ++at_, input_.reset()) {
        if (!input_) {
          WEFT_ASSIGN(input_, make_input(c, *d().inputs()[at_]));
        }
        WEFT_RETURN_IF_ERROR(input_->next(c, out, end));
        if (!end) return {};
      }
      end = true;
      return {};
    }

   private:
    size_t at_ = 0;
    IteratorPtr input_;
  };
};

std::string type_list(const std::vector<DType>& types) {
  std::string out;
  for (size_t i = 0; i < types.size(); ++i) out += (i ? ", " : "") + dtype_name(types[i]);
  return out;
}

Status run_concatenate(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr first, dataset_input(c, 0));
  WEFT_ASSIGN(DatasetPtr second, dataset_input(c, 1));
  if (first->types() != second->types())
    return invalid_argument("input dataset and dataset to concatenate have different output_types %s and %s", type_list(second->types()));
  return emit(c, std::make_shared<ConcatenateDataset>(first, second));
}

class ZipDataset final : public Dataset {
 public:
  explicit ZipDataset(std::vector<DatasetPtr> inputs) : Dataset("Zip", joined(inputs, &Dataset::types), joined(inputs, &Dataset::shapes), inputs) {}
  int64_t count() const override {
    int64_t least = kInfiniteCardinality;
    for (const DatasetPtr& input : inputs()) {
      const int64_t n = input->cardinality();
      if (n == kUnknownCardinality) return n;
      if (n != kInfiniteCardinality && (least == kInfiniteCardinality || n < least)) least = n;
    }
    return least;
  }
  Result<IteratorPtr> walk(IteratorContext& c) const override {
    auto it = std::make_unique<Walk>(*this);
    for (const DatasetPtr& input : inputs()) {
      WEFT_ASSIGN(IteratorPtr iterator, input->make_iterator(c));
      it->inputs_.push_back(std::move(iterator));
    }
    return IteratorPtr(std::move(it));
  }
  Status random_indexing() const override {
    for (const DatasetPtr& input : inputs()) WEFT_RETURN_IF_ERROR(input->random_indexing());
    return {};
  }
  Status at(IteratorContext& c, int64_t index, Element& out) const override {
    for (const DatasetPtr& input : inputs()) {
      Element part;
      WEFT_RETURN_IF_ERROR(input->element_at(c, index, part));
      std::move(part.begin(), part.end(), std::back_inserter(out));
    }
    return {};
  }

 private:
  class Walk final : public IteratorOf<ZipDataset> {
   public:
    using IteratorOf::IteratorOf;
    std::vector<IteratorPtr> inputs_;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      end = inputs_.empty();
      Element part;
      for (auto& input : inputs_) {
        WEFT_RETURN_IF_ERROR(input->next(c, part, end));
        if (end) break;
        std::move(part.begin(), part.end(), std::back_inserter(out));
      }
      if (end) inputs_.clear();
      return {};
    }
  };
  template <class T>
  static std::vector<T> joined(const std::vector<DatasetPtr>& inputs, const std::vector<T>& (Dataset::*list)() const) {
    std::vector<T> out;
    for (const DatasetPtr& input : inputs) out.insert(out.end(), ((*input).*list)().begin(), ((*input).*list)().end());
    return out;
  }
};

Status run_zip(KernelContext& c) {
  std::vector<DatasetPtr> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    WEFT_ASSIGN(DatasetPtr input, dataset_input(c, i));
    inputs.push_back(std::move(input));
  }
  return emit(c, std::make_shared<ZipDataset>(std::move(inputs)));
}

// Input 0 gives numbers; each says which of the others gives the next element.
class DirectedInterleaveDataset final : public Dataset {
 public:
  DirectedInterleaveDataset(std::vector<DatasetPtr> inputs, std::vector<PartialShape> shapes, bool stop_on_empty)
      : Dataset("DirectedInterleave", inputs[1]->types(), std::move(shapes), inputs), stop_on_empty_(stop_on_empty) {}
  int64_t count() const override {
    for (size_t i = 1; i < inputs().size(); ++i) {
      if (inputs()[i]->cardinality() == kInfiniteCardinality) return kInfiniteCardinality;
    }
    return kUnknownCardinality;
  }
  Result<IteratorPtr> walk(IteratorContext& c) const override {
    auto it = std::make_unique<Walk>(*this);
    for (const DatasetPtr& input : inputs()) {
      WEFT_ASSIGN(IteratorPtr iterator, input->make_iterator(c));
      it->inputs_.push_back(std::move(iterator));
    }
    it->active_ = inputs().size() - 1;
    return IteratorPtr(std::move(it));
  }

 private:
  class Walk final : public IteratorOf<DirectedInterleaveDataset> {
   public:
    using IteratorOf::IteratorOf;
    std::vector<IteratorPtr> inputs_;
    size_t active_ = 0;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      while (active_ > 0 && !inputs_.empty()) {
        Element choice;
        WEFT_RETURN_IF_ERROR(inputs_[0]->next(c, choice, end));
        if (end) break;
        if (choice.size() != 1 || choice[0].dtype() != DType::kInt64 || choice[0].num_elements() != 1)
          return invalid_argument("The selector must give scalars of type int64.");
        const int64_t i = choice[0].data<int64_t>()[0], n = int64_t(inputs_.size()) - 1;
        if (i < 0 || i >= n) return invalid_argument("Selector index out of range: ", i, " >= ", n);
        IteratorPtr& chosen = inputs_[size_t(i) + 1];
        if (!chosen) continue;
        WEFT_RETURN_IF_ERROR(chosen->next(c, out, end));
        if (!end) return {};
        chosen.reset();
        --active_;
        if (d().stop_on_empty_) break;
      }
      inputs_.clear();
      end = true;
      return {};
    }
  };
  const bool stop_on_empty_;
};

template <bool kMayStop>
Status run_directed_interleave(KernelContext& c) {
  std::vector<DatasetPtr> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    WEFT_ASSIGN(DatasetPtr input, dataset_input(c, i));
    inputs.push_back(std::move(input));
  }
  const Dataset& selector = *inputs[0];
  if (selector.types().size() != 1 || selector.types()[0] != DType::kInt64 || selector.shapes().size() != 1 ||
      !selector.shapes()[0].compatible_with(PartialShape::scalar()))
    return invalid_argument("The selector input must be a dataset of scalar int64 elements.");
  std::vector<PartialShape> shapes = inputs[1]->shapes();
  for (size_t i = 2; i < inputs.size(); ++i) {
    if (inputs[i]->types() != inputs[1]->types())
      return invalid_argument("All inputs must have the same output_dtypes. First input has types ", type_list(inputs[1]->types()), ", and input ",
                              i - 1, " has types ", type_list(inputs[i]->types()));
    shapes = common_shapes(shapes, inputs[i]->shapes());
  }
  bool stop = false;
  if constexpr (kMayStop) stop = c.attr<bool>("stop_on_empty_dataset");
  return emit(c, std::make_shared<DirectedInterleaveDataset>(std::move(inputs), std::move(shapes), stop));
}

}  // namespace

void combinations(Registry& r) {
  r.add("ConcatenateDataset")
      .in("input_dataset: variant")
      .in("another_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset with the elements of one dataset after those of another.")
      .shape(shapes::scalar)
      .cpu(run_concatenate);

  r.add("ZipDataset")
      .in("input_datasets: N * variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("N: int >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of the elements of several datasets side by side.")
      .shape(shapes::scalar)
      .cpu(run_zip);

  r.add("DirectedInterleaveDataset")
      .in("selector_input_dataset: variant")
      .in("data_input_datasets: N * variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("N: int >= 1")
      .attr("stop_on_empty_dataset: bool = false")
      .doc("A dataset that takes each element from the input that a dataset of numbers names.")
      .shape(shapes::scalar)
      .cpu(run_directed_interleave<true>);

  r.add("ExperimentalDirectedInterleaveDataset")
      .in("selector_input_dataset: variant")
      .in("data_input_datasets: N * variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("N: int >= 1")
      .doc("The former name of DirectedInterleaveDataset.")
      .shape(shapes::scalar)
      .cpu(run_directed_interleave<false>);
}

}  // namespace weft_engine::ops::data
