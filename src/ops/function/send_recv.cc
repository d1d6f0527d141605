// Messages between the parts of a step that run on different devices, through the step's rendezvous.
// The dataflow executor does the same by itself, with keys made in advance and for values that are dead.
#include "core/own_memory.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/rendezvous.h"
#include "ops/all.h"
#include "ops/list/step_handle.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

std::string key_of(const KernelContext& c) {
  return rendezvous_key(c.attr<std::string>("send_device"), uint64_t(c.attr<int64_t>("send_device_incarnation")), c.attr<std::string>("recv_device"),
                        c.attr<std::string>("tensor_name"));
}

// Where parts of a step meet that are not on several devices, so that nobody gave the step a rendezvous.
struct StepRendezvous final : core::Resource {
  static constexpr const char* kTypeName = "StepRendezvous";
  std::string type_name() const override { return kTypeName; }
  const std::shared_ptr<Rendezvous> rendezvous = make_local_rendezvous();
};

Result<std::shared_ptr<Rendezvous>> rendezvous_of(const KernelContext& c) {
  if (Rendezvous* given = c.env().rendezvous) return std::shared_ptr<Rendezvous>(std::shared_ptr<void>(), given);  // lives as long as the step
  note_step_resource();
  WEFT_ASSIGN(auto found,
              step_resources(c).find_or_create<StepRendezvous>(
                  step_container(c), "rendezvous", []() -> Result<std::shared_ptr<StepRendezvous>> { return std::make_shared<StepRendezvous>(); }));
  return found->rendezvous;
}

Status run_send(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Rendezvous> r, rendezvous_of(c));
  return r->send(key_of(c), c.input(0), false);
}

void run_recv(KernelContext& c, Kernel::Done done) {
  auto r = rendezvous_of(c);
  if (!r.ok()) return done(r.status());
  CancellationManager* cancellation = c.env().cancellation;
  const int64_t token = cancellation ? cancellation->get_token() : 0;
  if (cancellation && !cancellation->register_callback(token, [r = *r] { r->abort(cancelled("Recv operation was cancelled")); }))
    return done(cancelled("Recv operation was cancelled"));
  (*r)->recv_async(key_of(c), [&c, cancellation, token, done = std::move(done)](Status s, Tensor value, bool dead) {
    if (cancellation) cancellation->try_deregister_callback(token);
    if (s.ok() && dead) s = invalid_argument("the value of ", c.attr<std::string>("tensor_name"), " was not sent: its branch was not taken");
    if (s.ok() && value.dtype() != c.output_type(0))
      s = invalid_argument("a message of type ", value.dtype(), " came where ", c.output_type(0), " was expected");
    if (s.ok() && c.device().host_memory()) {
      auto here = core::to_host(value);
      if (here.ok()) value = std::move(here).value();
      else s = here.status();
    }
    if (s.ok()) c.set_output(0, std::move(value));
    done(std::move(s));
  });
}

void send(OpBuilder b) {
  b.in("tensor: T")
      .attr("T: type")
      .attr("tensor_name: string")
      .attr("send_device: string")
      .attr("send_device_incarnation: int")
      .attr("recv_device: string")
      .attr("client_terminated: bool = false")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu(run_send);
}

void recv(OpBuilder b) {
  b.out("tensor: tensor_type")
      .attr("tensor_type: type")
      .attr("tensor_name: string")
      .attr("send_device: string")
      .attr("send_device_incarnation: int")
      .attr("recv_device: string")
      .attr("client_terminated: bool = false")
      .stateful()
      .distributed_communication()
      .shape(shapes::unknown)
      .cpu_make(&AsyncKernel<run_recv>::create);
}

}  // namespace

void send_recv(Registry& r) {
  recv(r.add("_HostRecv").doc("A tensor that another device sends, in host memory.").traits({.role = Role::kRecv}));
  send(r.add("_HostSend").doc("Sends a tensor in host memory to another device.").traits({.role = Role::kSend}));
  recv(r.add("Recv").doc("A tensor that another device, or another part of the step, sends."));
  send(r.add("Send").doc("Sends a tensor to another device, or to another part of the step."));
  recv(r.add("_Recv").doc("A tensor that another device sends.").traits({.role = Role::kRecv, .made = Made::kAlways}));
  send(r.add("_Send").doc("Sends a tensor to another device.").traits({.role = Role::kSend, .made = Made::kAlways}));
}

}  // namespace weft_engine::ops
