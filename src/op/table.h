// Table: what the ops of lookup tables ask of one: the engine's own (ops/state/lookup_table.h), or one that a program brings (capi/cc_tables.cc).
#pragma once

#include "core/resource.h"
#include "core/tensor.h"

namespace weft_engine::op {

class KernelContext;

class Table : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow6lookup15LookupInterfaceE";

  core::DType key_dtype() const { return key_dtype_; }
  core::DType value_dtype() const { return value_dtype_; }
  const core::Shape& key_shape() const { return key_shape_; }
  const core::Shape& value_shape() const { return value_shape_; }
  // Do these fit the table? With TensorFlow's texts.
  core::Status check_keys(const core::Tensor& keys) const;
  core::Status check_find(const core::Tensor& keys, const core::Tensor& default_value) const;
  core::Status check_insert(const core::Tensor& keys, const core::Tensor& values) const;
  // The shape of what find() gives for keys of that shape.
  core::Shape result_shape(const core::Shape& keys) const;

  virtual int64_t size() const = 0;
  // `c` is the run of the op that asks; null where none does.
  // For each key its value, or the default; `out` is already allocated.
  virtual core::Status find(KernelContext* c, const core::Tensor& keys, const core::Tensor& default_value, core::Tensor& out) const = 0;
  virtual core::Status insert(KernelContext* c, const core::Tensor& keys, const core::Tensor& values) = 0;
  virtual core::Status remove(KernelContext* c, const core::Tensor& keys) = 0;
  // Replaces everything.
  virtual core::Status import_all(KernelContext* c, const core::Tensor& keys, const core::Tensor& values) = 0;
  virtual core::Status export_all(KernelContext* c, core::Tensor& keys, core::Tensor& values) const = 0;

 protected:
  Table(core::DType key, core::DType value, core::Shape key_shape, core::Shape value_shape)
      : key_dtype_(key), value_dtype_(value), key_shape_(std::move(key_shape)), value_shape_(std::move(value_shape)) {}

  const core::DType key_dtype_, value_dtype_;
  const core::Shape key_shape_, value_shape_;
};

}  // namespace weft_engine::op
