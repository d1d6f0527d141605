// SPDX-License-Identifier: Apache-2.0
//
// Name("Op").Device(DEVICE_CPU).TypeConstraint<float>("T"): for what a kernel is.
#ifndef TENSORFLOW_CORE_FRAMEWORK_KERNEL_DEF_BUILDER_H_
#define TENSORFLOW_CORE_FRAMEWORK_KERNEL_DEF_BUILDER_H_

#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/status.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {

class KernelDefBuilder {
 public:
  explicit KernelDefBuilder(const char* op) : op_(op) {}
  KernelDefBuilder& Device(const char* type) { return device_ = type, *this; }
  KernelDefBuilder& Device(const DeviceType& type) { return device_ = type.type_string(), *this; }
  template <class T>
  KernelDefBuilder& TypeConstraint(const char* attr) {
    return TypeConstraint(attr, DataTypeToEnum<T>::value);
  }
  KernelDefBuilder& TypeConstraint(const char* attr, DataType type) { return TypeConstraint(attr, gtl::ArraySlice<DataType>(&type, 1)); }
  KernelDefBuilder& TypeConstraint(const char* attr, gtl::ArraySlice<DataType> types) {
    constraints_.emplace_back(attr, std::vector<int>(types.begin(), types.end()));
    return *this;
  }
  KernelDefBuilder& HostMemory(const char* arg) { return host_memory_.emplace_back(arg), *this; }
  KernelDefBuilder& Label(const char* label) { return label_ = label, *this; }
  KernelDefBuilder& Priority(int32 priority) { return priority_ = priority, *this; }

  // Adds what was said here to the functions in def.
  void Register(weft_kernel_def def) const {
    std::vector<weft_type_constraint> constraints;
    for (const auto& [attr, types] : constraints_) constraints.push_back({internal::Text(attr), types.data(), types.size()});
    std::vector<weft_text> host;
    for (const std::string& arg : host_memory_) host.push_back(internal::Text(arg));
    def.op = internal::Text(op_);
    def.device = internal::Text(device_);
    def.label = internal::Text(label_);
    def.constraints = constraints.data(), def.num_constraints = constraints.size();
    def.host_memory = host.data(), def.num_host_memory = host.size();
    def.priority = priority_;
    weft_register_kernel(&def);
  }

 private:
  std::string op_, device_, label_;
  std::vector<std::pair<std::string, std::vector<int>>> constraints_;
  std::vector<std::string> host_memory_;
  int32 priority_ = 0;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_KERNEL_DEF_BUILDER_H_
