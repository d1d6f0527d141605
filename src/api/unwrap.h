// The one place where a Status becomes an exception, and how the public types stand to the engine's.
#pragma once

#include <mutex>
#include <string>

#include "api/engine_names.h"
#include "core/status.h"
#include "trace/concrete_function.h"
#include "weft/tensor.h"

namespace weft::api {

// Throws weft::Error unless the status is OK; the text ends with the op or function that was called.
void check(const core::Status& status);
// Gives the value, or throws.
template <class T>
T unwrap(core::Result<T> result) {
  check(result.status());
  return std::move(result).value();
}

inline op::ValueRep* rep_of(const Tensor& t) {
  if (!t.has_value()) throw Error(Code::kInvalidArgument, "a tensor without a value was used");
  return static_cast<op::ValueRep*>(t.handle());
}
// Of a tensor that has a value; throws for one that stands for a value of a trace.
eager::TensorHandle* handle_of(const Tensor& t);
inline Tensor adopt(core::RefPtr<eager::TensorHandle> h) { return Tensor::adopt(static_cast<op::ValueRep*>(h.release())); }
// To and from what emitters speak of. An empty value is a tensor without a value.
op::Value to_value(const Tensor& t);
std::vector<op::Value> to_values(const std::vector<Tensor>& list);
inline Tensor from_value(const op::Value& v) {
  if (v.rep()) v.rep()->add_ref();
  return Tensor::adopt(v.rep());
}
std::vector<Tensor> from_values(const std::vector<op::Value>& values);
inline core::PartialShape inner_shape(const PartialShape& s) { return s.known_rank ? core::PartialShape(s.dims) : core::PartialShape::unknown(); }
PartialShape outer_shape(const core::PartialShape& s);
inline core::DType inner_type(DType t) { return static_cast<core::DType>(t); }
// The value of a tensor, waited for.
inline const core::Tensor& value_of(const Tensor& t) {
  auto* h = handle_of(t);
  check(h->wait());
  return h->tensor();
}

// The process-wide eager context, made at the first op.
eager::Context& context();
// The next op makes another one, as configure() then says: for tests that start again. Not while ops run.
void reset_context();
bool has_context();
// The device that DeviceScope set for this thread; empty: none.
std::string& scoped_device();

}  // namespace weft::api
