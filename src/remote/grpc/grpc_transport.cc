// The transport over gRPC, with messages as plain bytes: its generic interface, in the form with callbacks.
#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/byte_buffer.h>

#include <condition_variable>
#include <deque>
#include <mutex>

#include "remote/chunks.h"
#include "remote/error_text.h"
#include "remote/large_calls.h"
#include "remote/transport.h"
#include "runtime/blocking_threads.h"
#include "wire/proto.h"

namespace weft_engine::remote {
namespace {

// ---- order, for the thread sanitizer

// gRPC is built without the thread sanitizer, which does not see therefore that what is done before a call into gRPC comes before what gRPC calls for it. So this
// file is compiled without it, too (CMakeLists.txt), and says itself what is ordered: all that is done with one call or stream.
#ifdef WEFT_THREAD_SANITIZER
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
class InOrder {
 public:
  explicit InOrder(const void* of) : of_(const_cast<void*>(of)) { __tsan_acquire(of_); }
  ~InOrder() { release(); }
  void release() const { __tsan_release(of_); }

 private:
  void* const of_;
};
// Bytes of gRPC's memory, which some thread of it has written.
std::shared_ptr<std::string> own_copy(const grpc::Slice& s) {
  auto out = std::make_shared<std::string>(s.size(), '\0');
  const volatile uint8_t* from = s.begin();
  for (size_t i = 0; i < s.size(); ++i) static_cast<volatile char&>((*out)[i]) = char(from[i]);
  return out;
}
#else
struct InOrder {
  explicit InOrder(const void*) {}
  void release() const {}
};
#endif

// ---- messages and statuses

grpc::ByteBuffer to_buffer(const Message& m) {
  std::vector<grpc::Slice> slices;
  slices.reserve(m.pieces().size());
  for (const Message::Piece& p : m.pieces()) {
    constexpr size_t kCopied = 512;  // below this a copy is cheaper than an owner
    if (p.bytes.size() < kCopied) {
      slices.emplace_back(p.bytes.data(), p.bytes.size());
      continue;
    }
    slices.emplace_back(
        const_cast<char*>(p.bytes.data()), p.bytes.size(), [](void* o) { delete static_cast<Message::Piece*>(o); }, new Message::Piece(p));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

// The pieces stay in gRPC's memory.
Message from_buffer(const grpc::ByteBuffer& buffer) {
  Message out;
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return out;
  for (grpc::Slice& s : slices) {
#ifdef WEFT_THREAD_SANITIZER
    auto owner = own_copy(s);
    const std::string_view bytes = *owner;
#else
    auto owner = std::make_shared<grpc::Slice>(std::move(s));
    const std::string_view bytes(reinterpret_cast<const char*>(owner->begin()), owner->size());
#endif
    out.append(bytes, std::move(owner));
  }
  return out;
}

// Payloads travel as a GrpcPayloadContainer: a map in field 1.
std::string encode_payloads(const Status& s) {
  wire::ProtoWriter out;
  for (const auto& [key, value] : s.payloads()) {
    wire::ProtoWriter entry;
    entry.bytes(1, key);
    entry.bytes(2, value);
    out.message(1, entry);
  }
  return out.take();
}

grpc::Status to_grpc(const Status& s) {
  if (s.ok()) return grpc::Status::OK;
  constexpr size_t kMost = 3 << 10;  // a status travels in a header, whose size gRPC limits
  const std::string text = s.message().size() <= kMost ? s.message() : s.message().substr(0, kMost) + " ... [truncated]";
  return grpc::Status(static_cast<grpc::StatusCode>(s.code()), text, encode_payloads(s));
}

Status from_grpc(const grpc::Status& s) {
  if (s.ok()) return {};
  Status out(static_cast<Code>(s.error_code()), s.error_message());
  const std::string details = s.error_details();  // a copy: the reader needs it to stay
  wire::ProtoReader r(details);
  while (r.next()) {
    if (r.field() != 1) continue;
    std::string key, value;
    wire::ProtoReader entry = r.message();
    while (entry.next()) (entry.field() == 1 ? key : value) = entry.string();
    out = out.with_payload(std::move(key), std::move(value));
  }
  return with_notes_of_text(std::move(out));
}

// ---- who may talk to whom

// Of the process; set once, before the first channel or server.
Settings& process_settings() {
  static auto* settings = new Settings;  // calls may end after static objects
  return *settings;
}

constexpr const char* kTokenHeader = "authorization";
constexpr std::string_view kScheme = "Bearer ";

void add_token(grpc::ClientContext& context) {
  const std::string& token = process_settings().token;
  if (!token.empty()) context.AddMetadata(kTokenHeader, std::string(kScheme) + token);
}

// By the headers alone: nothing that came with the call has been read.
bool has_token(const grpc::ServerContextBase& context) {
  const std::string& token = process_settings().token;
  if (token.empty()) return true;
  const auto found = context.client_metadata().find(kTokenHeader);
  if (found == context.client_metadata().end()) return false;
  const std::string_view given(found->second.data(), found->second.size());
  return given.starts_with(kScheme) && same_token(given.substr(kScheme.size()), token);
}

// ---- chunks

// Both sides of a call say so where they take messages in chunks (remote/chunks.h), as weft's tasks do.
constexpr const char* kChunksHeader = "weft-chunks";

template <class Metadata>
bool says_chunks(const Metadata& metadata) {
  return metadata.find(kChunksHeader) != metadata.end();
}

size_t most_sent() { return size_t(process_settings().max_send); }

// What is sent at once: the message, or its chunks.
std::vector<grpc::ByteBuffer> to_buffers(const Message& message) {
  constexpr size_t kChunk = 64 << 20;
  std::vector<grpc::ByteBuffer> out;
  if (message.size() <= most_sent()) {
    out.push_back(to_buffer(message));
    return out;
  }
  for (const Message& m : cut(message, std::min(most_sent(), kChunk))) out.push_back(to_buffer(m));
  return out;
}

std::shared_ptr<grpc::ChannelCredentials> channel_credentials() {
  const Settings& s = process_settings();
  if (!s.tls()) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({s.authority, s.key, s.certificate});
}

std::shared_ptr<grpc::ServerCredentials> server_credentials() {
  const Settings& s = process_settings();
  if (!s.tls()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = s.authority;
  options.pem_key_cert_pairs.push_back({s.key, s.certificate});
  return grpc::SslServerCredentials(options);
}

// ---- client

constexpr int kAttemptMs = 10000;  // how long an attempt to connect may take: a loaded machine is slow to answer

// gRPC 1.51 loses the socket of a channel that is destroyed while it connects (grpc/grpc#32071, mended in 1.53): such a one stays until the attempt is over. One that has failed
// connects again and again without saying so; it stays until it is connected, or the time of an attempt is over.
void destroy_when_settled(std::shared_ptr<grpc::Channel> channel, std::chrono::system_clock::time_point begin = std::chrono::system_clock::now()) {
  const auto now = std::chrono::system_clock::now();
  const auto state = channel->GetState(/*try_to_connect=*/false);
  const bool failed = state == GRPC_CHANNEL_TRANSIENT_FAILURE;
  if (state != GRPC_CHANNEL_CONNECTING && !(failed && now - begin < std::chrono::milliseconds(kAttemptMs))) return;
  struct Kept {
    std::shared_ptr<grpc::Channel> channel;
    grpc::Alarm alarm;
  };
  auto* kept = new Kept{std::move(channel), {}};
  const InOrder order(kept);
  order.release();  // the alarm may go off before the end of this function
  kept->alarm.Set(now + std::chrono::milliseconds(failed ? 100 : 20), [kept, begin](bool) {
    {
      const InOrder again(kept);
      destroy_when_settled(std::move(kept->channel), begin);
    }
    delete kept;
  });
}

// Held by whatever uses a channel, and released after it: the last one must be ours.
struct Connection {
  explicit Connection(std::shared_ptr<grpc::Channel> c) : channel(std::move(c)), stub(channel) {}
  ~Connection() {
    stub = grpc::GenericStub(nullptr);
    destroy_when_settled(std::move(channel));
  }
  std::shared_ptr<grpc::Channel> channel;
  grpc::GenericStub stub;
  std::atomic<bool> takes_chunks{false};  // as an answer of the other side said
};

struct UnaryCall final : ClientCall {
  explicit UnaryCall(std::shared_ptr<Connection> c) : connection(std::move(c)) {}
  void cancel() override {
    context.TryCancel();
    std::shared_ptr<ClientCall> call;
    {
      std::lock_guard lock(mutex);
      cancelled = true;
      call = taking;
    }
    if (call) call->cancel();
  }
  void done(const grpc::Status& s) {
    const auto last = std::move(self);
    const InOrder order(this);
    if (!connection->takes_chunks && says_chunks(context.GetServerInitialMetadata())) connection->takes_chunks = true;
    Status status = from_grpc(s);
    if (const auto* ticket = core::find_note(status, kNoteTicket)) return take(*ticket);
    std::exchange(reply, nullptr)(std::move(status), s.ok() ? from_buffer(response) : Message());
  }
  // The answer is too large for this call, and is kept for another one.
  void take(const std::string& ticket);
  std::mutex mutex;
  std::shared_ptr<ClientCall> taking;
  bool cancelled = false;
  const std::shared_ptr<Connection> connection;
  grpc::ClientContext context;
  grpc::ByteBuffer request, response;
  Reply reply;
  std::shared_ptr<UnaryCall> self;  // until it is done
};

// Lives until its end was told; the reactor's OnDone is the last that gRPC does with it.
class BidiStream final : public ClientStream,
                         public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                         public std::enable_shared_from_this<BidiStream> {
 public:
  BidiStream(std::shared_ptr<Connection> connection, Events events) : connection_(std::move(connection)), events_(std::move(events)), chunks_(-1) {}

  // `seconds`, `wait`: as in Channel::call. `own`: the method is weft's own, and takes chunks.
  void start(const std::string& method, double seconds = 0, bool wait = false, bool own = false) {
    const InOrder order(this);
    self_ = shared_from_this();
    own_ = own;
    add_token(context_);
    context_.AddMetadata(kChunksHeader, "1");
    if (seconds > 0) context_.set_deadline(std::chrono::system_clock::now() + std::chrono::microseconds(int64_t(seconds * 1e6)));
    context_.set_wait_for_ready(wait);
    connection_->stub.PrepareBidiStreamingCall(&context_, method, grpc::StubOptions(), this);
    AddHold();  // writes come from outside of the reactions
    StartRead(&incoming_);
    order.release();
    StartCall();
  }

  size_t most_bytes() const override { return own_ || connection_->takes_chunks ? SIZE_MAX : most_sent(); }
  bool write(Message message) override {
    const InOrder order(this);
    if (message.size() > most_bytes()) {  // gRPC would send the beginning of it
      cancel();
      return false;
    }
    std::lock_guard lock(mutex_);
    if (closing_ || ended_) return false;
    for (grpc::ByteBuffer& b : to_buffers(message)) queue_.push_back(std::move(b));
    if (!writing_) write_next();
    return true;
  }
  void close() override {
    const InOrder order(this);
    std::lock_guard lock(mutex_);
    if (closing_ || ended_) return;
    closing_ = true;
    if (!writing_) write_next();
  }
  void cancel() override {
    const InOrder order(this);
    context_.TryCancel();
    close();
  }

  void OnWriteDone(bool ok) override {
    const InOrder order(this);
    std::lock_guard lock(mutex_);
    writing_ = false;
    if (!queue_.empty()) queue_.pop_front();
    if (!ok) return release();
    write_next();
  }
  void OnWritesDoneDone(bool) override {
    const InOrder order(this);
    std::lock_guard lock(mutex_);
    writing_ = false;
    release();
  }
  void OnReadDone(bool ok) override {
    const InOrder order(this);
    if (!ok) {
      std::lock_guard lock(mutex_);
      ended_ = true;
      if (!writing_) release();
      return;
    }
    if (!connection_->takes_chunks && says_chunks(context_.GetServerInitialMetadata())) connection_->takes_chunks = true;
    auto message = chunks_.add(from_buffer(incoming_));
    if (!message.ok()) {
      broken_ = message.status();
      cancel();
    } else if (*message) {
      events_.message(std::move(**message));
    }
    StartRead(&incoming_);
  }
  void OnDone(const grpc::Status& status) override {
    auto last = std::move(self_);
    const InOrder order(this);
    events_.end(broken_.ok() ? from_grpc(status) : broken_);
  }

 private:
  void write_next() {
    if (released_) return;
    if (!queue_.empty()) {
      writing_ = true;
      StartWrite(&queue_.front());
    } else if (closing_) {
      writing_ = true;
      StartWritesDone();
    } else if (ended_) {
      release();
    }
  }
  void release() {
    ended_ = true;
    if (std::exchange(released_, true)) return;
    RemoveHold();
  }
  const std::shared_ptr<Connection> connection_;
  const Events events_;
  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_;
  ChunkReader chunks_;
  Status broken_;  // what came makes no sense
  bool own_ = false;
  std::mutex mutex_;
  std::deque<grpc::ByteBuffer> queue_;
  bool writing_ = false, closing_ = false, ended_ = false, released_ = false;
  std::shared_ptr<BidiStream> self_;
};

OpenStream own_streams(std::shared_ptr<Connection> connection, double seconds = 0, bool wait = false) {
  return [connection = std::move(connection), seconds, wait](std::string_view method, ClientStream::Events events) -> std::shared_ptr<ClientStream> {
    auto stream = std::make_shared<BidiStream>(connection, std::move(events));
    stream->start(std::string(method), seconds, wait, /*own=*/true);
    return stream;
  };
}

void UnaryCall::take(const std::string& ticket) {
  std::vector<Message> messages;
  messages.emplace_back(ticket);
  auto call = call_by_stream(own_streams(connection), kTakeAnswer, std::move(messages), std::exchange(reply, nullptr));
  bool end = false;
  {
    std::lock_guard lock(mutex);
    taking = call;
    end = cancelled;
  }
  if (end) call->cancel();
}

class GrpcChannel final : public Channel {
 public:
  explicit GrpcChannel(const std::string& address) {
    grpc::ChannelArguments args;
    args.SetMaxReceiveMessageSize(-1);
    args.SetMaxSendMessageSize(-1);
    args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kAttemptMs);
    args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
    args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
                30000);  // gRPC stops after two in a row without data; TensorFlow's servers close connections that send more
    args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // tasks of a cluster are reached directly
    const Settings& s = process_settings();
    if (s.tls() && !s.tls_name.empty()) args.SetSslTargetNameOverride(s.tls_name);
    connection_ = std::make_shared<Connection>(grpc::CreateCustomChannel(address, channel_credentials(), args));
  }

  std::shared_ptr<ClientCall> call(std::string_view method, Message request, double seconds, bool wait, Reply reply) override {
    if (request.size() > most_sent()) {
      Status error = too_large(request.size(), most_sent());
      std::vector<Message> messages;
      messages.emplace_back(std::string(method));
      messages.push_back(std::move(request));
      return call_by_stream(own_streams(connection_, seconds, wait), kLargeCall, std::move(messages),
                            [error = std::move(error), reply = std::move(reply)](Status s, Message answer) {
                              // A task that does not know the method takes no such calls: TensorFlow's.
                              reply(s.code() == Code::kUnimplemented ? error : std::move(s), std::move(answer));
                            });
    }
    auto call = std::make_shared<UnaryCall>(connection_);
    const InOrder order(call.get());
    call->context.AddMetadata(kChunksHeader, "1");
    call->request = to_buffer(request);
    add_token(call->context);
    if (seconds > 0) call->context.set_deadline(std::chrono::system_clock::now() + std::chrono::microseconds(int64_t(seconds * 1e6)));
    call->context.set_wait_for_ready(wait);
    call->reply = std::move(reply);
    call->self = call;
    order.release();  // gRPC may be done with it before it returns
    connection_->stub.UnaryCall(&call->context, std::string(method), grpc::StubOptions(), &call->request, &call->response,
                                [c = call.get()](const grpc::Status& s) { c->done(s); });
    return call;
  }

  std::shared_ptr<ClientStream> stream(std::string_view method, ClientStream::Events events) override {
    auto stream = std::make_shared<BidiStream>(connection_, std::move(events));
    stream->start(std::string(method));
    return stream;
  }

 private:
  std::shared_ptr<Connection> connection_;
};

// ---- server

// A call that is refused before anything of it is read.
class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

// Ends by its reply or when the caller has gone, whichever is first; a reply that comes later finds nobody.
class UnaryReactor final : public grpc::ServerGenericBidiReactor {
 public:
  // `chunks`: the caller takes them.
  UnaryReactor(Service& service, std::string method, bool chunks)
      : service_(service), method_(std::move(method)), state_(std::make_shared<State>(this, chunks)) {
    const InOrder order(state_.get());
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    const InOrder order(state_.get());
    if (!ok)
      return state_->finish(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "the request did not arrive, or is larger than this server takes"));
    service_.call(
        method_, from_buffer(request_), [state = state_](Status s, Message response) { state->reply(s, response); },
        [state = state_](std::function<void()> abandoned) { state->watch(std::move(abandoned)); }, runtime::run_on_blocking_thread);
  }
  void OnCancel() override {
    const InOrder order(state_.get());
    state_->abandon();
  }
  void OnDone() override {
    const auto state = state_;
    const InOrder order(state.get()), last(&service_);  // the service may be destroyed after the listener's stop
    state->detach();
    delete this;
  }

 private:
  class State {
   public:
    State(UnaryReactor* r, bool chunks) : reactor_(r), chunks_(chunks) {}
    void reply(const Status& s, const Message& response) {
      std::function<void()> dropped;  // destroyed without the lock
      std::lock_guard lock(mutex_);
      dropped = std::exchange(abandoned_, nullptr);
      if (!take()) return;
      if (!s.ok()) return reactor_->Finish(to_grpc(s));
      if (response.size() > most_sent())
        return reactor_->Finish(to_grpc(chunks_ ? keep_answer(response, most_sent()) : too_large(response.size(), most_sent())));
      reactor_->response_ = to_buffer(response);
      reactor_->StartWriteAndFinish(&reactor_->response_, grpc::WriteOptions(), grpc::Status::OK);
    }
    void finish(const grpc::Status& s) {
      std::lock_guard lock(mutex_);
      if (take()) reactor_->Finish(s);
    }
    void watch(std::function<void()> abandoned) {
      {
        std::lock_guard lock(mutex_);
        if (!finished_) {
          abandoned_ = std::move(abandoned);
          return;
        }
        if (!gone_) return;  // it was answered
      }
      abandoned();
    }
    void abandon() {
      std::function<void()> abandoned;
      {
        std::lock_guard lock(mutex_);
        gone_ = true;
        abandoned = std::exchange(abandoned_, nullptr);
        if (take()) reactor_->Finish(grpc::Status::CANCELLED);
      }
      if (abandoned) abandoned();
    }
    void detach() {
      std::lock_guard lock(mutex_);
      reactor_ = nullptr;
    }

   private:
    bool take() { return reactor_ && !std::exchange(finished_, true); }
    std::mutex mutex_;
    UnaryReactor* reactor_;
    const bool chunks_;
    bool finished_ = false, gone_ = false;
    std::function<void()> abandoned_;
  };

  Service& service_;
  const std::string method_;
  const std::shared_ptr<State> state_;
  grpc::ByteBuffer request_, response_;
};

// The stream's object is shared with the handler and outlives the reactor; after OnDone it does nothing.
class StreamReactor final : public grpc::ServerGenericBidiReactor {
 public:
  class Handle final : public ServerStream {
   public:
    Handle(StreamReactor* r, bool chunks) : reactor_(r), chunks_(chunks) {}
    void write(Message message) override {
      if (message.size() > most_sent() && !chunks_) return finish(too_large(message.size(), most_sent()));
      std::lock_guard lock(mutex_);
      if (!reactor_ || finished_) return;
      for (grpc::ByteBuffer& b : to_buffers(message)) queue_.push_back(std::move(b));
      if (!writing_) write_next();
    }
    void next() override {
      std::lock_guard lock(mutex_);
      if (reactor_ && !finished_) reactor_->StartRead(&reactor_->request_);
    }
    void finish(Status status) override {
      std::lock_guard lock(mutex_);
      if (!reactor_ || finished_) return;
      finished_ = true;
      status_ = std::move(status);
      if (!writing_) reactor_->Finish(to_grpc(status_));
    }
    void written(bool ok) {
      std::lock_guard lock(mutex_);
      writing_ = false;
      queue_.pop_front();
      if (!ok) queue_.clear();
      if (!queue_.empty()) write_next();
      else if (finished_) reactor_->Finish(to_grpc(status_));
    }
    void detach() {
      std::lock_guard lock(mutex_);
      reactor_ = nullptr;
    }

