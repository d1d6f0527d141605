// Methods whose work may wait for long (a step, a task that is not there yet): on a thread of their own, cancelled when the caller has gone.
#pragma once

#include "core/threads.h"
#include "op/cancellation.h"
#include "remote/method_table.h"
#include "runtime/blocking_threads.h"

namespace weft_engine::remote {

// `run(request, cancellation)` gives the answer.
template <class Request, class Run>
void add_long(MethodTable& methods, std::string_view service, std::string_view method, Result<Request> (*decode)(std::string_view), Run run) {
  methods.add_waiting(service, method, [decode, run](std::string_view bytes, Reply reply, const OnAbandoned& on_abandoned) {
    auto request = decode(bytes);
    if (!request.ok()) return reply(request.status(), {});
    auto cancellation = std::make_shared<op::CancellationManager>();
    on_abandoned([cancellation] { cancellation->start_cancel(); });
    runtime::run_on_blocking_thread(
        [run, cancellation, given = std::make_shared<Request>(std::move(request).value()), reply = std::move(reply)]() mutable {
          Message response;
          Status s = core::without_exceptions([&]() -> Status {
            WEFT_ASSIGN(response, run(*given, *cancellation));
            return {};
          });
          reply(std::move(s), std::move(response));
        });
  });
}

}  // namespace weft_engine::remote
