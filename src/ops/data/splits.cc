#include "ops/data/splits.h"

#include <algorithm>

namespace weft_engine::ops::data {

namespace {

// A walk over the source itself: of Range its numbers, of the others indices.
class SourceSplits final : public SplitProvider {
 public:
  explicit SourceSplits(const Dataset& source) : source_(source.shared_from_this()) {}
  Status next(Tensor& split, bool& end) override {
    const int64_t n = source_->kind() == "Generator" ? 1 : source_->cardinality();  // one walk has a generator's elements
    end = n >= 0 && at_ >= n;
    if (end) return {};
    int64_t value = at_++;
    if (source_->kind() == "Range") WEFT_RETURN_IF_ERROR(number_at(value));
    split = Tensor::scalar(value);
    return {};
  }
  Status reset() override {
    at_ = 0;
    return {};
  }

 private:
  Status number_at(int64_t& value) const {
    const Dataset::Origin* origin = source_->origin();
    if (!origin || origin->inputs.size() < 3) return internal_error("a RangeDataset that no op made has no splits");
    const int64_t start = origin->inputs[0].data<int64_t>()[0], step = origin->inputs[2].data<int64_t>()[0];
    value = int64_t(uint64_t(start) + uint64_t(value) * uint64_t(step));
    return {};
  }
  const DatasetPtr source_;
  int64_t at_ = 0;
};

size_t count_sources(const Dataset& dataset) {
  std::vector<const Dataset*> sources;
  return split_sources(dataset, sources).ok() ? sources.size() : 0;
}

}  // namespace

Status split_sources(const Dataset& dataset, std::vector<const Dataset*>& out) {
  constexpr size_t kMost = 1 << 16;  // inputs may be shared, and then there are more ways than datasets
  if (out.size() > kMost) return resource_exhausted("a dataset with more than ", kMost, " sources cannot be cut into splits");
  if (dataset.inputs().empty()) {
    // Random numbers have no order: each walk draws its own.
    if (!dataset.splittable() && dataset.kind() != "Random")
      return unimplemented("Cannot create a split provider for dataset of type ", dataset.kind());
    out.push_back(&dataset);
    return {};
  }
  for (const DatasetPtr& input : dataset.inputs()) WEFT_RETURN_IF_ERROR(split_sources(*input, out));
  return {};
}

std::shared_ptr<SplitProvider> make_split_provider(const Dataset& source) { return std::make_shared<SourceSplits>(source); }

Splits splits_for(const Path& parent, const Dataset& input) {
  if (parent.splits.empty() || !parent.of) return {};
  const auto& inputs = parent.of->inputs();
  if (inputs.size() == 1 && inputs[0].get() == &input) return parent.splits;
  // An input that is there twice has splits of its own each time.
  auto again = std::count(parent.made_inputs.begin(), parent.made_inputs.end(), &input);
  size_t begin = 0;
  for (const DatasetPtr& one : inputs) {
    const size_t n = count_sources(*one);
    if (one.get() == &input && again-- == 0) {
      parent.made_inputs.push_back(&input);
      if (begin + n > parent.splits.size()) return {};
      return Splits(parent.splits.begin() + ptrdiff_t(begin), parent.splits.begin() + ptrdiff_t(begin + n));
    }
    begin += n;
  }
  return {};  // made by a function while it walks: a whole dataset for each element
}

Status next_split(SplitProvider& splits, int64_t& value, bool& end) {
  Tensor split;
  WEFT_RETURN_IF_ERROR(splits.next(split, end));
  if (end) return {};
  if (!split.valid() || split.dtype() != DType::kInt64 || split.num_elements() != 1) return internal_error("a split must be one int64");
  value = split.data<int64_t>()[0];
  return {};
}

Status reset_splits(const Path* path) {
  if (!path) return {};
  path->made_inputs.clear();
  for (const auto& splits : path->splits) WEFT_RETURN_IF_ERROR(splits->reset());
  return {};
}

}  // namespace weft_engine::ops::data
