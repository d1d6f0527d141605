#include "remote/resource_names.h"

#include <mutex>
#include <unordered_map>

#include "core/remote_tensor.h"
#include "remote/connections.h"

namespace weft_engine::remote {
namespace {

using Info = ResourceHandle::Info;

// By name, for the whole process: the name is as good as the handle, so nobody can guess it.
class ResourceNames {
 public:
  std::string name_of(const std::shared_ptr<const Info>& info) {
    std::lock_guard lock(mutex_);
    if (names_.size() >= next_sweep_) {
      std::erase_if(names_, [](const auto& n) { return n.second.expired(); });
      std::erase_if(known_, [](const auto& k) { return k.second.first.expired(); });
      next_sweep_ = 2 * names_.size() + kSmall;
    }
    auto& known = known_[info.get()];
    if (known.first.expired()) {  // new, or one that is gone had the address
      known = {info, cat("handle_", random_id(), "_", random_id())};
      names_[known.second] = info;
    }
    return known.second;
  }
  std::shared_ptr<const Info> find(const std::string& name) {
    std::lock_guard lock(mutex_);
    const auto it = names_.find(name);
    return it == names_.end() ? nullptr : it->second.lock();
  }

 private:
  static constexpr size_t kSmall = 1024;
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const Info>> names_;
  std::unordered_map<const Info*, std::pair<std::weak_ptr<const Info>, std::string>> known_;
  size_t next_sweep_ = kSmall;
};

ResourceNames& resource_names() {
  static auto* names = new ResourceNames;
  return *names;
}

}  // namespace

Result<Tensor> with_names(const Tensor& t) {
  bool all_named = true;
  for (const ResourceHandle& h : t.span<ResourceHandle>()) {
    if (h.info() && h.info()->type_name == RemoteTensor::kTypeName)
      return unimplemented("a reference to a resource of another process cannot be sent");
    all_named &= !h.info() || !(h.info()->anonymous || h.info()->name.empty());
  }
  if (all_named) return t;
  WEFT_ASSIGN(Tensor out, Tensor::allocate(DType::kResource, t.shape()));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const ResourceHandle& h = t.data<ResourceHandle>()[i];
    if (!h.info() || !(h.info()->anonymous || h.info()->name.empty())) {
      out.data<ResourceHandle>()[i] = h;
      continue;
    }
    auto named = std::make_shared<Info>(*h.info());
    named->name = resource_names().name_of(h.shared_info());
    named->anonymous = false;
    named->resource = nullptr;
    out.data<ResourceHandle>()[i] = ResourceHandle(std::move(named));
  }
  return out;
}

Tensor with_resources(Tensor t) {
  for (ResourceHandle& h : t.span<ResourceHandle>()) {
    if (!h.info()) continue;
    if (auto own = resource_names().find(h.info()->name)) h = ResourceHandle(std::move(own));
  }
  return t;
}

std::string resource_device(const Tensor& t) {
  if (t.dtype() != DType::kResource || t.num_elements() != 1) return {};
  const Info* info = t.data<ResourceHandle>()->info();
  return info ? info->device : std::string();
}

}  // namespace weft_engine::remote
