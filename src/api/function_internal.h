// What the public handles of functions hold. As with unwrap.h, this comes before any header of include/weft.
#pragma once

// clang-format off
#include "trace/concrete_function.h"

#include "api/unwrap.h"
#include "weft/function.h"
// clang-format on

namespace weft {

struct ConcreteFunction::Impl {
  std::shared_ptr<trace::ConcreteFunction> function;
  std::vector<TensorSpec> inputs, outputs;
  std::string key, results;  // the structures of arguments and results, as nest.h writes them
  std::shared_ptr<const std::vector<std::string>> layout;
  // Set where it captures tensors of a graph around it: usable only there.
  uint64_t outer = 0;  // the id of that graph
};

}  // namespace weft
