// SPDX-License-Identifier: Apache-2.0
//
// Var: the resource behind tf.Variable. It is the engine's variable: what is written here is read there.
#ifndef TENSORFLOW_CORE_FRAMEWORK_RESOURCE_VAR_H_
#define TENSORFLOW_CORE_FRAMEWORK_RESOURCE_VAR_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {

class Var : public ResourceBase {
 public:
  explicit Var(DataType type) : Var(weft_variable_new(type)) {}
  // For these headers: takes it over.
  explicit Var(weft_variable* v) : v_(v) { is_initialized.v_ = v; }
  ~Var() override { weft_variable_delete(v_); }

  // Guards the value: shared by readers, exclusive for who changes it.
  mutex* mu() { return static_cast<mutex*>(weft_variable_mutex(v_)); }
  // As it is now, with mu() held. What is assigned to it is the variable's value from then on; is_initialized says whether ops may read it.
  Tensor* tensor() {
    tensor_.Bind(weft_variable_tensor(v_), static_cast<DataType>(weft_variable_dtype(v_)));
    return &tensor_;
  }
  std::string DebugString() const override {
    return strings::StrCat(DataTypeString(static_cast<DataType>(weft_variable_dtype(v_))), weft_variable_initialized(v_) ? "" : " (no value)");
  }

  class Flag {
   public:
    operator bool() const { return weft_variable_initialized(v_) != 0; }  // NOLINT
    Flag& operator=(bool on) {
      weft_variable_set_initialized(v_, on);
      return *this;
    }

   private:
    friend class Var;
    weft_variable* v_ = nullptr;
  };
  Flag is_initialized;
  // Readers share the value here; who changes it in place looks at RefCountIsOne() first.
  bool copy_on_read_mode = false;

  weft_variable* variable() const { return v_; }

 private:
  weft_variable* v_;
  Tensor tensor_;
};

template <>
inline Status LookupResource<Var>(OpKernelContext* c, const ResourceHandle& h, Var** var) {
  weft_variable* v = nullptr;
  TF_RETURN_IF_ERROR(internal::FromC(weft_variable_lookup(weft_run_resources(c->run()), &h, &v)));
  if (!weft_variable_initialized(v)) {
    weft_variable_delete(v);
    return errors::NotFound("Resource ", h.container(), "/", h.name(), "/", internal::TypeName<Var>(), " does not exist.");
  }
  *var = new Var(v);
  return OkStatus();
}
// Takes over one reference, whatever comes of it.
template <>
inline Status CreateResource<Var>(OpKernelContext* c, const ResourceHandle& h, Var* var) {
  const core::ScopedUnref unref(var);
  return internal::FromC(weft_variable_create(weft_run_resources(c->run()), &h, var->variable()));
}
template <>
inline Status LookupOrCreateResource<Var>(OpKernelContext* c, const ResourceHandle& h, Var** var, std::function<Status(Var**)> creator) {
  while (true) {  // another thread may create it in between
    const Status found = LookupResource<Var>(c, h, var);
    if (found.ok() || !errors::IsNotFound(found)) return found;
    Var* made = nullptr;
    TF_RETURN_IF_ERROR(creator(&made));
    const Status created = CreateResource<Var>(c, h, made);
    if (!created.ok() && !errors::IsAlreadyExists(created)) return created;
    if (created.ok()) {
      const Status again = LookupResource<Var>(c, h, var);
      return errors::IsNotFound(again) ? errors::FailedPrecondition("the creator of a variable gave it no value") : again;
    }
  }
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_RESOURCE_VAR_H_
