// Datasets with the elements of another as they are: they carry options, tune threads that are not used
// here, or check how datasets are built upon each other.
#include <chrono>
#include <thread>

#include "op/registry.h"
#include "ops/data/prefetch_buffer.h"
#include "ops/data/dataset_graph.h"

namespace weft_engine::ops::data {

namespace {

class SameDataset : public UnaryDataset {
 public:
  using UnaryDataset::UnaryDataset;

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<SameDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override { return pull(c, out, end); }
  };
};

Status emit_same(KernelContext& c, std::string_view kind) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  return emit(c, std::make_shared<SameDataset>(kind, input));
}

class OptionsDataset final : public SameDataset {
 public:
  OptionsDataset(const DatasetPtr& input, const std::string& options) : SameDataset("Options", input) { options_ += options; }
  Status random_indexing() const override { return input().random_indexing(); }

 protected:
  Status at(IteratorContext& c, int64_t index, Element& out) const override { return input().element_at(c, index, out); }
};

Status run_options(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  return emit(c, std::make_shared<OptionsDataset>(input, c.attr<std::string>("serialized_options")));
}

// The only one that works on a thread of its own.
class PrefetchDataset final : public UnaryDataset {
 public:
  PrefetchDataset(const DatasetPtr& input, int64_t size) : UnaryDataset("Prefetch", input), size_(size) {}
  Status random_indexing() const override { return input().random_indexing(); }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }
  Status at(IteratorContext& c, int64_t index, Element& out) const override { return input().element_at(c, index, out); }

 private:
  class Walk final : public IteratorOf<PrefetchDataset> {
   public:
    Walk(const PrefetchDataset& d, IteratorPtr input) : IteratorOf(d), prefetched_(std::move(input), 1, d.size_) {}

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override { return prefetched_.next(c, out, end); }

   private:
    PrefetchBuffer prefetched_;
  };
  const int64_t size_;
};

Status run_prefetch(KernelContext& c) {
  WEFT_ASSIGN(int64_t size, scalar_input<int64_t>(c, "buffer_size"));
  if (size < 0 && size != -1) return invalid_argument("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
  if (size == 0) return emit_same(c, "Prefetch");
  constexpr int64_t kTuned = 4;  // for who leaves the size to us
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  return emit(c, std::make_shared<PrefetchDataset>(input, size < 0 ? kTuned : size));
}

Status run_rewrite(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_scalar(c, "rewrite_name"));
  return emit_same(c, "Rewrite");
}
Status run_model(KernelContext& c) { return emit_same(c, "Model"); }
Status run_optimize(KernelContext& c) { return emit_same(c, "Optimize"); }
Status run_non_serializable(KernelContext& c) { return emit_same(c, "NonSerializable"); }
// The dataset itself: what TensorFlow adds here plans threads and memory.
Status run_finalize(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  return emit(c, std::move(input));
}

Status run_max_intra_op(KernelContext& c) {
  WEFT_ASSIGN(int64_t n, scalar_input<int64_t>(c, "max_intra_op_parallelism"));
  if (n < 0) return invalid_argument("`max_intra_op_parallelism` must be >= 0");
  return emit_same(c, "MaxIntraOpParallelism");
}

Status run_private_thread_pool(KernelContext& c) {
  WEFT_ASSIGN(int64_t n, scalar_input<int64_t>(c, "num_threads"));
  if (n < 0) return invalid_argument("`num_threads` must be >= 0");
  return emit_same(c, "PrivateThreadPool");
}

Status run_auto_shard(KernelContext& c) {
  WEFT_ASSIGN(int64_t workers, scalar_input<int64_t>(c, "num_workers"));
  WEFT_ASSIGN(int64_t index, scalar_input<int64_t>(c, "index"));
  if (workers <= 0) return invalid_argument("num_workers must be greater than zero.");
  if (index < 0 || index >= workers) return invalid_argument("index must be between 0 and ", workers - 1);
  constexpr int64_t kOff = -1, kAuto = 0, kFile = 1, kHint = 3;
  const int64_t policy = c.attr<int64_t>("auto_shard_policy");
  if (workers == 1 || policy == kOff) return emit_same(c, "AutoShard");
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  const ShardingPolicy how = policy == kFile   ? ShardingPolicy::kFile
                             : policy == kHint ? ShardingPolicy::kHint
                             : policy == kAuto ? ShardingPolicy::kFileOrData
                                               : ShardingPolicy::kData;
  WEFT_ASSIGN(DatasetPtr part, part_of(input, c.env(), {how, workers, index}));
  return emit(c, std::move(part));
}

class SleepDataset final : public UnaryDataset {
 public:
  SleepDataset(const DatasetPtr& input, int64_t microseconds) : UnaryDataset("Sleep", input), microseconds_(microseconds) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<SleepDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      std::this_thread::sleep_for(std::chrono::microseconds(d().microseconds_));
      return pull(c, out, end);
    }
  };
  const int64_t microseconds_;
};

Status run_sleep(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t microseconds, scalar_input<int64_t>(c, "sleep_microseconds"));
  return emit(c, std::make_shared<SleepDataset>(input, std::max<int64_t>(0, microseconds)));
}

// Checks, when a walk starts, which datasets are built upon this one.
class AssertNextDataset final : public UnaryDataset {
 public:
  AssertNextDataset(const DatasetPtr& input, std::vector<std::string> wanted) : UnaryDataset("AssertNext", input), wanted_(std::move(wanted)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override {
    std::vector<std::string_view> above;
    for (const Path* p = c.path->parent.get(); p; p = p->parent.get()) above.push_back(p->kind);
    if (above.size() < wanted_.size())
      return invalid_argument("Asserted next ", wanted_.size(), " transformations but encountered only ", above.size(), ".");
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (above[i] != wanted_[i])
        return invalid_argument("Asserted transformation matching ", wanted_[i], " at offset ", i, " but encountered ", above[i],
                                " transformation instead.");
    }
    return iterate<Walk>(*this, c);
  }

