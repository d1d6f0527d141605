// Random numbers of datasets: draws one by one, and the generators that give each walk its seeds.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "kernels/cpu/philox.h"
#include "op/kernel.h"

namespace weft_engine::ops::data {

using Seeds = std::pair<int64_t, int64_t>;

// Philox, one word at a time.
class Draws {
 public:
  explicit Draws(Seeds seeds) : philox_(kernels::Philox::from_seeds(uint64_t(seeds.first), uint64_t(seeds.second))) {}
  uint32_t operator()() {
    if (used_ == 4) {
      block_ = philox_();
      used_ = 0;
    }
    return block_[used_++];
  }
  // Of a generator that gave nothing yet.
  void skip(uint64_t draws) {
    philox_.skip(draws / 4);
    for (uint64_t i = 0; i < draws % 4; ++i) (*this)();
  }

 private:
  kernels::Philox philox_;
  kernels::Philox::Block block_{};
  size_t used_ = 4;
};

// Gives seeds to walks over a dataset: always the same, or others each time.
class SeedGenerator final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow4data20SeedGeneratorManagerE";
  // Where a generator stands; what a saved iterator keeps of it.
  struct State {
    Seeds seeds;
    int64_t given = 0;  // pairs of seeds
  };
  SeedGenerator(Seeds seeds, bool reshuffle) : reshuffle_(reshuffle), state_{seeds}, draws_(seeds) {}
  std::string type_name() const override { return "SeedGenerator"; }
  Seeds next() {
    std::lock_guard lock(mutex_);
    if (!reshuffle_) return state_.seeds;
    ++state_.given;
    const int64_t first = draws_();
    return {first, int64_t(draws_())};
  }
  State state() const {
    std::lock_guard lock(mutex_);
    return state_;
  }
  void restore(const State& state) {
    std::lock_guard lock(mutex_);
    state_ = state;
    draws_ = Draws(state.seeds);
    draws_.skip(2 * uint64_t(state.given));
  }

 private:
  const bool reshuffle_;
  mutable std::mutex mutex_;
  State state_;
  Draws draws_;
};

// The inputs seed and seed2; zeros stand for seeds that nobody can foresee.
core::Result<Seeds> seeds_input(const op::KernelContext& c);
// The generator behind the input seed_generator, or null where there is none: the handle of DummySeedGenerator.
core::Result<std::shared_ptr<SeedGenerator>> generator_input(const op::KernelContext& c);

}  // namespace weft_engine::ops::data
