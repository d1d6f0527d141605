// SPDX-License-Identifier: Apache-2.0
//
// ResourceMgr: objects that live across calls of ops, by container, type and name.
#ifndef TENSORFLOW_CORE_FRAMEWORK_RESOURCE_MGR_H_
#define TENSORFLOW_CORE_FRAMEWORK_RESOURCE_MGR_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

#include "tensorflow/core/framework/op_kernel_context.h"
#include "tensorflow/core/framework/resource_handle.h"
#include "tensorflow/core/platform/refcount.h"
#include "tensorflow/core/platform/statusor.h"
#include "tensorflow/core/platform/strcat.h"

namespace tensorflow {

class ResourceBase : public core::WeakRefCounted {
 public:
  virtual std::string DebugString() const = 0;
  virtual int64 MemoryUsed() const { return 0; }
};

namespace internal {

inline const weft_resource_functions kResourceFunctions = {
    [](void* o) { static_cast<ResourceBase*>(o)->Ref(); },
    [](void* o) { static_cast<ResourceBase*>(o)->Unref(); },
    [](void* o, void* sink, void (*write)(void*, weft_text)) {
      const std::string text = static_cast<ResourceBase*>(o)->DebugString();
      write(sink, Text(text));
    },
};
template <class T>
std::string TypeName() {
  return typeid(T).name();
}

}  // namespace internal

class ResourceMgr {
 public:
  explicit ResourceMgr(weft_resources* r) : r_(r) {}
  // One of the program's own, which lets its objects go when it goes.
  explicit ResourceMgr(const std::string& default_container = "localhost")
      : r_(weft_resources_new(internal::Text(default_container))), owned_(r_, weft_resources_delete) {}
  std::string default_container() const { return std::string(internal::View(weft_resources_default_container(r_))); }

  // Takes over one reference to the object, whatever comes of it. AlreadyExists if there is one of that name.
  template <class T>
  Status Create(const std::string& container, const std::string& name, T* resource) {
    if (!resource) return errors::InvalidArgument("the resource '", name, "' is null");
    return internal::FromC(weft_resources_create(r_, internal::Text(container), internal::Text(internal::TypeName<T>()), internal::Text(name),
                                                 static_cast<ResourceBase*>(resource), &internal::kResourceFunctions));
  }
  // The caller has one more reference to what it gets.
  template <class T, bool = false>
  Status Lookup(const std::string& container, const std::string& name, T** resource) const {
    return Lookup<T>(container, internal::TypeName<T>(), name, resource);
  }
  // Those that are there; null for others.
  template <class T, bool = false>
  Status LookupMany(gtl::ArraySlice<std::pair<const std::string*, const std::string*>> containers_and_names,
                    std::vector<core::RefCountPtr<T>>* resources) const {
    resources->resize(containers_and_names.size());
    for (size_t i = 0; i < containers_and_names.size(); ++i) {
      T* found = nullptr;
      if (Lookup<T>(*containers_and_names[i].first, *containers_and_names[i].second, &found).ok()) (*resources)[i].reset(found);
    }
    return OkStatus();
  }
  template <class T>
  Status LookupOrCreate(const std::string& container, const std::string& name, T** resource, std::function<Status(T**)> creator) {
    void* object = nullptr;
    const auto make = [](void* data, void** made) -> TF_Status* {
      T* t = nullptr;
      Status s = (*static_cast<std::function<Status(T**)>*>(data))(&t);
      if (s.ok() && !t) s = errors::InvalidArgument("the resource that was made is null");
      if (s.ok()) *made = static_cast<ResourceBase*>(t);
      return internal::ToC(s);
    };
    TF_RETURN_IF_ERROR(
        internal::FromC(weft_resources_lookup_or_create(r_, internal::Text(container), internal::Text(internal::TypeName<T>()), internal::Text(name),
                                                        &object, make, &creator, &internal::kResourceFunctions)));
    *resource = static_cast<T*>(static_cast<ResourceBase*>(object));
    return OkStatus();
  }
  template <class T>
  Status Delete(const std::string& container, const std::string& name) {
    return Delete(container, internal::TypeName<T>(), name);
  }
  // No reference is taken over: the owner keeps the object as long as it is here.
  template <class T>
  Status CreateUnowned(const std::string& container, const std::string& name, T* resource) {
    resource->Ref();
    return Create<T>(container, name, resource);
  }
  template <class T>
  Status Lookup(const ResourceHandle& h, T** resource) const {
    return Lookup<T>(h.container(), internal::TypeName<T>(), h.name(), resource);
  }
  Status Delete(const ResourceHandle& h) { return Delete(h.container(), h.maybe_type_name(), h.name()); }
  Status Cleanup(const std::string& container) {
    weft_resources_clear(r_, internal::Text(container));
    return OkStatus();
  }

