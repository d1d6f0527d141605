#include "core/threads.h"

#include <system_error>
#include <thread>

#include "core/interrupt.h"

namespace weft_engine::core {

const Status& out_of_memory() {
  static const Status* status = new Status(Code::kResourceExhausted, "out of memory");
  return *status;
}

Status interrupted_call() { return cancelled("interrupted"); }

Status status_of_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const Interrupted&) {
    return interrupted_call();
  } catch (const std::exception& e) {
    try {
      return internal_error("unexpected exception: ", e.what());
    } catch (...) {
      return out_of_memory();
    }
  } catch (...) {
    try {
      return internal_error("unexpected exception");
    } catch (...) {
      return out_of_memory();
    }
  }
}

Status start_thread(std::function<void()> body) noexcept {
  try {
    std::thread(std::move(body)).detach();
    return {};
  } catch (const std::system_error& e) {
    try {
      return resource_exhausted("the system gives no thread: ", e.what());
    } catch (...) {
      return out_of_memory();
    }
  } catch (...) {
    return status_of_exception();
  }
}

}  // namespace weft_engine::core
