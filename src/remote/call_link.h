// CallLink: calls and streams between two weft processes of one machine over a Unix socket, with the meaning that they have over gRPC (transport.h). A message of a few hundred bytes takes a
// tenth of the time: it is one system call on each side, and nobody has to be woken but who waits for it.
//  - The thread that waits for an answer reads the socket itself (`read_while_waiting`).
//  - The thread that reads a request runs it, too; another one takes over reading when that takes long (call_server.cc).
// A forked child has none of its parent's links.
#pragma once

#include <atomic>
#include <functional>
#include <shared_mutex>
#include <unordered_map>

#include "core/fork.h"
#include "remote/frame_socket.h"
#include "remote/local_socket.h"

namespace weft_engine::remote {

// The side that calls.
class CallLink final : public std::enable_shared_from_this<CallLink> {
 public:
  // `name` and `secret` are those of ServedCalls::offer(). Waits until the server has taken the link, a few seconds at most; Unavailable where it does not.
  static Result<std::shared_ptr<CallLink>> connect(const std::string& name, const std::string& secret);
  ~CallLink();

  // Null: the link is closed, and nothing was taken of the arguments. Replies come on a thread that must not be held up.
  std::shared_ptr<ClientCall> call(std::string_view method, const Message& request, Reply& reply);
  std::shared_ptr<ClientStream> stream(std::string_view method, ClientStream::Events& events);
  bool is_open() const { return !closed_.load(std::memory_order_acquire) && is_own(); }
  void close();
  // When all calls and streams have ended; nobody begins new ones.
  void close_when_idle();

 private:
  friend class LinkReaders;
  class Call;
  class Stream;
  explicit CallLink(int socket);
  void work();
  bool read_all();  // with read_mutex_ held
  bool take(Frame frame);
  void write(uint32_t kind, uint64_t id, std::string_view text, const Message& body = {});
  void cancel(uint64_t id);
  void end();
  void close_if_idle();
  bool is_own() const { return forks_ == core::fork_generation(); }
  // For a thread that waits: reads if nobody else does.
  void read_here();
  // The link's own thread leaves reading to others for so long; it goes on at once.
  void leave_reading(int64_t nanoseconds);
  void read_again();
  bool leaves_reading() const;
  bool is_dead();
  // Whether something is to come.
  bool is_waited_for() const { return under_way_.load(std::memory_order_relaxed) > 0; }

  const int forks_ = core::fork_generation();
  FrameSocket socket_;
  const int wake_;
  std::atomic<bool> closed_{false}, unused_{false};
  std::atomic<int64_t> left_until_{0};  // by the steady clock
  std::atomic<int> under_way_{0};
  std::atomic<int64_t> heard_at_{0};  // by the steady clock
  int64_t waits_since_ = 0, asked_at_ = 0;  // of the link's own thread; 0: does not
  std::mutex read_mutex_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, Reply> asked_;
  std::unordered_map<uint64_t, std::shared_ptr<Stream>> streams_;
  uint64_t next_ = 1;
};

// Called by a thread before it waits for what other processes do: reads what comes on all links of this process until `done` says so, for a short time at most. No lock may be held.
void read_while_waiting(const std::function<bool()>& done);

// Where the calls of links go, shared with their threads. After close() the service is not used any more.
class ServedCalls : public std::enable_shared_from_this<ServedCalls> {
 public:
  explicit ServedCalls(Service& service) : service_(&service) {}
  // What to tell one that wants to call: the address of a listener, which is there from then on.
  Result<Message> offer();
  void close();

 private:
  friend class CallServer;
  std::shared_mutex mutex_;
  Service* service_;  // null: closed
  std::shared_ptr<LocalListener> listener_;
};

inline constexpr std::string_view kOfferCalls = "/weft.LinkService/OpenCalls";
// Of an answer to kOfferCalls; Unimplemented where it is of another version.
struct LinkOffer {
  std::string name, secret;
};
Message encode_link_offer(const LinkOffer& offer);
Result<LinkOffer> decode_link_offer(std::string_view bytes);

// What goes over a link.
// The server answers a hello by one, and a ping: a link on which something is waited for and nothing comes is asked, and closed where the other side stays silent.
enum class LinkFrame : uint32_t { kHello = 1, kCall, kReply, kError, kCancel, kOpen, kMessage, kClose, kEnd, kPing };
std::string encode_link_status(const Status& status);
Status decode_link_status(uint32_t code, std::string_view bytes);

}  // namespace weft_engine::remote
