// Datasets with some of the elements of another: take, skip, shard, samples, and repeat for more of them.
#include <algorithm>
#include <limits>
#include <unordered_set>

#include "op/registry.h"
#include "ops/data/dataset.h"
#include "ops/data/splits.h"
#include "ops/data/seeds.h"

namespace weft_engine::ops::data {

namespace {

class TakeDataset final : public UnaryDataset {
 public:
  TakeDataset(const DatasetPtr& input, int64_t count) : UnaryDataset(count == 0 ? "EmptyTake" : "FiniteTake", input), count_(count) {}
  int64_t count() const override {
    const int64_t n = input().cardinality();
    if (n == kUnknownCardinality) return n;
    if (n == kInfiniteCardinality) return count_;
    return count_ == -1 ? n : std::min(n, count_);
  }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }
  Status random_indexing() const override { return input().random_indexing(); }
  std::string debug_string() const override { return "TakeDatasetOp::Dataset"; }
  Status at(IteratorContext& c, int64_t index, Element& out) const override { return input().element_at(c, index, out); }

 private:
  class Walk final : public UnaryIterator<TakeDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      if (d().count_ >= 0 && taken_ >= d().count_) input_.reset();
      WEFT_RETURN_IF_ERROR(pull(c, out, end));
      taken_ += !end;
      return {};
    }

   private:
    int64_t taken_ = 0;
  };
  const int64_t count_;  // negative: all
};

class SkipDataset final : public UnaryDataset {
 public:
  SkipDataset(const DatasetPtr& input, int64_t count) : UnaryDataset(count < 0 ? "EmptySkip" : "FiniteSkip", input), count_(count) {}
  int64_t count() const override {
    const int64_t n = input().cardinality();
    if (n < 0) return n;
    return count_ < 0 ? 0 : std::max<int64_t>(0, n - count_);
  }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }
  Status random_indexing() const override {
    if (count_ < 0)
      return failed_precondition("Global shuffling does not support empty dataset or skipping the entire dataset. Got skip(", count_, ").");
    return input().random_indexing();
  }
  std::string debug_string() const override { return "SkipDatasetOp::Dataset"; }
  Status at(IteratorContext& c, int64_t index, Element& out) const override {
    return cardinality() < 0 ? Dataset::at(c, index, out) : input().element_at(c, index + count_, out);
  }

 private:
  class Walk final : public UnaryIterator<SkipDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      if (d().count_ < 0) input_.reset();
      for (; skipped_ < d().count_; ++skipped_) {
        WEFT_RETURN_IF_ERROR(pull(c, out, end));
        if (end) return {};
      }
      return pull(c, out, end);
    }

   private:
    int64_t skipped_ = 0;
  };
  const int64_t count_;  // negative: all
};

class RepeatDataset final : public UnaryDataset {
 public:
  RepeatDataset(const DatasetPtr& input, int64_t count)
      : UnaryDataset(count < 0    ? "ForeverRepeat"
                     : count == 0 ? "EmptyRepeat"
                                  : "FiniteRepeat",
                     input),
        count_(count) {}
  int64_t count() const override {
    const int64_t n = input().cardinality();
    if (count_ < 0) return n == 0 ? 0 : kInfiniteCardinality;
    if (count_ == 0) return 0;
    if (n < 0) return n;
    int64_t product;
    return __builtin_mul_overflow(n, count_, &product) ? std::numeric_limits<int64_t>::max() : product;
  }
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }
  Status random_indexing() const override {
    if (count_ <= 0) return failed_precondition("`repeat(", count_, ")` does not support random access of tf.data datasets.");
    return input().random_indexing();
  }
  std::string debug_string() const override { return "RepeatDatasetOp::Dataset"; }
  Status at(IteratorContext& c, int64_t index, Element& out) const override {
    const int64_t n = input().cardinality();
    return input().element_at(c, n > 0 ? index % n : index, out);
  }

 private:
  class Walk final : public IteratorOf<RepeatDataset> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      while (d().count_ < 0 || round_ < d().count_) {
        const bool fresh = !input_;
        if (fresh) {
          if (round_ > 0) WEFT_RETURN_IF_ERROR(reset_splits(path().get()));
          WEFT_ASSIGN(input_, make_input(c, d().input()));
        }
        WEFT_RETURN_IF_ERROR(input_->next(c, out, end));
        if (!end) return {};
        input_.reset();
        // Without this an empty input repeated for ever would never answer. By splits an epoch may have nothing for this walk, and the next one something.
        if (fresh && d().count_ < 0 && (!path() || path()->splits.empty())) return {};
        ++round_;
      }
      end = true;
      return {};
    }

   private:
    IteratorPtr input_;
    int64_t round_ = 0;
  };
  const int64_t count_;  // negative: for ever
};

