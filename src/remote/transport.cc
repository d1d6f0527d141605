#include "remote/transport.h"

#include "core/companion.h"

namespace weft_engine::remote {
namespace {

using Get = const TransportApi* (*)();

Result<const TransportApi*> load() {
  WEFT_ASSIGN(void* get,
              load_companion(
                  {"libweft_grpc.so", "WEFT_GRPC_LIBRARY", kTransportSymbol, "a cluster", "gRPC"}, reinterpret_cast<const void*>(&transport),
                  [](void* symbol) -> std::string {
                    if (reinterpret_cast<Get>(symbol)()->layout == kTransportLayout) return {};
                    return "it belongs to another build of weft";
                  }));
  const TransportApi* api = reinterpret_cast<Get>(get)();
  WEFT_RETURN_IF_ERROR(settings().status());
  api->configure(*settings());
  return api;
}

}  // namespace

Result<const TransportApi*> transport() {
  static const Result<const TransportApi*> api = load();
  return api;
}

}  // namespace weft_engine::remote
