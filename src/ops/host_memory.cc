#include "ops/host_memory.h"

#include <algorithm>

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: specs throughout

namespace {

// Arguments that say what shape the result has, or along which axes. Integers only, but for LinSpace.
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

// Work on shapes.
constexpr std::string_view kAlways[] = {"BroadcastArgs", "BroadcastGradientArgs", "ConcatOffset", "InvertPermutation", "Range"};
constexpr std::string_view kForInt32[] = {
    "Abs",          "Add",       "AddN",     "AddV2",       "BroadcastTo", "Concat",    "ConcatV2",
    "Div",          "Equal",     "Fill",     "FloorDiv",    "FloorMod",    "Greater",   "GreaterEqual",
    "Less",         "LessEqual", "Max",      "Maximum",     "Min",         "Minimum",   "Mul",
    "Neg",          "NotEqual",  "OnesLike", "Pack",        "Pad",         "PadV2",     "Prod",
    "ReverseV2",    "Sign",      "Slice",    "Split",       "SplitV",      "Square",    "SquaredDifference",
    "StridedSlice", "Sub",       "Sum",      "TruncateDiv", "Unpack",      "ZerosLike",
};

// TensorFlow has kernels on GPUs for these, and no lowering rule can be: the shapes of results depend on data, or so does the number of random numbers that are drawn;
// or there is none yet.
constexpr std::string_view kByCpu[] = {
    "BlockLSTM",
    "BlockLSTMGrad",
    "BlockLSTMGradV2",
    "BlockLSTMV2",
    "CTCLossV2",
    "Conv",
    "DynamicPartition",
    "GRUBlockCellGrad",
    "GenerateBoundingBoxProposals",
    "LSTMBlockCellGrad",
    "MaxPoolGradGradWithArgmax",
    "Multinomial",
    "NonMaxSuppressionV2",
    "NonMaxSuppressionV3",
    "NonMaxSuppressionV4",
    "ParameterizedTruncatedNormal",
    "RaggedFillEmptyRows",
    "SparseFillEmptyRows",
    "SparseSegmentMeanGradV2",
    "SparseSegmentSqrtNGradV2",
    "SparseSegmentSumGradV2",
    "SparseSlice",
    "SparseSplit",
    "StatelessMultinomial",
    "StatelessRandomGammaV2",
    "StatelessRandomGammaV3",
    "Unique",
    "UniqueWithCounts",
    "Where",
};

// What NVIDIA's libraries know how to do (cuda/library_kernel.h).
struct Named {
  std::string_view op;
  LibraryCall call;
};
using Kind = LibraryCall::Kind;
constexpr Named kLibraryCalls[] = {
    {"FFT", {Kind::kFourier, 1}},
    {"FFT2D", {Kind::kFourier, 2}},
    {"FFT3D", {Kind::kFourier, 3}},
    {"IFFT", {Kind::kFourier, 1, true}},
    {"IFFT2D", {Kind::kFourier, 2, true}},
    {"IFFT3D", {Kind::kFourier, 3, true}},
    {"RFFT", {Kind::kFourier, 1, false, true}},
    {"RFFT2D", {Kind::kFourier, 2, false, true}},
    {"RFFT3D", {Kind::kFourier, 3, false, true}},
    {"IRFFT", {Kind::kFourier, 1, true, true}},
    {"IRFFT2D", {Kind::kFourier, 2, true, true}},
    {"IRFFT3D", {Kind::kFourier, 3, true, true}},
    {"Cholesky", {Kind::kCholesky}},
    {"LogMatrixDeterminant", {Kind::kLogDeterminant}},
    {"MatrixDeterminant", {Kind::kDeterminant}},
    {"MatrixInverse", {Kind::kInverse}},
    {"MatrixSolve", {Kind::kSolve}},
    {"MatrixTriangularSolve", {Kind::kTriangularSolve}},
    {"Qr", {Kind::kQr}},
    {"SelfAdjointEigV2", {Kind::kEigen}},
    {"Svd", {Kind::kSvd}},
};

template <size_t n>
bool among(const std::string_view (&names)[n], std::string_view name) {
  return std::find(names, names + n, name) != names + n;
}

bool is_integer(const Signature& s, const ArgSpec& a) {
  if (a.type != DType::kInvalid) return a.type == DType::kInt32 || a.type == DType::kInt64;
  if (a.type_attr < 0) return false;
  const auto& allowed = s.attrs[size_t(a.type_attr)].allowed_types;
  return !allowed.empty() && std::all_of(allowed.begin(), allowed.end(), [](DType t) {
    return t == DType::kInt32 || t == DType::kInt64 || t == DType::kInt16 || t == DType::kUint16 || t == DType::kUint32 || t == DType::kUint64;
  });
}

}  // namespace

HostMemory host_memory(const OpSpec& spec) {
  HostMemory out;
  out.all = among(kAlways, spec.name);
  out.int32 = among(kForInt32, spec.name);
  out.never = spec.name.starts_with("TensorArray") || spec.name.starts_with("Stack");
  out.by_cpu = among(kByCpu, spec.name);
  for (const Named& n : kLibraryCalls) {
    if (n.op == spec.name) out.library = n.call;
  }
  const Signature& s = spec.signature();
  const bool numbers = spec.name == "LinSpace";
  for (const ArgSpec& a : s.inputs) {
    if (among(kSizesAndAxes, a.name) && (numbers || is_integer(s, a))) out.inputs.push_back(a.name);
  }
  return out;
}

}  // namespace weft_engine::ops
