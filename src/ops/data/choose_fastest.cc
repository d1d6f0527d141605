// Datasets that race: the one (or the function) that was the fastest on the first elements continues.
#include <algorithm>
#include <chrono>
#include <mutex>

#include "op/registry.h"
#include "ops/data/captured_function.h"
#include "ops/data/dataset.h"
#include "ops/data/flat_map.h"

namespace weft_engine::ops::data {

namespace {

using Clock = std::chrono::steady_clock;

size_t least(const std::vector<Clock::duration>& spent) { return size_t(std::min_element(spent.begin(), spent.end()) - spent.begin()); }

class ChooseFastest final : public Dataset {
 public:
  ChooseFastest(std::vector<DatasetPtr> inputs, int64_t experiments, const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : Dataset("ChooseFastest", types, shapes, std::move(inputs)), experiments_(experiments) {}

 protected:
  int64_t count() const override {
    for (const DatasetPtr& input : inputs()) {
      if (input->cardinality() != kUnknownCardinality) return input->cardinality();
    }
    return kUnknownCardinality;
  }
  Result<IteratorPtr> walk(IteratorContext& c) const override {
    std::vector<IteratorPtr> iterators;
    for (const DatasetPtr& input : inputs()) {
      WEFT_ASSIGN(IteratorPtr i, input->make_iterator(c));
      iterators.push_back(std::move(i));
    }
    return IteratorPtr(std::make_unique<Walk>(*this, std::move(iterators)));
  }

 private:
  // All inputs give an element each time; the first one's is taken.
  class Walk final : public IteratorOf<ChooseFastest> {
   public:
    Walk(const ChooseFastest& d, std::vector<IteratorPtr> inputs) : IteratorOf(d), inputs_(std::move(inputs)), spent_(inputs_.size()) {}

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      end = inputs_.empty();
      if (end) return {};
      if (inputs_.size() == 1) return inputs_[0]->next(c, out, end);
      if (ran_ >= d().experiments_) {
        choose();
        return inputs_[0]->next(c, out, end);
      }
      for (size_t i = inputs_.size(); i-- > 0;) {
        Element element;
        bool over = false;
        const auto start = Clock::now();
        Status s = inputs_[i]->next(c, element, over);
        spent_[i] += Clock::now() - start;
        if (i > 0) continue;
        WEFT_RETURN_IF_ERROR(s);
        out = std::move(element);
        end = over;
      }
      if (end) inputs_.clear();
      else if (++ran_ == d().experiments_) choose();
      return {};
    }

   private:
    void choose() {
      IteratorPtr best = std::move(inputs_[least(spent_)]);
      inputs_.clear();
      inputs_.push_back(std::move(best));
    }
    std::vector<IteratorPtr> inputs_;
    std::vector<Clock::duration> spent_;
    int64_t ran_ = 0;
  };
  const int64_t experiments_;
};

std::string names_of(const std::vector<DType>& types) {
  std::string out;
  for (DType t : types) out += cat(out.empty() ? "" : ", ", dtype_name(t));
  return out;
}

// The first input stands for itself; the others are held against what is promised.
Status check_inputs(const std::vector<DatasetPtr>& inputs, const std::vector<DType>& types, const std::vector<PartialShape>& shapes) {
  int64_t cardinality = inputs[0]->cardinality();
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Dataset& d = *inputs[i];
    if (d.types() != types)
      return invalid_argument("All inputs to ChooseFastestDataset must have the same output types. Input ", i,
                              " has output types: ", names_of(d.types()), ". Expected: ", names_of(types), ".");
    if (d.shapes().size() != shapes.size()) return invalid_argument("All inputs to ChooseFastestDataset must have compatible output shapes.");
    for (size_t j = 0; j < shapes.size(); ++j) {
      if (!d.shapes()[j].compatible_with(shapes[j]))
        return invalid_argument("All inputs to ChooseFastestDataset must have compatible output shapes. Component ", j, " of input ", i,
                                " has shape: ", d.shapes()[j].to_string(), ". Expected to be compatible with shape: ", shapes[j].to_string(), ".");
    }
    if (cardinality == kUnknownCardinality) cardinality = d.cardinality();
    else if (d.cardinality() != kUnknownCardinality && d.cardinality() != cardinality)
      return invalid_argument("All inputs to ChooseFastestDataset must have compatible cardinalities. Input ", i,
                              " has cardinality: ", d.cardinality(), ", while all prior inputs have cardinality: ", cardinality, ".");
  }
  return {};
}

Status run_choose_fastest(KernelContext& c) {
  std::vector<DatasetPtr> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) {
    WEFT_ASSIGN(DatasetPtr input, dataset_input(c, i));
    inputs.push_back(std::move(input));
  }
  WEFT_RETURN_IF_ERROR(check_inputs(inputs, attr_types(c), attr_shapes(c)));
  return emit(c, std::make_shared<ChooseFastest>(std::move(inputs), c.attr<int64_t>("num_experiments"), attr_types(c), attr_shapes(c)));
}

