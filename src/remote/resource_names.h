// Handles of resources that go to other processes and come back. Another process names a resource by the text in its handle; one that has no name of its own, because the handles here
// own it, gets one for the way. It does not live longer for that: when the last handle here is gone, the name finds nothing.
#pragma once

#include "core/tensor.h"

namespace weft_engine::remote {

// The tensor as another process may see it: the same one, unless it has handles that own their resources. Unimplemented for a reference to a value of another process.
core::Result<core::Tensor> with_names(const core::Tensor& t);
// A tensor that came: its handles of resources of this process, named by with_names, are the ones that went.
core::Tensor with_resources(core::Tensor t);
// The device of the resource that a tensor is the handle of; empty where it does not say, or is something else.
std::string resource_device(const core::Tensor& t);

}  // namespace weft_engine::remote
