// Calls and streams over a Unix socket: messages of all sizes, errors, what is given up, what takes long, others who send what makes no sense.
#include "remote/call_link.h"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <future>
#include <optional>
#include <random>
#include <thread>

#include "remote/local_channel.h"

using namespace weft_engine;  // NOLINT
using namespace weft_engine::remote;  // NOLINT

namespace {

constexpr auto kLong = std::chrono::seconds(60);

std::string text_of(size_t n, unsigned seed = 0) {
  std::string out(n, 0);
  for (size_t i = 0; i < n; ++i) out[i] = char((i * 31 + seed + i / 251) & 0xff);
  return out;
}

// Small and large pieces, in turns.
Message in_pieces(const std::string& text, size_t piece) {
  Message out;
  for (size_t i = 0; i < text.size();) {
    const auto part = std::make_shared<std::string>(text.substr(i, piece));
    out.append(std::string_view(*part), part);
    i += part->size();
    piece = piece < 40000 ? 50000 : 13;
  }
  return out;
}

// Of what was seen; links may end after the test.
struct Counts {
  std::atomic<int> given_up{0}, messages{0}, blocked{0};
};

// "echo"; "error"; "wait", for an answer that never comes; "block", until it is opened, on a thread for that. The stream "echo" gives back what it gets, "taken" does not, "never" takes one message and no more.
class Methods final : public Service {
 public:
  void call(std::string_view method, Message request, Reply reply, const OnAbandoned& on_abandoned, const RunOn& run_on) override {
    if (method == "echo") return run_on([request = std::move(request), reply = std::move(reply)]() mutable { reply({}, std::move(request)); });
    if (method == "error") return reply(not_found("no such thing").with_payload("key", "value"), {});
    if (method == "wait") return on_abandoned([counts = counts] { ++counts->given_up; });
    if (method != "block") return reply(unimplemented("no method"), {});
    run_on([this, reply = std::move(reply)] {
      ++counts->blocked;
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return is_open; });
      reply({}, Message("opened"));
    });
  }
  std::unique_ptr<StreamHandler> stream(std::string_view method, std::shared_ptr<ServerStream> stream, const RunOn& run_on) override {
    struct Handler final : StreamHandler {
      Handler(std::shared_ptr<Counts> c, std::shared_ptr<ServerStream> s, RunOn r, std::string_view method)
          : counts(std::move(c)), stream(std::move(s)), run_on(std::move(r)), method(method) {}
      void message(Message m) override {
        ++counts->messages;
        if (method == "never") return;
        if (method == "taken") return stream->next();
        if (m.flatten() == "fail") return stream->finish(failed_precondition("as asked"));
        run_on([stream = stream, m = std::move(m)]() mutable {
          stream->write(std::move(m));
          stream->next();
        });
      }
      void ended() override { stream->finish({}); }
      void abandoned() override { ++counts->given_up; }
      const std::shared_ptr<Counts> counts;
      const std::shared_ptr<ServerStream> stream;
      const RunOn run_on;
      const std::string method;
    };
    return std::make_unique<Handler>(counts, std::move(stream), run_on, method);
  }
  bool is_stream(std::string_view method) const override { return method == "echo" || method == "never" || method == "taken"; }
  void open() {
    std::lock_guard lock(mutex);
    is_open = true;
    changed.notify_all();
  }

  const std::shared_ptr<Counts> counts = std::make_shared<Counts>();
  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;
};

struct Served {
  Methods methods;
  std::shared_ptr<ServedCalls> calls = std::make_shared<ServedCalls>(methods);
  LinkOffer offer;
  Served() {
    Message message = calls->offer().value();
    offer = decode_link_offer(message.flatten()).value();
  }
  ~Served() { calls->close(); }
  std::shared_ptr<CallLink> connect() { return CallLink::connect(offer.name, offer.secret).value(); }
};

// The answer to a call; `read`: this thread reads the links while it waits.
std::pair<Status, std::string> ask(CallLink& link, std::string_view method, const Message& request, bool read = false) {
  struct Answered {
    std::promise<std::pair<Status, std::string>> promise;
    std::atomic<bool> done{false};
  };
  const auto answered = std::make_shared<Answered>();
  Reply reply = [answered](Status s, Message m) {
    answered->done = true;
    answered->promise.set_value({std::move(s), std::string(m.flatten())});
  };
  auto answer = answered->promise.get_future();
  if (!link.call(method, request, reply)) return {unavailable("closed"), ""};
  if (read) read_while_waiting([answered] { return answered->done.load(); });
  if (answer.wait_for(kLong) != std::future_status::ready) return {deadline_exceeded("no answer"), ""};
  return answer.get();
}

template <class Condition>
bool comes(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!condition() && std::chrono::steady_clock::now() < end) usleep(2000);
  return condition();
}

