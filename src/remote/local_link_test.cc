// Links between processes of one machine: values, errors, calls that are given up, and others who send what makes no sense.
#include <doctest/doctest.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <future>
#include <random>
#include <thread>

#include "remote/local_link.h"

using namespace weft_engine;  // NOLINT
using namespace weft_engine::remote;  // NOLINT

namespace {

Tensor bytes(int64_t n, uint8_t value = 0) {
  Tensor t = Tensor::allocate(DType::kUint8, Shape({n})).value();
  std::memset(t.raw(), value, size_t(n));
  return t;
}

// Answers "N": so many bytes of value 7; "error": one; "wait": nothing, and notes that it was given up.
struct Served {
  std::shared_ptr<std::promise<void>> abandoned = std::make_shared<std::promise<void>>();  // links may end after the test
  std::shared_ptr<LocalListener> listener;
  Served() {
    listener = LocalLink::listen([answered = abandoned](std::string_view q, const LocalLink::Answer& answer, const OnAbandoned& on_abandoned) {
                 if (q == "error") return answer(not_found("no such buffer"), {});
                 if (q == "wait") return on_abandoned([answered] { answered->set_value(); });
                 answer({}, bytes(std::atoll(std::string(q).c_str()), 7));
               }).value();
  }
};

Status wait_for(LocalLink& link, const std::string& request, const Tensor& into) {
  auto answered = std::make_shared<std::promise<Status>>();
  if (!link.ask(request, into, [answered](Status s, Message) { answered->set_value(std::move(s)); })) return unavailable("closed");
  return answered->get_future().get();
}

int raw_socket(const std::string& name) {
  const int s = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  REQUIRE(connect(s, reinterpret_cast<sockaddr*>(&address), size) == 0);
  timeval limit{30, 0};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return s;
}

}  // namespace

TEST_CASE("a link brings values of all sizes, and errors") {
  Served served;
  auto link = LocalLink::connect(served.listener->name(), served.listener->secret());
  REQUIRE(link.ok());
  for (int64_t n : {1, 1000, 65536, 70000, 3000000, 20000000}) {
    Tensor into = bytes(n);
    REQUIRE(wait_for(**link, cat(n), into).ok());
    const auto* got = static_cast<const uint8_t*>(into.raw());
    CHECK(std::all_of(got, got + n, [](uint8_t b) { return b == 7; }));
  }
  const Status s = wait_for(**link, "error", bytes(1));
  CHECK(s.code() == Code::kNotFound);
  CHECK(s.message() == "no such buffer");
  CHECK(wait_for(**link, "10", bytes(9)).code() == Code::kInternal);  // another size than was asked for
  CHECK(wait_for(**link, "5", bytes(5)).ok());
}

TEST_CASE("a call of a link that is given up ends, and the other side hears of it") {
  Served served;
  auto link = LocalLink::connect(served.listener->name(), served.listener->secret()).value();
  std::promise<Status> answered;
  auto call = link->ask("wait", bytes(1), [&](Status s, Message) { answered.set_value(std::move(s)); });
  call->cancel();
  CHECK(answered.get_future().get().code() == Code::kCancelled);
  CHECK(served.abandoned->get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready);
  CHECK(wait_for(*link, "5", bytes(5)).ok());
}

TEST_CASE("a value that comes in part and is given up ends") {
  // A listener of our own that sends the head of a value and no more.
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  const std::string name = cat("weft-test-", getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size())) == 0);
  REQUIRE(listen(listener, 1) == 0);
  auto link = LocalLink::connect(name, "secret").value();
  const int s = accept(listener, nullptr, nullptr);
  std::promise<Status> answered;
  auto call = link->ask("1000", bytes(1000), [&](Status status, Message) { answered.set_value(std::move(status)); });
  const uint32_t head[2] = {3, 0};
  const uint64_t tail[2] = {1, 1000};
  REQUIRE(write(s, head, 8) == 8);
  REQUIRE(write(s, tail, 16) == 16);
  REQUIRE(write(s, "xxx", 3) == 3);
  usleep(100000);
  call->cancel();
  auto answer = answered.get_future();
  REQUIRE(answer.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
  CHECK(answer.get().code() == Code::kCancelled);
  close(s);
  close(listener);
}

