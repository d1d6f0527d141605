// Saving and loading, the parts of the module.
#pragma once

#include "bridge.h"

namespace weft_engine::python {

void bind_structured(nb::module_& m);    // structured.cc: StructuredValues
void bind_object_graph(nb::module_& m);  // object_graph.cc: the objects of checkpoints
void bind_restore(nb::module_& m);       // restore.cc: checkpoints laid over Python's objects
void bind_saved_model(nb::module_& m);   // saved_model.cc: SavedModels, freezing

}  // namespace weft_engine::python
