// Datasets in random order, with TensorFlow's order for given seeds; generators of seeds.
#include <deque>

#include "op/registry.h"
#include "ops/data/dataset.h"
#include "ops/data/iterator_resource.h"
#include "ops/data/seeds.h"
#include "ops/data/splits.h"
#include "ops/random/random_common.h"

namespace weft_engine::ops::data {

Result<Seeds> seeds_input(const KernelContext& c) {
  WEFT_ASSIGN(int64_t seed, scalar_input<int64_t>(c, "seed"));
  WEFT_ASSIGN(int64_t seed2, scalar_input<int64_t>(c, "seed2"));
  if (seed == 0 && seed2 == 0) return Seeds(int64_t(entropy()), int64_t(entropy()));
  return Seeds(seed, seed2);
}

Result<std::shared_ptr<SeedGenerator>> generator_input(const KernelContext& c) {
  const Tensor& t = c.input("seed_generator");
  if (t.dtype() != DType::kResource || t.num_elements() < 1) return invalid_argument("seed_generator must be a resource handle");
  // A graph of another process names its own.
  const ResourceHandle::Info* info = t.data<ResourceHandle>()[0].info();
  if (info && !info->resource && info->type_name.find("SeedGenerator") != std::string::npos && info->type_name != SeedGenerator::kTypeName)
    return std::shared_ptr<SeedGenerator>();
  auto found = c.resources().get<SeedGenerator>(t.data<ResourceHandle>()[0]);
  if (!found.ok() && found.status().code() == Code::kNotFound) return std::shared_ptr<SeedGenerator>();
  return found;
}

namespace {

// Elements of more epochs than this are not in the buffer at once.
constexpr size_t kMaxEpochsInBuffer = 3;

class ShuffleDataset final : public UnaryDataset {
 public:
  ShuffleDataset(std::string_view kind, const DatasetPtr& input, int64_t buffer_size, int64_t count, std::shared_ptr<SeedGenerator> seeds)
      : UnaryDataset(kind, input), buffer_size_(buffer_size), count_(count), seeds_(std::move(seeds)) {}
  int64_t count() const override {
    const int64_t n = input().cardinality();
    if (count_ == -1 || n == kInfiniteCardinality) return kInfiniteCardinality;
    int64_t product;
    return n == kUnknownCardinality || __builtin_mul_overflow(n, count_, &product) ? kUnknownCardinality : product;
  }
  SeedGenerator* seeds() const override { return seeds_.get(); }

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  // The buffer is a ring, cut into one slice for each epoch; what is drawn comes from the first slice.
  class Walk final : public IteratorOf<ShuffleDataset> {
   public:
    explicit Walk(const ShuffleDataset& d) : IteratorOf(d), draws_(d.seeds_->next()) {}

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      WEFT_RETURN_IF_ERROR(fill(c));
      end = elements_ == 0;
      if (end) return {};
      while (slices_.front().begin == slices_.front().end) {
        slices_.pop_front();
        draws_ = Draws(d().seeds_->next());  // each epoch has seeds of its own
      }
      Slice& slice = slices_.front();
      const int64_t offset = int64_t(draws_() % uint64_t(slice.end - slice.begin));
      Element& chosen = ring(slice.begin + offset);
      out = std::move(chosen);
      std::swap(chosen, ring(slice.begin));
      ++slice.begin;
      --elements_;
      return {};
    }

