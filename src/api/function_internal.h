// What the public handles of functions hold. As with unwrap.h, this comes before any header of include/weft.
#pragma once

#include "trace/polymorphic_function.h"

#include "api/unwrap.h"
#include "weft/function.h"

namespace weft {

struct ConcreteFunction::Impl : trace::PolymorphicFunction::Binding {
  std::vector<TensorSpec> inputs, outputs;
  std::string key, results;  // the structures of arguments and results, as nest.h writes them
  std::shared_ptr<const std::vector<std::string>> layout;
};

}  // namespace weft
