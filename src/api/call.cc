#include "api/unwrap.h"
#include "trace/op_call.h"
#include "weft/call.h"

namespace weft {

using api::check;
using op::AttrValue;

struct Call::Impl {
  trace::OpCall call{api::context(), trace::FuncGraph::current()};
};

namespace {

template <class To, class From, class F>
std::vector<To> mapped(const std::vector<From>& list, F f) {
  std::vector<To> out;
  for (const auto& x : list) out.push_back(f(x));
  return out;
}

}  // namespace

Call::Call(std::string_view op) : impl_(std::make_unique<Impl>()) { check(impl_->call.reset(op, api::scoped_device())); }
Call::~Call() = default;

Call& Call::in(const Tensor& t) {
  if (impl_->call.graph()) check(impl_->call.add_input(api::to_value(t)));
  else impl_->call.add_input(core::RefPtr<eager::TensorHandle>::share(api::handle_of(t)));
  return *this;
}
Call& Call::in(const std::vector<Tensor>& list) {
  for (const auto& t : list) in(t);
  return *this;
}

#define WEFT_SET(value)                                \
  check(impl_->call.set_attr(name, AttrValue(value))); \
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
  check(impl_->call.set_device(device));
  return *this;
}

std::vector<Tensor> Call::run() {
  trace::OpCall& call = impl_->call;
  if (call.graph()) return api::from_values(api::unwrap(call.run()));
  std::vector<core::RefPtr<eager::TensorHandle>> handles;
  check(call.run_eager(handles));
  std::vector<Tensor> out;
  out.reserve(handles.size());
  for (auto& h : handles) out.push_back(api::adopt(std::move(h)));
  return out;
}

Tensor Call::one() {
  auto out = run();
  if (out.size() != 1) check(core::invalid_argument(impl_->call.spec().name, " has ", out.size(), " outputs, not one"));
  return std::move(out[0]);
}

}  // namespace weft
