// Calls that are waited for, and waits that can be ended from elsewhere.
#pragma once

#include <condition_variable>
#include <mutex>

#include "op/cancellation.h"
#include "remote/data_service/messages.h"

namespace weft_engine::remote::data_service {

// Ends the calls and waits of those who have it, for good.
class Stop {
 public:
  void stop();
  bool stopped();
  // False: stopped meanwhile. `cancellation` may be null.
  bool sleep(double seconds, op::CancellationManager* cancellation = nullptr);

 private:
  friend class Peer;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  op::CancellationManager calls_;
};

// While it lives, a cancelled step ends the waits of `stop`.
class StopWhenCancelled {
 public:
  StopWhenCancelled(op::CancellationManager* cancellation, std::shared_ptr<Stop> stop);
  ~StopWhenCancelled();

 private:
  op::CancellationManager* const cancellation_;
  op::CancellationManager::Token token_ = 0;
};

// One service of another process.
class Peer {
 public:
  Peer(std::shared_ptr<Channel> channel, std::string_view service) : channel_(std::move(channel)), service_(service) {}
  static Result<std::shared_ptr<Peer>> to(const std::string& address, std::string_view service);

  // Waits for the answer. `seconds`: 0 is no limit.
  Result<Message> call(std::string_view method, Message request, Stop& stop, double seconds = 0, op::CancellationManager* cancellation = nullptr);
  // The same, again as long as the other process is not there. Errors begin with `what`.
  Result<Message> retry(std::string_view what, std::string_view method, std::string request, Stop& stop, double limit_seconds,
                        op::CancellationManager* cancellation = nullptr);

 private:
  const std::shared_ptr<Channel> channel_;
  const std::string service_;
};

}  // namespace weft_engine::remote::data_service
