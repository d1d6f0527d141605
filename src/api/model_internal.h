// What a weft::Model holds. As with unwrap.h, this comes before any header of include/weft.
#pragma once

#include "saved_model/model.h"

#include "api/unwrap.h"
#include "weft/saved_model.h"
#include "weft/trace.h"

namespace weft {

struct Model::Impl {
  void describe();  // fills what follows from the model
  std::shared_ptr<saved_model::Model> model;
  std::vector<SignatureInfo> signatures;
  std::vector<std::shared_ptr<const Signature::Impl>> bound;  // beside them
  std::vector<FunctionInfo> functions;
  std::vector<VariableInfo> variables;
};

namespace api {

saved_model::Model& model_of(const Model& m);  // throws for a Model without one
// Copies what a trace collected to where the user wants it.
void append(TraceEvents& to, std::vector<op::StepTrace::Event> events);
Tensor adopt(core::Tensor t);
saved_model::StructuredValue structured(const PlainValue& v);
FunctionInfo info_of(const saved_model::ModelFunction& f);

}  // namespace api
}  // namespace weft