template <class D>
Status run_counted(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t count, scalar_input<int64_t>(c, "count"));
  return emit(c, std::make_shared<D>(input, count));
}

class ShardDataset final : public UnaryDataset {
 public:
  ShardDataset(const DatasetPtr& input, int64_t shards, int64_t index, bool require_non_empty)
      : UnaryDataset("Shard", input), shards_(shards), index_(index), require_non_empty_(require_non_empty) {}
  int64_t count() const override {
    const int64_t n = input().cardinality();
    return n < 0 ? n : n / shards_ + (index_ < n % shards_);
  }
  Status random_indexing() const override { return input().random_indexing(); }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override {
    if (shards_ < 0)
      return failed_precondition(
          "`tf.data.Dataset.shard(SHARD_HINT, ...)` can only be used in `tf.distribute.Strategy.experimental_distribute_dataset()` with "
          "`tf.data.experimental.AutoShardPolicy.HINT` policy, or tf.data service with "
          "`tf.data.experimental.service.ShardingPolicy.HINT` processing mode.");
    return iterate<Walk>(*this, c);
  }
  Status at(IteratorContext& c, int64_t index, Element& out) const override {
    return cardinality() < 0 ? Dataset::at(c, index, out) : input().element_at(c, index_ + index * shards_, out);
  }

 private:
  class Walk final : public UnaryIterator<ShardDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      do {
        WEFT_RETURN_IF_ERROR(pull(c, out, end));
        if (end) return {};
      } while (at_++ % d().shards_ != d().index_);
      if (!d().require_non_empty_ || at_ > d().shards_) return {};
      // The first round must reach every shard; the element is kept while the rest of the round is looked at.
      for (const int64_t files = at_; at_ < d().shards_; ++at_) {
        Element skipped;
        WEFT_RETURN_IF_ERROR(pull(c, skipped, end));
        if (end)
          return invalid_argument(
              "Could not apply FILE based sharding: the dataset only has ", files, " file(s), which is not enough for the required ", d().shards_,
              " shards/workers. If you are using datasets with distribution strategy, consider setting the auto sharding "
              "policy to either DATA or OFF using the `experimental_distribute.auto_shard_policy` option of `tf.data.Options()`. "
              "Or, split your input files into a larger number of small files such that number of files is greater than number of "
              "shards/workers.");
      }
      return {};
    }

   private:
    int64_t at_ = 0;
  };
  const int64_t shards_, index_;
  const bool require_non_empty_;
};

Status run_shard(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t shards, scalar_input<int64_t>(c, "num_shards"));
  WEFT_ASSIGN(int64_t index, scalar_input<int64_t>(c, "index"));
  constexpr int64_t kHint = -1;  // somebody else is to say how many
  if (shards == 0 || shards < kHint) return invalid_argument("Number of shards must be greater than zero (currently num_shards = ", shards, ").");
  if (shards > 0 && (index < 0 || index >= shards))
    return invalid_argument("Index must be between 0 and ", shards - 1, " (currently index = ", index, ").");
  return emit(c, std::make_shared<ShardDataset>(input, shards, index, c.attr<bool>("require_non_empty")));
}

}  // namespace

DatasetPtr sharded(const DatasetPtr& input, int64_t n, int64_t i) { return std::make_shared<ShardDataset>(input, n, i, false); }

namespace {

class AssertCardinalityDataset final : public UnaryDataset {
 public:
  AssertCardinalityDataset(const DatasetPtr& input, int64_t cardinality) : UnaryDataset("AssertCardinality", input), cardinality_(cardinality) {}
  int64_t count() const override { return cardinality_; }
  Status random_indexing() const override { return input().random_indexing(); }
  Status at(IteratorContext& c, int64_t index, Element& out) const override { return input().element_at(c, index, out); }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<AssertCardinalityDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      WEFT_RETURN_IF_ERROR(pull(c, out, end));
      seen_ += !end;
      const int64_t wanted = d().cardinality_;
      if (end && seen_ != wanted)
        return failed_precondition("Input dataset was expected to contain ", elements(wanted), " but contained only ", elements(seen_), ".");
      if (!end && wanted != kInfiniteCardinality && seen_ > wanted)
        return failed_precondition("Input dataset was expected to contain ", elements(wanted), " but contained at least ", elements(seen_), ".");
      return {};
    }

   private:
    static std::string elements(int64_t n) {
      if (n == kInfiniteCardinality) return "an infinite number of elements";
      return n == 1 ? "1 element" : cat(n, " elements");
    }
    int64_t seen_ = 0;
  };
  const int64_t cardinality_;
};

Status run_assert_cardinality(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t cardinality, scalar_input<int64_t>(c, "cardinality"));
  return emit(c, std::make_shared<AssertCardinalityDataset>(input, cardinality));
}

