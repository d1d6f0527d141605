// Calls with messages that are larger than gRPC takes, between weft's tasks: the request by a stream, the answer kept until the caller takes it by another one.
#pragma once

#include "remote/transport.h"

namespace weft_engine::remote {

// Streams. Of a call: the method's name, then the request; its answer comes back. Of an answer that was kept: its ticket; the answer comes back.
inline constexpr std::string_view kLargeCall = "/weft.Transport/Call", kTakeAnswer = "/weft.Transport/Take";
// With the error of a call whose answer is kept: its ticket.
inline constexpr char kNoteTicket[] = "weft/ticket";

// The error that says so, for a caller that takes it. One whose caller does not come is dropped at a later call; too_large() where many are kept.
Status keep_answer(Message answer, size_t most);
// Frees what nobody took in time.
void drop_kept_answers();

// A service with these two methods more.
class WithLargeCalls final : public Service {
 public:
  explicit WithLargeCalls(Service& service) : service_(service) {}
  void call(std::string_view method, Message request, Reply reply, const OnAbandoned& on_abandoned, const RunOn& run_on) override {
    service_.call(method, std::move(request), std::move(reply), on_abandoned, run_on);
  }
  std::unique_ptr<StreamHandler> stream(std::string_view method, std::shared_ptr<ServerStream> stream, const RunOn& run_on) override;
  bool is_stream(std::string_view method) const override { return method == kLargeCall || method == kTakeAnswer || service_.is_stream(method); }

 private:
  Service& service_;
};

// The caller's side: sends the messages by the stream, and gives its one answer to `reply`.
using OpenStream = std::function<std::shared_ptr<ClientStream>(std::string_view method, ClientStream::Events events)>;
std::shared_ptr<ClientCall> call_by_stream(const OpenStream& open, std::string_view method, std::vector<Message> messages, Reply reply);

}  // namespace weft_engine::remote