   private:
    void write_next() {
      writing_ = true;
      reactor_->StartWrite(&queue_.front());
    }
    std::mutex mutex_;
    StreamReactor* reactor_;
    const bool chunks_;
    std::deque<grpc::ByteBuffer> queue_;
    bool writing_ = false, finished_ = false;
    Status status_;
  };

  StreamReactor(Service& service, std::string_view method, bool chunks)
      : service_(service),
        handle_(std::make_shared<Handle>(this, chunks)),
        handler_(service.stream(method, handle_, runtime::run_on_blocking_thread)),
        chunks_(process_settings().max_message) {
    const InOrder order(handle_.get());
    StartRead(&request_);
  }
  void OnReadDone(bool ok) override {
    const InOrder order(handle_.get());
    if (!ok) return handler_->ended();
    auto message = chunks_.add(from_buffer(request_));
    if (!message.ok()) {
      handle_->finish(message.status());
      return handler_->ended();
    }
    if (*message) handler_->message(std::move(**message));
    else handle_->next();
  }
  void OnWriteDone(bool ok) override {
    const InOrder order(handle_.get());
    handle_->written(ok);
  }
  void OnCancel() override {
    const InOrder order(handle_.get());
    handler_->abandoned();
  }
  void OnDone() override {
    const auto handle = handle_;
    const InOrder order(handle.get()), last(&service_);
    handle->detach();
    delete this;
  }