struct Events {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> came;
  std::optional<Status> end;
  ClientStream::Events events() {
    return {[this](Message m) {
              std::lock_guard lock(mutex);
              came.emplace_back(m.flatten());
              changed.notify_all();
            },
            [this](Status s) {
              std::lock_guard lock(mutex);
              end = std::move(s);
              changed.notify_all();
            }};
  }
  template <class Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, kLong, condition);
  }
};

// The bytes of a frame, as anybody may send them.
std::string frame_of(LinkFrame kind, uint64_t id, const std::string& text) {
  const uint32_t head[] = {uint32_t(kind), 0};
  const uint32_t sizes[] = {uint32_t(text.size()), 0};
  std::string out(reinterpret_cast<const char*>(head), sizeof head);
  out.append(reinterpret_cast<const char*>(&id), sizeof id);
  out.append(reinterpret_cast<const char*>(sizes), sizeof sizes);
  return out + text;
}

}  // namespace

TEST_CASE("calls over a link bring messages of all sizes, in one piece and in many, and errors with what they carry") {
  Served served;
  const auto link = served.connect();
  for (const bool read : {false, true}) {
    for (const size_t n :
         {size_t(0), size_t(1), size_t(100), size_t(32767), size_t(32768), size_t(65536), size_t(70001), size_t(3000000), size_t(30000000)}) {
      const std::string text = text_of(n);
      auto [status, got] = ask(*link, "echo", Message(text), read);
      CHECK(status.ok());
      CHECK(got == text);
      std::tie(status, got) = ask(*link, "echo", in_pieces(text, 7), read);
      CHECK(status.ok());
      CHECK(got == text);
    }
    auto [status, got] = ask(*link, "error", Message("x"), read);
    CHECK(status.code() == Code::kNotFound);
    CHECK(status.message() == "no such thing");
    REQUIRE(status.payloads().size() == 1);
    CHECK(status.payloads().begin()->first == "key");
    CHECK(status.payloads().begin()->second == "value");
    CHECK(ask(*link, "another", {}, read).first.code() == Code::kUnimplemented);
  }
  link->close();
}

