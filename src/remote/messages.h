// The messages of TensorFlow's EagerService and WorkerService that weft sends and reads, as plain structs. Names and numbers are TensorFlow's.
// Decoders take bytes from strangers: InvalidArgument for what is malformed.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/device.h"
#include "core/tensor.h"
#include "op/attr_value.h"
#include "remote/transport.h"
#include "remote/unpack.h"

namespace weft_engine::remote {

// Addresses by job and task.
using ClusterMap = std::map<std::string, std::map<int, std::string>>;

Result<ClusterMap> decode_cluster(std::string_view cluster_def);

struct ServerDef {
  ClusterMap cluster;
  std::string job;
  int task = 0;
  std::string protocol = "grpc";
  std::string config;  // a serialized ConfigProto
  int port = 0;        // of the server; 0: that of the task's address
};
Result<ServerDef> decode_server_def(std::string_view bytes);
std::string encode_server_def(const ServerDef& def);

struct DeviceAttributes {
  std::string name, type;
  int64_t memory_limit = 0;
  uint64_t incarnation = 0;
};
Result<DeviceAttributes> decode_device(std::string_view bytes);
std::string encode_device(const DeviceAttributes& device);
DeviceAttributes attributes_of(const Device& device);

// A tensor that a task holds: output `output_num` of the operation `op_id` of its context.
struct RemoteTensorHandle {
  int64_t op_id = 0;
  int output_num = 0;
  std::string device, op_device;
  DType dtype = DType::kInvalid;
};

struct Operation {
  int64_t id = 0;
  std::string name, device;
  op::AttrMap attrs;
  std::vector<std::variant<RemoteTensorHandle, Tensor>> inputs;
  bool is_function = false, is_component_function = false;
  bool wants_values = false;  // weft's own: small outputs may come with the answer, beside their shapes. Others do not know the field
  int64_t func_step_id = 0;
};

// The op that sends a tensor from where it is to another device, under a name.
Operation send_operation(int64_t id, const RemoteTensorHandle& tensor, uint64_t incarnation, const std::string& to, const std::string& name);

// What a queue holds, one kind each.
struct DecRef {
  RemoteTensorHandle handle;
};
struct SendTensor {
  int64_t op_id = 0;
  std::vector<Tensor> tensors;
  std::string device;
};
struct RegisterFunction {
  std::string function_def;  // serialized
  bool is_component = false;
  std::vector<std::string> library;  // serialized FunctionDefs
};
struct RemoveFunction {
  std::string name;
};
struct CleanupFunction {
  int64_t step_id = 0;
};
struct SyncExecutor {};
// One tensor for each of several devices, under one number: a function takes the one of the device that it runs on.
struct SendPackedHandle {
  struct Local {
    Tensor tensor;
    std::string device;
  };
  int64_t op_id = 0;
  std::vector<std::variant<Local, RemoteTensorHandle>> parts;
  std::string device;
};
struct UnknownItem {
  int field = 0;
};
using QueueItem =
    std::variant<UnknownItem, DecRef, Operation, SendTensor, RegisterFunction, CleanupFunction, SyncExecutor, SendPackedHandle, RemoveFunction>;

struct EnqueueRequest {
  uint64_t context_id = 0;
  std::vector<QueueItem> queue;
};
Result<EnqueueRequest> decode_enqueue(const Unpacked& message);
Result<Message> encode_enqueue(uint64_t context_id, const QueueItem& item);
// Parts of a request that can stand before or behind others: a DecRef as one more item, and the context.
std::string encode_release(const RemoteTensorHandle& handle);
std::string encode_context(uint64_t context_id);

// An operation of this id keeps nothing there: its outputs are in the answer.
inline constexpr int64_t kAnswerOnly = -1;
// What Operation::wants_values is answered with at most, in bytes.
inline constexpr size_t kSmallValues = 1024;

// The answer to one queue item: shapes and devices of an operation's outputs, or the outputs themselves.
struct QueueResponse {
  std::vector<PartialShape> shapes;
  std::vector<std::string> devices;
  std::vector<Tensor> tensors;
};
Result<Message> encode_enqueue_response(const std::vector<QueueResponse>& responses);
Result<Message> encode_component_response(const QueueResponse& response);  // of RunComponentFunction
Result<std::vector<QueueResponse>> decode_enqueue_response(const Unpacked& message);
Result<QueueResponse> decode_component_response(const Unpacked& message);

struct CreateContext {
  ServerDef server_def;
  int64_t keep_alive_secs = 0;
  std::vector<DeviceAttributes> devices;  // of the whole cluster
  uint64_t context_id = 0, view_id = 0;
  bool has_server_def = false;
};
// The same fields under other numbers are an UpdateContext.
Result<CreateContext> decode_create_context(std::string_view bytes, bool update = false);
std::string encode_create_context(const CreateContext& request, bool update = false);
std::string encode_device_list(int field, const std::vector<DeviceAttributes>& devices);
Result<std::vector<DeviceAttributes>> decode_device_list(int field, std::string_view bytes);

struct RunComponentFunction {
  uint64_t context_id = 0;
  Operation operation;
  std::vector<int> output_nums;
  std::vector<int64_t> ended_steps;  // weft's own: what CleanupFunction says, of earlier steps
};
Result<RunComponentFunction> decode_run_component(const Unpacked& message);
Result<Message> encode_run_component(const RunComponentFunction& request);

struct RecvTensorRequest {
  int64_t step_id = 0;
  std::string key;
  int64_t request_id = 0;
};
Result<RecvTensorRequest> decode_recv_tensor(std::string_view bytes);
std::string encode_recv_tensor(const RecvTensorRequest& request);
// The bytes of the tensor are sent from where they are.
Result<Message> encode_recv_tensor_response(const Tensor& tensor, bool dead);
Result<std::pair<Tensor, bool>> decode_recv_tensor_response(Message message);

// A TensorProto whose content is the tensor's own memory where its type allows that.
Result<Message> tensor_message(const Tensor& tensor);

// A message of one fixed64 field and perhaps a second: CloseContext, KeepAlive and their answers.
std::string encode_ids(int first_field, uint64_t first, int second_field = 0, uint64_t second = 0);
uint64_t decode_id(int field, std::string_view bytes);

}  // namespace weft_engine::remote
