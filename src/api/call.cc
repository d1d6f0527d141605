#include "api/unwrap.h"
#include "weft/call.h"

namespace weft {

using api::check;
using op::AttrValue;

struct Call::Impl {
  eager::Op op{api::context()};
};

namespace {

core::PartialShape inner(const PartialShape& s) { return s.known_rank ? core::PartialShape(s.dims) : core::PartialShape::unknown(); }

template <class To, class From, class F>
std::vector<To> mapped(const std::vector<From>& list, F f) {
  std::vector<To> out;
  for (const auto& x : list) out.push_back(f(x));
  return out;
}

}  // namespace

Call::Call(std::string_view op) : impl_(std::make_unique<Impl>()) { check(impl_->op.reset(op, api::scoped_device())); }
Call::~Call() = default;

Call& Call::in(const Tensor& t) {
  impl_->op.add_input(core::RefPtr<eager::TensorHandle>::share(api::handle_of(t)));
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
Call& Call::attr(std::string_view name, const PartialShape& v) { WEFT_SET(inner(v)); }
Call& Call::attr(std::string_view name, const Tensor& v) { WEFT_SET(api::value_of(v)); }
Call& Call::attr(std::string_view name, const std::vector<int64_t>& v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, const std::vector<float>& v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, const std::vector<bool>& v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, const std::vector<std::string>& v) { WEFT_SET(v); }
Call& Call::attr(std::string_view name, const std::vector<DType>& v) {
  WEFT_SET(mapped<core::DType>(v, [](DType t) { return static_cast<core::DType>(t); }));
}
Call& Call::attr(std::string_view name, const std::vector<PartialShape>& v) { WEFT_SET(mapped<core::PartialShape>(v, inner)); }
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
  return *this;
}

std::vector<Tensor> Call::run() {
  std::vector<core::RefPtr<eager::TensorHandle>> handles;
  check(impl_->op.execute(handles).with_suffix(core::cat(" [Op:", impl_->op.spec()->name, "]")));
  std::vector<Tensor> out;
  for (auto& h : handles) out.push_back(api::adopt(std::move(h)));
  return out;
}

Tensor Call::one() {
  auto out = run();
  if (out.size() != 1) check(core::invalid_argument(impl_->op.spec()->name, " has ", out.size(), " outputs, not one"));
  return std::move(out[0]);
}

}  // namespace weft
