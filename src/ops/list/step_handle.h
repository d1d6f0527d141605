// Handles of objects that live for one step (TensorArrays, stacks). Their ops come in three forms that share
// kernels: the handle is a resource that carries the object, two strings that name it among the step's
// resources (TensorArrayV2), or a reference to two such strings (TensorArray, Stack).
#pragma once

#include <memory>
#include <string>

#include "op/step_resources.h"
#include "op/step_trace.h"
#include "op/kernel.h"
#include "op/variable.h"

namespace weft_engine::ops {

inline op::ResourceManager& step_resources(const op::KernelContext& c) { return c.env().step_resources ? *c.env().step_resources : c.resources(); }
// Steps that run side by side must not meet; whoever runs a step clears its container when it ends.
inline std::string step_container(const op::KernelContext& c) { return c.env().step_id ? op::step_container(c.env().step_id) : std::string(); }

// Output 0: the handle of `object`, which T::ref() may keep. The object is named container + name, as in TensorFlow.
template <class T>
core::Status output_step_handle(op::KernelContext& c, const char* container, std::shared_ptr<T> object) {
  const core::DType type = c.node().output_types()[0];
  const std::string name = object->name();
  if (type == core::DType::kResource) {
    c.set_output(0, op::make_handle(c.device().name(), container, name, T::kTypeName, std::move(object), true));
    return {};
  }
  op::note_step_resource();
  // The array of gradients of one source is made once and given out again.
  WEFT_RETURN_IF_ERROR(step_resources(c)
                           .find_or_create<T>(step_container(c), container + name, [&]() -> core::Result<std::shared_ptr<T>> { return object; })
                           .status());
  core::Tensor handle = core::Tensor::vector(std::vector<core::tstring>{core::tstring(container), core::tstring(name)});
  if (core::is_ref_type(type)) {
    std::unique_lock lock(object->ref().mutex());
    if (!object->ref().initialized()) object->ref().tensor() = handle;
    c.set_output_ref(0, &object->ref());  // the step's resources keep it
  }
  c.set_output(0, std::move(handle));
  return {};
}

// The two strings of input 0; `what` names the kind of object in errors.
inline core::Result<std::pair<std::string, std::string>> step_handle_names(const op::KernelContext& c, const char* what) {
  core::Tensor t;
  if (op::RefVariable* ref = c.input_ref(0)) {
    std::shared_lock lock(ref->mutex());
    t = ref->tensor();
  } else {
    t = c.input(0);
  }
  if (!t.valid() || t.dtype() != core::DType::kString || t.num_elements() != 2)
    return core::invalid_argument(what, t.valid() ? t.shape() : core::Shape());
  return std::pair(t.data<core::tstring>()[0].str(), t.data<core::tstring>()[1].str());
}

// The object behind the handle in input 0.
template <class T>
core::Result<std::shared_ptr<T>> step_handle_input(const op::KernelContext& c) {
  if (c.node().input_types()[0] == core::DType::kResource) return c.resource<T>(0);
  WEFT_ASSIGN(auto names, step_handle_names(c, T::kBadHandle));
  return step_resources(c).template find<T>(step_container(c), names.first + names.second);
}

}  // namespace weft_engine::ops
