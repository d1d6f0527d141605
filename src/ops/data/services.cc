// The tf.data service: registering datasets with a dispatcher, and reading what its workers make. Arguments are checked as
// TensorFlow does; connections to a dispatcher are not there yet, so that each says Unavailable when it needs one. Servers
// within a Python process are the Python package's (weft/_src/data/service.py).
#include <cctype>

#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

namespace {

Status no_dispatcher(std::string_view what, std::string_view address) {
  return unavailable("Failed to ", what, " at ", address, ": connections to servers of the tf.data service are not supported by the engine.");
}

Result<std::string> text_input(const KernelContext& c, std::string_view name) {
  WEFT_RETURN_IF_ERROR(check_scalar(c, name));
  return c.input(name).data<tstring>()[0].str();
}

Result<std::string> required_text(const KernelContext& c, std::string_view name, std::string_view ending) {
  WEFT_ASSIGN(std::string text, text_input(c, name));
  if (text.empty()) return invalid_argument(name, ending);
  return text;
}

Status check_protocol(std::string_view protocol) {
  if (protocol == "grpc") return {};
  return not_found("No credentials factory has been registered for protocol ", protocol, ". The available types are: [ grpc ]");
}

Status run_register(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(dataset_input(c).status());
  WEFT_ASSIGN(std::string address, required_text(c, "address", " must be non-empty."));
  WEFT_ASSIGN(std::string protocol, required_text(c, "protocol", " must be non-empty."));
  WEFT_RETURN_IF_ERROR(check_protocol(protocol));
  return no_dispatcher("register dataset with dispatcher", address);
}

Status run_distributed_save(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  if (dataset->cardinality() == kInfiniteCardinality) return invalid_argument("Saving an infinite dataset is not allowed: ", dataset->debug_string());
  WEFT_RETURN_IF_ERROR(required_text(c, "directory", " must be nonempty").status());
  WEFT_ASSIGN(std::string address, required_text(c, "address", " must be nonempty"));
  return no_dispatcher("save with tf.data service dispatcher", address);
}

class DataServiceDataset final : public Dataset {
 public:
  DataServiceDataset(std::string_view kind, std::string address, const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : Dataset(kind, types, shapes), address_(std::move(address)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return no_dispatcher("read from the tf.data service dispatcher", address_); }

 private:
  const std::string address_;
};

Status check_target_workers(const std::string& name) {
  std::string upper = name;
  for (char& ch : upper) ch = char(std::toupper(static_cast<unsigned char>(ch)));
  for (const char* known : {"", "AUTO", "ANY", "LOCAL"}) {
    if (upper == known) return {};
  }
  return invalid_argument("Unrecognized target workers: ", name);
}

Status run_data_service(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_target_workers(c.attr<std::string>("target_workers")));
  WEFT_RETURN_IF_ERROR(check_scalar(c, "dataset_id"));
  WEFT_RETURN_IF_ERROR(required_text(c, "processing_mode", " must be non-empty.").status());
  WEFT_ASSIGN(std::string address, required_text(c, "address", " must be non-empty."));
  WEFT_ASSIGN(std::string protocol, required_text(c, "protocol", " must be non-empty."));
  WEFT_RETURN_IF_ERROR(text_input(c, "job_name").status());
  WEFT_RETURN_IF_ERROR(check_protocol(protocol));
  const std::string_view op = c.node().op();
  if (op != "DataServiceDataset") {
    WEFT_ASSIGN(int64_t index, scalar_input<int64_t>(c, "consumer_index"));
    WEFT_ASSIGN(int64_t consumers, scalar_input<int64_t>(c, "num_consumers"));
    if (consumers >= 0 && (index < 0 || index >= consumers))
      return invalid_argument("Consumer index must be in the range [0, num_consumers), but got consumer_index ", index, " and num_consumers ",
                              consumers);
  }
  WEFT_ASSIGN(int64_t outstanding, scalar_input<int64_t>(c, "max_outstanding_requests"));
  if (outstanding <= 0 && outstanding != -1) return invalid_argument("max_outstanding_requests must be positive or -1 (AUTOTUNE)");
  return emit(c, std::make_shared<DataServiceDataset>("DataService", std::move(address), attr_types(c), attr_shapes(c)));
}

}  // namespace

