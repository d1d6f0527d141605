// LocalLink: a Unix socket between two weft processes of one machine, beside gRPC, for collectives. One side asks for buffers, the other sends them from where they are; they are received
// where they are needed. A forked child has none of its parent's.
#pragma once

#include <atomic>
#include <chrono>
#include <map>

#include "core/fork.h"
#include "core/tensor.h"
#include "remote/local_socket.h"
#include "remote/transport.h"

namespace weft_engine::remote {

class LocalLink final : public LocalConnection, public std::enable_shared_from_this<LocalLink> {
 public:
  // The answer to a request: a status, or a value, whose bytes are sent.
  using Answer = std::function<void(Status, Tensor)>;
  // What the serving side does; on the link's thread, where it must not wait.
  using Handler = std::function<void(std::string_view request, Answer answer, const OnAbandoned& on_abandoned)>;

  // The asking side. `name` and `secret` are those of a LocalListener.
  static Result<std::shared_ptr<LocalLink>> connect(const std::string& name, const std::string& secret);
  // The serving side of an accepted socket, which the link owns from here on.
  static Result<std::shared_ptr<LocalLink>> serve(int socket, std::string secret, Handler handler);
  // Takes such connections and serves them.
  static Result<std::shared_ptr<LocalListener>> listen(Handler handler);
  ~LocalLink() override;

  // Asks for as many bytes as `into` has. Small ones are told on the link's thread, which must not be held up. Null: the link is closed, and `reply` is not called.
  std::shared_ptr<ClientCall> ask(std::string request, Tensor into, Reply reply);
  bool is_open() const;
  // Calls that wait get Unavailable.
  void close() override;
  // Whether this thread is that of a link, or reads for one.
  static bool on_thread();

  // For a thread that waits for what comes here anyway: it reads itself, so that nobody has to be woken. What has come is told on this thread.
  int descriptor() const { return socket_; }
  void read_here();
  // The link's own thread leaves reading to others for so long; 0: it goes on at once.
  void leave_reading(std::chrono::nanoseconds how_long);

 private:
  struct Header;
  struct Out;
  struct Pending;
  class Call;
  explicit LocalLink(int socket);
  Status start();
  void work();
  bool read_all();
  bool begin_frame();
  bool end_frame();
  bool flush();  // with the lock held
  void write(uint32_t kind, uint32_t code, uint64_t id, std::string text, Tensor body = {});
  void cancel(uint64_t id);
  void end();

  int left_for() const;
  // Not in the child of a fork: the socket is its parent's, whose thread reads it.
  bool is_own() const { return forks_ == core::fork_generation(); }

  const int forks_ = core::fork_generation();
  const int socket_, wake_;
  std::atomic<int64_t> left_until_{0};  // by the steady clock: until then others read
  std::mutex read_mutex_;  // whoever reads
  std::string secret_;  // of the serving side
  Handler handler_;  // null: the asking side
  mutable std::mutex mutex_;
  std::vector<Out> out_;
  std::map<uint64_t, Pending> asked_;
  std::map<uint64_t, std::function<void()>> served_;  // requests without an answer; what to do when nobody wants it
  uint64_t next_ = 1;
  bool closed_ = false;

  struct Reading;
  std::unique_ptr<Reading> reading_;  // of whoever reads
};

}  // namespace weft_engine::remote