TEST_CASE("eight threads on one link get their own answers, reading or not") {
  Served served;
  const auto link = served.connect();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 r(t);
      for (unsigned i = 0; i < 200; ++i) {
        const std::string text = text_of(r() % 20 ? r() % 300 : r() % 200000, t * 1000 + i);
        auto [status, got] = ask(*link, "echo", Message(text), r() % 2 != 0);
        wrong += !status.ok() || got != text;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  link->close();
}

TEST_CASE("a call that takes long holds up no other") {
  Served served;
  const auto link = served.connect();
  std::vector<std::future<std::pair<Status, std::string>>> slow;
  for (int i = 0; i < 5; ++i) slow.push_back(std::async(std::launch::async, [&] { return ask(*link, "block", {}); }));
  for (int i = 0; i < 20; ++i) CHECK(ask(*link, "echo", Message("quick"), i % 2 != 0).second == "quick");
  for (auto& s : slow) CHECK(s.wait_for(std::chrono::seconds(0)) != std::future_status::ready);
  served.methods.open();
  for (auto& s : slow) CHECK(s.get().second == "opened");
  link->close();
}

TEST_CASE("a call over a link that is given up ends, and the server hears of it") {
  Served served;
  const auto link = served.connect();
  std::promise<Status> answered;
  Reply reply = [&](Status s, Message) { answered.set_value(std::move(s)); };
  const auto call = link->call("wait", {}, reply);
  CHECK(ask(*link, "echo", Message("x")).second == "x");  // the server knows of the other by then
  call->cancel();
  CHECK(answered.get_future().get().code() == Code::kCancelled);
  CHECK(comes([&] { return served.methods.counts->given_up > 0; }));
  call->cancel();  // nothing any more
  CHECK(ask(*link, "echo", Message("x")).second == "x");
  link->close();
}

TEST_CASE("streams over a link keep the order, end from both sides, and tell the handler when they are given up") {
  Served served;
  const auto link = served.connect();
  Events echo;
  auto events = echo.events();
  auto stream = link->stream("echo", events);
  REQUIRE(stream);
  std::vector<std::string> sent;
  for (unsigned i = 0; i < 300; ++i) {
    sent.push_back(text_of(i % 50 == 49 ? 5000000 : i * 3, i));  // more than may be under way at once
    REQUIRE(stream->write(Message(sent.back())));
  }
  stream->close();
  REQUIRE(echo.wait([&] { return echo.end.has_value(); }));
  CHECK(echo.end->ok());
  CHECK(echo.came == sent);
  CHECK_FALSE(stream->write(Message("late")));

  Events failing;
  events = failing.events();
  stream = link->stream("echo", events);
  REQUIRE(stream->write(Message("fail")));
  REQUIRE(failing.wait([&] { return failing.end.has_value(); }));
  CHECK(failing.end->code() == Code::kFailedPrecondition);
  CHECK(failing.end->message() == "as asked");

  Events given_up;
  events = given_up.events();
  stream = link->stream("never", events);
  const int before = served.methods.counts->messages;
  REQUIRE(stream->write(Message("x")));
  CHECK(comes([&] { return served.methods.counts->messages == before + 1; }));
  stream->cancel();
  REQUIRE(given_up.wait([&] { return given_up.end.has_value(); }));
  CHECK(given_up.end->code() == Code::kCancelled);
  CHECK(comes([&] { return served.methods.counts->given_up > 0; }));

  Events none;
  events = none.events();
  stream = link->stream("no such stream", events);
  REQUIRE(none.wait([&] { return none.end.has_value(); }));
  CHECK(none.end->code() == Code::kUnimplemented);
  link->close();
}

TEST_CASE("a stream whose messages are larger than what may be under way goes on, message by message") {
  Served served;
  const auto link = served.connect();
  Events echo;
  auto events = echo.events();
  const auto stream = link->stream("echo", events);
  size_t sent = 0;
  for (const size_t n : {size_t(40) << 20, size_t(10), size_t(900) << 10, size_t(100), size_t(70) << 20, size_t(33) << 20, size_t(0), size_t(1)}) {
    REQUIRE(stream->write(Message(std::string(n, 'x'))));
    REQUIRE(echo.wait([&] { return echo.came.size() > sent; }));
    CHECK(echo.came[sent++].size() == n);
  }
  stream->close();
  REQUIRE(echo.wait([&] { return echo.end.has_value(); }));
  CHECK(echo.end->ok());
  // And where nothing is answered: the handler takes them, but tells nothing.
  Events silent;
  events = silent.events();
  const auto taken = link->stream("taken", events);
  const int before = served.methods.counts->messages;
  for (int i = 0; i < 300; ++i) REQUIRE(taken->write(Message(std::string(size_t(i % 3) << 20, 'x'))));
  taken->close();
  REQUIRE(silent.wait([&] { return silent.end.has_value(); }));
  CHECK(served.methods.counts->messages == before + 300);
  CHECK(silent.came.empty());
  link->close();
}

TEST_CASE("what waits on a link ends when the server stops") {
  Served served;
  const auto link = served.connect();
  std::promise<Status> answered;
  Reply reply = [&](Status s, Message) { answered.set_value(std::move(s)); };
  REQUIRE(link->call("wait", {}, reply));
  Events events;
  auto of_stream = events.events();
  const auto stream = link->stream("never", of_stream);
  CHECK(ask(*link, "echo", Message("x")).second == "x");
  served.calls->close();
  CHECK(answered.get_future().get().code() == Code::kUnavailable);
  REQUIRE(events.wait([&] { return events.end.has_value(); }));
  CHECK(events.end->code() == Code::kUnavailable);
  CHECK(comes([&] { return !link->is_open(); }));
  CHECK(ask(*link, "echo", Message("x")).first.code() == Code::kUnavailable);
  const auto late = CallLink::connect(served.offer.name, served.offer.secret);  // the listener's thread may not have ended yet
  if (late.ok()) CHECK(ask(**late, "echo", Message("x")).first.code() == Code::kUnavailable);
  CHECK(served.calls->offer().status().code() == Code::kCancelled);
}

TEST_CASE("a link that is closed when idle ends its calls first") {
  Served served;
  const auto link = served.connect();
  auto slow = std::async(std::launch::async, [&] { return ask(*link, "block", {}); });
  REQUIRE(comes([&] { return served.methods.counts->blocked > 0; }));
  for (int i = 0; i < 20; ++i) CHECK(ask(*link, "echo", Message("x")).second == "x");
  link->close_when_idle();
  served.methods.open();
  CHECK(slow.get().second == "opened");
  CHECK(comes([&] { return !link->is_open(); }));
}

TEST_CASE("a link of calls without the secret, or with frames that make no sense, is closed, and others go on") {
  Served served;
  const auto link = served.connect();
  CHECK(CallLink::connect(served.offer.name, "another").status().code() == Code::kUnavailable);
  std::mt19937_64 r(18);
  for (int i = 0; i < 300; ++i) {
    const int s = connect_local(served.offer.name).value();
    std::string sent;
    const auto number = [&](auto n) { sent.append(reinterpret_cast<const char*>(&n), sizeof n); };
    const auto frame = [&](uint32_t kind, uint64_t id, const std::string& text, const std::vector<uint64_t>& runs) {
      number(kind);
      number(uint32_t(r() % 20));
      number(id);
      number(r() % 20 ? uint32_t(text.size()) : uint32_t(r()));
      number(r() % 20 ? uint32_t(runs.size()) : uint32_t(r()));
      sent += text;
      for (const uint64_t n : runs) number(n);
      for (const uint64_t n : runs) sent.append(size_t(std::min<uint64_t>(n, 1000)), 'y');
    };
    if (r() % 8) frame(1, 0, served.offer.secret, {});
    for (int k = int(r() % 8); k > 0; --k) {
      const char* names[] = {"echo", "error", "never", "wait?", ""};
      std::vector<uint64_t> runs(r() % 3);
      for (auto& n : runs) n = r() % 10 ? r() % 1000 : r() >> (r() % 64);
      frame(uint32_t(r() % 11), r() % 3, r() % 8 ? names[r() % 5] : text_of(r() % 300), runs);
    }
    (void)!::send(s, sent.data(), sent.size(), MSG_NOSIGNAL);
    if (r() % 2) {  // until the other side has closed, too
      timeval limit{0, 20000};
      setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      shutdown(s, SHUT_WR);
      for (char got[256]; ::read(s, got, sizeof got) > 0;) continue;
    }
    ::close(s);
  }
  CHECK(ask(*link, "echo", Message("x")).second == "x");
  CHECK(ask(*served.connect(), "echo", Message("x")).second == "x");
  link->close();
}

TEST_CASE("a server answers hellos and pings, and does what came before a link broke") {
  Served served;
  served.methods.open();
  const int s = connect_local(served.offer.name).value();
  const std::string sent = frame_of(LinkFrame::kHello, 0, served.offer.secret) + frame_of(LinkFrame::kPing, 0, "") +
                           frame_of(LinkFrame::kCall, 1, "block") + frame_of(LinkFrame(77), 0, "");
  REQUIRE(::send(s, sent.data(), sent.size(), MSG_NOSIGNAL) == ssize_t(sent.size()));
  std::string got(2 * frame_of(LinkFrame::kPing, 0, "").size(), 0);
  REQUIRE(::recv(s, got.data(), got.size(), MSG_WAITALL) == ssize_t(got.size()));
  CHECK(got == frame_of(LinkFrame::kHello, 0, "") + frame_of(LinkFrame::kPing, 0, ""));
  CHECK(comes([&] { return served.methods.counts->blocked == 1; }));
  ::close(s);
}

TEST_CASE("nobody waits for a server that does not take the link") {
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = cat("weft-test-", getpid());
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  REQUIRE(bind(listening, reinterpret_cast<sockaddr*>(&address), socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size())) == 0);
  REQUIRE(listen(listening, 4) == 0);
  auto link = std::async(std::launch::async, [&] { return CallLink::connect(name, "secret").status(); });
  ::close(accept(listening, nullptr, nullptr));
  CHECK(link.get().code() == Code::kUnavailable);
  ::close(listening);
}

