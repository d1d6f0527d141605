#include "remote/method_table.h"

#include "core/threads.h"

namespace weft_engine::remote {

static std::string full_name(std::string_view service, std::string_view method) { return cat("/", service, "/", method); }

void MethodTable::add(std::string_view service, std::string_view method, Handler handler) {
  add_waiting(service, method,
              [handler = std::move(handler)](std::string_view request, Reply reply, const OnAbandoned&) { handler(request, std::move(reply)); });
}

void MethodTable::add_waiting(std::string_view service, std::string_view method, WaitingHandler handler) {
  handlers_[full_name(service, method)] = std::move(handler);
}

void MethodTable::add_blocking(std::string_view service, std::string_view method, BlockingHandler handler) {
  blocking_[full_name(service, method)] = std::make_shared<const BlockingHandler>(std::move(handler));
}

void MethodTable::add_long(std::string_view service, std::string_view method, LongHandler handler) {
  long_[full_name(service, method)] = std::make_shared<const LongHandler>(std::move(handler));
}

void MethodTable::add_stream(std::string_view service, std::string_view method, StreamMaker maker) {
  streams_[full_name(service, method)] = std::move(maker);
}

template <class Run>
static void answer_on_thread(const RunOn& run_on, Message request, Reply reply, Run run) {
  run_on([request = std::move(request), reply = std::move(reply), run = std::move(run)]() mutable {
    Message response;
    Status s = without_exceptions([&]() -> Status {
      WEFT_ASSIGN(response, run(request.flatten()));
      return {};
    });
    reply(std::move(s), std::move(response));
  });
}

void MethodTable::call(std::string_view method, Message request, Reply reply, const OnAbandoned& on_abandoned, const RunOn& run_on) {
  if (const auto it = handlers_.find(method); it != handlers_.end()) return it->second(request.flatten(), std::move(reply), on_abandoned);
  if (const auto it = blocking_.find(method); it != blocking_.end())
    return answer_on_thread(run_on, std::move(request), std::move(reply),
                            [handler = it->second](std::string_view bytes) { return (*handler)(bytes); });
  const auto it = long_.find(method);
  if (it == long_.end()) return reply(unimplemented("this server has no method ", method), {});
  auto caller = std::make_shared<op::CancellationManager>();
  on_abandoned([caller] { caller->start_cancel(); });
  answer_on_thread(run_on, std::move(request), std::move(reply),
                   [handler = it->second, caller](std::string_view bytes) { return (*handler)(bytes, *caller); });
}

std::unique_ptr<StreamHandler> MethodTable::stream(std::string_view method, std::shared_ptr<ServerStream> stream, const RunOn& run_on) {
  const auto it = streams_.find(method);
  return it == streams_.end() ? nullptr : it->second(std::move(stream), run_on);
}

bool MethodTable::is_stream(std::string_view method) const { return streams_.contains(method); }

}  // namespace weft_engine::remote
