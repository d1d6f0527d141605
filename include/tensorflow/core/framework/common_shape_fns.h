// SPDX-License-Identifier: Apache-2.0
//
// Shape functions that many ops share.
#ifndef TENSORFLOW_CORE_FRAMEWORK_COMMON_SHAPE_FNS_H_
#define TENSORFLOW_CORE_FRAMEWORK_COMMON_SHAPE_FNS_H_

#include <algorithm>
#include <vector>

#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/padding.h"

namespace tensorflow {
namespace shape_inference {

inline Status UnchangedShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  const auto* held = c->input_handle_shapes_and_types(0);
  if (held) c->set_output_handle_shapes_and_types(0, *held);
  return OkStatus();
}
inline Status UnchangedShapeWithRank(InferenceContext* c, int32 rank) {
  ShapeHandle s;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), rank, &s));
  c->set_output(0, s);
  return OkStatus();
}
inline Status UnchangedShapeWithRankAtLeast(InferenceContext* c, int32 rank) {
  ShapeHandle s;
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), rank, &s));
  c->set_output(0, s);
  return OkStatus();
}
inline Status UnchangedShapeWithRankAtMost(InferenceContext* c, int32 rank) {
  ShapeHandle s;
  TF_RETURN_IF_ERROR(c->WithRankAtMost(c->input(0), rank, &s));
  c->set_output(0, s);
  return OkStatus();
}
inline Status UnknownShape(InferenceContext* c) {
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->UnknownShape());
  return OkStatus();
}
inline Status ScalarShape(InferenceContext* c) {
  c->set_output(0, c->Scalar());
  return OkStatus();
}
inline Status NoOutputs(InferenceContext*) { return OkStatus(); }
inline Status ExplicitShape(InferenceContext* c) {
  PartialTensorShape shape;
  ShapeHandle s;
  TF_RETURN_IF_ERROR(c->GetAttr("shape", &shape));
  TF_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(shape, &s));
  c->set_output(0, s);
  return OkStatus();
}
inline Status MergeBothInputsShapeFn(InferenceContext* c) {
  ShapeHandle s;
  TF_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &s));
  c->set_output(0, s);
  return OkStatus();
}

inline Status MatMulShape(InferenceContext* c) {
  ShapeHandle a, b;
  bool transpose_a = false, transpose_b = false;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &a));
  TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &b));
  TF_RETURN_IF_ERROR(c->GetAttr("transpose_a", &transpose_a));
  TF_RETURN_IF_ERROR(c->GetAttr("transpose_b", &transpose_b));
  DimensionHandle inner;
  TF_RETURN_IF_ERROR(c->Merge(c->Dim(a, transpose_a ? 0 : 1), c->Dim(b, transpose_b ? 1 : 0), &inner));
  c->set_output(0, c->Matrix(c->Dim(a, transpose_a ? 1 : 0), c->Dim(b, transpose_b ? 0 : 1)));
  return OkStatus();
}

// The shape of what is computed from x and y by broadcasting.
inline Status BroadcastBinaryOpOutputShapeFnHelper(InferenceContext* c, ShapeHandle x, ShapeHandle y, bool incompatible_shape_error,
                                                   ShapeHandle* out) {
  if (!c->RankKnown(x) || !c->RankKnown(y)) return *out = c->UnknownShape(), OkStatus();
  const int32 rank = std::max(c->Rank(x), c->Rank(y));
  std::vector<DimensionHandle> dims;
  for (int32 i = 0; i < rank; ++i) {
    const int32 at_x = i - (rank - c->Rank(x)), at_y = i - (rank - c->Rank(y));
    const DimensionHandle one = c->MakeDim(1), a = at_x < 0 ? one : c->Dim(x, at_x), b = at_y < 0 ? one : c->Dim(y, at_y);
    if (c->ValueKnown(a) && c->Value(a) == 1) {
      dims.push_back(b);
    } else if (c->ValueKnown(b) && c->Value(b) == 1) {
      dims.push_back(a);
    } else if (c->ValueKnown(a) && c->ValueKnown(b) && c->Value(a) != c->Value(b)) {
      if (!incompatible_shape_error) return *out = c->UnknownShape(), OkStatus();
      return errors::InvalidArgument("Dimensions must be equal, but are ", c->Value(a), " and ", c->Value(b));
    } else if (c->ValueKnown(a) || c->ValueKnown(b)) {
      dims.push_back(c->ValueKnown(a) ? a : b);  // more than one: the other is that or 1
    } else {
      dims.push_back(a.SameHandle(b) ? a : c->UnknownDim());
    }
  }
  *out = c->MakeShape(dims);
  return OkStatus();
}
inline Status BroadcastBinaryOpOutputShapeFn(InferenceContext* c, int output) {
  ShapeHandle s;
  TF_RETURN_IF_ERROR(BroadcastBinaryOpOutputShapeFnHelper(c, c->input(0), c->input(1), true, &s));
  c->set_output(output, s);
  return OkStatus();
}
inline Status BroadcastBinaryOpShapeFn(InferenceContext* c) { return BroadcastBinaryOpOutputShapeFn(c, 0); }

