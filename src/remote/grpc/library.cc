// The way into libweft_grpc.so: binds it to the engine that loaded it.
#include "remote/library.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "core/threads.h"
#include "remote/blocking_call.h"
#include "remote/data_service/client.h"
#include "remote/grpc/engine_imports.h"
#include "remote/grpc/grpc_transport.h"
#include "remote/remote_session.h"
#include "remote/unpack.h"
#include "remote/worker.h"

namespace weft_engine::remote {
namespace {

const Library& the_library() {
  static const Library library{
      .transport = &grpc_transport(),
      .start =
          [](wire::VariantCodec variants) {
            set_variant_codec(std::move(variants));
            set_transport(&grpc_transport());
          },
      .settings = settings,
      .decode_server_def = decode_server_def,
      .connect = connect,
      .update = update,
      .check_alive = check_alive,
      .sync_task = sync_task,
      .reconnect = reconnect,
      .enable_collective_ops = enable_collective_ops,
      .check_peer_health = check_peer_health,
      .coordination_agent = coordination_agent,
      .ask_all = ask_all,
      .profile_all = profile_all,
      .serve_profiler = serve_profiler,
      .call = [](const std::string& address, const std::string& method, std::string request, double seconds) -> Result<std::string> {
        const auto channel = grpc_transport().connect(address);
        WEFT_ASSIGN(Message answer, call_and_wait(*channel, method, Message(std::move(request)), {.seconds = seconds}));
        return std::string(answer.flatten());
      },
      .serve = [](op::Registry& registry, const runtime::ServerSpec& spec, int port) { return serve(registry, spec, port); },
      .sessions = &sessions_by_masters(),
      .data_service = &data_service_client(),
      .make_dispatcher =
          [](op::Registry& registry, data_service::DispatcherConfig config) {
            return std::make_unique<data_service::DispatchServer>(registry, std::move(config));
          },
      .make_data_worker = [](op::Registry& registry,
                             data_service::WorkerConfig config) { return std::make_unique<data_service::WorkerServer>(registry, std::move(config)); },
  };
  return library;
}

// Writes where the loader, or bind() itself, has made memory read-only. Nothing of the engine is called before the end of bind().
bool protect(const void* first, size_t bytes, int protection) {
  const auto page = uintptr_t(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = uintptr_t(first) / page * page, end = (uintptr_t(first) + bytes + page - 1) / page * page;
  return mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
}

const char* bind(const char* engine, uint64_t layout) {
  static const void* bound_to = nullptr;
  if (bound_to == engine) return nullptr;
  if (bound_to) return "another copy of weft in this process has loaded it: give each a file of its own";
  uint64_t key;
  std::memcpy(&key, engine, sizeof key);
  if (key != engine_imports.key || layout != kLibraryLayout) return "it belongs to another build of weft";
  const char* next = engine + sizeof key;
  const auto address = [&] {
    int32_t distance;
    std::memcpy(&distance, next, sizeof distance);
    next += sizeof distance;
    return const_cast<char*>(engine + distance);
  };
  for (size_t i = 0; i < engine_imports.num_functions; ++i) engine_imports.functions[i] = address();
  protect(engine_imports.functions, engine_imports.num_functions * sizeof(void*), PROT_READ);
  for (size_t i = 0; i < engine_imports.num_variables; ++i) {
    const int32_t* from = engine_imports.variables + i;
    auto* entry = reinterpret_cast<void**>(uintptr_t(from) + uintptr_t(intptr_t(*from)));
    if (!protect(entry, sizeof *entry, PROT_READ | PROT_WRITE)) return "the addresses of the engine's variables cannot be written";
    *entry = address();
    protect(entry, sizeof *entry, PROT_READ);
  }
  bound_to = engine;
  return nullptr;
}

}  // namespace
}  // namespace weft_engine::remote

extern "C" __attribute__((visibility("default"))) const char* weft_cluster_library(const void* engine, uint64_t layout,
                                                                                   const weft_engine::remote::Library** library) {
  const char* wrong = weft_engine::remote::bind(static_cast<const char*>(engine), layout);
  if (!wrong) *library = &weft_engine::remote::the_library();
  return wrong;
}