TEST_CASE("a forked child that lives on does not keep its parent's connections open") {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  auto own = std::make_unique<FrameSocket>(ends[0], -1);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  REQUIRE(child > 0);
  own.reset();
  char c;
  CHECK(wait_for_input(ends[1], 30000));
  CHECK(::recv(ends[1], &c, 1, MSG_DONTWAIT) == 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ::close(ends[1]);
}

TEST_CASE("statuses and offers of links that were cut or made up are read without harm") {
  const Status s = not_found("text").with_payload("a", "b");
  const std::string bytes = encode_link_status(s);
  for (size_t n = 0; n <= bytes.size(); ++n) CHECK(decode_link_status(5, bytes.substr(0, n)).code() == Code::kNotFound);
  CHECK(decode_link_status(99, bytes).code() == Code::kUnknown);
  CHECK(decode_link_status(0, bytes).code() == Code::kUnknown);
  Message offer = encode_link_offer({"name", "secret"});
  const std::string whole(offer.flatten());
  CHECK(decode_link_offer(whole)->secret == "secret");
  CHECK(decode_link_offer("").status().code() == Code::kUnimplemented);
  CHECK(decode_link_offer(whole.substr(0, 4)).status().code() == Code::kUnimplemented);
}

TEST_CASE("a forked child has none of its parent's links of calls") {
  Served served;
  const auto link = served.connect();
  CHECK(ask(*link, "echo", Message("x")).second == "x");
  const pid_t child = fork();
  if (child == 0) {
    Reply reply = [](const Status&, const Message&) {};
    const bool closed = !link->is_open() && !link->call("echo", {}, reply);
    link->close();
    read_while_waiting([] { return false; });
    _exit(closed ? 7 : 1);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(link->is_open());
  CHECK(ask(*link, "echo", Message("x"), true).second == "x");
  link->close();
}
