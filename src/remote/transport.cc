#include "remote/transport.h"

#include <atomic>

namespace weft_engine::remote {
namespace {

std::atomic<FindTransport> finder{nullptr};

Result<const TransportApi*> configured() {
  const FindTransport find = finder.load();
  if (!find) return failed_precondition("nothing here reaches other processes: the library of clusters was not started");
  WEFT_ASSIGN(const TransportApi* api, find());
  WEFT_RETURN_IF_ERROR(settings().status());
  api->configure(*settings());
  return api;
}

}  // namespace

void set_transport(FindTransport find) { finder = find; }

Result<const TransportApi*> transport() {
  static const Result<const TransportApi*> api = configured();
  return api;
}

}  // namespace weft_engine::remote
