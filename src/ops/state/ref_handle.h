// Handles of version 1: not a resource but a reference to two strings, the container and the name of a
// resource. Ops of both versions share their kernels; what differs is here.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "op/kernel.h"
#include "op/variable.h"

namespace weft_engine::ops {

inline bool gives_ref_handle(const op::KernelContext& c) { return core::is_ref_type(c.node().output_types()[0]); }

// What the ref-typed output of one kernel points at; lives in the kernel.
class RefHandle {
 public:
  // The name of a resource that no attribute names: no other kernel has it. (The manager keeps the resource.)
  const std::string& private_name(const op::KernelContext& c) {
    static std::atomic<int64_t> counter{0};
    if (private_name_.empty()) private_name_ = core::cat("_", counter.fetch_add(1), "_", c.node().name());
    return private_name_;
  }
  void output(op::KernelContext& c, const std::string& container, const std::string& name) {
    {
      std::unique_lock lock(ref_.mutex());
      if (!ref_.initialized()) ref_.tensor() = core::Tensor::vector(std::vector<core::tstring>{core::tstring(container), core::tstring(name)});
      c.set_output(0, ref_.tensor());
    }
    c.set_output_ref(0, &ref_);
  }

 private:
  op::RefVariable ref_;
  std::string private_name_;
};

struct ResourceName {
  std::string container, name;
};

// What the handle in input i calls its resource, for either kind of handle.
inline core::Result<ResourceName> handle_name(const op::KernelContext& c, int i) {
  if (!core::is_ref_type(c.node().input_types()[size_t(i)])) {
    const core::Tensor& t = c.input(i);
    const auto* info = t.dtype() == core::DType::kResource && t.num_elements() > 0 ? t.data<core::ResourceHandle>()[0].info() : nullptr;
    if (!info) return core::invalid_argument("the resource handle is empty");
    return ResourceName{info->container, info->name};
  }
  // Who runs a kernel need not read a reference for it.
  core::Tensor t;
  if (op::RefVariable* ref = c.input_ref(i)) {
    std::shared_lock lock(ref->mutex());
    t = ref->tensor();
  } else {
    t = c.input(i);
  }
  if (!t.valid() || t.dtype() != core::DType::kString || t.num_elements() != 2)
    return core::invalid_argument("Resource handle must have two elements, but had shape: ", t.valid() ? t.shape() : core::Shape());
  return ResourceName{t.data<core::tstring>()[0].str(), t.data<core::tstring>()[1].str()};
}

// The object behind the handle in input i, a resource or a reference.
template <class T>
core::Result<std::shared_ptr<T>> handle_input(const op::KernelContext& c, int i = 0) {
  if (!core::is_ref_type(c.node().input_types()[size_t(i)])) return c.resource<T>(i);
  WEFT_ASSIGN(ResourceName n, handle_name(c, i));
  return c.resources().find<T>(n.container, n.name);
}

}  // namespace weft_engine::ops
