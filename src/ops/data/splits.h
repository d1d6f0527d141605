// Splits: how several walk one dataset together. Each of its sources (Range, TensorSlice, Tensor) asks a SplitProvider (op/data_service.h) what to give next; what is
// built upon them stays as it is.
#pragma once

#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

// The sources of a dataset, in the order in which their splits are counted. Unimplemented where one cannot be cut.
Status split_sources(const Dataset& dataset, std::vector<const Dataset*>& out);
// The splits of one source, in order.
std::shared_ptr<SplitProvider> make_split_provider(const Dataset& source);

// Of the splits of an iterator, those of the input that it draws from now.
Splits splits_for(const Path& parent, const Dataset& input);
// A source's next split as a number, or the end.
Status next_split(SplitProvider& splits, int64_t& value, bool& end);
// Before an iterator walks its input again.
Status reset_splits(const Path* path);

}  // namespace weft_engine::ops::data
