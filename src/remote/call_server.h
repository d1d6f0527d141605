// CallServer: the serving side of a link (call_link.h). The thread that reads requests runs them as well, one after the other, so that nothing is handed over for a call that takes microseconds. Whether
// they take long nobody knows before: a second thread looks after half a millisecond, and takes over reading and what waits where the first one is still in the same call. So a call that waits
// holds up others for that long at most.
#pragma once

#include <atomic>
#include <deque>

#include "remote/call_link.h"

namespace weft_engine::remote {

class CallServer final : public LocalConnection, public std::enable_shared_from_this<CallServer> {
 public:
  // Of an accepted socket, which it owns from here on.
  static Result<std::shared_ptr<LocalConnection>> serve(int socket, std::string secret, std::shared_ptr<ServedCalls> calls);
  ~CallServer() override;
  void close() override;

 private:
  class Stream;
  CallServer(int socket, std::string secret, std::shared_ptr<ServedCalls> calls);
  void lead(uint64_t mine, std::unique_lock<std::mutex>& lock);
  void run_standby();
  void watch_job();
  bool read_more();
  bool take(Frame frame);
  bool begin_call(Frame frame);
  bool open_stream(const Frame& frame);
  void cancel(uint64_t id);
  void answer(uint64_t id, const Status& status, const Message& response);
  void write(LinkFrame kind, uint32_t code, uint64_t id, std::string_view text, const Message& body = {});
  void run(std::function<void()> job);
  void end();

  const int forks_ = core::fork_generation();
  const std::string secret_;
  const std::shared_ptr<ServedCalls> calls_;
  FrameSocket socket_;
  const int wake_, timer_;
  std::atomic<uint64_t> turn_{1};  // whose turn it is, by the number of take-overs; changed with turn_mutex_ held
  RunOn run_on_;
  std::atomic<bool> closed_{false};
  bool known_ = false;  // the other side said the secret

  std::mutex mutex_;  // of the calls
  std::unordered_map<uint64_t, std::function<void()>> served_;  // without an answer; what to do when nobody wants it
  std::unordered_map<uint64_t, std::shared_ptr<Stream>> streams_;

  std::mutex turn_mutex_;  // of who reads, and of what is to be run
  std::deque<std::function<void()>> jobs_;
  int64_t job_since_ = 0;  // by the steady clock; 0: who reads runs nothing
  int64_t usual_ns_ = 0;  // how long jobs took lately
  bool watched_ = false;  // the timer is set
  bool has_standby_ = false;  // a thread waits for its turn
  bool ended_ = false;
};

}  // namespace weft_engine::remote
