// What the servers of the tf.data service ask of datasets (op/data_service.h): datasets made from graphs, their parts, their splits, their elements.
#include "ops/data/served_datasets.h"

#include "op/cancellation.h"
#include "op/graph_message.h"
#include "ops/data/compressed_element.h"
#include "ops/data/dataset_graph.h"
#include "ops/data/splits.h"

namespace weft_engine::ops::data {

namespace {

// Whether the functions of a dataset read files: then its input is names of files, and is what is cut.
bool reads_files(const Dataset& dataset) {
  constexpr std::string_view kReaders[] = {"TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "CSVDataset"};
  const GraphMessages* m = graph_messages.load();
  if (!m || !dataset.origin() || !dataset.origin()->functions) return false;
  auto functions = m->encode({}, {dataset.origin()->functions});
  if (!functions.ok()) return false;
  for (std::string_view reader : kReaders) {
    if (functions->find(reader) != functions->npos) return true;
  }
  return false;
}

// Names of files may be shuffled on their way: every worker must cut the same order, so that they are cut before.
const Dataset* below_shuffles(const Dataset* reader) {
  for (const Dataset* d = reader; d->inputs().size() == 1;) {
    d = d->inputs()[0].get();
    if (d->kind().starts_with("Shuffle")) reader = d;
  }
  return reader;
}

Status find_files(const Dataset& dataset, std::set<const Dataset*>& seen, std::set<const Dataset*>& out) {
  if (!seen.insert(&dataset).second) return {};
  if (!dataset.inputs().empty() && reads_files(dataset)) {
    out.insert(below_shuffles(&dataset));
    return {};
  }
  if (dataset.inputs().empty())
    return not_found("Found an unshardable source dataset: ", dataset.origin() ? std::string(dataset.origin()->node.op()) : dataset.debug_string());
  for (const DatasetPtr& input : dataset.inputs()) WEFT_RETURN_IF_ERROR(find_files(*input, seen, out));
  return {};
}

Result<DatasetPtr> made_again(const Dataset& dataset, const KernelEnv& env, const GraphChanges& changes) {
  WEFT_ASSIGN(std::string graph, graph_of(dataset, env, false, &changes));
  WEFT_ASSIGN(Tensor made, dataset_of_graph(env, graph));
  return dataset_of_tensor(made);
}

}  // namespace

Result<DatasetPtr> part_of(const DatasetPtr& dataset, const KernelEnv& env, const Shard& shard) {
  if (shard.policy == ShardingPolicy::kOff || shard.policy == ShardingPolicy::kDynamic) return dataset;
  if (shard.count <= 0 || shard.index < 0 || shard.index >= shard.count)
    return invalid_argument("part ", shard.index, " of ", shard.count, " of a dataset does not exist");
  GraphChanges changes;
  changes.count = shard.count;
  changes.index = shard.index;
  if (shard.policy == ShardingPolicy::kHint) {
    changes.replace_hints = true;
    return made_again(*dataset, env, changes);
  }
  if (shard.policy != ShardingPolicy::kData) {
    std::set<const Dataset*> seen;
    const Status s = find_files(*dataset, seen, changes.cut_inputs);
    if (s.ok()) return made_again(*dataset, env, changes);
    if (s.code() != Code::kNotFound || shard.policy == ShardingPolicy::kFile) return s;
  }
  return sharded(dataset, shard.count, shard.index);
}

namespace {

class Walk final : public ServedIterator {
 public:
  Walk(KernelEnv env, IteratorPtr iterator) : env_(env), iterator_(std::move(iterator)) {}
  Status next(Element& out, bool& end) override {
    IteratorContext c(env_);
    return iterator_->next(c, out, end);
  }

 private:
  const KernelEnv env_;
  const IteratorPtr iterator_;
};

class Served final : public ServedDataset {
 public:
  Served(const KernelEnv& env, DatasetPtr dataset) : env_(env), dataset_(std::move(dataset)) {}
  int64_t cardinality() const override { return dataset_->cardinality(); }
  Result<Splits> make_splits() const override {
    std::vector<const Dataset*> sources;
    WEFT_RETURN_IF_ERROR(split_sources(*dataset_, sources));
    Splits out;
    for (const Dataset* source : sources) out.push_back(make_split_provider(*source));
    return out;
  }
  Result<std::unique_ptr<ServedIterator>> iterate(CancellationManager* cancellation, Splits splits) const override {
    KernelEnv env = env_;
    env.cancellation = cancellation;
    IteratorContext c(env);
    c.splits = std::move(splits);
    WEFT_ASSIGN(IteratorPtr iterator, dataset_->make_iterator(c));
    return std::unique_ptr<ServedIterator>(std::make_unique<Walk>(env, std::move(iterator)));
  }

 private:
  const KernelEnv env_;
  const DatasetPtr dataset_;
};

Result<std::shared_ptr<const ServedDataset>> make(const KernelEnv& env, std::string_view graph, const Shard& shard) {
  WEFT_ASSIGN(Tensor made, dataset_of_graph(env, graph));
  WEFT_ASSIGN(DatasetPtr whole, dataset_of_tensor(made));
  WEFT_ASSIGN(DatasetPtr part, part_of(whole, env, shard));
  return std::shared_ptr<const ServedDataset>(std::make_shared<Served>(env, std::move(part)));
}

std::optional<std::string> compressed(const Tensor& t) {
  if (t.dtype() != DType::kVariant || t.rank() != 0) return std::nullopt;
  const auto* element = t.data<Variant>()[0].get<CompressedElement>();
  if (!element) return std::nullopt;
  return element->to_string();
}

Result<Tensor> from_compressed(std::string_view message) {
  WEFT_ASSIGN(CompressedElement element, CompressedElement::parse(message));
  return Tensor::scalar(Variant(std::make_shared<const CompressedElement>(std::move(element))));
}

}  // namespace

void serve_datasets() {
  static constexpr DatasetServing kServing{make, compressed, from_compressed};
  dataset_serving.store(&kServing);
}

}  // namespace weft_engine::ops::data
