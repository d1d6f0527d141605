// ResourceManager: the named resources of a process (or of a session), by container, type and name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/resource.h"
#include "core/tensor.h"

namespace weft_engine::op {

using namespace weft_engine::core;

class ResourceManager {
 public:
  explicit ResourceManager(std::string default_container = "localhost") : default_container_(std::move(default_container)) {}
  const std::string& default_container() const { return default_container_; }

  // A type is told apart by T::kTypeName, e.g. "N10tensorflow3VarE" where programs match on that text.
  template <class T>
  Result<std::shared_ptr<T>> find(const std::string& container, const std::string& name) const {
    auto r = lookup(container, T::kTypeName, name);
    if (!r) return absent(container, T::kTypeName, name);
    return std::static_pointer_cast<T>(r);
  }
  template <class T>
  Result<std::shared_ptr<T>> find_or_create(const std::string& container, const std::string& name,
                                            const std::function<Result<std::shared_ptr<T>>()>& make) {
    auto r = lookup_or_create(container, T::kTypeName, name, [&]() -> Result<std::shared_ptr<Resource>> {
      WEFT_ASSIGN(std::shared_ptr<T> made, make());
      return std::shared_ptr<Resource>(std::move(made));
    });
    if (!r.ok()) return r.status();
    return std::static_pointer_cast<T>(std::move(r).value());
  }
  // As find_or_create, for an object that does not count as a resource before its first use: a variable
  // has its handle before it has a value, and until then programs must find it absent.
  template <class T>
  std::shared_ptr<T> reserve(const std::string& container, const std::string& name, const std::function<std::shared_ptr<T>()>& make) {
    auto r = lookup_or_create(
        container, T::kTypeName, name, [&]() -> Result<std::shared_ptr<Resource>> { return std::shared_ptr<Resource>(make()); },
        /*exists=*/false);
    return std::static_pointer_cast<T>(std::move(r).value());
  }
  // The container holds, or once held, a resource.
  void add_container(const std::string& container);
  // NotFound, in TensorFlow's words: it tells a container that never held anything from a missing resource.
  Status absent(const std::string& container, const std::string& type, const std::string& name) const;
  // AlreadyExists if there is one.
  Status create(const std::string& container, const std::string& type, const std::string& name, std::shared_ptr<Resource> resource);
  Status remove(const std::string& container, const std::string& type, const std::string& name);
  // Removes every resource of that container.
  void clear_container(const std::string& container);
  void clear();

  // The object behind a handle: the one it carries, or the one it names.
  template <class T>
  Result<std::shared_ptr<T>> get(const ResourceHandle& handle) const {
    const auto* info = handle.info();
    if (!info) return invalid_argument("the resource handle is empty");
    if (info->type_name != T::kTypeName) return wrong_type(*info, T::kTypeName);
    if (info->resource) return std::static_pointer_cast<T>(info->resource);
    return find<T>(info->container, info->name);
  }
  Status destroy(const ResourceHandle& handle);

  std::shared_ptr<Resource> lookup(const std::string& container, const std::string& type, const std::string& name) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // container, type, name
  Result<std::shared_ptr<Resource>> lookup_or_create(const std::string& container, const std::string& type, const std::string& name,
                                                     const std::function<Result<std::shared_ptr<Resource>>()>& make, bool exists = true);
  static Status wrong_type(const ResourceHandle::Info& info, const char* expected);
  Key key(const std::string& container, const std::string& type, const std::string& name) const {
    return {container.empty() ? default_container_ : container, type, name};
  }
  std::string default_container_;
  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<Resource>> resources_;
  std::set<std::string> containers_;  // those that hold, or once held, something
};

// A scalar resource tensor that names a resource; `resource` set means the handle carries the object.
Tensor make_handle(std::string device, std::string container, std::string name, std::string type_name, std::shared_ptr<Resource> resource = nullptr,
                   bool anonymous = false);

}  // namespace weft_engine::op
