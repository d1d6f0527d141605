// LookupTable: the resource behind all tables (HashTable, MutableHashTable, MutableDenseHashTable ...). Keys
// and values of any type lie in two tensors, row by row, with an index from a key's bytes to its row: one
// class serves every pair of types. The kinds differ only in when they may be written and in their checks.
#pragma once

#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "core/resource.h"
#include "core/tensor.h"

namespace weft_engine::ops {

class LookupTable final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow6lookup15LookupInterfaceE";
  enum class Kind { kHash, kMutable, kMutableOfTensors, kDense };

  LookupTable(Kind kind, core::DType key, core::DType value, core::Shape key_shape, core::Shape value_shape)
      : kind_(kind), key_dtype_(key), value_dtype_(value), key_shape_(std::move(key_shape)), value_shape_(std::move(value_shape)) {}
  std::string type_name() const override { return "LookupTable"; }

  // Before first use: the keys that a dense table cannot hold.
  core::Status reserve_keys(const core::Tensor& empty, const core::Tensor& deleted);

  Kind kind() const { return kind_; }
  core::DType key_dtype() const { return key_dtype_; }
  core::DType value_dtype() const { return value_dtype_; }
  const core::Shape& key_shape() const { return key_shape_; }
  const core::Shape& value_shape() const { return value_shape_; }

  bool initialized() const;
  int64_t size() const;
  // For each key its value, or the default; `out` is already allocated.
  core::Status find(const core::Tensor& keys, const core::Tensor& default_value, core::Tensor& out) const;
  core::Status insert(const core::Tensor& keys, const core::Tensor& values);
  core::Status remove(const core::Tensor& keys);
  // Replaces everything.
  core::Status import_all(const core::Tensor& keys, const core::Tensor& values);
  // Fills a table that is written once; a second time is fine if the count of rows is the same.
  core::Status initialize(const core::Tensor& keys, const core::Tensor& values);
  core::Status export_all(core::Tensor& keys, core::Tensor& values) const;

  // Do these fit the table? With TensorFlow's texts.
  core::Status check_keys(const core::Tensor& keys) const;
  core::Status check_find(const core::Tensor& keys, const core::Tensor& default_value) const;
  core::Status check_insert(const core::Tensor& keys, const core::Tensor& values) const;
  // The shape of what find() gives for keys of that shape.
  core::Shape result_shape(const core::Shape& keys) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  using Index = std::unordered_map<std::string, int64_t, Hash, std::equal_to<>>;

  int64_t key_size() const { return key_shape_.num_elements(); }
  int64_t value_size() const { return value_shape_.num_elements(); }
  // The bytes that stand for key i; may use `scratch`.
  std::string_view key_bytes(const core::Tensor& keys, int64_t i, std::string& scratch) const;
  core::Status check_dense_keys(const core::Tensor& keys, bool one_if_scalar) const;
  core::Status check_reserved(std::string_view key) const;
  core::Status insert_locked(const core::Tensor& keys, const core::Tensor& values, bool skip_reserved);
  core::Status insert_once_locked(const core::Tensor& keys, const core::Tensor& values);
  core::Status put_locked(std::string_view bytes, const core::Tensor& keys, const core::Tensor& values, int64_t i);
  core::Status grow_locked();

  const Kind kind_;
  const core::DType key_dtype_, value_dtype_;
  const core::Shape key_shape_, value_shape_;
  std::string empty_key_, deleted_key_;

  mutable std::shared_mutex mutex_;
  bool initialized_ = false;
  Index index_;                  // row of each key; rows [0, index_.size()) are in use
  core::Tensor keys_, values_;   // [capacity] + key_shape, [capacity] + value_shape
  int64_t capacity_ = 0;
};

}  // namespace weft_engine::ops
