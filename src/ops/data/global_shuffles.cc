// Datasets in random order without a buffer: each element is found by its index, in TensorFlow's order for given seeds.
#include <algorithm>
#include <array>

#include "kernels/cpu/random_sample.h"
#include "op/registry.h"
#include "ops/data/dataset.h"
#include "ops/data/seeds.h"

namespace weft_engine::ops::data {

namespace {

constexpr int64_t kRounds = 8;

class GlobalShuffleDataset final : public UnaryDataset {
 public:
  GlobalShuffleDataset(const DatasetPtr& input, std::shared_ptr<SeedGenerator> seeds)
      : UnaryDataset("GlobalShuffle", input), seeds_(std::move(seeds)) {}
  SeedGenerator* seeds() const override { return seeds_.get(); }
  Status random_indexing() const override { return {}; }

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }
  Status at(IteratorContext& c, int64_t index, Element& out) const override {
    // Only below another global shuffle, whose walk has drawn the keys of this one too.
    if (c.shuffles) {
      for (const ShuffleKey& key : *c.shuffles) {
        if (key.of == this) return input().element_at(c, shuffled(key, index), out);
      }
    }
    return UnaryDataset::at(c, index, out);
  }

 private:
  int64_t shuffled(const ShuffleKey& key, int64_t index) const {
    const int64_t last = cardinality() - 1;
    return last <= 0 ? 0 : int64_t(kernels::shuffle_index(uint64_t(index), key.key, uint64_t(last), kRounds));
  }
  class Walk final : public IteratorOf<GlobalShuffleDataset> {
   public:
    explicit Walk(const GlobalShuffleDataset& d) : IteratorOf(d) { draw_keys(d); }

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      end = at_ >= d().cardinality();
      if (end) return {};
      const auto* outer = std::exchange(c.shuffles, &keys_);
      Status s = d().input().element_at(c, d().shuffled(keys_[0], at_), out);
      c.shuffles = outer;
      if (s.code() == Code::kOutOfRange) {
        end = true;
        return {};
      }
      if (s.ok()) ++at_;
      return s;
    }

   private:
    // From the root down, as TensorFlow's iterators are made.
    void draw_keys(const Dataset& dataset) {
      for (const ShuffleKey& key : keys_) {
        if (key.of == &dataset) return;
      }
      if (const auto* shuffle = dynamic_cast<const GlobalShuffleDataset*>(&dataset)) {
        const Seeds first = shuffle->seeds_->next(), second = shuffle->seeds_->next();
        keys_.push_back({&dataset, {uint32_t(first.first), uint32_t(first.second), uint32_t(second.first)}});
      }
      for (const DatasetPtr& input : dataset.inputs()) draw_keys(*input);
    }
    std::vector<ShuffleKey> keys_;
    int64_t at_ = 0;
  };
  const std::shared_ptr<SeedGenerator> seeds_;
};

Status run_global_shuffle(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  if (Status s = input->random_indexing(); !s.ok())
    return failed_precondition("`global_shuffle` requires all upstream transformations be compatible with random access. Got: ",
                               s.code() == Code::kUnimplemented ? "UNIMPLEMENTED: " : "FAILED_PRECONDITION: ", s.message());
  const int64_t n = input->cardinality();
  if (n <= 0)
    return invalid_argument("`global_shuffle` requires the input dataset to have a non-empty finite cardinality. Got cardinality ", n,
                            " for dataset ", input->debug_string());
  WEFT_ASSIGN(Seeds seeds, seeds_input(c));
  WEFT_ASSIGN(std::shared_ptr<SeedGenerator> generator, generator_input(c));
  if (!generator) generator = std::make_shared<SeedGenerator>(seeds, c.attr<bool>("reshuffle_each_iteration"));
  return emit(c, std::make_shared<GlobalShuffleDataset>(input, std::move(generator)));
}

}  // namespace

void global_shuffles(Registry& r) {
  r.add("GlobalShuffleDataset")
      .in("input_dataset: variant")
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
      .doc("A dataset in random order, of a dataset whose elements can be found by their index.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"seed", "seed2", "seed_generator"}); })
      .cpu(run_global_shuffle);
}

}  // namespace weft_engine::ops::data