 private:
  class Walk final : public UnaryIterator<AssertNextDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override { return pull(c, out, end); }
  };
  const std::vector<std::string> wanted_;
};

// Names of ops, each with values of attributes that must hold; those are not known here.
Status run_assert_prev(KernelContext& c) {
  WEFT_ASSIGN(std::vector<std::string> wanted, strings_input(c, "transformations"));
  if (!wanted.empty()) return unimplemented("The op AssertPrevDataset is not supported.");
  return emit_same(c, "AssertPrev");
}

Status run_assert_next(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(std::vector<std::string> wanted, strings_input(c, "transformations"));
  return emit(c, std::make_shared<AssertNextDataset>(input, std::move(wanted)));
}

}  // namespace

void pass_through(Registry& r) {
  r.add("OptionsDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("serialized_options: string")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that carries options for those made from it.")
      .shape(shapes::scalar)
      .cpu(run_options);

  r.add("PrefetchDataset")
      .in("input_dataset: variant")
      .in("buffer_size: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("slack_period: int = 0")
      .attr("legacy_autotune: bool = true")
      .attr("buffer_size_min: int = 0")
      .attr("metadata: string = ''")
      .doc("A dataset that prefetches elements.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"buffer_size"}); })
      .cpu(run_prefetch);

  r.add("ModelDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("algorithm: int = 0")
      .attr("cpu_budget: int = 0")
      .attr("ram_budget: int = 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset whose threads and memory would be planned; here the dataset as it is.")
      .shape(shapes::scalar)
      .cpu(run_model);

  r.add("OptimizeDataset")
      .in("input_dataset: variant")
      .in("optimizations: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("optimization_configs: list(string) = []")
      .doc("A dataset that may be rewritten; here the dataset as it is.")
      .shape(shapes::scalar)
      .cpu(run_optimize);

  r.add("OptimizeDatasetV2")
      .in("input_dataset: variant")
      .in("optimizations_enabled: string")
      .in("optimizations_disabled: string")
      .in("optimizations_default: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("optimization_configs: list(string) = []")
      .doc("A dataset that may be rewritten; here the dataset as it is.")
      .shape(shapes::scalar)
      .cpu(run_optimize);

  r.add("RewriteDataset")
      .in("input_dataset: variant")
      .in("rewrite_name: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset that may be rewritten; here the dataset as it is.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"rewrite_name"}); })
      .cpu(run_rewrite);

  r.add("FinalizeDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("has_captured_ref: bool = false")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset with its options applied.")
      .shape(shapes::scalar)
      .cpu(run_finalize);

  r.add("NonSerializableDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset that is kept out of saved pipelines.")
      .shape(shapes::scalar)
      .cpu(run_non_serializable);

  r.add("ExperimentalNonSerializableDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of NonSerializableDataset.")
      .shape(shapes::scalar)
      .cpu(run_non_serializable);

  r.add("PrivateThreadPoolDataset")
      .in("input_dataset: variant")
      .in("num_threads: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset that uses a number of threads of its own; here the dataset as it is.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_threads"}); })
      .cpu(run_private_thread_pool);

  r.add("ExperimentalPrivateThreadPoolDataset")
      .in("input_dataset: variant")
      .in("num_threads: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of PrivateThreadPoolDataset.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_threads"}); })
      .cpu(run_private_thread_pool);

  r.add("MaxIntraOpParallelismDataset")
      .in("input_dataset: variant")
      .in("max_intra_op_parallelism: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset whose ops use a bounded number of threads; here the dataset as it is.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"max_intra_op_parallelism"}); })
      .cpu(run_max_intra_op);

  r.add("ExperimentalMaxIntraOpParallelismDataset")
      .in("input_dataset: variant")
      .in("max_intra_op_parallelism: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of MaxIntraOpParallelismDataset.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"max_intra_op_parallelism"}); })
      .cpu(run_max_intra_op);

  r.add("AutoShardDataset")
      .in("input_dataset: variant")
      .in("num_workers: int64")
      .in("index: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("auto_shard_policy: int = 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("num_replicas: int = 0")
      .doc("A dataset that gives one worker its share of the elements.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_workers", "index"}); })
      .cpu(run_auto_shard);

  r.add("ExperimentalAutoShardDataset")
      .in("input_dataset: variant")
      .in("num_workers: int64")
      .in("index: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("auto_shard_policy: int = 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of AutoShardDataset.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_workers", "index"}); })
      .cpu(run_auto_shard);

  r.add("SleepDataset")
      .in("input_dataset: variant")
      .in("sleep_microseconds: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset that waits before each element.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"sleep_microseconds"}); })
      .cpu(run_sleep);

  r.add("ExperimentalSleepDataset")
      .in("input_dataset: variant")
      .in("sleep_microseconds: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of SleepDataset.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"sleep_microseconds"}); })
      .cpu(run_sleep);

  r.add("AssertPrevDataset")
      .in("input_dataset: variant")
      .in("transformations: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset that checks which datasets it is built upon.")
      .shape(shapes::scalar)
      .cpu(run_assert_prev);

  r.add("AssertNextDataset")
      .in("input_dataset: variant")
      .in("transformations: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset that checks which datasets are built upon it.")
      .shape(shapes::scalar)
      .cpu(run_assert_next);

  r.add("ExperimentalAssertNextDataset")
      .in("input_dataset: variant")
      .in("transformations: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of AssertNextDataset.")
      .shape(shapes::scalar)
      .cpu(run_assert_next);
}

}  // namespace weft_engine::ops::data
