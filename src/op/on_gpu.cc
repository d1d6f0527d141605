#include "op/on_gpu.h"

#include <algorithm>

#include "op/op_spec.h"

namespace weft_engine::op {
namespace {

// Arguments that say what shape the result has, or along which axes.
constexpr std::string_view kSizesAndAxes[] = {
    "a_shape",
    "alg",
    "algorithm",
    "axes",
    "axis",
    "begin",
    "block_shape",
    "concat_dim",
    "crop_size",
    "crops",
    "delta",
    "dense_shape",
    "depth",
    "dim",
    "dimension",
    "dims",
    "end",
    "fft_length",
    "filter_sizes",
    "image_size",
    "input_shape",
    "input_sizes",
    "k",
    "ksize",
    "limit",
    "multiples",
    "n",
    "num",
    "num_bits",
    "num_cols",
    "num_lower",
    "num_rows",
    "num_segments",
    "num_upper",
    "new_shape",
    "offset",
    "output_dim0",
    "output_shape",
    "padding_high",
    "padding_interior",
    "padding_low",
    "paddings",
    "perm",
    "s0",
    "s1",
    "shape",
    "shapes",
    "size",
    "size_indices",
    "size_splits",
    "sp_shape",
    "split_dim",
    "reduction_axes",
    "reduction_indices",
    "start",
    "stop",
    "strides",
    "orig_input_shape",
    "orig_input_tensor_shape",
};

bool is_integer(const Signature& s, const ArgSpec& a) {
  if (a.type != DType::kInvalid) return a.type == DType::kInt32 || a.type == DType::kInt64;
  if (a.type_attr < 0) return false;
  const auto& allowed = s.attrs[size_t(a.type_attr)].allowed_types;
  return !allowed.empty() && std::all_of(allowed.begin(), allowed.end(), [](DType t) {
    return t == DType::kInt32 || t == DType::kInt64 || t == DType::kInt16 || t == DType::kUint16 || t == DType::kUint32 || t == DType::kUint64;
  });
}

}  // namespace

std::vector<std::string> host_inputs(const OpSpec& spec) {
  std::vector<std::string> out;
  const Signature& s = spec.signature();
  for (const ArgSpec& a : s.inputs) {
    const bool named = std::find(std::begin(kSizesAndAxes), std::end(kSizesAndAxes), a.name) != std::end(kSizesAndAxes);
    if (named && (spec.on_gpu == OnGpu::kBoundsOnHost || is_integer(s, a))) out.push_back(a.name);
  }
  return out;
}

}  // namespace weft_engine::op
