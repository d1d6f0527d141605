// Shared by the files of the family `quantized`.
#pragma once

#include "core/dtype.h"
#include "op/registry.h"

namespace weft_engine::ops {

// Calls f(Tag<I>) with the plain integer behind a quantised type.
template <class F>
op::Status dispatch_quantized(core::DType t, F&& f) {
  using core::DType;
  switch (t) {
    case DType::kQint8: return f(op::Tag<int8_t>{});
    case DType::kQuint8: return f(op::Tag<uint8_t>{});
    case DType::kQint16: return f(op::Tag<int16_t>{});
    case DType::kQuint16: return f(op::Tag<uint16_t>{});
    case DType::kQint32: return f(op::Tag<int32_t>{});
    default: return core::unimplemented("no kernel for type ", core::dtype_name(t));
  }
}

// A scalar float input; "`min_x` must be rank 0 but is rank 1".
inline op::Result<float> read_range(const op::KernelContext& c, int i, std::string_view name) {
  const core::Tensor& t = c.input(i);
  if (t.rank() != 0) return core::invalid_argument("`", name, "` must be rank 0 but is rank ", t.rank());
  return t.data<float>()[0];
}

inline op::Status write_range(op::KernelContext& c, int at, float low, float high) {
  WEFT_ASSIGN(core::Tensor* a, c.allocate(at, core::Shape()));
  WEFT_ASSIGN(core::Tensor* b, c.allocate(at + 1, core::Shape()));
  a->data<float>()[0] = low;
  b->data<float>()[0] = high;
  return {};
}

// Output 0 as input 0, the rest scalars.
op::Status unchanged_with_range(op::ShapeContext& c);

// The engine's own op for a quantised layer, quantized_product.cc.
void add_int8_product(op::Registry& r);

// QuantizedConv2D: its shapes, and the kernel for a filter of qint8.
op::Status quantized_conv_shape(op::ShapeContext& c);
op::Result<std::unique_ptr<op::Kernel>> make_signed_filter_conv(const op::NodeInfo& node);

}  // namespace weft_engine::ops
