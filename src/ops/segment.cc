#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void segment(Registry& r) {
  r.add("SegmentMax")
      .in("data: T")
      .in("segment_ids: Tindices")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}");

  r.add("SegmentMean")
      .in("data: T")
      .in("segment_ids: Tindices")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}");

  r.add("SegmentMin")
      .in("data: T")
      .in("segment_ids: Tindices")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}");

  r.add("SegmentProd")
      .in("data: T")
      .in("segment_ids: Tindices")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}");

  r.add("SegmentSum")
      .in("data: T")
      .in("segment_ids: Tindices")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}");

  r.add("SparseSegmentMean")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false");

  r.add("SparseSegmentMeanGrad")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("output_dim0: int32")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32");

  r.add("SparseSegmentMeanGradV2")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("dense_output_dim0: int32")
      .out("output: T")
      .out("sorted_unique_indices: Tidx")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32");

  r.add("SparseSegmentMeanWithNumSegments")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false");

  r.add("SparseSegmentSqrtN")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false");

  r.add("SparseSegmentSqrtNGrad")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("output_dim0: int32")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32");

  r.add("SparseSegmentSqrtNGradV2")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("dense_output_dim0: int32")
      .out("output: T")
      .out("sorted_unique_indices: Tidx")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32");

  r.add("SparseSegmentSqrtNWithNumSegments")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false");

  r.add("SparseSegmentSum")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false");

  r.add("SparseSegmentSumGrad")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("output_dim0: int32")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32");

  r.add("SparseSegmentSumGradV2")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("dense_output_dim0: int32")
      .out("output: T")
      .out("sorted_unique_indices: Tidx")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32");

  r.add("SparseSegmentSumWithNumSegments")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false");

  r.add("UnsortedSegmentMax")
      .in("data: T")
      .in("segment_ids: Tindices")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("Tnumsegments: {int32, int64} = DT_INT32");

  r.add("UnsortedSegmentMin")
      .in("data: T")
      .in("segment_ids: Tindices")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("Tnumsegments: {int32, int64} = DT_INT32");

  r.add("UnsortedSegmentProd")
      .in("data: T")
      .in("segment_ids: Tindices")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("Tnumsegments: {int32, int64} = DT_INT32");

  r.add("UnsortedSegmentSum")
      .in("data: T")
      .in("segment_ids: Tindices")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int16, int32, int64}")
      .attr("Tnumsegments: {int32, int64} = DT_INT32");
}

}  // namespace weft::ops
