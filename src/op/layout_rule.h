// How the results of an op are laid out over a mesh of devices (a DTensor) where its inputs are: a part of the op's spec. It is not in op_traits.h, which
// every family reads. A family says it where it registers its ops:
//   set_layout(r, {"Conv2D", "Conv3D"}, layouts::batch_of(0));
// layout_of derives it for the ops of which roles and traits say enough. What a rule computes from layouts, shapes and values is a function of
// its name in the Python package, weft/_src/dtensor/rules*.py; TensorFlow's choice is the measure, also where another layout would do.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

namespace weft_engine::op {

class OpSpec;
class Registry;

struct LayoutRule {
  std::string_view name;
  int input = 0;  // the input whose layout counts
  std::optional<int> axis;  // the input whose value names dimensions; -1: the last one
  std::string_view transposed[2] = {"", ""};  // of a product: the attributes that say of an operand that it is read transposed
};

namespace layouts {

// Not laid out: the op runs on whole values, on one device.
inline constexpr LayoutRule kOneDevice{"one_device"};
// Every part of the mesh has the whole results.
inline constexpr LayoutRule kReplicated{"replicated"};

// Elements.
inline constexpr LayoutRule kElementwise{"elementwise"};
inline constexpr LayoutRule kSum{"sum_of_inputs"};  // of all inputs
inline constexpr LayoutRule kFirstCut{"first_cut"};  // as elementwise, but no input undoes what an earlier one has cut
inline constexpr LayoutRule kEachInput{"each_input"};  // output i as input i
inline constexpr LayoutRule kBias{"bias"};  // input 1 along the channels of input 0
inline constexpr LayoutRule kBiasGradient{"bias_gradient"};
inline constexpr LayoutRule kCrossEntropy{"cross_entropy"};

// Dimensions that are reduced, or must be whole.
constexpr LayoutRule reduction(int axis) { return {"reduction", 0, axis}; }
constexpr LayoutRule whole_along(int axis) { return {"whole_along", 0, axis}; }
inline constexpr LayoutRule kWholeAlongLast{"whole_along"};
inline constexpr LayoutRule kInTopK{"in_top_k"};

// Products: what is contracted is cut alike in both operands.
constexpr LayoutRule product(std::string_view first_transposed, std::string_view second_transposed) {
  return {"product", 0, std::nullopt, {first_transposed, second_transposed}};
}
inline constexpr LayoutRule kEinsum{"einsum"};

// Images: cut along the batch alone.
constexpr LayoutRule batch_of(int input) { return {"batch", input}; }
inline constexpr LayoutRule kAsInput{"as_input"};
inline constexpr LayoutRule kBatchNorm{"batch_norm"};

// Elements that are moved, cut, repeated.
inline constexpr LayoutRule kReshape{"reshape"};
inline constexpr LayoutRule kTranspose{"transpose"};
inline constexpr LayoutRule kExpandDims{"expand_dims"};
inline constexpr LayoutRule kSqueeze{"squeeze"};
constexpr LayoutRule concat(int axis) { return {"concat", 0, axis}; }
inline constexpr LayoutRule kPack{"pack"};
inline constexpr LayoutRule kUnpack{"unpack"};
constexpr LayoutRule split(int value, int axis) { return {"split", value, axis}; }
inline constexpr LayoutRule kTile{"tile"};
inline constexpr LayoutRule kBroadcastTo{"broadcast_to"};
inline constexpr LayoutRule kPad{"pad"};
inline constexpr LayoutRule kOneHot{"one_hot"};
constexpr LayoutRule gather(std::optional<int> axis) { return {"gather", 0, axis}; }
inline constexpr LayoutRule kGatherVariable{"gather_variable"};
inline constexpr LayoutRule kGatherNd{"gather_nd"};
inline constexpr LayoutRule kUpdateNd{"update_nd"};  // input 0 with elements replaced or changed
inline constexpr LayoutRule kScatterNd{"scatter_nd"};  // a new tensor of them
inline constexpr LayoutRule kSegments{"segments"};
inline constexpr LayoutRule kSlice{"slice"};
inline constexpr LayoutRule kStridedSlice{"strided_slice"};
inline constexpr LayoutRule kStridedSliceGradient{"strided_slice_gradient"};

// Random numbers: each part of the mesh draws its own from a seed (or key), input `seed`; without a seed there is no layout.
constexpr LayoutRule random(int seed) { return {"random", seed}; }
inline constexpr LayoutRule kUnseededRandom{"unseeded_random"};

inline constexpr LayoutRule kRelayout{"relayout"};
inline constexpr LayoutRule kRelayoutLike{"relayout_like"};

}  // namespace layouts

// For ops that were added before; names are literals.
void set_layout(Registry& r, std::initializer_list<std::string_view> ops, const LayoutRule& rule);
LayoutRule layout_of(const OpSpec& spec);

}  // namespace weft_engine::op