// Shapes of ops that the engine has, for ops with the same attributes.
inline Status Conv2DShape(InferenceContext* c) { return c->Apply("Conv2D"); }
inline Status Conv2DShapeWithExplicitPadding(InferenceContext* c) { return c->Apply("Conv2D"); }
inline Status Conv3DShape(InferenceContext* c) { return c->Apply("Conv3D"); }
inline Status DepthwiseConv2DNativeShape(InferenceContext* c) { return c->Apply("DepthwiseConv2dNative"); }
inline Status DepthwiseConv2DNativeShapeWithExplicitPadding(InferenceContext* c) { return c->Apply("DepthwiseConv2dNative"); }
inline Status AvgPoolShape(InferenceContext* c) { return c->Apply("AvgPool"); }
inline Status AvgPoolGradShape(InferenceContext* c) { return c->Apply("AvgPoolGrad"); }
inline Status MaxPoolShape(InferenceContext* c) { return c->Apply("MaxPool"); }
inline Status MaxPoolShapeWithExplicitPadding(InferenceContext* c) { return c->Apply("MaxPool"); }
inline Status MaxPoolV2Shape(InferenceContext* c, int /*num_inputs*/) { return c->Apply("MaxPoolV2"); }
inline Status MaxPoolGradShape(InferenceContext* c) { return UnchangedShapeWithRank(c, 4); }
inline Status Pool3DShape(InferenceContext* c) { return c->Apply("MaxPool3D"); }
inline Status BiasAddShape(InferenceContext* c) { return c->Apply("BiasAdd"); }
inline Status BiasAddGradShape(InferenceContext* c) { return c->Apply("BiasAddGrad"); }
inline Status FusedBatchNormShape(InferenceContext* c) { return c->Apply("FusedBatchNorm"); }
inline Status FusedBatchNormV3Shape(InferenceContext* c) { return c->Apply("FusedBatchNormV3"); }
inline Status BatchMatMulShape(InferenceContext* c) { return c->Apply("BatchMatMul"); }
inline Status BatchMatMulV2Shape(InferenceContext* c) { return c->Apply("BatchMatMulV2"); }
inline Status EinsumShape(InferenceContext* c) { return c->Apply("Einsum"); }
inline Status GatherNdShape(InferenceContext* c) { return c->Apply("GatherNd"); }
inline Status ReductionShape(InferenceContext* c) { return c->Apply("Sum"); }
inline Status SliceShape(InferenceContext* c) { return c->Apply("Slice"); }
inline Status ConcatV2Shape(InferenceContext* c) { return c->Apply("ConcatV2"); }
inline Status ConcatShape(InferenceContext* c, int /*num_inputs_to_concat*/) { return c->Apply("Concat"); }
inline Status AvgPool3DGradShape(InferenceContext* c) { return c->Apply("AvgPool3DGrad"); }
inline Status MaxPool3DGradShape(InferenceContext* c) { return UnchangedShapeWithRank(c, 5); }
inline Status FusedBatchNormExShape(InferenceContext* c) { return c->Apply("FusedBatchNormV3"); }
inline Status FusedBatchNormGradShape(InferenceContext* c) { return c->Apply("FusedBatchNormGradV3"); }
inline Status MatrixDiagV2Shape(InferenceContext* c) { return c->Apply("MatrixDiagV2"); }
inline Status MatrixDiagPartV2Shape(InferenceContext* c) { return c->Apply("MatrixDiagPartV2"); }
inline Status MatrixSetDiagV2Shape(InferenceContext* c) { return c->Apply("MatrixSetDiagV2"); }
inline Status SegmentReductionWithNumSegmentsShapeFn(InferenceContext* c) { return c->Apply("UnsortedSegmentSum"); }
inline Status SparseReduceShapeFn(InferenceContext* c) { return c->Apply("SparseReduceSum"); }
// Indices, values and shape of a sparse tensor, as far as they are known.
inline Status ValidateSparseTensor(InferenceContext* c, ShapeHandle indices, ShapeHandle values, ShapeHandle shape) {
  TF_RETURN_IF_ERROR(c->WithRank(indices, 2, &indices));
  TF_RETURN_IF_ERROR(c->WithRank(values, 1, &values));
  TF_RETURN_IF_ERROR(c->WithRank(shape, 1, &shape));
  const int64 number = c->Value(c->Dim(indices, 0)), of_values = c->Value(c->Dim(values, 0));
  if (number >= 0 && of_values >= 0 && number != of_values)
    return errors::InvalidArgument("Number of elements in index (", number, ") and values (", of_values, ") do not match.");
  const int64 rank = c->Value(c->Dim(indices, 1)), of_shape = c->Value(c->Dim(shape, 0));
  if (rank >= 0 && of_shape >= 0 && rank != of_shape)
    return errors::InvalidArgument("Index rank (", rank, ") and shape rank (", of_shape, ") do not match.");
  return OkStatus();
}
// One shape for each output, from the attribute "shapes".
inline Status ExplicitShapes(InferenceContext* c) {
  std::vector<PartialTensorShape> shapes;
  TF_RETURN_IF_ERROR(c->GetAttr("shapes", &shapes));
  if (shapes.empty()) return errors::Internal("shapes attribute is empty");
  for (size_t i = 0; i < shapes.size(); ++i) {
    ShapeHandle s;
    TF_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(shapes[i], &s));
    c->set_output(static_cast<int>(i), s);
  }
  return OkStatus();
}
// From the attributes of an iterator or dataset op: "output_shapes" for its outputs.
inline Status DatasetIteratorShape(InferenceContext* c) {
  ShapeHandle ignored;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &ignored));
  std::vector<PartialTensorShape> shapes;
  TF_RETURN_IF_ERROR(c->GetAttr("output_shapes", &shapes));
  const int n = c->num_outputs();
  if (shapes.size() != static_cast<size_t>(n))
    return errors::InvalidArgument("`output_shapes` must be the same length as `output_types` (", shapes.size(), " vs. ", n, ")");
  for (int i = 0; i < n; ++i) {
    ShapeHandle s;
    TF_RETURN_IF_ERROR(c->MakeShapeFromPartialTensorShape(shapes[static_cast<size_t>(i)], &s));
    c->set_output(i, s);
  }
  return OkStatus();
}
inline Status RandomShape(InferenceContext* c) {
  ShapeHandle s;
  TF_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(0, &s));
  c->set_output(0, s);
  return OkStatus();
}

}  // namespace shape_inference

