// The functions of a file among those of an eager context. Functions of different models may have the same names: here each gets one of its own.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "eager/context.h"
#include "saved_model/saved_functions.h"

namespace weft_engine::saved_model {

struct LoadedLibrary {
  std::map<std::string, std::string> names;  // in the file -> in the context's library
  std::shared_ptr<const void> functions;     // they are there as long as this or one of them is held
};

// `objects` and `gradients` are those of a SavedModel, or empty.
Result<LoadedLibrary> load_functions(eager::Context& context, const graph::GraphDef& graph, const ObjectGraph& objects = {},
                                     const RegisteredGradients& gradients = {});

}  // namespace weft_engine::saved_model
