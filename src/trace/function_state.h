// A function as something that is saved: the graphs that it was traced into, with their arguments and results as structures.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/concrete_function.h"
#include "trace/trackable.h"

namespace weft_engine::trace {

class FunctionState : public TrackableState {
 public:
  FunctionState() : TrackableState("function") {}
  struct Form {
    std::shared_ptr<ConcreteFunction> function;
    std::string inputs, outputs;           // structures, as weft/nest.h writes them
    std::vector<std::string> input_names;  // of the tensors, in a row
    std::vector<PartialShape> input_shapes;
  };
  virtual std::vector<Form> forms() const = 0;
  virtual bool has_signature() const { return false; }  // made for one signature alone
};

}  // namespace weft_engine::trace
