// StructuredValues between Python and the engine: as trees of plain Python objects, of which weft/_src/saved_model/structured.py makes values.
#pragma once

#include "bridge.h"
#include "saved_model/structured_value.h"

namespace weft_engine::python {

// None, bool, int, float and str stand for themselves. All else is a tuple with the kind in front:
//   ("shape", dims)  ("dtype", DType)  ("tensor", name, dims, DType)  ("bounded", name, dims, DType, minimum, maximum)
//   ("spec", class number, class name, state, number of tensors)  ("array", tensor)  ("constant", tensor)
//   ("list", items)  ("tuple", items)  ("dict", [(key, item)])  ("named", name, [(key, item)])
saved_model::StructuredValue structured_of(nb::handle tree);
nb::object structured_tree(const saved_model::StructuredValue& value);
// The DType of a number from a file.
nb::object checked_dtype(DType t);

}  // namespace weft_engine::python
