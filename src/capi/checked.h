// checked: calls a function of the C API from another one.
#pragma once

#include <memory>

#include "capi/internal.h"

namespace weft_engine::capi {

struct StatusDeleter {
  void operator()(TF_Status* s) const { TF_DeleteStatus(s); }
};

// Runs f with a status of its own and gives what it holds then.
template <class F>
Status checked(F f) {
  std::unique_ptr<TF_Status, StatusDeleter> s(TF_NewStatus());
  f(s.get());
  return s->status;
}

}  // namespace weft_engine::capi
