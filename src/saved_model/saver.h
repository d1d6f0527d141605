// Writing SavedModels: objects with their variables and functions, signatures, and what other loaders need (a graph with
// the signatures' calls, ops that save and restore). TensorFlow, TF Serving and this library read them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "op/registry.h"
#include "saved_model/structured_value.h"
#include "trace/function_state.h"

namespace weft::saved_model {

struct SaveSignature {
  std::string name;
  std::shared_ptr<trace::ConcreteFunction> function;
  std::vector<std::string> inputs, outputs;  // names of the function's tensors, in order
  std::vector<PartialShape> input_shapes;
};

struct SaveOptions {
  std::vector<std::string> tags = {"serve"};
  std::vector<SaveSignature> signatures;
};

// Replaces what is at `dir` only when everything is written. FailedPrecondition where a function uses a variable that the
// root does not hold.
Status save(const op::Registry& registry, const std::shared_ptr<trace::TrackableState>& root, const std::string& dir, const SaveOptions& options);

// The structure that weft/nest.h wrote down ("t", "[2tt]", "{s1:at}"), with the tensors' specs put in.
Result<StructuredValue> parse_structure(std::string_view text, std::span<const StructuredValue> tensors, bool single);

}  // namespace weft::saved_model
