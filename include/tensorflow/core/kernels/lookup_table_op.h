// SPDX-License-Identifier: Apache-2.0
//
// LookupTableOp<Table, Key, Value>: the kernel of an op that makes a table (attributes container, shared_name and use_node_name_sharing).
// Table is derived from lookup::LookupInterface and made from (OpKernelContext*, OpKernel*).
#ifndef TENSORFLOW_CORE_KERNELS_LOOKUP_TABLE_OP_H_
#define TENSORFLOW_CORE_KERNELS_LOOKUP_TABLE_OP_H_

#include <string>

#include "tensorflow/core/framework/lookup_interface.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/lookup_util.h"

namespace tensorflow {

namespace lookup {
// A copy of a number, which another thread may change meanwhile; a reference to anything else.
template <class T>
std::conditional_t<std::is_integral_v<T>, T, const T&> SubtleMustCopyIfIntegral(const T& value) {
  if constexpr (std::is_integral_v<T>) return *static_cast<const volatile T*>(&value);
  else return value;
}
}  // namespace lookup

template <class Container, class Key, class Value>
class LookupTableOp : public OpKernel {
 public:
  explicit LookupTableOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("use_node_name_sharing", &use_node_name_sharing_));
    OP_REQUIRES(c, c->output_type(0) == DT_RESOURCE,
                errors::Unimplemented("an output of type ", DataTypeString(c->output_type(0)), " of ", type_string(), ": only handles of resources"));
  }
  ~LookupTableOp() override {
    if (made_ && cinfo_.resource_is_private_to_kernel()) mgr_.Delete<lookup::LookupInterface>(cinfo_.container(), cinfo_.name()).IgnoreError();
  }
  void Compute(OpKernelContext* c) override {
    const mutex_lock lock(mu_);
    if (!made_) {
      mgr_ = *c->resource_manager();
      OP_REQUIRES_OK(c, cinfo_.Init(&mgr_, def(), use_node_name_sharing_));
    }
    lookup::LookupInterface* table = nullptr;
    OP_REQUIRES_OK(c,
                   mgr_.LookupOrCreate<lookup::LookupInterface>(cinfo_.container(), cinfo_.name(), &table, [c, this](lookup::LookupInterface** made) {
                     *made = new Container(c, this);
                     if (c->status().ok()) return OkStatus();
                     (*made)->Unref();
                     return c->status();
                   }));
    const core::ScopedUnref unref(table);
    OP_REQUIRES_OK(c, lookup::CheckTableDataTypes(*table, DataTypeToEnum<Key>::v(), DataTypeToEnum<Value>::v(), cinfo_.name()));
    OP_REQUIRES_OK(c, MakeResourceHandleToOutput<lookup::LookupInterface>(c, 0, cinfo_.container(), cinfo_.name()));
    made_ = true;
  }

 private:
  mutex mu_;
  ContainerInfo cinfo_;
  ResourceMgr mgr_{nullptr};
  bool made_ = false, use_node_name_sharing_ = false;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_LOOKUP_TABLE_OP_H_
