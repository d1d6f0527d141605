// Rendezvous: where the parts of a step that run on different devices (or hosts) meet: one sends a
// tensor under a key, another receives it, in either order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/tensor.h"

namespace weft_engine::op {

using namespace weft_engine::core;

class Rendezvous {
 public:
  // `dead`: the sender stood in a branch that was not taken; no value.
  using Done = std::function<void(Status, Tensor, bool dead)>;
  virtual ~Rendezvous() = default;
  virtual Status send(std::string_view key, Tensor value, bool dead) = 0;
  // `done` is called when the value is there, at once if it is already; or with the error of abort.
  virtual void recv_async(std::string_view key, Done done) = 0;
  // The same for one who may not wait to the end: give_up() with the key and the ticket drops `done` without a call, if nothing has come yet (true).
  virtual void recv_async(std::string_view key, const void* /*ticket*/, Done done) { recv_async(key, std::move(done)); }
  virtual bool give_up(std::string_view /*key*/, const void* /*ticket*/) { return false; }
  // Nothing was sent that nobody took, and nobody waits.
  virtual bool empty() { return false; }
  // Everyone who waits, now or later, gets this error.
  virtual void abort(Status status) = 0;
};

// One for this process.
std::shared_ptr<Rendezvous> make_local_rendezvous();

// "source;incarnation;destination;name;frame:iteration", as in TensorFlow.
std::string rendezvous_key(std::string_view source, uint64_t incarnation, std::string_view destination, std::string_view name, uint64_t frame = 0,
                           int64_t iteration = 0);
// The number of a loop's frame that is entered in an iteration of another frame (0: the step itself), as TensorFlow's executors number it.
uint64_t frame_id(uint64_t parent, int64_t iteration, std::string_view name);

}  // namespace weft_engine::op
