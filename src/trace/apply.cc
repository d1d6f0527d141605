#include "trace/apply.h"

namespace weft::trace {

std::string& name_scope() {
  thread_local std::string scope;
  return scope;
}

void record_eager(EagerEmitter& emitter, const std::shared_ptr<eager::CachedKernel>& kernel, std::span<const RefPtr<eager::TensorHandle>> inputs,
                  std::span<const RefPtr<eager::TensorHandle>> outputs) {
  std::vector<Value> in, out;
  in.reserve(inputs.size());
  out.reserve(outputs.size());
  for (const auto& h : inputs) in.push_back(emitter.wrap(h));
  for (const auto& h : outputs) out.push_back(emitter.wrap(h));
  TapeStack::current().record(kernel->node, kernel, in, out);
}

Result<std::vector<Value>> EagerEmitter::do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  // Kept between calls: the look-up of an op and the memory of its lists.
  thread_local std::vector<std::unique_ptr<eager::Op>> spare;
  std::unique_ptr<eager::Op> call;
  if (!spare.empty() && &spare.back()->context() == &context_) {
    call = std::move(spare.back());
    spare.pop_back();
  } else {
    call = std::make_unique<eager::Op>(context_);
  }
  WEFT_RETURN_IF_ERROR(call->reset(op, device_));
  for (const Value& v : inputs) {
    eager::TensorHandle* h = eager_handle(v);
    if (!h) return invalid_argument("an input of ", op, " belongs to a graph: it has no value outside the function that was traced");
    call->add_input(RefPtr<eager::TensorHandle>::share(h));
  }
  for (auto& [name, value] : attrs) WEFT_RETURN_IF_ERROR(call->set_attr(name, std::move(value)));
  const bool recording = TapeStack::current().wants(inputs);
  call->keep_kernel(recording);
  std::vector<RefPtr<eager::TensorHandle>> outputs;
  WEFT_RETURN_IF_ERROR(call->execute(outputs));
  std::vector<Value> out;
  out.reserve(outputs.size());
  for (auto& h : outputs) out.push_back(wrap(std::move(h)));
  if (recording) TapeStack::current().record(call->kernel()->node, call->kernel(), inputs, out);
  call->clear();
  if (spare.size() < 4) spare.push_back(std::move(call));
  return out;
}

Result<Value> EagerEmitter::do_constant(Tensor value) { return wrap(eager::TensorHandle::make(std::move(value), nullptr)); }

}  // namespace weft::trace
