// Methods whose work may wait for long, with their requests decoded.
#pragma once

#include "remote/method_table.h"

namespace weft_engine::remote {

// `run(request, caller)` gives the answer.
template <class Request, class Run>
void add_long(MethodTable& methods, std::string_view service, std::string_view method, Result<Request> (*decode)(std::string_view), Run run) {
  methods.add_long(service, method, [decode, run](std::string_view bytes, op::CancellationManager& caller) -> Result<Message> {
    WEFT_ASSIGN(Request request, decode(bytes));
    return run(request, caller);
  });
}

}  // namespace weft_engine::remote
