// What a C++ program tracks, as the description that saver.h writes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "saved_model/saver.h"
#include "trace/function_state.h"

namespace weft_engine::saved_model {

struct SaveSignature {
  std::string name;
  std::shared_ptr<trace::ConcreteFunction> function;
  std::vector<std::string> inputs, outputs;  // names of the function's tensors, in order
  std::vector<PartialShape> input_shapes;
};

// FailedPrecondition where a function uses a variable that the root does not hold.
Result<ModelDescription> describe(const std::shared_ptr<trace::TrackableState>& root, std::span<const SaveSignature> signatures);

// The structure that weft/nest.h wrote down ("t", "[2tt]", "{s1:at}"), with the tensors' specs put in.
Result<StructuredValue> parse_structure(std::string_view text, std::span<const StructuredValue> tensors, bool single);

}  // namespace weft_engine::saved_model
