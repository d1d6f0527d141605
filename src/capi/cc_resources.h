// Objects of C++ classes that the engine keeps for TensorFlow's C++ headers.
#pragma once

#include "capi/cc_internal.h"
#include "op/resource_manager.h"

namespace weft_engine::capi {

inline op::ResourceManager& manager_of(weft_resources* r) { return *reinterpret_cast<op::ResourceManager*>(r); }

// One reference to an object that counts them.
class CountedObject {
 public:
  CountedObject(void* object, const weft_resource_functions& f) : object_(object), f_(f) {}
  ~CountedObject() {
    (void)caught([&] { return f_.unref(object_), Status(); });
  }
  CountedObject(const CountedObject&) = delete;
  CountedObject& operator=(const CountedObject&) = delete;
  void* get() const { return object_; }
  void* referenced() const {
    f_.ref(object_);
    return object_;
  }
  std::string describe() const {
    std::string out;
    f_.describe(object_, &out, [](void* sink, weft_text text) { static_cast<std::string*>(sink)->append(view_of(text)); });
    return out;
  }

 private:
  void* const object_;
  const weft_resource_functions f_;
};

}  // namespace weft_engine::capi
