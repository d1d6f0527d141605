// Messages of the tf.data service that both sides make or read in more than one place; the small ones are read and written where they are used.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"
#include "op/data_service.h"
#include "remote/read_message.h"
#include "remote/transport.h"

namespace weft_engine::remote::data_service {

using wire::ProtoReader;
using wire::ProtoWriter;

inline constexpr int64_t kVersion = 9;  // of the protocol
inline constexpr std::string_view kAnonymousJob = "anonymous_job_";  // begins the names of jobs that nobody named
inline constexpr std::string_view kDispatcherService = "tensorflow.data.DispatcherService";
inline constexpr std::string_view kWorkerService = "tensorflow.data.WorkerService";

// Where elements can be asked for beside the worker's own service; kept as bytes (DataTransferServerInfo) where nobody looks into it.
struct TransferServer {
  std::string protocol, address;
};
TransferServer decode_transfer_server(std::string_view bytes);
std::string encode_transfer_server(const TransferServer& server);

// What a worker has to do.
struct TaskDef {
  std::string graph, path;  // one of them: the GraphDef itself, or the file with the DatasetDef
  std::string dataset_id, worker_address;
  int64_t task_id = 0, iteration_id = 0, num_split_providers = 0, num_workers = 0, worker_index = 0;
  std::optional<int64_t> num_consumers;
  int mode = 0;
  bool use_cross_trainer_cache = false;
};
Result<TaskDef> decode_task_def(std::string_view bytes);
std::string encode_task_def(const TaskDef& task);

// What a client is told of a task.
struct TaskInfo {
  std::string worker_address;
  int64_t task_id = 0, iteration_id = 0, starting_round = 0, worker_uid = 0;
  std::vector<std::string> worker_tags, transfer_servers;
};
Result<TaskInfo> decode_task_info(std::string_view bytes);
std::string encode_task_info(const TaskInfo& task);

struct GetElementRequest {
  int64_t task_id = 0;
  std::optional<int64_t> consumer_index, round_index;
  bool skipped_previous_round = false, allow_skip = false;
  std::string trainer_id;
};
Result<GetElementRequest> decode_get_element(std::string_view bytes);
std::string encode_get_element(const GetElementRequest& request);

// What a worker answers: an element, its end, or that there is none now.
struct GetElementResult {
  std::vector<Tensor> components;
  int64_t element_index = 0;
  bool end_of_sequence = false, skip = false;
};
Result<GetElementResult> decode_element(std::string_view bytes);
// A single compressed element goes as such; tensors are sent from where they are.
Result<Message> encode_element(const GetElementResult& result);

// The GraphDef of a DatasetDef, and the other way.
Result<std::string> graph_of_dataset_def(std::string_view bytes);
std::string encode_dataset_def(std::string_view graph);
int decode_processing_mode(std::string_view bytes);
std::string encode_processing_mode(int policy);

// The other process is gone or going, and may be back.
bool is_preempted(const Status& s);
// "what: message", with the code.
Status with_prefix(std::string_view what, const Status& s);

}  // namespace weft_engine::remote::data_service
