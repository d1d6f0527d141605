#include "engine/clusters.h"

#include "core/companion.h"
#include "engine/engine.h"
#include "ops/list/variant_codec.h"

// Made by cmake/companion.py: where the functions and variables of the engine are that the library uses.
extern "C" __attribute__((visibility("hidden"))) const char weft_engine_table[];

namespace weft_engine::engine {

using namespace weft_engine::core;

namespace {

Result<const remote::Library*> load() {
  static const remote::Library* found = nullptr;
  WEFT_RETURN_IF_ERROR(
      load_companion({"libweft_grpc.so", "WEFT_GRPC_LIBRARY", remote::kLibrarySymbol, "a cluster", "gRPC"}, reinterpret_cast<const void*>(&clusters),
                     [](void* symbol) -> std::string {
                       const char* wrong = reinterpret_cast<remote::GetLibrary>(symbol)(weft_engine_table, remote::kLibraryLayout, &found);
                       return wrong ? wrong : "";
                     })
          .status());
  found->start(ops::variant_codec());
  return found;
}

// A session that there is no library for: whoever uses it learns why.
class NoSession final : public runtime::RemoteSession {
 public:
  explicit NoSession(Status why) : why_(std::move(why)) {}
  Status run(const Step&) override { return why_; }
  Result<std::string> setup_partial_run(const Names&) override { return why_; }
  Result<int64_t> make_callable(const std::string&) override { return why_; }
  Status run_callable(int64_t, std::span<const core::Tensor>, std::vector<core::Tensor>&, std::string*, op::CancellationManager*) override {
    return why_;
  }
  Status release_callable(int64_t) override { return why_; }
  Result<const DeviceSet*> devices() override { return why_; }
  Status close() override { return {}; }

 private:
  const Status why_;
};

constexpr runtime::RemoteSessions kSessions{
    [](const std::string& target, const graph::Graph& graph, std::mutex& mutex,
       const std::string& config) -> std::unique_ptr<runtime::RemoteSession> {
      auto library = clusters();
      if (!library.ok()) return std::make_unique<NoSession>(library.status());
      return (*library)->sessions->make(target, graph, mutex, config);
    },
    [](const std::string& target, const std::vector<std::string>& containers, const std::string& config) -> Status {
      WEFT_ASSIGN(const auto* library, clusters());
      return library->sessions->reset(target, containers, config);
    }};

constexpr op::DataServiceClient kDataService{
    [](const std::string& address, std::string graph, std::string metadata, const std::string& requested_id,
       op::CancellationManager* cancellation) -> Result<std::string> {
      WEFT_ASSIGN(const auto* library, clusters());
      return library->data_service->register_dataset(address, std::move(graph), std::move(metadata), requested_id, cancellation);
    },
    [](const std::string& address, const std::string& dataset_id, op::CancellationManager* cancellation) -> Result<op::DataServiceMetadata> {
      WEFT_ASSIGN(const auto* library, clusters());
      return library->data_service->metadata(address, dataset_id, cancellation);
    },
    [](const op::DataServiceParams& params, op::CancellationManager* cancellation) -> Result<std::unique_ptr<op::DataServiceReader>> {
      WEFT_ASSIGN(const auto* library, clusters());
      return library->data_service->open(params, cancellation);
    },
    [](const std::string& address, std::string graph, const std::string& path, std::string metadata,
       op::CancellationManager* cancellation) -> Status {
      WEFT_ASSIGN(const auto* library, clusters());
      return library->data_service->snapshot(address, std::move(graph), path, std::move(metadata), cancellation);
    }};

}  // namespace

Result<const remote::Library*> clusters() {
  static const auto& library = *new Result<const remote::Library*>(load());
  return library;
}

void set_cluster_seams() {
  runtime::set_network_maker([](const runtime::ServerSpec& spec, int port) -> Result<std::unique_ptr<runtime::ServerNetwork>> {
    WEFT_ASSIGN(const auto* library, clusters());
    return library->serve(Engine::get().registry(), spec, port);
  });
  runtime::set_remote_sessions(&kSessions);
  op::data_service_client.store(&kDataService);
}

}  // namespace weft_engine::engine
