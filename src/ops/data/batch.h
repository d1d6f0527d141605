// Stacking elements into batches.
#pragma once

#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

// One tensor for each component, with the elements as its rows. All must have the same shape.
Status stack(const std::vector<Element>& elements, Element& out);
// Shapes of batches; size -1: not known before.
std::vector<PartialShape> batched_shapes(const std::vector<PartialShape>& shapes, int64_t size);
// Batches of n elements.
int64_t batched_cardinality(int64_t n, int64_t size, bool drop_remainder);

}  // namespace weft_engine::ops::data
