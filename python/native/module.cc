#include "saved_model.h"

namespace weft_engine::python {
void bind_data_service(nb::module_& m);  // data_service.cc
void bind_errors(nb::module_& m);        // errors.cc
}  // namespace weft_engine::python

NB_MODULE(_weft, m) {
  using namespace weft_engine::python;
  nb::set_leak_warnings(false);  // graphs and tapes may live as long as the process
  m.doc() = "The engine, for the package weft.";
  bind_tensor(m);
  bind_variable(m);
  bind_call(m);
  bind_layout(m);
  bind_graph(m);
  bind_function(m);
  bind_function_cache(m);
  bind_tape(m);
  bind_custom_gradient(m);
  bind_context(m);
  bind_session(m);
  bind_server(m);
  bind_data_service(m);
  bind_errors(m);
  bind_py_func(m);
  bind_bundle(m);
  bind_structured(m);
  bind_object_graph(m);
  bind_restore(m);
  bind_saved_model(m);
  bind_proto(m);
  bind_files(m);
  bind_library(m);
  bind_interpreter(m);
}