void services(Registry& r) {
  r.add("RegisterDataset")
      .in("dataset: variant")
      .in("address: string")
      .in("protocol: string")
      .out("dataset_id: int64")
      .attr("external_state_policy: int")
      .attr("element_spec: string = ''")
      .attr("metadata: string = ''")
      .doc("Tells a dispatcher of the tf.data service of a dataset.")
      .traits({.impure = true})
      .shape(shapes::scalar)
      .cpu(run_register);

  r.add("RegisterDatasetV2")
      .in("dataset: variant")
      .in("address: string")
      .in("protocol: string")
      .out("dataset_id: string")
      .attr("external_state_policy: int")
      .attr("element_spec: string = ''")
      .attr("requested_dataset_id: string = ''")
      .attr("metadata: string = ''")
      .doc("Tells a dispatcher of the tf.data service of a dataset, by a name.")
      .traits({.impure = true})
      .shape(shapes::scalar)
      .cpu(run_register);

  r.add("DistributedSave")
      .in("dataset: variant")
      .in("directory: string")
      .in("address: string")
      .attr("metadata: string = ''")
      .stateful()
      .doc("Lets the workers of the tf.data service save a dataset.")
      .shape(shapes::no_outputs)
      .cpu(run_distributed_save);

  r.add("DataServiceDataset")
      .in("dataset_id: int64")
      .in("processing_mode: string")
      .in("address: string")
      .in("protocol: string")
      .in("job_name: string")
      .in("max_outstanding_requests: int64")
      .in("iteration_counter: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("task_refresh_interval_hint_ms: int = -1")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("data_transfer_protocol: string = ''")
      .attr("target_workers: string = 'AUTO'")
      .attr("cross_trainer_cache_options: string = ''")
      .stateful()
      .doc("A dataset that reads what workers of the tf.data service make.")
      .shape(shapes::scalar)
      .cpu(run_data_service);

  r.add("DataServiceDatasetV2")
      .in("dataset_id: int64")
      .in("processing_mode: string")
      .in("address: string")
      .in("protocol: string")
      .in("job_name: string")
      .in("consumer_index: int64")
      .in("num_consumers: int64")
      .in("max_outstanding_requests: int64")
      .in("iteration_counter: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("task_refresh_interval_hint_ms: int = -1")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("data_transfer_protocol: string = ''")
      .attr("target_workers: string = 'AUTO'")
      .attr("cross_trainer_cache_options: string = ''")
      .stateful()
      .doc("DataServiceDataset with coordinated consumers.")
      .shape(shapes::scalar)
      .cpu(run_data_service);

  r.add("DataServiceDatasetV3")
      .in("dataset_id: int64")
      .in("processing_mode: string")
      .in("address: string")
      .in("protocol: string")
      .in("job_name: string")
      .in("consumer_index: int64")
      .in("num_consumers: int64")
      .in("max_outstanding_requests: int64")
      .in("iteration_counter: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("task_refresh_interval_hint_ms: int = -1")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("data_transfer_protocol: string = ''")
      .attr("target_workers: string = 'AUTO'")
      .attr("uncompress: bool = false")
      .attr("uncompress_fn: func")
      .attr("cross_trainer_cache_options: string = ''")
      .stateful()
      .doc("DataServiceDatasetV2 that can uncompress elements.")
      .shape(shapes::scalar)
      .cpu(run_data_service);

  r.add("DataServiceDatasetV4")
      .in("dataset_id: string")
      .in("processing_mode: string")
      .in("address: string")
      .in("protocol: string")
      .in("job_name: string")
      .in("consumer_index: int64")
      .in("num_consumers: int64")
      .in("max_outstanding_requests: int64")
      .in("iteration_counter: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("task_refresh_interval_hint_ms: int = -1")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("data_transfer_protocol: string = ''")
      .attr("target_workers: string = 'AUTO'")
      .attr("uncompress: bool = false")
      .attr("uncompress_fn: func")
      .attr("cross_trainer_cache_options: string = ''")
      .stateful()
      .doc("DataServiceDatasetV3 with names as identifiers.")
      .shape(shapes::scalar)
      .cpu(run_data_service);
}

}  // namespace weft_engine::ops::data
