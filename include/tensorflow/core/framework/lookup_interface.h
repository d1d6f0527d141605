// SPDX-License-Identifier: Apache-2.0
//
// lookup::LookupInterface: a table from keys to values. Ops see the tables of programs, and programs those of the engine, through it.
#ifndef TENSORFLOW_CORE_FRAMEWORK_LOOKUP_INTERFACE_H_
#define TENSORFLOW_CORE_FRAMEWORK_LOOKUP_INTERFACE_H_

#include <string>

#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/platform/errors.h"

namespace tensorflow {
namespace lookup {

class LookupInterface : public ResourceBase {
 public:
  virtual size_t size() const = 0;
  // Values has its shape; keys that are not there get default_value (one for all, or one for each key).
  virtual Status Find(OpKernelContext* ctx, const Tensor& keys, Tensor* values, const Tensor& default_value) = 0;
  virtual Status Insert(OpKernelContext* ctx, const Tensor& keys, const Tensor& values) = 0;
  virtual Status Remove(OpKernelContext* ctx, const Tensor& keys) = 0;
  // As the outputs "keys" and "values" of the op that runs.
  virtual Status ExportValues(OpKernelContext* context) = 0;
  virtual Status ImportValues(OpKernelContext* ctx, const Tensor& keys, const Tensor& values) = 0;
  virtual DataType key_dtype() const = 0;
  virtual DataType value_dtype() const = 0;
  virtual TensorShape key_shape() const = 0;
  virtual TensorShape value_shape() const = 0;

  virtual Status CheckKeyAndValueTensorsForInsert(const Tensor& keys, const Tensor& values) { return CheckKeyAndValueTensors(keys, values); }
  virtual Status CheckKeyAndValueTensorsForImport(const Tensor& keys, const Tensor& values) { return CheckKeyAndValueTensors(keys, values); }
  virtual Status CheckKeyTensorForRemove(const Tensor& keys) {
    if (keys.dtype() != key_dtype())
      return errors::InvalidArgument("Key must be type ", DataTypeString(key_dtype()), " but got ", DataTypeString(keys.dtype()));
    return CheckKeyShape(keys.shape());
  }
  Status CheckFindArguments(const Tensor& keys, const Tensor& default_value) {
    TF_RETURN_IF_ERROR(CheckKeyAndValueTypes(keys, default_value));
    TF_RETURN_IF_ERROR(CheckKeyShape(keys.shape()));
    const TensorShape full = ResultShape(keys.shape());
    if (default_value.shape() == value_shape() || default_value.shape() == full) return OkStatus();
    return errors::InvalidArgument("Expected shape ", value_shape().DebugString(), " or ", full.DebugString(), " for default value, got ",
                                   default_value.shape().DebugString());
  }
  std::string DebugString() const override { return strings::StrCat("A lookup table of size: ", size()); }

  // The shape of what Find gives.
  TensorShape ResultShape(const TensorShape& keys) {
    TensorShape shape = keys;
    shape.RemoveLastDims(key_shape().dims());
    shape.AppendShape(value_shape());
    return shape;
  }

 protected:
  ~LookupInterface() override = default;
  Status CheckKeyAndValueTypes(const Tensor& keys, const Tensor& values) {
    if (keys.dtype() == key_dtype() && values.dtype() == value_dtype()) return OkStatus();
    return errors::InvalidArgument("Key and value must be type ", DataTypeString(key_dtype()), " and ", DataTypeString(value_dtype()), " but got ",
                                   DataTypeString(keys.dtype()), " and ", DataTypeString(values.dtype()));
  }
  Status CheckKeyShape(const TensorShape& shape) {
    if (TensorShapeUtils::EndsWith(shape, key_shape())) return OkStatus();
    return errors::InvalidArgument("Input key shape ", shape.DebugString(), " must end with the table's key shape ", key_shape().DebugString());
  }

 private:
  Status CheckKeyAndValueTensors(const Tensor& keys, const Tensor& values) {
    TF_RETURN_IF_ERROR(CheckKeyAndValueTypes(keys, values));
    TF_RETURN_IF_ERROR(CheckKeyShape(keys.shape()));
    const TensorShape expected = ResultShape(keys.shape());
    if (values.shape() == expected) return OkStatus();
    return errors::InvalidArgument("Expected shape ", expected.DebugString(), " for value, got ", values.shape().DebugString());
  }
};

namespace internal {

using ::tensorflow::internal::FromC;
using ::tensorflow::internal::ToC;

// A table of the engine.
class EngineTable final : public LookupInterface {
 public:
  explicit EngineTable(weft_table* t) : t_(t) {}
  size_t size() const override { return static_cast<size_t>(weft_table_size(t_)); }
  Status Find(OpKernelContext*, const Tensor& keys, Tensor* values, const Tensor& default_value) override {
    return FromC(weft_table_find(t_, Given(keys), Given(default_value), const_cast<TF_Tensor*>(Given(*values))));
  }
  Status Insert(OpKernelContext*, const Tensor& keys, const Tensor& values) override {
    return FromC(weft_table_insert(t_, Given(keys), Given(values)));
  }
  Status Remove(OpKernelContext*, const Tensor& keys) override { return FromC(weft_table_remove(t_, Given(keys))); }
  Status ImportValues(OpKernelContext*, const Tensor& keys, const Tensor& values) override {
    return FromC(weft_table_import(t_, Given(keys), Given(values)));
  }
  Status ExportValues(OpKernelContext* c) override {
    TF_Tensor *keys = nullptr, *values = nullptr;
    TF_RETURN_IF_ERROR(FromC(weft_table_export(t_, &keys, &values)));
    const Tensor k = Tensor::Owning(keys), v = Tensor::Owning(values);
    TF_RETURN_IF_ERROR(c->set_output("keys", k));
    return c->set_output("values", v);
  }
  DataType key_dtype() const override { return static_cast<DataType>(weft_table_dtype(t_, 0)); }
  DataType value_dtype() const override { return static_cast<DataType>(weft_table_dtype(t_, 1)); }
  TensorShape key_shape() const override { return ShapeOf(weft_table_shape(t_, 0)); }
  TensorShape value_shape() const override { return ShapeOf(weft_table_shape(t_, 1)); }

