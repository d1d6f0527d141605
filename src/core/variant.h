// Variant: a tensor element of any type (TensorList, Optional, dataset, sparse matrix ...).
// The object inside is immutable once shared; an op that changes it copies first, or owns it alone.
#pragma once

#include <memory>
#include <string>

#include "core/dtype.h"

namespace weft_engine::core {

class VariantObject {
 public:
  virtual ~VariantObject() = default;
  virtual std::string type_name() const = 0;
};

class Variant {
 public:
  Variant() = default;
  explicit Variant(std::shared_ptr<const VariantObject> object) : object_(std::move(object)) {}
  template <class T>
  const T* get() const {
    return dynamic_cast<const T*>(object_.get());
  }
  template <class T>
  std::shared_ptr<const T> share() const {
    return std::dynamic_pointer_cast<const T>(object_);
  }
  bool empty() const { return !object_; }
  std::string type_name() const { return object_ ? object_->type_name() : "<empty variant>"; }

 private:
  std::shared_ptr<const VariantObject> object_;
};
static_assert(sizeof(Variant) == 16);

}  // namespace weft_engine::core