  // For these headers.
  weft_resources* c_resources() const { return r_; }
  template <class T>
  Status Lookup(const std::string& container, const std::string& type, const std::string& name, T** resource) const {
    if (!resource) return errors::InvalidArgument("the place for the resource '", name, "' is null");
    void* object = nullptr;
    TF_RETURN_IF_ERROR(internal::FromC(weft_resources_lookup(r_, internal::Text(container), internal::Text(type), internal::Text(name), &object)));
    *resource = static_cast<T*>(static_cast<ResourceBase*>(object));
    return OkStatus();
  }

 private:
  Status Delete(const std::string& container, const std::string& type, const std::string& name) {
    return internal::FromC(weft_resources_remove(r_, internal::Text(container), internal::Text(type), internal::Text(name)));
  }
  weft_resources* r_;
  std::shared_ptr<weft_resources> owned_;
};

// A container for what one step makes. That of a run is emptied by the engine when its step (a session's run, a function called by the program) ends,
// whichever manager the caller names; one that a program makes, by its cleanup.
class ScopedStepContainer {
 public:
  // For these headers: with the resources of a step.
  ScopedStepContainer(ResourceMgr resources, int64 step_id) : ScopedStepContainer(step_id, nullptr) { resources_ = resources; }
  ScopedStepContainer(int64 step_id, std::function<void(const std::string&)> cleanup)
      : step_id_(step_id), name_(strings::StrCat("__per_step_", step_id)), cleanup_(std::move(cleanup)) {}
  ~ScopedStepContainer() { CleanUp(); }
  void CleanUp() {
    if (cleanup_) cleanup_(name_);
    cleanup_ = nullptr;
  }
  const std::string& name() const { return name_; }
  int64 StepId() const { return step_id_; }
  template <class T>
  Status Create(ResourceMgr* rm, const std::string& name, T* resource) {
    return Of(rm).template Create<T>(name_, name, resource);
  }
  template <class T>
  Status Lookup(ResourceMgr* rm, const std::string& name, T** resource) const {
    return Of(rm).template Lookup<T>(name_, name, resource);
  }
  template <class T>
  Status LookupOrCreate(ResourceMgr* rm, const std::string& name, T** resource, std::function<Status(T**)> creator) {
    return Of(rm).template LookupOrCreate<T>(name_, name, resource, std::move(creator));
  }
  template <class T>
  Status Delete(ResourceMgr* rm, const std::string& name) {
    return Of(rm).template Delete<T>(name_, name);
  }

 private:
  ResourceMgr Of(ResourceMgr* rm) const { return resources_ ? *resources_ : *rm; }
  std::optional<ResourceMgr> resources_;
  int64 step_id_;
  std::string name_;
  std::function<void(const std::string&)> cleanup_;
};
inline ScopedStepContainer* OpKernelContext::step_container() const {
  return step_container_.Get([&] { return std::make_shared<ScopedStepContainer>(ResourceMgr(weft_run_step_resources(run_)), step_id()); }).get();
}

inline ResourceMgr* OpKernelContext::resource_manager() const {
  return resources_.Get([&] { return std::make_shared<ResourceMgr>(weft_run_resources(run_)); }).get();
}

// Container and name of a kernel's resource, from its attributes "container" and "shared_name". Without a name it is the kernel's own.
class ContainerInfo {
 public:
  // The kernel's name stands for its resource if use_node_name_as_default.
  Status Init(ResourceMgr* mgr, const NodeDef& def, bool use_node_name_as_default = false) {
    mgr_ = mgr;
    for (const char* attr : {"container", "shared_name"}) {
      if (!def.attr().contains(attr)) return errors::NotFound("No attr named '", attr, "' in NodeDef:");
    }
    const std::string &container = def.attr().at("container").s(), &shared = def.attr().at("shared_name").s();
    static std::atomic<int64> counter{0};
    const std::string& node_name = def.name();
    container_ = container.empty() ? mgr->default_container() : container;
    private_ = shared.empty() && !(use_node_name_as_default && !node_name.empty());
    name_ = !shared.empty() ? shared : !private_ ? node_name : strings::StrCat("_", counter.fetch_add(1), "_", node_name);
    return OkStatus();
  }
  ResourceMgr* resource_manager() const { return mgr_; }
  const std::string& container() const { return container_; }
  const std::string& name() const { return name_; }
  bool resource_is_private_to_kernel() const { return private_; }

