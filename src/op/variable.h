// Variable: the resource behind VarHandleOp. Readers share the tensor; a writer that finds it shared
// copies first, so a value that was read never changes.
#pragma once

#include <optional>
#include <shared_mutex>

#include "core/resource.h"
#include "core/tensor.h"

namespace weft_engine::op {

class Variable final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow3VarE";
  explicit Variable(core::DType dtype) : dtype_(dtype) {}
  std::string type_name() const override { return "Variable"; }

  core::DType dtype() const { return dtype_; }
  // Guards what follows. Optimiser ops hold it while they change the value in place.
  std::shared_mutex& mutex() { return mutex_; }
  core::Tensor& tensor() { return tensor_; }
  bool initialized() const { return initialized_; }
  void set(core::Tensor t) {
    tensor_ = std::move(t);
    initialized_ = true;
  }
  // Back to the state before the first assignment (DestroyResourceOp): handles stay valid, the value is gone.
  void reset() {
    tensor_ = {};
    initialized_ = false;
  }
  // With the exclusive lock held: makes the memory this variable's own, so that it may be written.
  core::Status make_writable() {
    if (tensor_.unique()) return {};
    auto copy = tensor_.copy();
    if (!copy.ok()) return copy.status();
    tensor_ = std::move(copy).value();
    return {};
  }

 private:
  core::DType dtype_;
  std::shared_mutex mutex_;
  core::Tensor tensor_;
  bool initialized_ = false;
};

// RefVariable: what a ref-typed output (Variable, VariableV2) points to.
class RefVariable final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow9LegacyVarE";
  std::string type_name() const override { return "LegacyVar"; }
  std::shared_mutex& mutex() { return mutex_; }
  core::Tensor& tensor() { return tensor_; }
  bool initialized() const { return tensor_.valid(); }
  // The shape it was declared with, which the first value must have; none if that is open.
  const std::optional<core::Shape>& declared_shape() const { return declared_shape_; }
  void declare(std::optional<core::Shape> shape) { declared_shape_ = std::move(shape); }
  core::Status make_writable() {
    if (tensor_.unique()) return {};
    auto copy = tensor_.copy();
    if (!copy.ok()) return copy.status();
    tensor_ = std::move(copy).value();
    return {};
  }

 private:
  std::shared_mutex mutex_;
  core::Tensor tensor_;
  std::optional<core::Shape> declared_shape_;
};

}  // namespace weft_engine::op