   private:
    struct Slice {
      int64_t begin, end;
    };
    // No size given: the buffer takes all, and is as long as it has become.
    int64_t capacity() const { return d().buffer_size_ == kUnknownCardinality ? int64_t(buffer_.size()) : d().buffer_size_; }
    Element& ring(int64_t i) { return buffer_[size_t(i % capacity())]; }
    bool may_fill() const {
      if (!input_ && d().count_ != -1 && epoch_ >= d().count_) return false;
      if (slices_.size() > kMaxEpochsInBuffer && elements_ > 0) return false;
      return d().buffer_size_ == kUnknownCardinality || elements_ < d().buffer_size_;
    }
    Status fill(IteratorContext& c) {
      while (may_fill()) {
        if (!input_) {
          if (epoch_ > 0) WEFT_RETURN_IF_ERROR(reset_splits(path().get()));
          WEFT_ASSIGN(input_, make_input(c, d().input()));
          const int64_t n = slices_.empty() ? last_ : slices_.back().end;
          slices_.push_back({n, n});
          ++epoch_;
        }
        Element e;
        bool end = false;
        WEFT_RETURN_IF_ERROR(input_->next(c, e, end));
        if (!end) {
          add(std::move(e));
          continue;
        }
        input_.reset();
        // An empty input repeated for ever would never answer.
        if (!produced_ && d().count_ == -1) return {};
      }
      return {};
    }
    void add(Element e) {
      produced_ = true;
      // The buffer grows with what comes: its size may be said to be far larger than the input.
      if (d().buffer_size_ == kUnknownCardinality ? elements_ == int64_t(buffer_.size())
                                                  : slices_.back().end == int64_t(buffer_.size()) && int64_t(buffer_.size()) < d().buffer_size_) {
        buffer_.push_back(std::move(e));
      } else {
        ring(slices_.back().end) = std::move(e);
      }
      ++elements_;
      last_ = ++slices_.back().end;
    }

    IteratorPtr input_;
    Draws draws_;
    std::vector<Element> buffer_;
    std::deque<Slice> slices_;
    int64_t epoch_ = 0, elements_ = 0, last_ = 0;
    bool produced_ = false;
  };
  const int64_t buffer_size_, count_;
  const std::shared_ptr<SeedGenerator> seeds_;
};

Result<int64_t> buffer_size_input(const KernelContext& c) {
  WEFT_ASSIGN(int64_t size, scalar_input<int64_t>(c, "buffer_size"));
  if (size <= 0 && size != kUnknownCardinality) return invalid_argument("buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
  return size;
}

Status run_shuffle(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t size, buffer_size_input(c));
  WEFT_ASSIGN(Seeds seeds, seeds_input(c));
  return emit(c, std::make_shared<ShuffleDataset>("Shuffle", input, size, 1,
                                                  std::make_shared<SeedGenerator>(seeds, c.attr<bool>("reshuffle_each_iteration"))));
}

Status run_shuffle_v2(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t size, buffer_size_input(c));
  WEFT_ASSIGN(std::shared_ptr<SeedGenerator> generator, generator_input(c));
  if (!generator) generator = std::make_shared<SeedGenerator>(Seeds(int64_t(entropy()), int64_t(entropy())), true);
  return emit(c, std::make_shared<ShuffleDataset>("Shuffle", input, size, 1, std::move(generator)));
}

Status run_shuffle_v3(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t size, buffer_size_input(c));
  WEFT_ASSIGN(Seeds seeds, seeds_input(c));
  WEFT_ASSIGN(std::shared_ptr<SeedGenerator> generator, generator_input(c));
  if (!generator) generator = std::make_shared<SeedGenerator>(seeds, c.attr<bool>("reshuffle_each_iteration"));
  return emit(c, std::make_shared<ShuffleDataset>("Shuffle", input, size, 1, std::move(generator)));
}

template <bool kWithGenerator>
Status run_shuffle_and_repeat(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t size, buffer_size_input(c));
  WEFT_ASSIGN(Seeds seeds, seeds_input(c));
  WEFT_ASSIGN(int64_t count, scalar_input<int64_t>(c, "count"));
  if (count <= 0 && count != -1) return invalid_argument("count must be greater than zero or equal to -1.");
  std::shared_ptr<SeedGenerator> generator;
  if constexpr (kWithGenerator) {
    WEFT_ASSIGN(generator, generator_input(c));
  }
  if (!generator) generator = std::make_shared<SeedGenerator>(seeds, c.attr<bool>("reshuffle_each_iteration"));
  return emit(c, std::make_shared<ShuffleDataset>("ShuffleAndRepeat", input, size, count, std::move(generator)));
}

Status generator_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return shapes::scalar(c);
}

