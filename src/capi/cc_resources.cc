// Thread pools, resources and variables for TensorFlow's C++ headers.
#include "capi/cc_resources.h"

#include <exception>
#include <mutex>

#include "core/log.h"
#include "core/resource.h"
#include "op/variable.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::ResourceManager;
using weft_engine::op::Variable;

// ---- Threads ----

namespace {
ThreadPool& pool_of(weft_pool* p) { return *reinterpret_cast<ThreadPool*>(p); }
}  // namespace

weft_pool* weft_pool_new(int threads) { return reinterpret_cast<weft_pool*>(new ThreadPool(std::max(threads, 0) + 1)); }  // the caller is one of ours
void weft_pool_delete(weft_pool* pool) { delete &pool_of(pool); }
int weft_pool_threads(weft_pool* pool) { return pool_of(pool).threads(); }
void weft_pool_for(weft_pool* pool, int64_t n, double nanoseconds, void (*part)(void*, int64_t, int64_t), void* data) {
  std::mutex mutex;
  std::exception_ptr thrown;
  pool_of(pool).parallel_for(n, nanoseconds, [&](int64_t begin, int64_t end) {
    try {
      part(data, begin, end);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  });
  if (thrown) std::rethrow_exception(thrown);
}
void weft_pool_schedule(weft_pool* pool, void (*task)(void*), void* data) {
  pool_of(pool).schedule([task, data] {
    const Status s = caught([&] { return task(data), Status(); });
    if (!s.ok()) weft_engine::core::log(weft_engine::core::LogLevel::kError, "a task of a thread pool threw: " + s.message());
  });
}

// ---- Resources ----

namespace {

// An object of a C++ class of the program, by one reference.
class CcResource final : public Resource {
 public:
  CcResource(std::string type, void* object, const weft_resource_functions& f) : object_(object, f), type_(std::move(type)) {}
  std::string type_name() const override { return type_; }
  std::string debug_string() const override { return object_.describe(); }
  void* referenced() const { return object_.referenced(); }
  void* get() const { return object_.get(); }

 private:
  const CountedObject object_;
  const std::string type_;
};

Status found(const std::shared_ptr<Resource>& resource, void** object) {
  const auto* ours = dynamic_cast<const CcResource*>(resource.get());
  if (!ours) return unimplemented("the resource is the engine's ", resource->type_name(), ", which C++ sources of TensorFlow cannot use yet");
  *object = ours->referenced();
  return {};
}

}  // namespace

weft_resources* weft_resources_new(weft_text default_container) {
  return reinterpret_cast<weft_resources*>(new ResourceManager(string_of(default_container)));
}
void weft_resources_delete(weft_resources* r) { delete &manager_of(r); }
weft_text weft_resources_default_container(weft_resources* r) { return text_of(manager_of(r).default_container()); }
TF_Status* weft_resources_create(weft_resources* r, weft_text container, weft_text type, weft_text name, void* object,
                                 const weft_resource_functions* functions) {
  return returned(caught([&]() -> Status {
    auto resource = std::make_shared<CcResource>(string_of(type), object, *functions);
    return manager_of(r).create(string_of(container), string_of(type), string_of(name), std::move(resource));
  }));
}
TF_Status* weft_resources_lookup(weft_resources* r, weft_text container, weft_text type, weft_text name, void** object) {
  return returned(caught([&]() -> Status {
    const auto resource = manager_of(r).lookup(string_of(container), string_of(type), string_of(name));
    return resource ? found(resource, object) : manager_of(r).absent(string_of(container), string_of(type), string_of(name));
  }));
}
TF_Status* weft_resources_lookup_or_create(weft_resources* r, weft_text container, weft_text type, weft_text name, void** object,
                                           TF_Status* (*make)(void* data, void** object), void* data, const weft_resource_functions* functions) {
  return returned(caught([&]() -> Status {
    ResourceManager& m = manager_of(r);
    const std::string in = string_of(container), of = string_of(type), called = string_of(name);
    while (true) {  // another thread may create or remove it in between
      if (const auto resource = m.lookup(in, of, called)) return found(resource, object);
      void* made = nullptr;
      WEFT_RETURN_IF_ERROR(taken(make(data, &made)));
      if (!made) return internal_error("the creator of resource ", called, " made none");
      auto resource = std::make_shared<CcResource>(of, made, *functions);
      const Status created = m.create(in, of, called, resource);
      if (created.ok()) return found(resource, object);
      if (created.code() != Code::kAlreadyExists) return created;
    }
  }));
}
TF_Status* weft_resources_remove(weft_resources* r, weft_text container, weft_text type, weft_text name) {
  return returned(caught([&] { return manager_of(r).remove(string_of(container), string_of(type), string_of(name)); }));
}
void weft_resources_clear(weft_resources* r, weft_text container) { manager_of(r).clear_container(string_of(container)); }

void weft_handle_set_object(void* handle, weft_text type, void* object, const weft_resource_functions* functions) {
  auto& h = *static_cast<ResourceHandle*>(handle);
  auto info = h.info() ? std::make_shared<ResourceHandle::Info>(*h.info()) : std::make_shared<ResourceHandle::Info>();
  info->type_name = string_of(type);
  info->anonymous = true;
  info->resource = std::make_shared<CcResource>(string_of(type), object, *functions);
  h = ResourceHandle(std::move(info));
}
void* weft_handle_object(const void* handle, weft_text type) {
  const auto* info = static_cast<const ResourceHandle*>(handle)->info();
  const auto* ours = info && info->anonymous ? dynamic_cast<const CcResource*>(info->resource.get()) : nullptr;
  return ours && (type.size == 0 || ours->type_name() == view_of(type)) ? ours->get() : nullptr;
}

// ---- Variables ----

struct weft_variable {
  std::shared_ptr<Variable> variable;
};

weft_variable* weft_variable_new(int dtype) { return new weft_variable{std::make_shared<Variable>(static_cast<DType>(dtype))}; }
void weft_variable_delete(weft_variable* v) { delete v; }
void* weft_variable_mutex(weft_variable* v) { return &v->variable->mutex(); }
TF_Tensor* weft_variable_tensor(weft_variable* v) { return as_c(&v->variable->tensor()); }
int weft_variable_dtype(weft_variable* v) { return int(v->variable->dtype()); }
int weft_variable_initialized(weft_variable* v) { return v->variable->initialized(); }
void weft_variable_set_initialized(weft_variable* v, int initialized) {
  if (!initialized) {
    v->variable->reset();
  } else if (v->variable->tensor().valid()) {  // else there is nothing to read yet
    v->variable->set(v->variable->tensor());
  }
}
TF_Status* weft_variable_lookup(weft_resources* r, const void* handle, weft_variable** out) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(std::shared_ptr<Variable> v, manager_of(r).get<Variable>(*static_cast<const ResourceHandle*>(handle)));
    *out = new weft_variable{std::move(v)};
    return {};
  }));
}
TF_Status* weft_variable_create(weft_resources* r, const void* handle, weft_variable* v) {
  return returned(caught([&]() -> Status {
    const auto* info = static_cast<const ResourceHandle*>(handle)->info();
    if (!info) return invalid_argument("the resource handle is empty");
    auto there = manager_of(r).get<Variable>(*static_cast<const ResourceHandle*>(handle));
    if (!there.ok()) {
      if (there.status().code() != Code::kNotFound) return there.status();
      return manager_of(r).create(info->container, Variable::kTypeName, info->name, v->variable);
    }
    // A handle has its variable from the start: it takes the value.
    const std::scoped_lock lock((*there)->mutex(), v->variable->mutex());
    if ((*there)->initialized()) return already_exists("Resource ", info->container, "/", info->name, "/", Variable::kTypeName);
    if ((*there)->dtype() != v->variable->dtype())
      return invalid_argument("a variable of ", (*there)->dtype(), " cannot be one of ", v->variable->dtype());
    if (v->variable->initialized()) (*there)->set(v->variable->tensor());
    return {};
  }));
}