// The size of what windows of `filter_size` leave of `input_size`, and the padding around it.
inline Status GetWindowedOutputSizeVerbose(int64_t input_size, int64_t filter_size, int64_t dilation_rate, int64_t stride, Padding padding_type,
                                           int64_t* output_size, int64_t* padding_before, int64_t* padding_after) {
  if (stride <= 0) return errors::InvalidArgument("Stride must be > 0, but got ", stride);
  if (dilation_rate < 1) return errors::InvalidArgument("Dilation rate must be >= 1, but got ", dilation_rate);
  const int64_t effective = (filter_size - 1) * dilation_rate + 1;
  if (padding_type == SAME) {
    *output_size = (input_size + stride - 1) / stride;
    const int64_t needed = std::max<int64_t>(0, (*output_size - 1) * stride + effective - input_size);
    *padding_before = needed / 2;
    *padding_after = needed - *padding_before;
  } else {
    if (padding_type == VALID) *padding_before = *padding_after = 0;
    *output_size = (input_size + *padding_before + *padding_after - effective + stride) / stride;
  }
  if (*output_size < 0)
    return errors::InvalidArgument("Computed output size would be negative: ", *output_size, " [input_size: ", input_size,
                                   ", effective_filter_size: ", effective, ", stride: ", stride, "]");
  return OkStatus();
}
inline Status GetWindowedOutputSize(int64_t input_size, int64_t filter_size, int64_t dilation_rate, int64_t stride, Padding padding_type,
                                    int64_t* output_size, int64_t* padding_size) {
  int64_t after = 0;
  if (padding_type == EXPLICIT)
    return errors::Internal("GetWindowedOutputSize does not handle EXPLICIT padding; call GetWindowedOutputSizeVerbose instead");
  return GetWindowedOutputSizeVerbose(input_size, filter_size, dilation_rate, stride, padding_type, output_size, padding_size, &after);
}
// Forms of earlier versions.
inline Status GetWindowedOutputSize(int64_t input_size, int64_t filter_size, int64_t stride, Padding padding_type, int64_t* output_size,
                                    int64_t* padding_size) {
  return GetWindowedOutputSize(input_size, filter_size, 1, stride, padding_type, output_size, padding_size);
}
inline Status GetWindowedOutputSizeV2(int64_t input_size, int64_t filter_size, int64_t dilation_rate, int64_t stride, Padding padding_type,
                                      int64_t* output_size, int64_t* padding_size) {
  return GetWindowedOutputSize(input_size, filter_size, dilation_rate, stride, padding_type, output_size, padding_size);
}
inline Status GetWindowedOutputSizeVerboseV2(int64_t input_size, int64_t filter_size, int64_t dilation_rate, int64_t stride, Padding padding_type,
                                             int64_t* output_size, int64_t* padding_before, int64_t* padding_after) {
  return GetWindowedOutputSizeVerbose(input_size, filter_size, dilation_rate, stride, padding_type, output_size, padding_before, padding_after);
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_COMMON_SHAPE_FNS_H_
