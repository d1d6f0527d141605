// ExternalState: what a dataset is beside its class where its elements may depend on state that its graph does not have.
#pragma once

#include "core/status.h"

namespace weft_engine::ops::data {

class ExternalState {
 public:
  virtual ~ExternalState() = default;
  // OK where there is none.
  virtual core::Status external_state() const = 0;
};

}  // namespace weft_engine::ops::data
