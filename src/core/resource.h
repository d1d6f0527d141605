// Resource: a mutable object that lives across op calls (variable, table, queue).
// ResourceHandle: what a tensor of type resource holds: a name for it, and usually the object itself.
#pragma once

#include <memory>
#include <string>

#include "core/dtype.h"

namespace weft_engine::core {

class Resource {
 public:
  virtual ~Resource() = default;
  // For error texts: "Variable", "HashTable".
  virtual std::string type_name() const = 0;
  virtual std::string debug_string() const { return type_name(); }
};

// All handles of one resource share one description; copying a handle is cheap.
class ResourceHandle {
 public:
  struct Info {
    std::string device, container, name, type_name;
    uint64_t hash_code = 0;
    bool anonymous = false;               // the handle owns the resource: gone when the last handle goes
    std::shared_ptr<Resource> resource;   // null: look it up by container and name
  };
  ResourceHandle() = default;
  explicit ResourceHandle(std::shared_ptr<const Info> info) : info_(std::move(info)) {}
  const Info* info() const { return info_.get(); }
  const std::shared_ptr<const Info>& shared_info() const { return info_; }

 private:
  std::shared_ptr<const Info> info_;
};
static_assert(sizeof(ResourceHandle) == 16);

}  // namespace weft_engine::core
