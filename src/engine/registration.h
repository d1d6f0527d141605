// What goes wrong while a library registers from its static constructors, which can return nothing: kept here until load_library asks.
#pragma once

#include "core/status.h"

namespace weft_engine::engine {

// Of the library that this thread loads; logged if it loads none (a program that registers before main).
void note_registration_error(core::Status error);

// While one lives, errors of this thread are kept. They nest, as a library may load another.
class RegistrationErrors {
 public:
  RegistrationErrors();
  ~RegistrationErrors();
  RegistrationErrors(const RegistrationErrors&) = delete;
  const core::Status& first() const { return first_; }

 private:
  friend void note_registration_error(core::Status error);
  core::Status first_;
  RegistrationErrors* outer_;
};

}  // namespace weft_engine::engine