TEST_CASE("who waits for the other side of a link hears that it is gone") {
  Served served;
  auto link = LocalLink::connect(served.listener->name(), served.listener->secret()).value();
  std::promise<Status> answered;
  link->ask("wait", bytes(1), [&](Status s, Message) { answered.set_value(std::move(s)); });
  served.listener = nullptr;
  CHECK(answered.get_future().get().code() == Code::kUnavailable);
  for (int i = 0; i < 300 && link->is_open(); ++i) usleep(100000);
  CHECK(!link->is_open());
  CHECK(!link->ask("1", bytes(1), [](Status, Message) {}));
}

TEST_CASE("a link without the secret, or with messages that make no sense, is closed") {
  Served served;
  auto wrong = LocalLink::connect(served.listener->name(), "another");
  REQUIRE(wrong.ok());
  CHECK(wait_for(**wrong, "5", bytes(5)).code() == Code::kUnavailable);
  std::mt19937_64 r(1);
  for (int i = 0; i < 200; ++i) {
    const int s = raw_socket(served.listener->name());
    std::string sent;
    const auto frame = [&](uint32_t kind, uint64_t id, const std::string& text, uint64_t size) {
      const uint32_t head[2] = {kind, uint32_t(r() % 20)};
      const uint64_t tail[2] = {id, size};
      sent.append(reinterpret_cast<const char*>(head), 8).append(reinterpret_cast<const char*>(tail), 16).append(text);
    };
    const std::string& secret = served.listener->secret();
    if (r() % 4) frame(1, 0, secret, secret.size());
    for (int k = int(r() % 5); k > 0; --k) {
      const std::string text = r() % 2 ? "17" : std::string(r() % 100, 'x');
      frame(uint32_t(r() % 7), r() % 3, text, r() % 3 ? text.size() : r() >> (r() % 64));
    }
    (void)!write(s, sent.data(), sent.size());
    if (char got; r() % 2) {  // until the other side has closed, too
      shutdown(s, SHUT_WR);
      while (read(s, &got, 1) > 0) continue;
    }
    close(s);
  }
  auto link = LocalLink::connect(served.listener->name(), served.listener->secret());
  REQUIRE(link.ok());
  CHECK(wait_for(**link, "5", bytes(5)).ok());
}

TEST_CASE("a thread that waits reads for itself") {
  Served served;
  auto link = LocalLink::connect(served.listener->name(), served.listener->secret()).value();
  REQUIRE(wait_for(*link, "1", bytes(1)).ok());
  link->leave_reading(std::chrono::seconds(60));
  // The link's own thread may have been about to read when it was answered to leave it: not more than a few times.
  bool here = false;
  for (int call = 0; call < 20 && !here; ++call) {
    auto answered = std::make_shared<std::promise<std::thread::id>>();
    auto when = answered->get_future();
    Tensor into = bytes(500000);  // a size that the link's own thread hands over to a third one
    REQUIRE(link->ask("500000", into, [answered](const Status&, const Message&) { answered->set_value(std::this_thread::get_id()); }));
    for (int i = 0; i < 3000 && when.wait_for(std::chrono::seconds(0)) != std::future_status::ready; ++i) {
      pollfd watched{link->descriptor(), POLLIN, 0};
      poll(&watched, 1, 10);
      link->read_here();
    }
    REQUIRE(when.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
    here = when.get() == std::this_thread::get_id();
    CHECK(static_cast<const uint8_t*>(into.raw())[499999] == 7);
  }
  CHECK(here);
  CHECK(!LocalLink::on_thread());
  link->leave_reading({});
  CHECK(wait_for(*link, "70000", bytes(70000)).ok());  // its own thread reads again
}

TEST_CASE("the links of a process are closed in its forked children, and go on in itself") {
  Served served;
  auto link = LocalLink::connect(served.listener->name(), served.listener->secret()).value();
  REQUIRE(wait_for(*link, "1", bytes(1)).ok());
  link->leave_reading(std::chrono::seconds(60));
  std::promise<Status> answered;
  Tensor into = bytes(1000);
  REQUIRE(link->ask("1000", into, [&](Status s, Message) { answered.set_value(std::move(s)); }));
  pollfd watched{link->descriptor(), POLLIN, 0};
  poll(&watched, 1, 5000);  // the answer lies in the socket, which the child has, too
  const pid_t child = fork();
  if (child == 0) {
    link->read_here();
    const bool closed = !link->is_open() && !link->ask("1", bytes(1), [](const Status&, const Message&) {});
    link->close();
    served.listener = nullptr;
    _exit(closed ? 7 : 1);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(link->is_open());
  link->leave_reading({});
  CHECK(answered.get_future().get().ok());
  CHECK(static_cast<const uint8_t*>(into.raw())[999] == 7);
  CHECK(wait_for(*link, "5", bytes(5)).ok());
}
