#include "remote/data_service/client.h"

#include "remote/data_service/calls.h"

namespace weft_engine::remote {

namespace data_service {
namespace {

// Asks a dispatcher, and waits for one that is not there: TensorFlow waits as good as for ever.
Result<Message> ask(const std::string& address, std::string_view what, std::string_view method, std::string request,
                    op::CancellationManager* cancellation) {
  WEFT_ASSIGN(auto dispatcher, Peer::to(address, kDispatcherService));
  auto stop = std::make_shared<Stop>();
  const StopWhenCancelled guard(cancellation, stop);
  return dispatcher->retry(what, method, std::move(request), *stop, 0, cancellation);
}

Result<std::string> register_dataset(const std::string& address, std::string graph, std::string metadata, const std::string& requested_id,
                                     op::CancellationManager* cancellation) {
  ProtoWriter w;
  w.bytes(1, encode_dataset_def(graph));
  w.bytes(3, metadata);
  if (!requested_id.empty()) w.bytes(4, requested_id);
  WEFT_ASSIGN(Message m, ask(address, "Failed to register dataset", "GetOrRegisterDataset", w.take(), cancellation));
  std::string id;
  WEFT_RETURN_IF_ERROR(read_message("GetOrRegisterDatasetResponse", m.flatten(), [&](ProtoReader& r) {
    if (r.field() == 1) id = r.string();
  }));
  return id;
}

Result<op::DataServiceMetadata> metadata(const std::string& address, const std::string& dataset_id, op::CancellationManager* cancellation) {
  ProtoWriter w;
  w.bytes(1, dataset_id);
  auto answer = ask(address, "Failed to get data service metadata for dataset", "GetDataServiceMetadata", w.take(), cancellation);
  if (!answer.ok() && answer.status().code() == Code::kNotFound)
    return not_found("Dataset id ", dataset_id, " not found. It must be registered with `register_dataset` before calling `from_dataset_id`.");
  WEFT_RETURN_IF_ERROR(answer.status());
  op::DataServiceMetadata out;
  std::string inner;
  WEFT_RETURN_IF_ERROR(read_message("GetDataServiceMetadataResponse", answer->flatten(), [&](ProtoReader& r) {
    if (r.field() == 1) inner = r.string();
  }));
  WEFT_RETURN_IF_ERROR(read_message("DataServiceMetadata", inner, [&](ProtoReader& r) {
    if (r.field() == 1) out.element_spec = r.string();
    if (r.field() == 2) out.compression = r.int32();
    if (r.field() == 3) out.cardinality = r.int64();
  }));
  return out;
}

Status snapshot(const std::string& address, std::string graph, const std::string& path, std::string metadata, op::CancellationManager* cancellation) {
  ProtoWriter w;
  w.bytes(1, encode_dataset_def(graph));
  w.bytes(2, path);
  w.bytes(3, metadata);
  return ask(address, "Failed to snapshot", "Snapshot", w.take(), cancellation).status();
}

}  // namespace
}  // namespace data_service

const op::DataServiceClient& data_service_client() {
  static constexpr op::DataServiceClient kClient{data_service::register_dataset, data_service::metadata, data_service::open_reader,
                                                 data_service::snapshot};
  return kClient;
}

}  // namespace weft_engine::remote