class ChooseFastestBranch final : public UnaryDataset {
 public:
  ChooseFastestBranch(const DatasetPtr& input, std::vector<FunctionPtr> branches, int64_t per_branch, int64_t numerator, int64_t denominator,
                      const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : UnaryDataset("ChooseFastestBranch", input, types, shapes),
        branches_(std::move(branches)),
        per_branch_(per_branch),
        numerator_(numerator),
        denominator_(denominator) {}

 protected:
  int64_t count() const override {
    const int64_t n = input().cardinality();
    return n < 0 ? n : int64_t(double(n) / double(numerator_) * double(denominator_));
  }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  // What a branch reads: elements of the one iterator of the input, at most so many of them.
  struct Source {
    std::mutex mutex;
    IteratorPtr input;  // null at the end
    int64_t left = 0;   // -1: all
  };
  class Share final : public Dataset {
   public:
    Share(const Dataset& like, std::shared_ptr<Source> source) : Dataset("Wrapper", like.types(), like.shapes()), source_(std::move(source)) {}

   protected:
    Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<ShareWalk>(*this); }

   private:
    class ShareWalk final : public IteratorOf<Share> {
     public:
      using IteratorOf::IteratorOf;

     protected:
      Status advance(IteratorContext& c, Element& out, bool& end) override {
        Source& s = *d().source_;
        std::lock_guard lock(s.mutex);
        end = !s.input || s.left == 0;
        if (end) return {};
        if (s.left > 0) --s.left;
        WEFT_RETURN_IF_ERROR(s.input->next(c, out, end));
        if (end) s.input.reset();
        return {};
      }
    };
    const std::shared_ptr<Source> source_;
  };
  // Each branch gives some elements in turn; then the fastest gives the rest.
  class Walk final : public IteratorOf<ChooseFastestBranch> {
   public:
    Walk(const ChooseFastestBranch& d, IteratorPtr input) : IteratorOf(d), source_(std::make_shared<Source>()), spent_(d.branches_.size()) {
      source_->input = std::move(input);
    }

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      const size_t branches = d().branches_.size();
      const bool races = branch_ < branches;
      if (!current_)
        WEFT_RETURN_IF_ERROR(begin(c, races ? branch_ : least(spent_), races ? d().per_branch_ * d().numerator_ / d().denominator_ : -1));
      const auto start = Clock::now();
      WEFT_RETURN_IF_ERROR(current_->next(c, out, end));
      if (!races || end) return {};
      spent_[branch_] += Clock::now() - start;
      if (++given_ % d().per_branch_) return {};
      current_.reset();
      ++branch_;
      return {};
    }

   private:
    Status begin(IteratorContext& c, size_t branch, int64_t elements) {
      source_->left = elements;
      DatasetPtr made;
      WEFT_RETURN_IF_ERROR(
          call_for_dataset(*d().branches_[branch], c, {dataset_tensor(std::make_shared<Share>(d().input(), source_))}, "branches", made));
      WEFT_RETURN_IF_ERROR(verify_types(d().types(), made->types()));
      WEFT_ASSIGN(current_, make_input(c, *made));
      return {};
    }
    const std::shared_ptr<Source> source_;
    std::vector<Clock::duration> spent_;
    IteratorPtr current_;
    size_t branch_ = 0;
    int64_t given_ = 0;
  };
  const std::vector<FunctionPtr> branches_;
  const int64_t per_branch_, numerator_, denominator_;
};

Status run_choose_fastest_branch(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t numerator, scalar_input<int64_t>(c, "ratio_numerator"));
  if (numerator <= 0) return invalid_argument("`ratio_numerator` must be greater than zero.");
  WEFT_ASSIGN(int64_t denominator, scalar_input<int64_t>(c, "ratio_denominator"));
  if (denominator <= 0) return invalid_argument("`ratio_denominator` must be greater than zero.");
  const int64_t per_branch = c.attr<int64_t>("num_elements_per_branch");
  if (per_branch % denominator != 0) return invalid_argument("`num_elements_per_branch` must be divisible by `ratio_denominator`.");
  if (numerator > INT64_MAX / per_branch) return invalid_argument("`ratio_numerator` is too large.");
  const auto& functions = c.attr<std::vector<FunctionAttr>>("branches");
  const auto& lengths = c.attr<std::vector<int64_t>>("other_arguments_lengths");
  if (functions.size() != lengths.size()) return invalid_argument("branches and other_arguments_lengths must have the same length.");
  const Element arguments = inputs_of(c, "other_arguments");
  std::vector<FunctionPtr> branches;
  size_t at = 0;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (lengths[i] < 0 || size_t(lengths[i]) > arguments.size() - at)
      return invalid_argument("other_arguments_lengths do not fit the number of other_arguments.");
    WEFT_ASSIGN(FunctionPtr f,
                CapturedFunction::make(c, functions[i], Element(arguments.begin() + int64_t(at), arguments.begin() + int64_t(at) + lengths[i])));
    at += size_t(lengths[i]);
    branches.push_back(std::move(f));
  }
  return emit(c,
              std::make_shared<ChooseFastestBranch>(input, std::move(branches), per_branch, numerator, denominator, attr_types(c), attr_shapes(c)));
}

}  // namespace

void choose_fastest(Registry& r) {
  r.add("ChooseFastestDataset")
      .in("input_datasets: N * variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("N: int >= 2")
      .attr("num_experiments: int")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The dataset that was the fastest of several.")
      .shape(shapes::scalar)
      .cpu(run_choose_fastest);

  r.add("ExperimentalChooseFastestDataset")
      .in("input_datasets: N * variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("N: int >= 2")
      .attr("num_experiments: int")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of ChooseFastestDataset.")
      .shape(shapes::scalar)
      .cpu(run_choose_fastest);

  r.add("ChooseFastestBranchDataset")
      .in("input_dataset: variant")
      .in("ratio_numerator: int64")
      .in("ratio_denominator: int64")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("Targuments: list(type) >= 0")
      .attr("num_elements_per_branch: int >= 1")
      .attr("branches: list(func) >= 1")
      .attr("other_arguments_lengths: list(int) >= 1")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset through the function that was the fastest of several.")
      .shape(shapes::scalar)
      .cpu(run_choose_fastest_branch);
}

}  // namespace weft_engine::ops::data