 private:
  ~EngineTable() override { weft_table_delete(t_); }
  static TensorShape ShapeOf(weft_dims d) { return TensorShape(gtl::ArraySlice<int64>(d.dims, static_cast<size_t>(d.rank))); }
  static const TF_Tensor* Given(const Tensor& t) {
    CHECK(t.c_tensor() != nullptr) << "a tensor without a value";
    return t.c_tensor();
  }
  weft_table* t_;
};

// A table of this program for the engine's ops.
struct TableFunctions {
  static LookupInterface* Of(void* o) { return static_cast<LookupInterface*>(static_cast<ResourceBase*>(o)); }
  // Calls f with the context of the op that runs.
  template <class F>
  static TF_Status* With(weft_run* run, F f) {
    if (!run) return ToC(f(static_cast<OpKernelContext*>(nullptr)));
    OpKernelContext context(run, nullptr);
    const Status s = f(&context);
    return ToC(s.ok() ? context.status() : s);
  }
  static TF_Status* Find(void* o, weft_run* run, const TF_Tensor* keys, const TF_Tensor* default_value, TF_Tensor* out) {
    Tensor values;
    values.Bind(out, Of(o)->value_dtype());
    return With(run, [&](OpKernelContext* c) { return Of(o)->Find(c, Tensor::Seen(keys), &values, Tensor::Seen(default_value)); });
  }
  static TF_Status* Insert(void* o, weft_run* run, const TF_Tensor* keys, const TF_Tensor* values) {
    return With(run, [&](OpKernelContext* c) { return Of(o)->Insert(c, Tensor::Seen(keys), Tensor::Seen(values)); });
  }
  static TF_Status* Remove(void* o, weft_run* run, const TF_Tensor* keys) {
    return With(run, [&](OpKernelContext* c) { return Of(o)->Remove(c, Tensor::Seen(keys)); });
  }
  static TF_Status* Import(void* o, weft_run* run, const TF_Tensor* keys, const TF_Tensor* values) {
    return With(run, [&](OpKernelContext* c) { return Of(o)->ImportValues(c, Tensor::Seen(keys), Tensor::Seen(values)); });
  }
  static TF_Status* Export(void* o, weft_run* run) {
    return With(run, [&](OpKernelContext* c) { return Of(o)->ExportValues(c); });
  }
};

inline Status TableFound(void* object, weft_table* engine, LookupInterface** table) {
  *table = object ? TableFunctions::Of(object) : new EngineTable(engine);
  return OkStatus();
}

}  // namespace internal
}  // namespace lookup

template <>
inline Status LookupResource<lookup::LookupInterface>(OpKernelContext* c, const ResourceHandle& h, lookup::LookupInterface** table) {
  void* object = nullptr;
  weft_table* engine = nullptr;
  TF_RETURN_IF_ERROR(internal::FromC(weft_table_lookup(weft_run_resources(c->run()), &h, &object, &engine)));
  return lookup::internal::TableFound(object, engine, table);
}
// Takes over one reference, whatever comes of it.
template <>
inline Status ResourceMgr::Create<lookup::LookupInterface>(const std::string& container, const std::string& name, lookup::LookupInterface* table) {
  using F = lookup::internal::TableFunctions;
  const TensorShape key = table->key_shape(), value = table->value_shape();
  const weft_table_functions f = {internal::kResourceFunctions,
                                  table->key_dtype(),
                                  table->value_dtype(),
                                  key.c_dims(),
                                  value.c_dims(),
                                  [](void* o) { return static_cast<int64_t>(F::Of(o)->size()); },
                                  F::Find,
                                  F::Insert,
                                  F::Remove,
                                  F::Import,
                                  F::Export};
  return internal::FromC(weft_table_create(r_, internal::Text(container), internal::Text(name), static_cast<ResourceBase*>(table), &f));
}
template <>
inline Status ResourceMgr::Lookup<lookup::LookupInterface, false>(const std::string& container, const std::string& name,
                                                                  lookup::LookupInterface** table) const {
  void* object = nullptr;
  weft_table* engine = nullptr;
  TF_RETURN_IF_ERROR(internal::FromC(weft_table_lookup_named(r_, internal::Text(container), internal::Text(name), &object, &engine)));
  return lookup::internal::TableFound(object, engine, table);
}
template <>
inline Status ResourceMgr::LookupOrCreate<lookup::LookupInterface>(const std::string& container, const std::string& name,
                                                                   lookup::LookupInterface** table,
                                                                   std::function<Status(lookup::LookupInterface**)> creator) {
  while (true) {  // another thread may create or remove it in between
    const Status found = Lookup<lookup::LookupInterface, false>(container, name, table);
    if (found.ok() || !errors::IsNotFound(found)) return found;
    lookup::LookupInterface* made = nullptr;
    TF_RETURN_IF_ERROR(creator(&made));
    if (!made) return errors::Internal("the creator of table ", name, " made none");
    const Status created = Create<lookup::LookupInterface>(container, name, made);
    if (!created.ok() && !errors::IsAlreadyExists(created)) return created;
  }
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_LOOKUP_INTERFACE_H_
