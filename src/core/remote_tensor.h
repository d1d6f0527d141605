// RemoteTensor: a value that another process holds, as an argument or a result of a function that is called here. What stands in the list of arguments
// or results is a reference: a scalar of type resource, whatever the type of the value. Only plans with parts in other processes take and give
// references of plain values (runtime/partition.h); a kernel sees those of resources at most, which it can pass on to a function.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "core/device.h"
#include "core/resource.h"
#include "core/tensor.h"

namespace weft_engine::core {

class RemoteTensor : public Resource {
 public:
  static constexpr char kTypeName[] = "RemoteTensor";
  std::string type_name() const override { return kTypeName; }
  virtual DType value_type() const = 0;
  virtual Device* home() const = 0;
  // Brings the value here; `done` may be called on any thread, also before this returns.
  virtual void bring(std::function<void(Result<Tensor>)> done) = 0;
};

// Whether this process ever made one: without, there is nothing to look for.
inline std::atomic<bool> references_exist{false};

inline Tensor reference_to(std::shared_ptr<RemoteTensor> value) {
  references_exist.store(true, std::memory_order_relaxed);
  auto info = std::make_shared<ResourceHandle::Info>();
  info->device = value->home()->name();
  info->type_name = RemoteTensor::kTypeName;
  info->resource = std::move(value);
  return Tensor::scalar(ResourceHandle(std::move(info)));
}

// What a tensor refers to; null: it is a value of its own.
inline std::shared_ptr<RemoteTensor> referred(const Tensor& t) {
  if (!references_exist.load(std::memory_order_relaxed) || t.dtype() != DType::kResource || t.num_elements() != 1) return nullptr;
  const ResourceHandle::Info* info = t.data<ResourceHandle>()[0].info();
  if (!info || info->type_name != RemoteTensor::kTypeName) return nullptr;
  return std::static_pointer_cast<RemoteTensor>(info->resource);
}

}  // namespace weft_engine::core
