// What a server answers to, by method name ("/tensorflow.WorkerService/GetStatus"). Each area of a server adds its methods; what nobody added is Unimplemented.
#pragma once

#include <map>

#include "op/cancellation.h"
#include "remote/transport.h"

namespace weft_engine::remote {

class MethodTable final : public Service {
 public:
  // Runs on a thread of the transport and must not wait; `reply` is called exactly once, from any thread. The request's bytes live as long as the call of the handler.
  using Handler = std::function<void(std::string_view request, Reply reply)>;
  // The same for answers that may never come: the handler says what to do when the caller has gone.
  using WaitingHandler = std::function<void(std::string_view request, Reply reply, const OnAbandoned& on_abandoned)>;
  // Runs on a thread that may wait.
  using BlockingHandler = std::function<Result<Message>(std::string_view request)>;
  // The same for work that may take long (a step, a task that is not there yet): `caller` is cancelled when the caller has gone.
  using LongHandler = std::function<Result<Message>(std::string_view request, op::CancellationManager& caller)>;
  using StreamMaker = std::function<std::unique_ptr<StreamHandler>(std::shared_ptr<ServerStream> stream, const RunOn& run_on)>;

  // Before the table serves; `service` is "tensorflow.WorkerService".
  void add(std::string_view service, std::string_view method, Handler handler);
  void add_waiting(std::string_view service, std::string_view method, WaitingHandler handler);
  void add_blocking(std::string_view service, std::string_view method, BlockingHandler handler);
  void add_long(std::string_view service, std::string_view method, LongHandler handler);
  void add_stream(std::string_view service, std::string_view method, StreamMaker maker);

  void call(std::string_view method, Message request, Reply reply, const OnAbandoned& on_abandoned, const RunOn& run_on) override;
  std::unique_ptr<StreamHandler> stream(std::string_view method, std::shared_ptr<ServerStream> stream, const RunOn& run_on) override;
  bool is_stream(std::string_view method) const override;

 private:
  std::map<std::string, WaitingHandler, std::less<>> handlers_;
  std::map<std::string, std::shared_ptr<const BlockingHandler>, std::less<>> blocking_;
  std::map<std::string, std::shared_ptr<const LongHandler>, std::less<>> long_;
  std::map<std::string, StreamMaker, std::less<>> streams_;
};

}  // namespace weft_engine::remote
