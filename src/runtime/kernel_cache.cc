#include "runtime/kernel_cache.h"

#include "op/make_kernel.h"

namespace weft_engine::runtime {

using namespace weft_engine::op;

Result<std::shared_ptr<Kernel>> KernelCache::get(const Registry& registry, const NodeInfo& node, const std::string& device_type) {
  if (!node.spec().stateful) {
    WEFT_ASSIGN(std::unique_ptr<Kernel> k, make_graph_kernel(registry, node, device_type));
    return std::shared_ptr<Kernel>(std::move(k));
  }
  const std::string key = cat(node.name(), "\x01", device_type, "\x01", node.to_string());
  std::lock_guard lock(mutex_);
  auto& slot = kernels_[key];
  if (!slot) {
    auto k = make_graph_kernel(registry, node, device_type);
    if (!k.ok()) {
      kernels_.erase(key);
      return k.status();
    }
    slot = std::move(k).value();
  }
  return slot;
}

}  // namespace weft_engine::runtime
