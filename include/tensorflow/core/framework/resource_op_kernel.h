// SPDX-License-Identifier: Apache-2.0
//
// ResourceOpKernel<T>: the kernel of an op that makes a resource (attributes container and shared_name) and gives a handle to it; ResourceHandleOp<T>
// gives the handle alone, IsResourceInitialized<T> says whether there is one behind a handle.
#ifndef TENSORFLOW_CORE_FRAMEWORK_RESOURCE_OP_KERNEL_H_
#define TENSORFLOW_CORE_FRAMEWORK_RESOURCE_OP_KERNEL_H_

#include <string>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"

namespace tensorflow {

template <class T>
class ResourceOpKernel : public OpKernel {
 public:
  explicit ResourceOpKernel(OpKernelConstruction* context) : OpKernel(context) { has_resource_type_ = context->output_type(0) == DT_RESOURCE; }

  // The resource goes with the kernel unless it has a name that others know.
  ~ResourceOpKernel() override {
    if (resource_ && cinfo_.resource_is_private_to_kernel()) mgr_.Delete<T>(cinfo_.container(), cinfo_.name()).IgnoreError();
  }

  void Compute(OpKernelContext* context) override {
    const mutex_lock lock(mu_);
    if (!resource_) {
      mgr_ = *context->resource_manager();
      OP_REQUIRES_OK(context, cinfo_.Init(&mgr_, def(), /*use_node_name_as_default=*/true));
      T* resource = nullptr;
      OP_REQUIRES_OK(context,
                     mgr_.LookupOrCreate<T>(cinfo_.container(), cinfo_.name(), &resource, [this](T** made) { return CreateResource(made); }));
      const core::ScopedUnref unref(resource);
      OP_REQUIRES_OK(context, VerifyResource(resource));
      resource_ = resource;
    }
    OP_REQUIRES(context, has_resource_type_,
                errors::Unimplemented("an output of type ", DataTypeString(output_type(0)), " of ", type_string(), ": only handles of resources"));
    OP_REQUIRES_OK(context, MakeResourceHandleToOutput<T>(context, 0, cinfo_.container(), cinfo_.name()));
  }

 protected:
  core::RefCountPtr<T> get_resource() {
    const mutex_lock lock(mu_);
    if (resource_) resource_->Ref();
    return core::RefCountPtr<T>(resource_);
  }
  mutex mu_;
  ContainerInfo cinfo_;
  T* resource_ = nullptr;  // kept by the manager

 private:
  virtual Status CreateResource(T** resource) = 0;
  // Whether a resource that was there before is what this kernel's attributes say.
  virtual Status VerifyResource(T*) { return OkStatus(); }

  ResourceMgr mgr_{nullptr};
  bool has_resource_type_ = false;
};

template <class T>
class ResourceHandleOp : public OpKernel {
 public:
  explicit ResourceHandleOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("container", &container_));
    OP_REQUIRES_OK(context, context->GetAttr("shared_name", &name_));
  }
  void Compute(OpKernelContext* context) override { OP_REQUIRES_OK(context, MakeResourceHandleToOutput<T>(context, 0, container_, name_)); }

 private:
  std::string container_, name_;
};

template <class T>
class IsResourceInitialized : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape(), &output));
    T* resource = nullptr;
    output->scalar<bool>()() = LookupResource(context, HandleFromInput(context, 0), &resource).ok();
    if (resource) resource->Unref();
  }
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_RESOURCE_OP_KERNEL_H_
