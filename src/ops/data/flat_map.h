// Calling functions that make datasets.
#pragma once

#include "ops/data/captured_function.h"
#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

// `name` begins the error text if the function gives something else than a dataset.
Status call_for_dataset(const CapturedFunction& f, IteratorContext& c, Element args, std::string_view name, DatasetPtr& out);

// A dataset of the given elements.
DatasetPtr window_of(std::vector<Element> elements, std::vector<DType> types, std::vector<PartialShape> shapes);

}  // namespace weft_engine::ops::data
