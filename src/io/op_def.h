// Ops, kernels and devices in the messages in which TensorFlow's C API hands them out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "op/registry.h"

namespace weft_engine::io {

std::string encode_op_def(const op::OpSpec& spec);                       // OpDef
std::string encode_op_list(const std::vector<const op::OpSpec*>& specs); // OpList
std::string encode_kernel_def(std::string_view op, const op::KernelDef& kernel);
std::string encode_kernel_list(const std::vector<std::string>& kernel_defs);
// ApiDef: the op's name, its one-sentence documentation and the endpoints.
std::string encode_api_def(const op::OpSpec& spec);
std::string encode_device_attributes(const core::Device& device);

// What the engine reads of a ConfigProto; other fields are ignored.
struct SessionConfig {
  int cpu_devices = 1, intra_threads = 0, inter_threads = 0;
  bool allow_soft_placement = false, has_soft_placement = false, log_device_placement = false;
  int64_t operation_timeout_ms = 0;
  double gpu_memory_fraction = 0;  // 0: nothing is said
};
core::Result<SessionConfig> decode_config(std::string_view bytes);

}  // namespace weft_engine::io
