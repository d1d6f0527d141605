// SPDX-License-Identifier: Apache-2.0
//
// The tables that ops have as inputs.
#ifndef TENSORFLOW_CORE_KERNELS_LOOKUP_UTIL_H_
#define TENSORFLOW_CORE_KERNELS_LOOKUP_UTIL_H_

#include <string>

#include "tensorflow/core/framework/lookup_interface.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace tensorflow {
namespace lookup {

// The table of an input, a resource or a reference to two strings. One more reference.
inline Status GetLookupTable(std::string_view input, OpKernelContext* c, LookupInterface** table) {
  const Tensor* handle = nullptr;
  TF_RETURN_IF_ERROR(c->input(input, &handle));
  if (handle->dtype() == DT_RESOURCE) {
    if (handle->NumElements() < 1) return errors::InvalidArgument("the resource handle is empty");
    return LookupResource(c, handle->flat<ResourceHandle>()(0), table);
  }
  if (handle->dtype() != DT_STRING || handle->NumElements() != 2)
    return errors::InvalidArgument("Lookup table handle must be scalar, but had shape: ", handle->shape().DebugString());
  return c->resource_manager()->Lookup<LookupInterface, false>(handle->flat<tstring>()(0), handle->flat<tstring>()(1), table);
}
inline Status GetResourceLookupTable(std::string_view input, OpKernelContext* c, LookupInterface** table) { return GetLookupTable(input, c, table); }
inline Status CheckTableDataTypes(const LookupInterface& table, DataType key, DataType value, const std::string& name) {
  if (table.key_dtype() == key && table.value_dtype() == value) return OkStatus();
  return errors::InvalidArgument("Conflicting key/value dtypes ", DataTypeString(key), "->", DataTypeString(value), " with ",
                                 DataTypeString(table.key_dtype()), "-", DataTypeString(table.value_dtype()), " for table ", name);
}

}  // namespace lookup
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_LOOKUP_UTIL_H_
