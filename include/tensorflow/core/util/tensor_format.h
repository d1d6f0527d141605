// SPDX-License-Identifier: Apache-2.0
//
// TensorFormat: where batch, channels and places lie among the dimensions of images and of filters.
#ifndef TENSORFLOW_CORE_UTIL_TENSOR_FORMAT_H_
#define TENSORFLOW_CORE_UTIL_TENSOR_FORMAT_H_

#include <array>
#include <string>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/stringpiece.h"

namespace tensorflow {

enum TensorFormat { FORMAT_NHWC = 0, FORMAT_NCHW = 1, FORMAT_NCHW_VECT_C = 2, FORMAT_NHWC_VECT_W = 3, FORMAT_HWNC = 4, FORMAT_HWCN = 5 };
enum FilterTensorFormat { FORMAT_HWIO = 0, FORMAT_OIHW = 1, FORMAT_OHWI = 2, FORMAT_OIHW_VECT_I = 3 };

inline bool FormatFromString(StringPiece text, TensorFormat* format) {
  if (text == "NHWC" || text == "NDHWC") return *format = FORMAT_NHWC, true;
  if (text == "NCHW" || text == "NCDHW") return *format = FORMAT_NCHW, true;
  if (text == "NCHW_VECT_C") return *format = FORMAT_NCHW_VECT_C, true;
  if (text == "NHWC_VECT_W") return *format = FORMAT_NHWC_VECT_W, true;
  if (text == "HWNC") return *format = FORMAT_HWNC, true;
  if (text == "HWCN") return *format = FORMAT_HWCN, true;
  return false;
}
inline bool FilterFormatFromString(StringPiece text, FilterTensorFormat* format) {
  if (text == "HWIO" || text == "DHWIO") return *format = FORMAT_HWIO, true;
  if (text == "OIHW" || text == "OIDHW") return *format = FORMAT_OIHW, true;
  if (text == "OHWI" || text == "ODHWI") return *format = FORMAT_OHWI, true;
  if (text == "OIHW_VECT_I") return *format = FORMAT_OIHW_VECT_I, true;
  return false;
}
inline std::string ToString(TensorFormat format) {
  static const char* const kNames[] = {"NHWC", "NCHW", "NCHW_VECT_C", "NHWC_VECT_W", "HWNC", "HWCN"};
  CHECK(format >= 0 && format < 6) << "Invalid Format: " << static_cast<int>(format);
  return kNames[format];
}
inline std::string ToString(FilterTensorFormat format) {
  static const char* const kNames[] = {"HWIO", "OIHW", "OHWI", "OIHW_VECT_I"};
  CHECK(format >= 0 && format < 4) << "Invalid Filter Format: " << static_cast<int>(format);
  return kNames[format];
}
inline std::string GetConvnetDataFormatAttrString() { return "data_format: { 'NHWC', 'NCHW' } = 'NHWC' "; }
inline std::string GetConvnet3dDataFormatAttrString() { return "data_format: { 'NDHWC', 'NCDHW' } = 'NDHWC' "; }
inline std::string GetConvnetDataFormat2D3DAttrString() { return "data_format: { 'NHWC', 'NCHW', 'NDHWC', 'NCDHW' } = 'NHWC' "; }
inline std::string GetConvnetFilterFormatAttrString() { return "filter_format: { 'HWIO', 'OIHW' } = 'HWIO' "; }

namespace internal {
inline bool IsVect(TensorFormat f) { return f == FORMAT_NCHW_VECT_C || f == FORMAT_NHWC_VECT_W; }
// The place of dimension `d` of the picture: N, C, or a number of a spatial dimension.
inline int FormatIndex(int dims, TensorFormat f, char d) {
  const bool channels_first = f == FORMAT_NCHW || f == FORMAT_NCHW_VECT_C;
  const int spatial = dims - (IsVect(f) ? 3 : 2);
  switch (d) {
    case 'N': return f == FORMAT_HWNC ? dims - 2 : f == FORMAT_HWCN ? dims - 1 : 0;
    case 'C': return channels_first ? 1 : f == FORMAT_HWCN || f == FORMAT_NHWC_VECT_W ? dims - 2 : dims - 1;
    default: break;
  }
  int place = 0;
  switch (d) {
    case '0': place = 0; break;
    case '1': place = 1; break;
    case '2': place = 2; break;
    case 'D': place = spatial - 3; break;
    case 'H': place = spatial - 2; break;
    case 'W': place = spatial - 1; break;
    default: LOG(FATAL) << "Invalid dimension: " << d;
  }
  CHECK(place >= 0 && place < spatial) << "dimension " << d << " of " << spatial << " spatial ones";
  if (f == FORMAT_HWNC || f == FORMAT_HWCN) return place;
  return place + (channels_first ? 2 : 1);
}
}  // namespace internal

inline int GetTensorSpatialDims(int dims, TensorFormat f) { return dims - (internal::IsVect(f) ? 3 : 2); }
inline int GetTensorDimsFromSpatialDims(int spatial, TensorFormat f) { return spatial + (internal::IsVect(f) ? 3 : 2); }
inline int GetTensorBatchDimIndex(int dims, TensorFormat f) { return internal::FormatIndex(dims, f, 'N'); }
inline int GetTensorFeatureDimIndex(int dims, TensorFormat f) { return internal::FormatIndex(dims, f, 'C'); }
inline int GetTensorInnerFeatureDimIndex(int dims, TensorFormat f) {
  CHECK_EQ(f, FORMAT_NCHW_VECT_C);
  return dims - 1;
}
inline int GetTensorInnerWidthDimIndex(int dims, TensorFormat f) {
  CHECK_EQ(f, FORMAT_NHWC_VECT_W);
  return dims - 1;
}
inline int GetTensorSpatialDimIndex(int dims, TensorFormat f, int spatial) {
  CHECK(spatial >= 0 && spatial < GetTensorSpatialDims(dims, f)) << "spatial dimension " << spatial;
  if (f == FORMAT_HWNC || f == FORMAT_HWCN) return spatial;
  return spatial + (f == FORMAT_NCHW || f == FORMAT_NCHW_VECT_C ? 2 : 1);
}
template <int kSpatialDims>
int32 GetTensorDimIndex(TensorFormat f, char d) {
  return internal::FormatIndex(GetTensorDimsFromSpatialDims(kSpatialDims, f), f, d);
}
inline int32 GetTensorDimIndex(TensorFormat f, char d) { return GetTensorDimIndex<2>(f, d); }
inline int32 GetTensorDimIndex(TensorFormat f, char d, int dims) { return internal::FormatIndex(dims, f, d); }

inline int GetFilterTensorSpatialDims(int dims, FilterTensorFormat f) { return dims - (f == FORMAT_OIHW_VECT_I ? 3 : 2); }
inline int GetFilterTensorDimsFromSpatialDims(int spatial, FilterTensorFormat f) { return spatial + (f == FORMAT_OIHW_VECT_I ? 3 : 2); }
inline int GetFilterTensorInputChannelsDimIndex(int dims, FilterTensorFormat f) {
  return f == FORMAT_HWIO ? dims - 2 : f == FORMAT_OHWI ? dims - 1 : 1;
}
inline int GetFilterTensorOutputChannelsDimIndex(int dims, FilterTensorFormat f) { return f == FORMAT_HWIO ? dims - 1 : 0; }
inline int GetFilterTensorSpatialDimIndex(int dims, FilterTensorFormat f, int spatial) {
  CHECK(spatial >= 0 && spatial < GetFilterTensorSpatialDims(dims, f)) << "spatial dimension " << spatial;
  return spatial + (f == FORMAT_HWIO ? 0 : f == FORMAT_OHWI ? 1 : 2);
}
template <int kSpatialDims>
int GetFilterDimIndex(FilterTensorFormat f, char d) {
  const int dims = GetFilterTensorDimsFromSpatialDims(kSpatialDims, f);
  switch (d) {
    case 'I': return GetFilterTensorInputChannelsDimIndex(dims, f);
    case 'O': return GetFilterTensorOutputChannelsDimIndex(dims, f);
    case 'D': return GetFilterTensorSpatialDimIndex(dims, f, kSpatialDims - 3);
    case 'H': return GetFilterTensorSpatialDimIndex(dims, f, kSpatialDims - 2);
    case 'W': return GetFilterTensorSpatialDimIndex(dims, f, kSpatialDims - 1);
    default: return GetFilterTensorSpatialDimIndex(dims, f, d - '0');
  }
}

// The element of a list (strides, sizes) that belongs to a dimension.
template <class T>
T GetTensorDim(gtl::ArraySlice<T> values, TensorFormat f, char d) {
  const int i = GetTensorDimIndex(f, d, static_cast<int>(values.size()));
  CHECK(i >= 0 && i < static_cast<int>(values.size())) << "dimension " << d;
  return values[static_cast<size_t>(i)];
}
template <class T>
T GetTensorDim(const std::vector<T>& values, TensorFormat f, char d) {
  return GetTensorDim(gtl::ArraySlice<T>(values), f, d);
}
inline int64 GetTensorDim(const TensorShape& shape, TensorFormat f, char d) { return shape.dim_size(GetTensorDimIndex(f, d, shape.dims())); }
inline int64 GetTensorDim(const Tensor& tensor, TensorFormat f, char d) { return GetTensorDim(tensor.shape(), f, d); }
inline int64 GetFilterDim(const TensorShape& shape, FilterTensorFormat f, char d) {
  const int dims = shape.dims();
  switch (d) {
    case 'I': return shape.dim_size(GetFilterTensorInputChannelsDimIndex(dims, f));
    case 'O': return shape.dim_size(GetFilterTensorOutputChannelsDimIndex(dims, f));
    case 'H': return shape.dim_size(GetFilterTensorSpatialDimIndex(dims, f, GetFilterTensorSpatialDims(dims, f) - 2));
    case 'W': return shape.dim_size(GetFilterTensorSpatialDimIndex(dims, f, GetFilterTensorSpatialDims(dims, f) - 1));
    default: return shape.dim_size(GetFilterTensorSpatialDimIndex(dims, f, d - '0'));
  }
}
inline int64 GetFilterDim(const Tensor& tensor, FilterTensorFormat f, char d) { return GetFilterDim(tensor.shape(), f, d); }
inline Status ShapeFromFormatWithStatus(TensorFormat f, int64 n, gtl::ArraySlice<int64> spatial, int64 channels, TensorShape* shape) {
  const int dims = GetTensorDimsFromSpatialDims(static_cast<int>(spatial.size()), f);
  std::vector<int64> sizes(static_cast<size_t>(dims));
  sizes[static_cast<size_t>(GetTensorBatchDimIndex(dims, f))] = n;
  for (int i = 0; i < static_cast<int>(spatial.size()); ++i) {
    int64 size = spatial[static_cast<size_t>(i)];
    if (f == FORMAT_NHWC_VECT_W && i == static_cast<int>(spatial.size()) - 1) {
      if (size % 4 != 0) return errors::InvalidArgument("FORMAT_NHWC_VECT_W requires W to be a multiple of 4, but W=", size);
      sizes[static_cast<size_t>(dims - 1)] = 4;
      size /= 4;
    }
    sizes[static_cast<size_t>(GetTensorSpatialDimIndex(dims, f, i))] = size;
  }
  if (f == FORMAT_NCHW_VECT_C) {
    if (channels % 4 != 0) return errors::InvalidArgument("FORMAT_NCHW_VECT_C requires C to be a multiple of 4, but C=", channels);
    sizes[static_cast<size_t>(dims - 1)] = 4;
    channels /= 4;
  }
  sizes[static_cast<size_t>(GetTensorFeatureDimIndex(dims, f))] = channels;
  return TensorShape::BuildTensorShape(sizes, shape);
}
inline TensorShape ShapeFromFormat(TensorFormat f, int64 n, gtl::ArraySlice<int64> spatial, int64 channels) {
  TensorShape shape;
  TF_CHECK_OK(ShapeFromFormatWithStatus(f, n, spatial, channels, &shape));
  return shape;
}
inline TensorShape ShapeFromFormat(TensorFormat f, int64 n, int64 h, int64 w, int64 c) {
  const std::array<int64, 2> spatial = {h, w};
  return ShapeFromFormat(f, n, spatial, c);
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_TENSOR_FORMAT_H_