class SamplingDataset final : public UnaryDataset {
 public:
  SamplingDataset(const DatasetPtr& input, float rate, Seeds seeds) : UnaryDataset("Sampling", input), rate_(rate), seeds_(seeds) {}
  int64_t count() const override { return kUnknownCardinality; }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<SamplingDataset> {
   public:
    Walk(const SamplingDataset& d, IteratorPtr input) : UnaryIterator(d, std::move(input)), draws_(d.seeds_) {}

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      do {
        WEFT_RETURN_IF_ERROR(pull(c, out, end));
        if (end) return {};
      } while (!(kernels::uniform_float(draws_()) < d().rate_));
      return {};
    }

   private:
    Draws draws_;
  };
  const float rate_;
  const Seeds seeds_;
};

Status run_sampling(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(float rate, scalar_input<float>(c, "rate"));
  WEFT_ASSIGN(Seeds seeds, seeds_input(c));
  return emit(c, std::make_shared<SamplingDataset>(input, rate, seeds));
}

// Elements that did not come before. Kept as the bytes of what came.
class UniqueDataset final : public UnaryDataset {
 public:
  explicit UniqueDataset(const DatasetPtr& input) : UnaryDataset("Unique", input) {}
  int64_t count() const override { return kUnknownCardinality; }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<UniqueDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      do {
        WEFT_RETURN_IF_ERROR(pull(c, out, end));
        if (end) {
          seen_.clear();
          return {};
        }
        if (out.empty()) return internal_error("an element without components");
      } while (!seen_.insert(key(out[0])).second);
      return {};
    }

   private:
    static std::string key(const Tensor& t) {
      std::string k = t.shape().to_string();
      if (is_simple(t.dtype())) {
        k.append(static_cast<const char*>(t.raw()), t.byte_size());
      } else {
        for (const tstring& s : t.span<tstring>()) k += cat(s.size(), ":", s.view());
      }
      return k;
    }
    std::unordered_set<std::string> seen_;
  };
};

Status run_unique(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  if (input->types().size() != 1) return invalid_argument("UniqueDataset only supports inputs with a single component.");
  const DType type = input->types()[0];
  if (type != DType::kInt32 && type != DType::kInt64 && type != DType::kString)
    return invalid_argument("UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` component.");
  return emit(c, std::make_shared<UniqueDataset>(input));
}

class IgnoreErrorsDataset final : public UnaryDataset {
 public:
  explicit IgnoreErrorsDataset(const DatasetPtr& input) : UnaryDataset("IgnoreErrors", input) {}
  int64_t count() const override { return kUnknownCardinality; }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<IgnoreErrorsDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      Status s;
      do s = pull(c, out, end);
      while (!s.ok() && s.code() != Code::kCancelled);
      return s;
    }
  };
};

Status run_ignore_errors(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  return emit(c, std::make_shared<IgnoreErrorsDataset>(input));
}

}  // namespace

void selections(Registry& r) {
  r.add("TakeDataset")
      .in("input_dataset: variant")
      .in("count: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of the first elements of another.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"count"}); })
      .cpu(run_counted<TakeDataset>);

  r.add("SkipDataset")
      .in("input_dataset: variant")
      .in("count: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset without its first elements.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"count"}); })
      .cpu(run_counted<SkipDataset>);

  r.add("RepeatDataset")
      .in("input_dataset: variant")
      .in("count: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that gives its elements several times over.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"count"}); })
      .cpu(run_counted<RepeatDataset>);

  r.add("ShardDataset")
      .in("input_dataset: variant")
      .in("num_shards: int64")
      .in("index: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("require_non_empty: bool = false")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of every n-th element of another.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_shards", "index"}); })
      .cpu(run_shard);

  r.add("AssertCardinalityDataset")
      .in("input_dataset: variant")
      .in("cardinality: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset that fails if it has another number of elements than promised.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"cardinality"}); })
      .cpu(run_assert_cardinality);

  r.add("SamplingDataset")
      .in("input_dataset: variant")
      .in("rate: float")
      .in("seed: int64")
      .in("seed2: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset that keeps each element with a given probability.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"rate", "seed", "seed2"}); })
      .cpu(run_sampling);

  r.add("UniqueDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset without elements that came before.")
      .shape(shapes::scalar)
      .cpu(run_unique);

  r.add("ExperimentalUniqueDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of UniqueDataset.")
      .shape(shapes::scalar)
      .cpu(run_unique);

  r.add("IgnoreErrorsDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("log_warning: bool = false")
      .doc("A dataset that leaves out the elements whose making fails.")
      .shape(shapes::scalar)
      .cpu(run_ignore_errors);

  r.add("ExperimentalIgnoreErrorsDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("log_warning: bool = false")
      .doc("The former name of IgnoreErrorsDataset.")
      .shape(shapes::scalar)
      .cpu(run_ignore_errors);
}

}  // namespace weft_engine::ops::data
