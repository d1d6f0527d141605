#include "api/unwrap.h"
#include "weft/call.h"

namespace weft {

using api::check;
using op::AttrValue;

// Eagerly the call is put together in `op` itself; in a trace its inputs are kept here, and the rest is read from `op`.
struct Call::Impl {
  eager::Op op{api::context()};
  trace::FuncGraph* graph = trace::FuncGraph::current();
  std::vector<op::Value> inputs;
  std::string device;
};

namespace {


template <class To, class From, class F>
std::vector<To> mapped(const std::vector<From>& list, F f) {
  std::vector<To> out;
  for (const auto& x : list) out.push_back(f(x));
  return out;
}

}  // namespace

Call::Call(std::string_view op) : impl_(std::make_unique<Impl>()) {
  check(impl_->op.reset(op, api::scoped_device()));
  if (impl_->graph) impl_->device = api::scoped_device();
}
Call::~Call() = default;

Call& Call::in(const Tensor& t) {
  if (impl_->graph) impl_->inputs.push_back(api::to_value(t));
  else impl_->op.add_input(core::RefPtr<eager::TensorHandle>::share(api::handle_of(t)));
  return *this;
}
Call& Call::in(const std::vector<Tensor>& list) {
  for (const auto& t : list) in(t);
  return *this;
}

#define WEFT_SET(value)                            \
  check(impl_->op.set_attr(name, AttrValue(value))); \
  return *this
Call& Call::attr(std::string_view name, int64_t v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, float v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, bool v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, const std::string& v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, DType v) { WEFT_SET(static_cast<core::DType>(v)); }
Call& Call::attr(std::string_view name, const PartialShape& v) { WEFT_SET(api::inner_shape(v)); }
Call& Call::attr(std::string_view name, const Tensor& v) { WEFT_SET(api::value_of(v)); }
Call& Call::attr(std::string_view name, const std::vector<int64_t>& v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, const std::vector<float>& v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, const std::vector<bool>& v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, const std::vector<std::string>& v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, const std::vector<DType>& v) {
  WEFT_SET(mapped<core::DType>(v, [](DType t) { return static_cast<core::DType>(t); }));
}
Call& Call::attr(std::string_view name, const std::vector<PartialShape>& v) { WEFT_SET(mapped<core::PartialShape>(v, api::inner_shape)); }
Call& Call::attr(std::string_view name, const std::vector<Tensor>& v) {
  WEFT_SET(mapped<core::Tensor>(v, [](const Tensor& t) { return api::value_of(t); }));
}
Call& Call::function(std::string_view name, const std::string& function) { WEFT_SET((op::FunctionAttr{function, nullptr})); }
Call& Call::functions(std::string_view name, const std::vector<std::string>& functions) {
  WEFT_SET(mapped<op::FunctionAttr>(functions, [](const std::string& f) { return op::FunctionAttr{f, nullptr}; }));
}
#undef WEFT_SET

Call& Call::device(std::string_view device) {
  check(impl_->op.set_device(device));
  impl_->device = device;
  return *this;
}

namespace {

std::vector<Tensor> add_node(trace::FuncGraph& graph, const eager::Op& op, const std::vector<op::Value>& inputs, const std::string& device) {
  op::AttrMap attrs;
  for (const auto& [name, value] : op.attrs()) attrs[name] = value;
  auto& emitter = graph.emitter();
  emitter.set_device(device);
  auto made = emitter.apply(op.spec()->name, inputs, std::move(attrs));
  emitter.set_device("");
  check(emitter.take_status());
  return api::from_values(made);
}

}  // namespace

std::vector<Tensor> Call::run() {
  if (impl_->graph) return add_node(*impl_->graph, impl_->op, impl_->inputs, impl_->device);
  std::vector<core::RefPtr<eager::TensorHandle>> handles;
  const bool recording = trace::TapeStack::current().recording();
  if (recording) impl_->op.keep_kernel(true);
  check(impl_->op.execute(handles).with_suffix(core::cat(" [Op:", impl_->op.spec()->name, "]")));
  if (recording) trace::record_eager(trace::eager_emitter(api::context()), impl_->op.kernel(), impl_->op.inputs(), handles);
  std::vector<Tensor> out;
  out.reserve(handles.size());
  for (auto& h : handles) out.push_back(api::adopt(std::move(h)));
  return out;
}

Tensor Call::one() {
  auto out = run();
  if (out.size() != 1) check(core::invalid_argument(impl_->op.spec()->name, " has ", out.size(), " outputs, not one"));
  return std::move(out[0]);
}

}  // namespace weft
