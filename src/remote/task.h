// Task: one other task of a cluster as its client sees it: the stream of requests to it, single calls, and what becomes of both when the task fails.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "graph/defs.h"
#include "remote/messages.h"

namespace weft_engine::remote {

// The answer to a request, or its error, which comes later.
class Answer {
 public:
  // Waits, on the thread of a caller; its error counts as seen then.
  Status wait();
  // `then` is called with the status when it is there, at once if it is already. It does not count as seen.
  void when_done(std::function<void(const Status&)> then);
  bool failed() const;
  // It was not sent at all, and has an error that says why.
  bool refused() const { return refused_; }
  // Somebody was told of the error.
  void mark_seen();
  bool seen() const;
  // After it was OK.
  const QueueResponse& response() const { return response_; }
  Message& message() { return message_; }

  void finish(Status status, QueueResponse response, Message message = {}) {
    for (auto& then : set(std::move(status), std::move(response), std::move(message))) then(status_);
  }
  void refuse(Status status) {
    refused_ = true;
    finish(std::move(status), {});
  }
  // Fails as an earlier request did, whose error nobody was told of: who is told of this one is told of that.
  void fail_as(std::shared_ptr<Answer> earlier) {
    Status status = earlier->status();
    set_cause(std::move(earlier));
    finish(std::move(status), {});
  }
  void set_cause(std::shared_ptr<Answer> earlier) { cause_ = std::move(earlier); }  // before it is done
  // In two steps, for those who hold a lock: what is returned is to be called afterwards with the status.
  using Calls = std::vector<std::function<void(const Status&)>>;
  Calls set(Status status, QueueResponse response, Message message = {});
  const Status& status() const { return status_; }  // after it is done

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false, seen_ = false, refused_ = false;
  Status status_;
  QueueResponse response_;
  Message message_;
  Calls calls_;
  std::shared_ptr<Answer> cause_;
};

class Task : public std::enable_shared_from_this<Task> {
 public:
  Task(std::string name, std::shared_ptr<Channel> channel, uint64_t context_id)
      : name(std::move(name)), context_id(context_id), channel_(std::move(channel)) {}

  // Sends the item behind all earlier ones. `keep` lives until the answer is there.
  std::shared_ptr<Answer> enqueue(const QueueItem& item, std::vector<std::shared_ptr<const void>> keep = {});
  // The task frees the tensor after all that was sent before.
  void release(const RemoteTensorHandle& handle);
  // The task forgets the step, soon: with the next call of a part, if it is weft.
  void end_step(int64_t step);
  std::vector<int64_t> take_ended_steps();
  void flush();  // what waits for something to go with
  // Whether it gives small values with its answers, as weft does.
  bool gives_values() const { return gives_values_.load(std::memory_order_relaxed); }
  void now_gives_values() { gives_values_.store(true, std::memory_order_relaxed); }

  // Calls `then` when everything that was sent so far has been answered, with an error where the task itself failed meanwhile.
  void when_idle(std::function<void(const Status&)> then);

  // One call of a method, "/tensorflow.eager.EagerService/KeepAlive", beside the stream. `wait`: as in Channel::call.
  std::shared_ptr<Answer> start(std::string_view method, Message request, double seconds = 0, bool wait = false,
                                std::shared_ptr<ClientCall>* running = nullptr);
  // The same, and waits for it.
  Result<Message> call(std::string_view method, Message request, double seconds, bool wait);

  // Waits for all that was sent; the first error that nobody was told of.
  Status sync();
  // All that waits for the task gets the status. The next request connects again.
  void fail(const Status& status);
  // `notify`: the task forgets the context, if it has it of this view or an earlier one. Not one that was started again at the same address: it has another of the
  // same number by then.
  void close(bool notify, uint64_t view);

  const std::string name;
  const uint64_t context_id;
  // Functions that the task knows, by definition; from `functions_sweep` on those that are gone here are removed there.
  std::mutex functions_mutex;
  std::map<std::string, std::shared_ptr<const graph::FunctionDef>> functions;
  size_t functions_sweep = 64;

 private:
  // A request on the stream: what is needed to send it again when another one, which it has nothing to do with, ended the stream.
  struct Request {
    std::shared_ptr<Answer> answer;
    Message body;
    std::vector<RemoteTensorHandle> releases;  // before it
    int64_t op = 0;  // 0: it makes nothing
    std::vector<int64_t> inputs;  // ops of the task that it needs
    std::thread::id sender;
    std::vector<std::shared_ptr<const void>> keep;
  };
  using Queue = std::deque<Request>;

  std::shared_ptr<Channel> channel();
  void open();  // with the lock held
  void send(Request request);  // with the lock held
  void send_releases();  // with the lock held
  void answered(const std::shared_ptr<Queue>& queue, Message message);
  void ended(const std::shared_ptr<Queue>& queue, Status status);
  // The error of a request or of the connection, with the task.
  Status with_task(Status s) const;
  Status closed_status() const;

  static constexpr size_t kMostFailed = 1024;
  std::mutex mutex_;
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<ClientStream> stream_;
  std::shared_ptr<Queue> pending_ = std::make_shared<Queue>();
  std::vector<RemoteTensorHandle> releases_;  // go with the next request
  struct Failed {
    std::shared_ptr<Answer> answer;
    std::thread::id sender;
  };
  std::vector<Failed> failed_;
  std::map<const void*, std::pair<std::shared_ptr<ClientCall>, std::shared_ptr<Answer>>> calls_;
  bool unsynced_ = false;  // something was sent since the last sync()
  std::vector<int64_t> ended_steps_;
  std::atomic<bool> gives_values_{false};
  bool closed_ = false;
  std::atomic<bool> lost_{false};  // the task did not answer any more when the connection was closed
};

}  // namespace weft_engine::remote
