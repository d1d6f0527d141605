// How large the batches of a dataset are, as far as the datasets it is made of tell.
#include <algorithm>

#include "op/registry.h"
#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

namespace {

constexpr int64_t kUnknown = -1;

// The name of an op without "V2" and the like.
std::string_view unversioned(std::string_view op) {
  const size_t digits = op.find_last_not_of("0123456789");
  return digits != std::string_view::npos && digits + 1 < op.size() && op[digits] == 'V' ? op.substr(0, digits) : op;
}

template <size_t n>
bool one_of(std::string_view op, const std::string_view (&list)[n]) {
  return std::find(std::begin(list), std::end(list), op) != std::end(list);
}

int64_t batch_size_of(const Dataset& dataset) {
  constexpr std::string_view kBatches[] = {"BatchDataset", "PaddedBatchDataset", "MapAndBatchDataset", "ExperimentalMapAndBatchDataset"};
  constexpr std::string_view kJoins[] = {"ConcatenateDataset", "ZipDataset"};
  constexpr std::string_view kSameRows[] = {"AssertCardinalityDataset", "CacheDataset",        "FilterDataset",   "ModelDataset",  "OptimizeDataset",
                                            "OptionsDataset",           "ParseExampleDataset", "PrefetchDataset", "RepeatDataset", "ShardDataset",
                                            "ShuffleAndRepeatDataset",  "ShuffleDataset",      "SkipDataset",     "TakeDataset"};
  const Dataset::Origin* origin = dataset.origin();
  if (!origin) return kUnknown;
  const std::string_view op = unversioned(origin->node.op());
  if (one_of(op, kBatches)) {
    const Tensor& size = origin->inputs[size_t(origin->node.input_range("batch_size").begin)];
    return size.valid() && size.dtype() == DType::kInt64 && size.num_elements() == 1 ? size.data<int64_t>()[0] : kUnknown;
  }
  const auto& inputs = dataset.inputs();
  if (inputs.empty()) return kUnknown;
  if (one_of(op, kJoins)) {
    const int64_t first = batch_size_of(*inputs[0]);
    const bool same = std::all_of(inputs.begin() + 1, inputs.end(), [&](const DatasetPtr& input) { return batch_size_of(*input) == first; });
    return same ? first : kUnknown;
  }
  return one_of(op, kSameRows) ? batch_size_of(*inputs[0]) : kUnknown;
}

Status run_batch_size(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
  out->data<int64_t>()[0] = batch_size_of(*input);
  return {};
}

}  // namespace

void batch_size(Registry& r) {
  r.add("ComputeBatchSize")
      .in("input_dataset: variant")
      .out("batch_size: int64")
      .doc("The number of rows in the elements of a dataset of batches; -1 where it is not known.")
      .shape(shapes::scalar)
      .cpu(run_batch_size);
}

}  // namespace weft_engine::ops::data
