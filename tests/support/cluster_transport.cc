// Programs that have remote/ inside, to test it, reach other processes through the transport of libweft_grpc.so.
#include "engine/clusters.h"

using namespace weft_engine;  // NOLINT

namespace {

[[maybe_unused]] const bool set = [] {
  remote::set_transport([]() -> core::Result<const remote::TransportApi*> {
    WEFT_ASSIGN(const remote::Library* library, engine::clusters());
    return library->transport;
  });
  return true;
}();

}  // namespace
