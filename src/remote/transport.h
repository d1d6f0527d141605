// Transport: calls and streams of bytes between processes, by method name. The one implementation speaks gRPC and is a library of its own,
// libweft_grpc.so (remote/grpc), loaded when a cluster is first used: a program on one machine never sees it. Both sides are built together and share these types.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/buffer.h"
#include "core/status.h"
#include "remote/settings.h"

namespace weft_engine::remote {

using namespace weft_engine::core;

// A message as pieces of memory, each with its owner: the bytes of a large tensor are sent from where they are.
class Message {
 public:
  struct Piece {
    std::string_view bytes;
    std::shared_ptr<const void> owner;
    RefPtr<Buffer> buffer;  // where a tensor can take over the memory, which nobody else has: instead of the owner
  };
  Message() = default;
  explicit Message(std::string bytes) { append(std::move(bytes)); }

  void append(std::string bytes);
  void append(std::string_view bytes, std::shared_ptr<const void> owner);
  void append(RefPtr<Buffer> buffer);
  void append(Message other);
  // A field of wire type 2 (bytes, message): its tag, its length, the pieces.
  void append_field(int field, Message value);

  size_t size() const { return size_; }
  const std::vector<Piece>& pieces() const { return pieces_; }
  // All bytes in one piece, which the message holds from then on.
  std::string_view flatten();

 private:
  std::vector<Piece> pieces_;
  size_t size_ = 0;
};

using Reply = std::function<void(Status, Message)>;

// A call that was started. It ends by its Reply, also after cancel().
class ClientCall {
 public:
  virtual ~ClientCall() = default;
  virtual void cancel() = 0;
};

// A stream of messages both ways, as the caller sees it. Ends by cancel(), close(), or from the other side.
class ClientStream {
 public:
  struct Events {
    std::function<void(Message)> message;  // one after the other
    std::function<void(Status)> end;  // once, last
  };
  virtual ~ClientStream() = default;
  // Messages are queued; false: the stream has ended.
  virtual bool write(Message message) = 0;
  // A larger one ends the stream.
  virtual size_t most_bytes() const { return SIZE_MAX; }
  virtual void close() = 0;
  virtual void cancel() = 0;
};

// A connection to one address; made at the first call, and made again after it broke.
class Channel {
 public:
  virtual ~Channel() = default;
  // `seconds`: the deadline; 0: none. `wait`: an address that nobody listens on yet is waited for until then, instead of Unavailable.
  virtual std::shared_ptr<ClientCall> call(std::string_view method, Message request, double seconds, bool wait, Reply reply) = 0;
  virtual std::shared_ptr<ClientStream> stream(std::string_view method, ClientStream::Events events) = 0;
  // Waits, so long at most, until a faster way than the first one is there, where there may be one; calls do not wait for it.
  virtual void prepare(double seconds) { (void)seconds; }
};

// A stream as the server sees it. The handler is called for one message at a time; the next one is read when next() is called.
class ServerStream {
 public:
  virtual ~ServerStream() = default;
  virtual void write(Message message) = 0;
  virtual void next() = 0;
  virtual void finish(Status status) = 0;
};

class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  virtual void message(Message message) = 0;
  // The client sends no more, or is gone. finish() must have been called, or be called, by the handler.
  virtual void ended() = 0;
  // The client waits for no answer any more: it has gone, or cancelled the stream. Beside ended(), before or after it.
  virtual void abandoned() {}
};

// How a server's method learns that the caller waits no longer: what it hands over is called then, once, from any thread; never after the reply.
using OnAbandoned = std::function<void(std::function<void()>)>;

// Where a method runs what may wait: on a thread that the transport has for that.
using RunOn = std::function<void(std::function<void()>)>;

// What a server does. Calls come on threads of the transport and must not block there.
class Service {
 public:
  virtual ~Service() = default;
  // `reply` is called at most once; it may be left out when the call was abandoned. Unimplemented for a method that is not there.
  virtual void call(std::string_view method, Message request, Reply reply, const OnAbandoned& on_abandoned, const RunOn& run_on) = 0;
  // Null: the method is no stream.
  virtual std::unique_ptr<StreamHandler> stream(std::string_view method, std::shared_ptr<ServerStream> stream, const RunOn& run_on) = 0;
  virtual bool is_stream(std::string_view method) const = 0;
};

// A server that listens; destroying it ends all calls.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual int port() const = 0;
  virtual void stop() = 0;
};

struct TransportApi {
  // Once, before the others.
  void (*configure)(const Settings& settings);
  std::shared_ptr<Channel> (*connect)(const std::string& address);
  // `host`: the address to bind, "127.0.0.1" or "0.0.0.0"; port 0: any free one. The service must outlive the listener.
  Result<std::unique_ptr<Listener>> (*listen)(const std::string& host, int port, Service& service);
};

// Where calls go, for the whole process: set when the library starts (remote/library.h), and by tests that have remote/ inside.
void set_transport(const TransportApi* transport);
// With the settings of the process.
Result<const TransportApi*> transport();

}  // namespace weft_engine::remote
