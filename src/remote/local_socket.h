// Unix sockets between weft processes of one machine: who listens, who may connect. What goes over them is LocalLink's (collectives) or CallLink's (calls) affair.
// A name is in no file system and gone with the process; both sides show that they belong to the same user, and the one that connects has the secret that the other gave it in a call.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/fork.h"
#include "core/status.h"

namespace weft_engine::remote {

using namespace weft_engine::core;

// One side of a connection that was accepted.
class LocalConnection {
 public:
  virtual ~LocalConnection() = default;
  virtual void close() = 0;
};

// A socket connected to the name; Unavailable on another machine, PermissionDenied where it belongs to another user.
Result<int> connect_local(const std::string& name);
bool is_of_same_user(int socket);

// A socket of this process alone: a forked child that lives on does not keep the connection open. Until forget_socket().
void set_close_on_exec(int socket);
void forget_socket(int socket);

// Whether something to read comes within so long.
bool wait_for_input(int socket, int milliseconds);

// An eventfd of a thread that sleeps in poll().
void signal_event(int event);
void take_event(int event);

class LocalListener {
 public:
  // Owns the socket from here on; on the listener's thread.
  using Accept = std::function<Result<std::shared_ptr<LocalConnection>>(int socket, const std::string& secret)>;
  static Result<std::shared_ptr<LocalListener>> start(Accept accept);
  // Closes what it accepted.
  ~LocalListener();
  const std::string& name() const { return name_; }
  const std::string& secret() const { return secret_; }
  std::vector<std::shared_ptr<LocalConnection>> connections() const;

 private:
  struct State;
  LocalListener() = default;
  const int forks_ = core::fork_generation();
  std::string name_, secret_;
  std::shared_ptr<State> state_;
};

}  // namespace weft_engine::remote
