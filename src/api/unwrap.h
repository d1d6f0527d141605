// The one place where a Status becomes an exception, and how the public types stand to the engine's.
// Include this before any header of include/weft: the engine's folders say `using namespace core`, and
// would find weft::Tensor beside core::Tensor if the public one were declared first.
#pragma once

#include <mutex>
#include <string>

#include "core/status.h"
#include "eager/op.h"
#include "weft/tensor.h"

namespace weft::api {

// Throws weft::Error unless the status is OK.
void check(const core::Status& status);
// Gives the value, or throws.
template <class T>
T unwrap(core::Result<T> result) {
  check(result.status());
  return std::move(result).value();
}

inline eager::TensorHandle* handle_of(const Tensor& t) {
  if (!t.has_value()) throw Error(Code::kInvalidArgument, "a tensor without a value was used");
  return static_cast<eager::TensorHandle*>(t.handle());
}
inline Tensor adopt(core::RefPtr<eager::TensorHandle> h) { return Tensor::adopt(h.release()); }
// The value of a tensor, waited for.
inline const core::Tensor& value_of(const Tensor& t) {
  auto* h = handle_of(t);
  check(h->wait());
  return h->tensor();
}

// The process-wide eager context, made at the first op.
eager::Context& context();
// The device that DeviceScope set for this thread; empty: none.
std::string& scoped_device();

}  // namespace weft::api
