#include "op/resource_manager.h"

#include <atomic>

namespace weft::op {

std::shared_ptr<Resource> ResourceManager::lookup(const std::string& container, const std::string& type, const std::string& name) const {
  std::lock_guard lock(mutex_);
  auto it = resources_.find(key(container, type, name));
  return it == resources_.end() ? nullptr : it->second;
}

Result<std::shared_ptr<Resource>> ResourceManager::lookup_or_create(const std::string& container, const std::string& type, const std::string& name,
                                                                    const std::function<Result<std::shared_ptr<Resource>>()>& make) {
  if (auto found = lookup(container, type, name)) return found;
  WEFT_ASSIGN(std::shared_ptr<Resource> made, make());  // outside the lock: no callbacks under it
  std::lock_guard lock(mutex_);
  return resources_.emplace(key(container, type, name), std::move(made)).first->second;
}

Status ResourceManager::create(const std::string& container, const std::string& type, const std::string& name, std::shared_ptr<Resource> resource) {
  std::lock_guard lock(mutex_);
  if (!resources_.emplace(key(container, type, name), std::move(resource)).second)
    return already_exists("Resource ", container.empty() ? default_container_ : container, "/", name, "/", type);
  return {};
}

Status ResourceManager::remove(const std::string& container, const std::string& type, const std::string& name) {
  std::shared_ptr<Resource> gone;  // destroyed after the lock is given back
  std::lock_guard lock(mutex_);
  auto it = resources_.find(key(container, type, name));
  if (it == resources_.end())
    return not_found("Resource ", container.empty() ? default_container_ : container, "/", name, "/", type, " does not exist.");
  gone = std::move(it->second);
  resources_.erase(it);
  return {};
}

void ResourceManager::clear_container(const std::string& container) {
  std::map<Key, std::shared_ptr<Resource>> gone;
  std::lock_guard lock(mutex_);
  for (auto it = resources_.begin(); it != resources_.end();) {
    if (std::get<0>(it->first) == container) gone.insert(resources_.extract(it++));
    else ++it;
  }
}

void ResourceManager::clear() {
  std::map<Key, std::shared_ptr<Resource>> gone;
  std::lock_guard lock(mutex_);
  gone.swap(resources_);
}

Status ResourceManager::destroy(const ResourceHandle& handle) {
  const auto* info = handle.info();
  if (!info) return invalid_argument("the resource handle is empty");
  if (info->anonymous) return {};  // goes with its last handle
  return remove(info->container, info->type_name, info->name);
}

Tensor make_handle(std::string device, std::string container, std::string name, std::string type_name, std::shared_ptr<Resource> resource,
                   bool anonymous) {
  static std::atomic<uint64_t> next{1};
  auto info = std::make_shared<ResourceHandle::Info>();
  info->device = std::move(device);
  info->container = std::move(container);
  info->name = std::move(name);
  info->type_name = std::move(type_name);
  info->hash_code = next.fetch_add(1, std::memory_order_relaxed);
  info->anonymous = anonymous;
  info->resource = std::move(resource);
  return Tensor::scalar(ResourceHandle(std::move(info)));
}

}  // namespace weft::op
