// Small helpers of c_api_experimental.h that bindings and their tests use.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "capi/checked.h"
#include "capi/session_internal.h"
#include "tensorflow/c/c_api_experimental.h"
#include "wire/proto.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::wire::ProtoWriter;

void TF_MakeInternalErrorStatus(TF_Status* status, const char* message) {
  guard(status, [&] { return internal_error(message ? message : ""); });
}

// ConfigProto: device_count 1, inter_op_parallelism_threads 5, gpu_options 6, graph_options 10.
TF_Buffer* TF_CreateConfig(unsigned char enable_xla_compilation, unsigned char gpu_memory_allow_growth, unsigned int num_cpu_devices) {
  return guard_pointer<TF_Buffer>([&] {
    ProtoWriter cpu, gpu, optimizer, graph, config;
    cpu.bytes(1, "CPU");
    cpu.int64(2, num_cpu_devices);
    if (gpu_memory_allow_growth) gpu.boolean(4, true);
    optimizer.int64(5, enable_xla_compilation ? 1 : -1);  // global_jit_level: ON_1 or OFF
    graph.message(3, optimizer);
    config.message(1, cpu);
    config.int64(5, 1);
    config.message(6, gpu);
    config.message(10, graph);
    return new_buffer(config.str());
  });
}

TF_Buffer* TF_CreateRunOptions(unsigned char enable_full_trace) {
  return guard_pointer<TF_Buffer>([&] {
    ProtoWriter options;
    if (enable_full_trace) options.int64(1, 3);  // trace_level FULL_TRACE
    return new_buffer(options.str());
  });
}

// The name promises it: no port, no process.
int TF_PickUnusedPortOrDie() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound =
      fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 && getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (fd >= 0) close(fd);
  if (bound) return ntohs(address.sin_port);
  std::fputs("TF_PickUnusedPortOrDie: no port is free\n", stderr);
  std::abort();
}

// ---- Queues of a graph that are named by a number ----

namespace {

Result<TF_Operation*> numbered(TF_Session* session, std::string_view name, int number, std::string_view what) {
  WEFT_NOT_NULL(session);
  TF_Operation* node = TF_GraphOperationByName(session->graph, cat(name, number).c_str());
  if (!node) return internal_error("Unable to find the ", what, " in the TF graph.");
  return node;
}

}  // namespace

TF_Tensor* TF_DequeueNamedTensor(TF_Session* session, int tensor_id, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(TF_Operation * node, numbered(session, "fifo_queue_dequeue_", tensor_id, "dequeue node"));
    const TF_Output value{node, 0};
    return checked([&](TF_Status* s) { TF_SessionRun(session, nullptr, nullptr, nullptr, 0, &value, &out, 1, nullptr, 0, nullptr, s); });
  });
  return out;
}

void TF_EnqueueNamedTensor(TF_Session* session, int tensor_id, TF_Tensor* tensor, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const TF_Operation* node, numbered(session, "fifo_queue_enqueue_", tensor_id, "enqueue node"));
    WEFT_ASSIGN(TF_Operation * placeholder, numbered(session, "arg_tensor_enqueue_", tensor_id, "placeholder node as input to enqueue"));
    WEFT_NOT_NULL(tensor);
    const TF_Output fed{placeholder, 0};
    return checked([&](TF_Status* s) { TF_SessionRun(session, nullptr, &fed, &tensor, 1, nullptr, nullptr, 0, &node, 1, nullptr, s); });
  });
}
