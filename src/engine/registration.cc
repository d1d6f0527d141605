#include "engine/registration.h"

#include "core/log.h"

namespace weft_engine::engine {

namespace {
thread_local RegistrationErrors* errors_of_thread = nullptr;
}

RegistrationErrors::RegistrationErrors() : outer_(errors_of_thread) { errors_of_thread = this; }
RegistrationErrors::~RegistrationErrors() { errors_of_thread = outer_; }

void note_registration_error(core::Status error) {
  if (error.ok()) return;
  if (!errors_of_thread) {
    core::log(core::LogLevel::kError, error.to_string());
  } else if (errors_of_thread->first_.ok()) {
    errors_of_thread->first_ = std::move(error);
  }
}

}  // namespace weft_engine::engine
