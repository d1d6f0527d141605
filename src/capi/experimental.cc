// Small helpers of c_api_experimental.h that bindings and their tests use.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "capi/internal.h"
#include "tensorflow/c/c_api_experimental.h"
#include "wire/proto.h"

using namespace weft::capi;  // NOLINT
using weft::wire::ProtoWriter;

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
  const bool bound = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (fd >= 0) close(fd);
  if (bound) return ntohs(address.sin_port);
  std::fputs("TF_PickUnusedPortOrDie: no port is free\n", stderr);
  std::abort();
}
