// The tf.data service: registering datasets with a dispatcher, and reading what its workers make. The network is behind op/data_service.h.
#include <cctype>

#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/data/compressed_element.h"
#include "ops/data/dataset_graph.h"
#include "wire/proto.h"

namespace weft_engine::ops::data {

namespace {

Result<const DataServiceClient*> client() {
  const DataServiceClient* found = data_service_client.load();
  if (!found) return unavailable("connections to servers of the tf.data service are not there");
  return found;
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

// The attribute metadata (a DataServiceMetadata), with what is known of the dataset.
std::string metadata_of(const KernelContext& c, const Dataset& dataset) {
  std::string out = c.attr<std::string>("metadata");
  wire::ProtoWriter more;
  if (out.empty() && !c.attr<std::string>("element_spec").empty()) more.bytes(1, c.attr<std::string>("element_spec"));
  more.int64(3, dataset.cardinality());
  return out + more.take();
}

Status run_register(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  WEFT_ASSIGN(std::string address, required_text(c, "address", " must be non-empty."));
  WEFT_ASSIGN(std::string protocol, required_text(c, "protocol", " must be non-empty."));
  WEFT_RETURN_IF_ERROR(check_protocol(protocol));
  WEFT_ASSIGN(const DataServiceClient* service, client());
  constexpr int64_t kFail = 2;  // ExternalStatePolicy
  WEFT_ASSIGN(std::string graph, graph_of(*dataset, c.env(), c.attr<int64_t>("external_state_policy") == kFail));
  const bool named = c.node().output_types()[0] == DType::kString;
  const std::string wanted = named ? c.attr<std::string>("requested_dataset_id") : std::string();
  WEFT_ASSIGN(std::string id, service->register_dataset(address, std::move(graph), metadata_of(c, *dataset), wanted, c.env().cancellation));
  if (named) {
    c.set_output(0, Tensor::scalar(tstring(id)));
    return {};
  }
  int64_t number = 0;
  for (char ch : id) {
    if (ch < '0' || ch > '9' || number > INT64_MAX / 10 - 1) return internal_error("Failed to parse dataset ID: ", id, ". It is not a number.");
    number = number * 10 + (ch - '0');
  }
  c.set_output(0, Tensor::scalar(number));
  return {};
}

Status run_distributed_save(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  if (dataset->cardinality() == kInfiniteCardinality) return invalid_argument("Saving an infinite dataset is not allowed: ", dataset->debug_string());
  WEFT_ASSIGN(std::string directory, required_text(c, "directory", " must be nonempty"));
  WEFT_ASSIGN(std::string address, required_text(c, "address", " must be nonempty"));
  WEFT_ASSIGN(const DataServiceClient* service, client());
  WEFT_ASSIGN(std::string graph, graph_of(*dataset, c.env()));
  return service->snapshot(address, std::move(graph), directory, c.attr<std::string>("metadata"), c.env().cancellation);
}

Status check_cross_trainer_cache(const DataServiceParams& p, int64_t cardinality) {
  if (p.job_name.empty()) return invalid_argument("Cross-trainer caching requires named jobs. Got empty `job_name`.");
  if (cardinality >= 0)
    return invalid_argument("Cross-trainer caching requires the input dataset to be infinite. Got input with cardinality ", cardinality);
  if (p.num_consumers >= 0)
    return invalid_argument("Cross-trainer caching does not support coordinated reads. Got number of coordinated consumers: ", p.num_consumers);
  return {};
}

class DataServiceDataset final : public Dataset {
 public:
  DataServiceDataset(DataServiceParams params, bool uncompress, int64_t registered, int64_t cardinality, const std::vector<DType>& types,
                     const std::vector<PartialShape>& shapes)
      : Dataset("DataService", types, shapes),
        params_(std::move(params)),
        uncompress_(uncompress || types != std::vector<DType>{DType::kVariant}),
        registered_(registered),
        cardinality_(cardinality) {}

 protected:
  int64_t count() const override { return cardinality_; }
  Result<IteratorPtr> walk(IteratorContext& c) const override {
    WEFT_ASSIGN(const DataServiceClient* service, client());
    if (params_.cross_trainer_cache) WEFT_RETURN_IF_ERROR(check_cross_trainer_cache(params_, registered_));
    DataServiceParams params = params_;
    params.repetition = ++repetitions_;  // each walk is the next iteration of the job
    WEFT_ASSIGN(std::unique_ptr<DataServiceReader> reader, service->open(params, c.env.cancellation));
    return IteratorPtr(std::make_unique<Walk>(*this, std::move(reader)));
  }

 private:
  class Walk final : public IteratorOf<DataServiceDataset> {
   public:
    Walk(const DataServiceDataset& d, std::unique_ptr<DataServiceReader> reader) : IteratorOf(d), reader_(std::move(reader)) {}

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      WEFT_RETURN_IF_ERROR(reader_->next(c.env.cancellation, out, end));
      if (end) return {};
      const CompressedElement* packed =
          out.size() == 1 && out[0].dtype() == DType::kVariant && out[0].rank() == 0 ? out[0].data<Variant>()[0].get<CompressedElement>() : nullptr;
      if (packed && d().uncompress_) {
        WEFT_ASSIGN(Element element, packed->uncompress());
        out = std::move(element);
      }
      return verify_element(d().types(), d().shapes(), out);
    }

   private:
    const std::unique_ptr<DataServiceReader> reader_;
  };
  const DataServiceParams params_;
  const bool uncompress_;  // else what is compressed stays so: the program uncompresses it
  const int64_t registered_, cardinality_;  // of the dataset as it is, and for one consumer
  mutable std::atomic<int64_t> repetitions_{0};
};

Result<std::string> target_workers(const std::string& name) {
  std::string upper = name;
  for (char& ch : upper) ch = char(std::toupper(static_cast<unsigned char>(ch)));
  for (const char* known : {"", "AUTO", "ANY", "LOCAL"}) {
    if (upper == known) return upper.empty() ? "AUTO" : upper;
  }
  return invalid_argument("Unrecognized target workers: ", name);
}

// ProcessingModeDef: the policy is field 1.
Result<int> processing_mode(std::string_view message) {
  int mode = 0;
  wire::ProtoReader r(message);
  while (r.next()) {
    if (r.field() == 1) mode = r.int32();
  }
  if (!r.ok()) return invalid_argument("Failed to parse ProcessingModeDef: ", message);
  return mode;
}

// How many elements one consumer can expect of a dataset that has so many.
int64_t expected_elements(const DataServiceParams& params, int64_t cardinality) {
  if (params.num_consumers >= 0) return kInfiniteCardinality;
  return cardinality == 0 || cardinality == kInfiniteCardinality ? cardinality : kUnknownCardinality;
}

Status run_data_service(KernelContext& c) {
  DataServiceParams p;
  WEFT_ASSIGN(p.target_workers, target_workers(c.attr<std::string>("target_workers")));
  WEFT_RETURN_IF_ERROR(check_scalar(c, "dataset_id"));
  const Tensor& id = c.input("dataset_id");
  p.dataset_id = id.dtype() == DType::kString ? id.data<tstring>()[0].str() : cat(id.data<int64_t>()[0]);
  WEFT_ASSIGN(std::string mode, text_input(c, "processing_mode"));
  WEFT_ASSIGN(p.processing_mode, processing_mode(mode));
  WEFT_ASSIGN(p.address, required_text(c, "address", " must be non-empty."));
  WEFT_ASSIGN(std::string protocol, required_text(c, "protocol", " must be non-empty."));
  WEFT_ASSIGN(p.job_name, text_input(c, "job_name"));
  WEFT_RETURN_IF_ERROR(check_protocol(protocol));
  const std::string_view op = c.node().op();
  if (op != "DataServiceDataset") {
    WEFT_ASSIGN(p.consumer_index, scalar_input<int64_t>(c, "consumer_index"));
    WEFT_ASSIGN(p.num_consumers, scalar_input<int64_t>(c, "num_consumers"));
    if (p.num_consumers >= 0 && (p.consumer_index < 0 || p.consumer_index >= p.num_consumers))
      return invalid_argument("Consumer index must be in the range [0, num_consumers), but got consumer_index ", p.consumer_index,
                              " and num_consumers ", p.num_consumers);
  }
  WEFT_ASSIGN(p.max_outstanding_requests, scalar_input<int64_t>(c, "max_outstanding_requests"));
  if (p.max_outstanding_requests <= 0 && p.max_outstanding_requests != -1)
    return invalid_argument("max_outstanding_requests must be positive or -1 (AUTOTUNE)");
  p.refresh_ms = c.attr<int64_t>("task_refresh_interval_hint_ms");
  p.transfer_protocol = c.attr<std::string>("data_transfer_protocol");
  const std::string& cache = c.attr<std::string>("cross_trainer_cache_options");
  p.cross_trainer_cache = !cache.empty();
  wire::ProtoReader r(cache);
  while (r.next()) {
    if (r.field() == 1) p.trainer_id = r.string();
  }
  if (!r.ok()) return invalid_argument("Failed to parse cross_trainer_cache_options: ", cache);
  WEFT_ASSIGN(const DataServiceClient* service, client());
  WEFT_ASSIGN(DataServiceMetadata metadata, service->metadata(p.address, p.dataset_id, c.env().cancellation));
  const int64_t expected = expected_elements(p, metadata.cardinality);
  const bool uncompress = c.node().find_attr("uncompress") && c.attr<bool>("uncompress");
  return emit(c, std::make_shared<DataServiceDataset>(std::move(p), uncompress, metadata.cardinality, expected, attr_types(c), attr_shapes(c)));
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
