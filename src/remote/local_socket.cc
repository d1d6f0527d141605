#include "remote/local_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "core/threads.h"
#include "remote/connections.h"

namespace weft_engine::remote {
namespace {

// An abstract address: the name after a zero.
socklen_t address_of(const std::string& name, sockaddr_un& out) {
  out = {};
  out.sun_family = AF_UNIX;
  const size_t n = std::min(name.size(), sizeof out.sun_path - 1);
  std::memcpy(out.sun_path + 1, name.data(), n);
  return socklen_t(offsetof(sockaddr_un, sun_path) + 1 + n);
}

}  // namespace

bool is_of_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

Result<int> connect_local(const std::string& name) {
  const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return resource_exhausted("no socket: ", std::strerror(errno));
  sockaddr_un address;
  const socklen_t size = address_of(name, address);
  Status status;
  if (::connect(s, reinterpret_cast<sockaddr*>(&address), size) != 0) status = unavailable("no link ", name, ": ", std::strerror(errno));
  else if (!is_of_same_user(s)) status = permission_denied("the link ", name, " belongs to another user");
  if (status.ok()) return s;
  ::close(s);
  return status;
}

namespace {

// Slots without a lock: the child of a fork goes through them. What finds none is as any socket.
constexpr size_t kMostSockets = 4096;
std::atomic<int> own_sockets[kMostSockets];  // and one; 0: free

// In the child the numbers stay taken, so that whoever closes them closes nothing else.
void drop_sockets() {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (auto& slot : own_sockets) {
    const int s = slot.load(std::memory_order_relaxed) - 1;
    if (s >= 0 && nothing >= 0) dup3(nothing, s, O_CLOEXEC);
    slot.store(0, std::memory_order_relaxed);
  }
  if (nothing >= 0) ::close(nothing);
}

}  // namespace

void set_close_on_exec(int socket) {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, drop_sockets);
  for (auto& slot : own_sockets) {
    int free = 0;
    if (slot.load(std::memory_order_relaxed) == 0 && slot.compare_exchange_strong(free, socket + 1)) return;
  }
}

void forget_socket(int socket) {
  for (auto& slot : own_sockets) {
    int own = socket + 1;
    if (slot.compare_exchange_strong(own, 0)) return;
  }
}

bool wait_for_input(int socket, int milliseconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd watched{socket, POLLIN, 0};
    const int n = poll(&watched, 1, int(std::max<int64_t>(left, 0)));
    if (n > 0) return true;
    if (n == 0 || errno != EINTR) return false;
  }
}

void signal_event(int event) {
  const uint64_t one = 1;
  (void)!::write(event, &one, sizeof one);
}

void take_event(int event) {
  uint64_t n;
  (void)!::read(event, &n, sizeof n);
}

struct LocalListener::State {
  int socket = -1, wake = -1;
  std::string secret;
  Accept accept;
  std::mutex mutex;
  std::vector<std::weak_ptr<LocalConnection>> connections;
  bool stopped = false;
  ~State() {
    forget_socket(socket);
    if (socket >= 0) ::close(socket);
    if (wake >= 0) ::close(wake);
  }
  void work() {
    constexpr size_t kMost = 1024;
    for (;;) {
      pollfd watched[2] = {{socket, POLLIN, 0}, {wake, POLLIN, 0}};
      if (poll(watched, 2, -1) < 0 && errno != EINTR) return;
      std::unique_lock lock(mutex);
      if (stopped) return;
      const int s = accept4(socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (s < 0) {
        // Without a descriptor for it the one that connects stays in the queue, and poll() would come back at once.
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
          lock.unlock();
          usleep(20000);
        }
        continue;
      }
      std::erase_if(connections, [](const auto& weak) { return weak.expired(); });
      if (connections.size() >= kMost || !is_of_same_user(s)) {
        ::close(s);
        continue;
      }
      if (auto made = accept(s, secret); made.ok()) connections.push_back(*made);
    }
  }
};

Result<std::shared_ptr<LocalListener>> LocalListener::start(Accept accept) {
  std::shared_ptr<LocalListener> made(new LocalListener);
  auto state = std::make_shared<State>();
  made->name_ = cat("weft-", getpid(), "-", random_id());
  made->secret_ = cat(random_id(), "-", random_id(), "-", random_id(), "-", random_id());
  state->secret = made->secret_;
  state->accept = std::move(accept);
  state->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  state->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  sockaddr_un address;
  const socklen_t size = address_of(made->name_, address);
  if (state->socket < 0 || state->wake < 0 || bind(state->socket, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(state->socket, 64) != 0)
    return unavailable("no Unix socket for links: ", std::strerror(errno));
  set_close_on_exec(state->socket);
  WEFT_RETURN_IF_ERROR(start_thread([state] { state->work(); }));
  made->state_ = std::move(state);
  return made;
}

std::vector<std::shared_ptr<LocalConnection>> LocalListener::connections() const {
  std::vector<std::shared_ptr<LocalConnection>> out;
  std::lock_guard lock(state_->mutex);
  for (const auto& weak : state_->connections) {
    if (auto c = weak.lock()) out.push_back(std::move(c));
  }
  return out;
}

LocalListener::~LocalListener() {
  if (!state_ || forks_ != core::fork_generation()) return;  // the threads are the parent's
  std::vector<std::weak_ptr<LocalConnection>> connections;
  {
    std::lock_guard lock(state_->mutex);
    state_->stopped = true;
    connections.swap(state_->connections);
    signal_event(state_->wake);
  }
  for (const auto& weak : connections) {
    if (auto c = weak.lock()) c->close();
  }
}

}  // namespace weft_engine::remote
