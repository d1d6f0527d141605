// Matrix products by cuBLASLt: c[batch, m, n] = a[batch, m, k] x b[batch, k, n], all dense and in C's order; of what it offers for a product the fastest is
// taken and kept.
#pragma once

#include <optional>
#include <span>

#include "core/dtype.h"
#include "cuda/gpu.h"
#include "ir/ir.h"

namespace weft_engine::cuda {

struct Product {
  core::DType dtype = core::DType::kInvalid;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;  // stored with the last two dimensions swapped
  bool add = false;  // to what c holds
  auto operator<=>(const Product&) const = default;
};

// What a kDot is; nothing: not a product for the library.
std::optional<Product> product_of(const ir::Instr& dot, bool add, std::span<const int64_t> symbols);
// False: cuBLASLt is not there or has nothing for such a product.
core::Result<bool> multiply(Gpu& gpu, const Queue& queue, const Product& product, DevicePtr a, DevicePtr b, DevicePtr c);

// Whether float products may round their factors to TF32's 10 bits: TensorFlow's tf.config.experimental.enable_tensor_float_32_execution. On at first.
void allow_tf32(bool allow);
bool tf32_allowed();

}  // namespace weft_engine::cuda