Status run_anonymous_generator(KernelContext& c) {
  WEFT_ASSIGN(Seeds seeds, seeds_input(c));
  bool reshuffle = true;
  if (c.num_inputs() > 2) {
    WEFT_ASSIGN(reshuffle, scalar_input<bool>(c, "reshuffle"));
  }
  c.set_output(0, make_handle(c.device().name(), c.resources().default_container(), "AnonymousSeedGenerator", SeedGenerator::kTypeName,
                              std::make_shared<SeedGenerator>(seeds, reshuffle), true));
  c.set_output(1, deleter_tensor());
  return {};
}

// A handle that leads nowhere: who gets it makes a generator of its own.
Status run_dummy_generator(KernelContext& c) {
  c.set_output(0, make_handle(c.device().name(), c.resources().default_container(), "dummy_resource", SeedGenerator::kTypeName));
  return {};
}

// The generator is freed with the last handle.
Status run_delete_generator(KernelContext& c) { return c.resource<SeedGenerator>(0).status(); }

}  // namespace

void shuffles(Registry& r) {
  r.add("ShuffleDataset")
      .in("input_dataset: variant")
      .in("buffer_size: int64")
      .in("seed: int64")
      .in("seed2: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("reshuffle_each_iteration: bool = true")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A former version of ShuffleDatasetV3.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"buffer_size", "seed", "seed2"}); })
      .cpu(run_shuffle);

  r.add("ShuffleDatasetV2")
      .in("input_dataset: variant")
      .in("buffer_size: int64")
      .in("seed_generator: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A former version of ShuffleDatasetV3.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"buffer_size", "seed_generator"}); })
      .cpu(run_shuffle_v2);

  r.add("ShuffleDatasetV3")
      .in("input_dataset: variant")
      .in("buffer_size: int64")
      .in("seed: int64")
      .in("seed2: int64")
      .in("seed_generator: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("reshuffle_each_iteration: bool = true")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset that draws its elements at random from a buffer.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"buffer_size", "seed", "seed2", "seed_generator"}); })
      .cpu(run_shuffle_v3);

  r.add("ShuffleAndRepeatDataset")
      .in("input_dataset: variant")
      .in("buffer_size: int64")
      .in("seed: int64")
      .in("seed2: int64")
      .in("count: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("reshuffle_each_iteration: bool = true")
      .attr("metadata: string = ''")
      .doc("A former version of ShuffleAndRepeatDatasetV2.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"buffer_size", "seed", "seed2", "count"}); })
      .cpu(run_shuffle_and_repeat<false>);

  r.add("ShuffleAndRepeatDatasetV2")
      .in("input_dataset: variant")
      .in("buffer_size: int64")
      .in("seed: int64")
      .in("seed2: int64")
      .in("count: int64")
      .in("seed_generator: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("reshuffle_each_iteration: bool = true")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset that shuffles and repeats, so that neighbouring rounds mix.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"buffer_size", "seed", "seed2", "count", "seed_generator"}); })
      .cpu(run_shuffle_and_repeat<true>);

  r.add("AnonymousSeedGenerator")
      .in("seed: int64")
      .in("seed2: int64")
      .in("reshuffle: bool")
      .out("handle: resource")
      .out("deleter: variant")
      .stateful()
      .doc("A generator of seeds for shuffling that lives as long as its handle.")
      .shape(generator_shape)
      .cpu(run_anonymous_generator);

  r.add("AnonymousRandomSeedGenerator")
      .in("seed: int64")
      .in("seed2: int64")
      .out("handle: resource")
      .out("deleter: variant")
      .stateful()
      .doc("A former version of AnonymousSeedGenerator.")
      .shape(generator_shape)
      .cpu(run_anonymous_generator);

  r.add("DummySeedGenerator")
      .out("handle: resource")
      .stateful()
      .doc("A handle to a generator of seeds that is never read.")
      .shape(shapes::scalar)
      .cpu(run_dummy_generator);

  r.add("DeleteSeedGenerator")
      .in("handle: resource")
      .in("deleter: variant")
      .stateful()
      .doc("Ends a generator of seeds.")
      .shape(shapes::no_outputs)
      .cpu(run_delete_generator);

  r.add("DeleteRandomSeedGenerator")
      .in("handle: resource")
      .in("deleter: variant")
      .stateful()
      .doc("Ends a generator of seeds.")
      .shape(shapes::no_outputs)
      .cpu(run_delete_generator);
}

}  // namespace weft_engine::ops::data
