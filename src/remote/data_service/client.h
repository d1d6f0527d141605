// The client's side of the tf.data service: what its ops ask of a dispatcher (op/data_service.h), and readers of what its workers make.
#pragma once

#include "op/data_service.h"

namespace weft_engine::remote {

const op::DataServiceClient& data_service_client();

namespace data_service {

core::Result<std::unique_ptr<op::DataServiceReader>> open_reader(const op::DataServiceParams& params, op::CancellationManager* cancellation);

}  // namespace data_service
}  // namespace weft_engine::remote
