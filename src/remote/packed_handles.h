// Packed handles: one number for a tensor on each of several devices, which TensorFlow's clients send. An op takes the tensor of its device, and each node of a function
// that of the node's.
#pragma once

#include <mutex>
#include <unordered_map>

#include "graph/function_library.h"
#include "remote/messages.h"

namespace weft_engine::remote {

class PackedHandles {
 public:
  Status store(const SendPackedHandle& handle);
  // False: none has this number.
  bool erase(int64_t op_id);
  bool empty() const;
  // The operation with tensors of single devices as inputs. One that calls a function whose nodes use several of them calls another one instead, with an argument for each:
  // it is derived from the function, and leaves the library with it. `own_device`: where an operation without a device runs.
  Result<Operation> unpack(const Operation& o, graph::FunctionLibrary& library, const std::string& own_device);

  // A function made of one with packed arguments.
  struct Expanded {
    std::string name;
    std::map<size_t, std::vector<size_t>> parts;  // by packed argument: those of its tensors that it takes
  };

 private:
  struct Part {
    std::string device;
    std::variant<RemoteTensorHandle, Tensor> value;
  };
  mutable std::mutex mutex_;
  std::unordered_map<int64_t, std::vector<Part>> handles_;  // by op
  std::mutex expanded_mutex_;
  std::map<std::string, Expanded> expanded_;  // by function and devices
  int64_t next_ = 0;
};

}  // namespace weft_engine::remote
