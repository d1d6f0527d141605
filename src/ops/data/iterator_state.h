// IteratorState: how far an iterator is, as a variant. A walk is deterministic once its seeds are known, so
// the state is the seeds at its start and the number of elements given; to restore it is to walk again.
#pragma once

#include <vector>

#include "core/tensor.h"
#include "core/variant.h"
#include "ops/data/seeds.h"

namespace weft_engine::ops::data {

struct IteratorState final : core::VariantObject {
  std::string type_name() const override { return "weft::IteratorState"; }
  int64_t given = 0;
  std::vector<SeedGenerator::State> seeds;  // of the datasets below, from the root down

  // As numbers for a checkpoint: given, then seed, seed2 and count of each generator.
  core::Tensor to_tensor() const;
  static core::Result<IteratorState> from_tensor(const core::Tensor& t);
};

}  // namespace weft_engine::ops::data
