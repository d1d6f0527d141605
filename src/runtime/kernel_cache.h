// KernelCache: kernels that carry state from run to run (a random generator's position). All plans of one
// function, and all runs of one session, share the kernel of a node.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "op/registry.h"

namespace weft_engine::runtime {

class KernelCache {
 public:
  // The kernel of a node, made if it is not there. Nodes are told apart by name and attributes.
  core::Result<std::shared_ptr<op::Kernel>> get(const op::Registry& registry, const op::NodeInfo& node, const std::string& device_type);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<op::Kernel>> kernels_;
};

}  // namespace weft_engine::runtime
