// Who keeps a function's handle in a value (a dataset, an iterator) holds its caller beside it: values may outlive the context that made them, and
// the owner of the caller lets it stay as long as somebody holds it.
#pragma once

#include <memory>

namespace weft_engine::op {

class FunctionCaller;

std::shared_ptr<const void> hold(const FunctionCaller& caller);
bool held(const FunctionCaller& caller);

}  // namespace weft_engine::op
