// Thread pools and resources for TensorFlow's C++ headers.
#include <exception>
#include <mutex>

#include "capi/cc_internal.h"
#include "core/log.h"
#include "core/resource.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::ResourceManager;

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
  CcResource(std::string type, void* object, const weft_resource_functions& f) : object(object), f_(f), type_(std::move(type)) {}
  ~CcResource() override { f_.unref(object); }
  std::string type_name() const override { return type_; }
  std::string debug_string() const override {
    std::string out;
    f_.describe(object, &out, [](void* sink, weft_text text) { static_cast<std::string*>(sink)->append(view_of(text)); });
    return out;
  }
  void* referenced() const {
    f_.ref(object);
    return object;
  }

 private:
  void* const object;
  const weft_resource_functions f_;
  const std::string type_;
};

ResourceManager& manager_of(weft_resources* r) { return *reinterpret_cast<ResourceManager*>(r); }

Status found(const std::shared_ptr<Resource>& resource, void** object) {
  const auto* ours = dynamic_cast<const CcResource*>(resource.get());
  if (!ours) return unimplemented("the resource is the engine's ", resource->type_name(), ", which C++ sources of TensorFlow cannot use yet");
  *object = ours->referenced();
  return {};
}

}  // namespace

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