 private:
  ResourceMgr* mgr_ = nullptr;
  std::string container_, name_;
  bool private_ = false;
};

struct DtypeAndPartialTensorShape {
  DataType dtype;
  PartialTensorShape shape;
};

template <class T>
ResourceHandle MakeResourceHandle(OpKernelContext* c, const std::string& container, const std::string& name) {
  static std::atomic<uint64> counter{1};
  ResourceHandle h;
  h.set_device(c->device()->name());
  h.set_container(container.empty() ? c->resource_manager()->default_container() : container);
  h.set_name(name);
  h.set_maybe_type_name(internal::TypeName<T>());
  h.set_hash_code(counter.fetch_add(1));
  return h;
}
template <class T>
ResourceHandle MakeResourceHandle(const std::string& container, const std::string& name, const DeviceBase& device,
                                  const std::vector<DtypeAndPartialTensorShape>& = {}, const std::optional<ManagedStackTrace>& = {}) {
  ResourceHandle h;
  h.set_device(device.name());
  h.set_container(container);
  h.set_name(name);
  h.set_maybe_type_name(internal::TypeName<T>());
  h.set_hash_code(weft_hash64(internal::Text(name), 0));
  return h;
}
template <class T>
ResourceHandle MakeResourceHandle(OpKernelContext* c, const std::string& container, const std::string& name,
                                  const std::vector<DtypeAndPartialTensorShape>&, const std::optional<ManagedStackTrace>& = {}) {
  return MakeResourceHandle<T>(c, container, name);
}
template <class T>
Status MakeResourceHandleToOutput(OpKernelContext* c, int output, const std::string& container, const std::string& name) {
  Tensor* handle = nullptr;
  TF_RETURN_IF_ERROR(c->allocate_output(output, TensorShape(), &handle));
  handle->scalar<ResourceHandle>()() = MakeResourceHandle<T>(c, container, name);
  return OkStatus();
}
// An input that is a handle. One that is none throws, as flat<T>() of a wrong type does.
inline const ResourceHandle& HandleFromInput(OpKernelContext* c, int i) { return c->input(i).flat<ResourceHandle>()(0); }
inline Status HandleFromInput(OpKernelContext* c, std::string_view name, ResourceHandle* handle) {
  const Tensor* t = nullptr;
  TF_RETURN_IF_ERROR(c->input(name, &t));
  if (t->dtype() != DT_RESOURCE || t->NumElements() < 1) return errors::InvalidArgument("input ", name, " is not a resource handle");
  *handle = t->flat<ResourceHandle>()(0);
  return OkStatus();
}

namespace internal {
template <class T>
Status CheckHandle(const ResourceHandle& h) {
  if (h.maybe_type_name() == TypeName<T>()) return OkStatus();
  return errors::InvalidArgument("Trying to access resource using the wrong type. Expected ", TypeName<T>(), " got ", h.maybe_type_name());
}
}  // namespace internal

template <class T>
ResourceHandle ResourceHandle::MakeRefCountingHandle(T* resource, const std::string& device_name, const std::vector<DtypeAndPartialTensorShape>&,
                                                     const std::optional<ManagedStackTrace>&) {
  static std::atomic<int64> last{0};
  CHECK(resource != nullptr) << "a handle of no resource";
  ResourceHandle h;
  h.set_device(device_name);
  h.set_container("Anonymous");
  h.set_name(strings::StrCat("Resource-", last++, "-at-", reinterpret_cast<size_t>(resource)));
  weft_handle_set_object(h.words_, internal::Text(internal::TypeName<T>()), static_cast<ResourceBase*>(resource), &internal::kResourceFunctions);
  return h;
}
template <class T>
StatusOr<T*> ResourceHandle::GetResource() const {
  if (!IsRefCounting()) return errors::FailedPrecondition("Requested resource from a handle that is not ref-counting.");
  const std::string type = internal::TypeName<T>();
  void* object = weft_handle_object(words_, internal::Text(type));
  if (!object)
    return errors::InvalidArgument("Trying to access a handle's resource using the wrong type. The handle points to a resource (name '", name(),
                                   "') of type '", maybe_type_name(), "' but you are trying to access the resource as type '", type, "'");
  return static_cast<T*>(static_cast<ResourceBase*>(object));
}

template <class T>
Status LookupResource(OpKernelContext* c, const ResourceHandle& h, T** resource) {
  if (h.IsRefCounting()) {
    const StatusOr<T*> found = h.GetResource<T>();
    TF_RETURN_IF_ERROR(found.status());
    if (!resource) return errors::InvalidArgument("the place for the resource '", h.name(), "' is null");
    *resource = *found;
    (*resource)->Ref();
    return OkStatus();
  }
  TF_RETURN_IF_ERROR(internal::CheckHandle<T>(h));
  return c->resource_manager()->Lookup<T>(h.container(), internal::TypeName<T>(), h.name(), resource);
}
template <class T>
Status LookupResource(OpKernelContext* c, const ResourceHandle& h, core::RefCountPtr<T>* resource) {
  T* raw = nullptr;
  TF_RETURN_IF_ERROR(LookupResource(c, h, &raw));
  resource->reset(raw);
  return OkStatus();
}
template <class T>
Status CreateResource(OpKernelContext* c, const ResourceHandle& h, T* resource) {
  const Status s = internal::CheckHandle<T>(h);
  if (s.ok()) return c->resource_manager()->Create(h.container(), h.name(), resource);
  if (resource) resource->Unref();
  return s;
}
template <class T>
Status LookupOrCreateResource(OpKernelContext* c, const ResourceHandle& h, T** resource, std::function<Status(T**)> creator) {
  TF_RETURN_IF_ERROR(internal::CheckHandle<T>(h));
  return c->resource_manager()->LookupOrCreate<T>(h.container(), h.name(), resource, std::move(creator));
}
template <class T>
Status DeleteResource(OpKernelContext* c, const ResourceHandle& h) {
  TF_RETURN_IF_ERROR(internal::CheckHandle<T>(h));
  return c->resource_manager()->Delete(h);
}
// The resource of an input: a handle, or a reference to container and name.
template <class T>
Status GetResourceFromContext(OpKernelContext* c, const std::string& input, T** resource) {
  DataType type = DT_INVALID;
  TF_RETURN_IF_ERROR(c->input_dtype(input, &type));
  if (BaseType(type) == DT_RESOURCE) {
    const Tensor* handle = nullptr;
    TF_RETURN_IF_ERROR(c->input(input, &handle));
    if (handle->NumElements() < 1) return errors::InvalidArgument("the resource handle is empty");
    return LookupResource(c, handle->flat<ResourceHandle>()(0), resource);
  }
  Tensor names;
  TF_RETURN_IF_ERROR(c->mutable_input(input, &names, false));
  if (names.dtype() != DT_STRING || names.NumElements() != 2)
    return errors::InvalidArgument("Resource handle must have 2 elements, but had shape: ", names.shape().DebugString());
  return c->resource_manager()->Lookup<T>(names.flat<tstring>()(0), names.flat<tstring>()(1), resource);
}
template <class T>
Status LookupResources(OpKernelContext* c, gtl::ArraySlice<ResourceHandle const*> handles, std::vector<core::RefCountPtr<T>>* resources) {
  resources->clear();
  resources->resize(handles.size());
  for (size_t i = 0; i < handles.size(); ++i) {
    T* found = nullptr;
    if (LookupResource(c, *handles[i], &found).ok()) (*resources)[i].reset(found);
  }
  return OkStatus();
}
template <class T>
Status LookupOrCreateResource(OpKernelContext* c, const ResourceHandle& h, core::RefCountPtr<T>* resource, std::function<Status(T**)> creator) {
  T* raw = nullptr;
  TF_RETURN_IF_ERROR(LookupOrCreateResource(c, h, &raw, std::move(creator)));
  resource->reset(raw);
  return OkStatus();
}
// An op that makes a handle of a resource of type T: attributes container and shared_name.
#define REGISTER_RESOURCE_HANDLE_OP(Type) \
  REGISTER_OP(#Type "HandleOp")           \
      .Attr("container: string = ''")     \
      .Attr("shared_name: string = ''")   \
      .Output("resource: resource")       \
      .SetIsStateful()                    \
      .SetShapeFn(::tensorflow::shape_inference::ScalarShape)
#define REGISTER_RESOURCE_HANDLE_KERNEL(Type) REGISTER_KERNEL_BUILDER(Name(#Type "HandleOp").Device(DEVICE_CPU), ResourceHandleOp<Type>)
inline Status DeleteResource(OpKernelContext* c, const ResourceHandle& h) { return c->resource_manager()->Delete(h); }

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_RESOURCE_MGR_H_
