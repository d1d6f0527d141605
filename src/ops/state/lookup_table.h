// LookupTable: the resource behind all tables (HashTable, MutableHashTable, MutableDenseHashTable ...). Keys
// and values of any type lie in two tensors, row by row, with an index from a key's bytes to its row: one
// class serves every pair of types. The kinds differ only in when they may be written and in their checks.
#pragma once

#include <shared_mutex>
#include <string>

#include "kernels/cpu/group_table.h"
#include "op/table.h"

namespace weft_engine::ops {

class LookupTable final : public op::Table {
 public:
  enum class Kind { kHash, kMutable, kMutableOfTensors, kDense };

  LookupTable(Kind kind, core::DType key, core::DType value, core::Shape key_shape, core::Shape value_shape)
      : Table(key, value, std::move(key_shape), std::move(value_shape)), kind_(kind) {}
  std::string type_name() const override { return "LookupTable"; }

  // Before first use: the keys that a dense table cannot hold.
  core::Status reserve_keys(const core::Tensor& empty, const core::Tensor& deleted);

  Kind kind() const { return kind_; }
  bool initialized() const;
  // Fills a table that is written once; a second time is fine if the count of rows is the same.
  core::Status initialize(const core::Tensor& keys, const core::Tensor& values);

  int64_t size() const override;
  core::Status find(op::KernelContext* c, const core::Tensor& keys, const core::Tensor& default_value, core::Tensor& out) const override;
  core::Status insert(op::KernelContext* c, const core::Tensor& keys, const core::Tensor& values) override;
  core::Status remove(op::KernelContext* c, const core::Tensor& keys) override;
  core::Status import_all(op::KernelContext* c, const core::Tensor& keys, const core::Tensor& values) override;
  core::Status export_all(op::KernelContext* c, core::Tensor& keys, core::Tensor& values) const override;

 private:
  int64_t key_size() const { return key_shape_.num_elements(); }
  int64_t value_size() const { return value_shape_.num_elements(); }
  // The bytes that stand for key i; may use `scratch`.
  std::string_view key_bytes(const core::Tensor& keys, int64_t i, std::string& scratch) const;
  static uint64_t key_hash(std::string_view bytes);
  int64_t row_of(std::string_view bytes) const;  // -1: not there
  core::Status check_dense_keys(const core::Tensor& keys, bool one_if_scalar) const;
  core::Status check_reserved(std::string_view key) const;
  core::Status insert_locked(const core::Tensor& keys, const core::Tensor& values, bool skip_reserved);
  core::Status insert_once_locked(const core::Tensor& keys, const core::Tensor& values);
  core::Status put_locked(std::string_view bytes, const core::Tensor& keys, const core::Tensor& values, int64_t i);
  core::Status grow_locked();

  const Kind kind_;
  std::string empty_key_, deleted_key_;

  mutable std::shared_mutex mutex_;
  bool initialized_ = false;
  kernels::GroupTable index_;    // row of each key by its bytes; rows [0, index_.size()) are in use
  core::Tensor keys_, values_;   // [capacity] + key_shape, [capacity] + value_shape
  int64_t capacity_ = 0;
};

}  // namespace weft_engine::ops
