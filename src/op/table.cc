#include "op/table.h"

#include <algorithm>

namespace weft_engine::op {

using namespace weft_engine::core;  // NOLINT

Shape Table::result_shape(const Shape& keys) const { return keys.slice(0, std::max(0, keys.rank() - key_shape_.rank())).concat(value_shape_); }

Status Table::check_keys(const Tensor& keys) const {
  if (keys.dtype() != key_dtype_) return invalid_argument("Key must be type ", key_dtype_, " but got ", keys.dtype());
  const int extra = keys.rank() - key_shape_.rank();
  if (extra < 0 || keys.shape().slice(extra, keys.rank()) != key_shape_)
    return invalid_argument("Input key shape ", keys.shape(), " must end with the table's key shape ", key_shape_);
  return {};
}

Status Table::check_find(const Tensor& keys, const Tensor& default_value) const {
  if (default_value.dtype() != value_dtype_)
    return invalid_argument("Key and value must be type ", key_dtype_, " and ", value_dtype_, " but got ", keys.dtype(), " and ",
                            default_value.dtype());
  WEFT_RETURN_IF_ERROR(check_keys(keys));
  const Shape full = result_shape(keys.shape());
  if (default_value.shape() != value_shape_ && default_value.shape() != full)
    return invalid_argument("Expected shape ", value_shape_, " or ", full, " for default value, got ", default_value.shape());
  return {};
}

Status Table::check_insert(const Tensor& keys, const Tensor& values) const {
  if (values.dtype() != value_dtype_)
    return invalid_argument("Key and value must be type ", key_dtype_, " and ", value_dtype_, " but got ", keys.dtype(), " and ", values.dtype());
  WEFT_RETURN_IF_ERROR(check_keys(keys));
  const Shape expected = result_shape(keys.shape());
  if (values.shape() != expected) return invalid_argument("Expected shape ", expected, " for value, got ", values.shape());
  return {};
}

}  // namespace weft_engine::op