 private:
  Service& service_;
  grpc::ByteBuffer request_;
  const std::shared_ptr<Handle> handle_;
  const std::unique_ptr<StreamHandler> handler_;
  ChunkReader chunks_;
};

class GrpcListener final : public Listener, grpc::CallbackGenericService {
 public:
  explicit GrpcListener(Service& service) : service_(service) {}
  ~GrpcListener() override { stop(); }

  Status start(const std::string& host, int port) {
    const Settings& settings = process_settings();
    grpc::ServerBuilder builder;
    builder.AddListeningPort(host + ":" + std::to_string(port), server_credentials(), &port_);
    builder.SetMaxReceiveMessageSize(int(settings.max_message));
    if (settings.max_streams > 0) builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, settings.max_streams);
    builder.SetMaxSendMessageSize(-1);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10000);
    builder.RegisterCallbackGenericService(this);
    const InOrder order(&service_);
    server_ = builder.BuildAndStart();
    // TensorFlow's words, with the reason behind.
    if (!server_ || port_ == 0)
      return Status(Code::kUnknown,
                    settings.tls()
                        ? "Could not start gRPC server: the address is taken, or the certificate, its key or the authority is not valid PEM"
                        : "Could not start gRPC server");
    return {};
  }
  int port() const override { return port_; }
  void stop() override {
    if (!server_) return;
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
    server_.reset();
    const InOrder order(&service_);
  }

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    const InOrder order(&service_);
    if (!has_token(*context))
      return new Refusal(
          {grpc::StatusCode::UNAUTHENTICATED, "this server asks for a token (WEFT_CLUSTER_TOKEN_FILE), and the call has none or another one"});
    drop_kept_answers();
    const bool chunks = says_chunks(context->client_metadata());
    if (chunks) context->AddInitialMetadata(kChunksHeader, "1");
    if (service_.is_stream(context->method())) return new StreamReactor(service_, context->method(), chunks);
    return new UnaryReactor(service_, context->method(), chunks);
  }
  WithLargeCalls service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// gRPC ends the threads of its callbacks with the last channel or server of the process, and aborts where one of these threads is the one that lets go (1.51).
// So one channel, to an address that nobody listens on, stays; its call makes it take hold of the threads.
void keep_callback_threads() {
  static GrpcChannel* volatile kept = nullptr;  // volatile, so that the address stays where leak checkers look
  static std::once_flag once;
  std::call_once(once, [] {
    kept = new GrpcChannel("unix:/dev/null/nobody");
    kept->call("/nobody", Message(), 1, false, [](Status, Message) {});
  });
}

const TransportApi kApi = {
    [](const Settings& settings) { process_settings() = settings; },
    [](const std::string& address) -> std::shared_ptr<Channel> {
      keep_callback_threads();
      return std::make_shared<GrpcChannel>(address);
    },
    [](const std::string& host, int port, Service& service) -> Result<std::unique_ptr<Listener>> {
      keep_callback_threads();
      auto listener = std::make_unique<GrpcListener>(service);
      WEFT_RETURN_IF_ERROR(listener->start(host, port));
      return std::unique_ptr<Listener>(std::move(listener));
    },
};

}  // namespace

const TransportApi& grpc_transport() { return kApi; }

}  // namespace weft_engine::remote
