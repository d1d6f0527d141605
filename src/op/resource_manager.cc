#include "op/resource_manager.h"

#include <cxxabi.h>

#include <atomic>
#include <cstdlib>

namespace weft_engine::op {

std::shared_ptr<Resource> ResourceManager::lookup(const std::string& container, const std::string& type, const std::string& name) const {
  std::lock_guard lock(mutex_);
  auto it = resources_.find(key(container, type, name));
  return it == resources_.end() ? nullptr : it->second;
}

Result<std::shared_ptr<Resource>> ResourceManager::lookup_or_create(const std::string& container, const std::string& type, const std::string& name,
                                                                    const std::function<Result<std::shared_ptr<Resource>>()>& make, bool exists) {
  if (auto found = lookup(container, type, name)) return found;
  WEFT_ASSIGN(std::shared_ptr<Resource> made, make());  // outside the lock: no callbacks under it
  std::lock_guard lock(mutex_);
  if (exists) containers_.insert(container.empty() ? default_container_ : container);
  return resources_.emplace(key(container, type, name), std::move(made)).first->second;
}

Status ResourceManager::create(const std::string& container, const std::string& type, const std::string& name, std::shared_ptr<Resource> resource) {
  std::lock_guard lock(mutex_);
  if (!resources_.emplace(key(container, type, name), std::move(resource)).second)
    return already_exists("Resource ", container.empty() ? default_container_ : container, "/", name, "/", type);
  containers_.insert(container.empty() ? default_container_ : container);
  return {};
}

void ResourceManager::add_container(const std::string& container) {
  std::lock_guard lock(mutex_);
  containers_.insert(container.empty() ? default_container_ : container);
}

Status ResourceManager::absent(const std::string& container, const std::string& type, const std::string& name) const {
  const std::string& in = container.empty() ? default_container_ : container;
  {
    std::lock_guard lock(mutex_);
    if (!containers_.contains(in)) return not_found("Container ", in, " does not exist. (Could not find resource: ", in, "/", name, ")");
  }
  return not_found("Resource ", in, "/", name, "/", type, " does not exist.");
}

Status ResourceManager::wrong_type(const ResourceHandle::Info& info, const char* expected) {
  // The hash is type_info::hash_code() of TensorFlow's class, which libstdc++ takes of the mangled name.
  auto describe = [](const std::string& type) {
    int status = 0;
    char* plain = abi::__cxa_demangle(type.c_str(), nullptr, nullptr, &status);
    std::string text = cat("type '", plain ? plain : type.c_str(), "' (hash code ", std::hash<std::string_view>{}(type), ")");
    std::free(plain);
    return text;
  };
  return invalid_argument("Trying to access a handle's resource using the wrong type. The handle points to a resource (name '", info.name, "') of ",
                          describe(info.type_name), " but you are trying to access the resource as ", describe(expected));
}

Status ResourceManager::remove(const std::string& container, const std::string& type, const std::string& name) {
  std::shared_ptr<Resource> gone;  // destroyed after the lock is given back
  std::lock_guard lock(mutex_);
  auto it = resources_.find(key(container, type, name));
  if (it == resources_.end()) {
    const std::string& in = container.empty() ? default_container_ : container;
    if (!containers_.contains(in)) return not_found("Container ", in, " does not exist.");
    return not_found("Resource ", in, "/", name, "/", type, " does not exist.");
  }
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
  containers_.erase(container);
}

void ResourceManager::clear() {
  std::map<Key, std::shared_ptr<Resource>> gone;
  std::lock_guard lock(mutex_);
  gone.swap(resources_);
  containers_.clear();
}

Status ResourceManager::destroy(const ResourceHandle& handle) {
  const auto* info = handle.info();
  if (!info) return invalid_argument("the resource handle is empty");
  if (info->anonymous) return {};  // is freed with its last handle
  // By handle, TensorFlow looks with a hash code alone and so cannot name the type.
  const bool there = lookup(info->container, info->type_name, info->name) != nullptr;
  return remove(info->container, there ? info->type_name : "<unknown>", info->name);
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

}  // namespace weft_engine::op
