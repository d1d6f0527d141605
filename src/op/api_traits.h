// What TensorFlow's Python API does with an op beyond calling it: a part of the op's spec that the Python package asks (op_traits of its extension). It is not in
// op_traits.h, which every family reads. A family says it where it registers its ops:
//   set_api_trait(r, {"Abs", "Sign"}, ApiTrait::kOnSparseValues);
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace weft_engine::op {

class OpSpec;
class Registry;

enum class ApiTrait : uint8_t {
  kOnSparseValues = 1,  // takes a SparseTensor: the op on its values. TensorFlow's choice, also where a zero does not stay one
  kUnchecked = 2,  // tf.debugging.enable_check_numerics passes by it: it only moves values or picks some, or nobody has to read what it gives
  kDispatchesAsUnary = 4,  // elementwise in the first input to tf.experimental.dispatch_for_unary_elementwise_apis, though not by its traits
  kDispatchesAsBinary = 8,  // ... in two, to dispatch_for_binary_elementwise_apis
};

// For ops that were added before; names are literals.
void set_api_trait(Registry& r, std::initializer_list<std::string_view> ops, ApiTrait trait);
bool has_api_trait(const OpSpec& spec, ApiTrait trait);

}  // namespace weft_engine::op
