#include "remote/transport.h"

#include <atomic>

namespace weft_engine::remote {
namespace {

std::atomic<const TransportApi*> given{nullptr};

Result<const TransportApi*> configured() {
  const TransportApi* api = given.load();
  if (!api) return failed_precondition("nothing here reaches other processes: the library of clusters was not started");
  WEFT_RETURN_IF_ERROR(settings().status());
  api->configure(*settings());
  return api;
}

}  // namespace

void set_transport(const TransportApi* transport) { given = transport; }

Result<const TransportApi*> transport() {
  static const auto& api = *new Result<const TransportApi*>(configured());
  return api;
}

}  // namespace weft_engine::remote
