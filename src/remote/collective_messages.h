// The messages of WorkerService that collectives send, as plain structs. Names and numbers are TensorFlow's.
#pragma once

#include "op/collective.h"
#include "remote/messages.h"

namespace weft_engine::remote {

struct CompleteGroup {
  int32_t key = 0, size = 0, collective_type = 0;
  std::string device_type;
  DeviceAttributes device;
  std::string device_bytes;  // the same as it came
  int32_t rank = -1;         // a field of weft's own, for communicators whose program says the ranks
};
Result<CompleteGroup> decode_complete_group(std::string_view bytes);
std::string encode_complete_group(const CompleteGroup& request);

struct CompleteGroupResponse {
  int32_t key = 0, size = 0;
  std::string device_type;
  int num_tasks = 0;
  std::vector<std::string> devices;  // serialized DeviceAttributes
  std::vector<int64_t> ranks;        // weft's own: what the program said; empty: nothing
};
Result<CompleteGroupResponse> decode_complete_group_response(std::string_view bytes);
std::string encode_complete_group_response(const CompleteGroupResponse& response);

// CompleteInstanceRequest: of the params what it has.
std::string encode_complete_instance(const op::CollectiveParams& params);
Result<op::CollectiveParams> decode_complete_instance(std::string_view bytes);
std::string encode_complete_instance_response(int32_t instance_key, int source_rank);
Result<int> decode_complete_instance_response(std::string_view bytes);  // the rank of the source

struct RecvBuf {
  std::string key, source_device, target_device;
  int64_t num_bytes = 0;
  uint64_t source_incarnation = 0;
};
Result<RecvBuf> decode_recv_buf(std::string_view bytes);
std::string encode_recv_buf(const RecvBuf& request);
// The bytes are sent from where they are.
Message encode_recv_buf_response(const Tensor& value);
// Copies the bytes to `out`, which must have room for exactly as many. Internal, as TensorFlow says it, for more or fewer.
Status decode_recv_buf_response(const Message& response, std::span<char> out);

// GetStepSequence: keys of graphs to their next steps.
Result<std::vector<int64_t>> decode_step_sequence(std::string_view bytes);
std::string encode_step_sequence(const std::vector<std::pair<int64_t, int64_t>>& steps);

}  // namespace weft_engine::remote
