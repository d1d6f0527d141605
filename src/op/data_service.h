// The tf.data service between its ops (ops/data), which know datasets, and its servers and clients (remote/data_service), which know the network.
// Declared here; each side sets its half when the engine is made.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace weft_engine::op {

class CancellationManager;
struct KernelEnv;

// What the sources of a dataset give, one by one, where several walk the dataset together: an element's index, or a number.
class SplitProvider {
 public:
  virtual ~SplitProvider() = default;
  virtual core::Status next(core::Tensor& split, bool& end) = 0;
  // The source is walked from its beginning again.
  virtual core::Status reset() = 0;
};
using Splits = std::vector<std::shared_ptr<SplitProvider>>;  // one for each source

// How a dataset is cut into parts. The numbers are TensorFlow's (ProcessingModeDef.ShardingPolicy).
enum class ShardingPolicy : int { kOff = 0, kDynamic = 1, kFile = 2, kData = 3, kFileOrData = 4, kHint = 5 };
struct Shard {
  ShardingPolicy policy = ShardingPolicy::kOff;
  int64_t count = 1, index = 0;  // for those that are cut beforehand: FILE and those after it
};

class ServedIterator {
 public:
  virtual ~ServedIterator() = default;
  virtual core::Status next(std::vector<core::Tensor>& out, bool& end) = 0;
};

class ServedDataset {
 public:
  virtual ~ServedDataset() = default;
  virtual int64_t cardinality() const = 0;
  // What hands out the elements of its sources. Unimplemented for sources that cannot be cut.
  virtual core::Result<Splits> make_splits() const = 0;
  // Splits are empty or one for each source. Whoever walks keeps the cancellation.
  virtual core::Result<std::unique_ptr<ServedIterator>> iterate(CancellationManager* cancellation, Splits splits) const = 0;
};

// What servers ask of datasets; set by ops/.
struct DatasetServing {
  // A dataset from its GraphDef. `env` says where it runs, and stays while the dataset is there.
  core::Result<std::shared_ptr<const ServedDataset>> (*make)(const KernelEnv& env, std::string_view graph, const Shard& shard);
  // The message CompressedElement, where a tensor holds one.
  std::optional<std::string> (*compressed)(const core::Tensor& t);
  core::Result<core::Tensor> (*from_compressed)(std::string_view message);
};
inline std::atomic<const DatasetServing*> dataset_serving{nullptr};

// ---- clients

struct DataServiceParams {
  std::string address, dataset_id, job_name, target_workers, transfer_protocol, trainer_id;
  int processing_mode = 0;  // a ShardingPolicy, or a number that is none
  int64_t consumer_index = -1, num_consumers = -1;  // -1: not a coordinated read
  int64_t max_outstanding_requests = -1, refresh_ms = -1, repetition = 0;
  bool cross_trainer_cache = false;
};

struct DataServiceMetadata {
  std::string element_spec;
  int compression = 0;
  int64_t cardinality = 0;
};

// One consumer of an iteration of a job.
class DataServiceReader {
 public:
  virtual ~DataServiceReader() = default;
  virtual core::Status next(CancellationManager* cancellation, std::vector<core::Tensor>& out, bool& end) = 0;
};

// What ops ask of the network; set by remote/. A dispatcher that does not answer is waited for; `cancellation` (may be null) ends the wait.
struct DataServiceClient {
  core::Result<std::string> (*register_dataset)(const std::string& address, std::string graph, std::string metadata, const std::string& requested_id,
                                                CancellationManager* cancellation);
  core::Result<DataServiceMetadata> (*metadata)(const std::string& address, const std::string& dataset_id, CancellationManager* cancellation);
  core::Result<std::unique_ptr<DataServiceReader>> (*open)(const DataServiceParams& params, CancellationManager* cancellation);
  core::Status (*snapshot)(const std::string& address, std::string graph, const std::string& path, std::string metadata,
                           CancellationManager* cancellation);
};
inline std::atomic<const DataServiceClient*> data_service_client{nullptr};

}  // namespace weft_engine::op
