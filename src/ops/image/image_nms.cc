// Non-maximum suppression.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/cpu/nms.h"
#include "op/registry.h"
#include "ops/image/image_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using core::half;

// ---- shape rules

// Boxes (or overlaps), scores and scalars fit together.
Status check_shapes(const ShapeContext& c, bool overlaps) {
  WEFT_ASSIGN(PartialShape boxes, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape scores, c.with_rank(1, 1));
  for (int i = 2; i < c.num_inputs(); ++i) {
    WEFT_ASSIGN([[maybe_unused]] PartialShape scalar, c.with_rank(i, 0));
  }
  WEFT_ASSIGN(int64_t count, ShapeContext::merge_dim(boxes.dim(0), scores.dim(0)));
  if (overlaps) {
    WEFT_ASSIGN([[maybe_unused]] int64_t square, ShapeContext::merge_dim(count, boxes.dim(1)));
  } else if (boxes.dim(1) >= 0 && boxes.dim(1) != 4) {
    return invalid_argument("Dimension must be 4 but is ", boxes.dim(1));
  }
  return {};
}

Status indices_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_shapes(c, false));
  c.output(0, PartialShape::vector(kUnknownDim));
  return {};
}

Status overlaps_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_shapes(c, true));
  c.output(0, PartialShape::vector(kUnknownDim));
  return {};
}

Status proposals_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape scores, c.with_rank(0, 4));
  const int64_t count = c.attr<int64_t>("post_nms_topn");
  c.output(0, PartialShape({scores.dim(0), count, 4}));
  c.output(1, PartialShape({scores.dim(0), count}));
  return {};
}

// V4 and V5: the last output is a count.
Status padded_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_shapes(c, false));
  int64_t size = kUnknownDim;
  if (c.attr<bool>("pad_to_max_output_size")) {
    size = c.constant_int(2).value_or(kUnknownDim);
    if (size < -1) return invalid_argument("Dimension size, given by scalar input 2 must be non-negative but is ", size);
  }
  for (int i = 0; i + 1 < c.num_outputs(); ++i) c.output(i, PartialShape::vector(size));
  c.output(c.num_outputs() - 1, PartialShape::scalar());
  return {};
}

Status combined_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape boxes, c.with_rank(0, 4));
  WEFT_ASSIGN(PartialShape scores, c.with_rank(1, 3));
  for (int i = 2; i < 6; ++i) {
    WEFT_ASSIGN([[maybe_unused]] PartialShape scalar, c.with_rank(i, 0));
  }
  WEFT_ASSIGN(int64_t batch, ShapeContext::merge_dim(boxes.dim(0), scores.dim(0)));
  WEFT_ASSIGN([[maybe_unused]] int64_t count, ShapeContext::merge_dim(boxes.dim(1), scores.dim(1)));
  if (boxes.dim(3) >= 0 && boxes.dim(3) != 4) return invalid_argument("Dimension must be 4 but is ", boxes.dim(3));
  int64_t size = kUnknownDim;
  const auto per_class = c.constant_int(2), total = c.constant_int(3);
  if (total && *total <= 0) return invalid_argument("max_total_size should be > 0 ");
  if (per_class && *per_class <= 0) return invalid_argument("max_output_size_per_class should be > 0 ");
  if (total && !c.attr<bool>("pad_per_class")) size = *total;
  else if (total && per_class && scores.dim(2) >= 0) size = std::min(*total, shapes::mul_dim(*per_class, scores.dim(2)));
  c.output(0, PartialShape{batch, size, 4});
  c.output(1, PartialShape{batch, size});
  c.output(2, PartialShape{batch, size});
  c.output(3, PartialShape{batch});
  return {};
}

// ---- kernels

// V3 says the rank as well.
Status check_scalar(const Tensor& t, const char* name, bool with_rank = false) {
  if (t.rank() == 0) return {};
  if (with_rank) return invalid_argument(name, " must be 0-D, got shape ", t.shape(), " (Shape must be rank 0 but is rank ", t.rank(), ")");
  return invalid_argument(name, " must be 0-D, got shape ", t.shape());
}

Status check_scores(const Tensor& scores, int64_t count) {
  if (scores.rank() != 1) return invalid_argument("scores must be 1-D", scores.shape(), " (Shape must be rank 1 but is rank ", scores.rank(), ")");
  if (scores.dim(0) != count)
    return invalid_argument("scores has incompatible shape (Dimensions must be equal, but are ", count, " and ", scores.dim(0), ")");
  return {};
}

Status check_boxes(const Tensor& boxes, const Tensor& scores) {
  if (boxes.rank() != 2) return invalid_argument("boxes must be 2-D", boxes.shape(), " (Shape must be rank 2 but is rank ", boxes.rank(), ")");
  if (boxes.dim(1) != 4) return invalid_argument("boxes must have 4 columns (Dimension must be 4 but is ", boxes.dim(1), ")");
  return check_scores(scores, boxes.dim(0));
}

template <class T>
T scalar_value(const Tensor& t) {
  if (t.dtype() == DType::kHalf) return T(t.data<half>()[0]);
  return T(t.data<float>()[0]);
}

// Selects and stores: indices, scores if there is an output for them, and the count.
template <class T>
Status select(KernelContext& c, T overlap_threshold, T score_threshold, T sigma, core::FunctionRef<float(int64_t, int64_t)> overlap) {
  const int64_t most = c.input(2).data<int32_t>()[0], count = c.input(1).num_elements();
  if (most < 0) return invalid_argument("output size must be non-negative");
  if (count > std::numeric_limits<int32_t>::max()) return invalid_argument("too many boxes");
  const auto chosen = kernels::select_boxes<T>(c.input(1).data<T>(), count, most, overlap_threshold, score_threshold, sigma, overlap);
  const bool pad = c.num_outputs() > 1 && c.attr<bool>("pad_to_max_output_size");
  const int64_t found = int64_t(chosen.indices.size()), size = pad ? most : found;
  WEFT_ASSIGN(Tensor* indices, c.allocate(0, {size}));
  std::memset(indices->raw(), 0, indices->byte_size());
  std::copy(chosen.indices.begin(), chosen.indices.end(), indices->data<int32_t>());
  if (c.num_outputs() == 3) {
    WEFT_ASSIGN(Tensor* scores, c.allocate(1, {size}));
    std::memset(scores->raw(), 0, scores->byte_size());
    std::copy(chosen.scores.begin(), chosen.scores.end(), scores->data<T>());
  }
  if (c.num_outputs() > 1) {
    WEFT_ASSIGN(Tensor* valid, c.allocate(c.num_outputs() - 1, {}));
    valid->data<int32_t>()[0] = int32_t(found);
  }
  return {};
}

// By overlaps of boxes, read as float.
template <class T>
Status select_by_boxes(KernelContext& c, T overlap_threshold, T score_threshold, T sigma) {
  WEFT_ASSIGN(Tensor boxes, as_float(c, c.input(0)));
  const float* p = boxes.data<float>();
  return select<T>(c, overlap_threshold, score_threshold, sigma, [p](int64_t i, int64_t j) { return kernels::box_overlap(p + i * 4, p + j * 4); });
}

Status run_nms(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_scalar(c.input(2), "max_output_size"));
  const float threshold = c.attr<float>("iou_threshold");
  if (!(threshold >= 0 && threshold <= 1)) return invalid_argument("iou_threshold must be in [0, 1]");
  WEFT_RETURN_IF_ERROR(check_boxes(c.input(0), c.input(1)));
  return select_by_boxes<float>(c, threshold, std::numeric_limits<float>::lowest(), 0.f);
}

template <int version>
Status run_nms_inputs(KernelContext& c) {
  constexpr bool kSaysRank = version == 3;
  WEFT_RETURN_IF_ERROR(check_scalar(c.input(2), "max_output_size", kSaysRank));
  WEFT_RETURN_IF_ERROR(check_scalar(c.input(3), "iou_threshold", kSaysRank));
  return dispatch<float, half>(c.input(0).dtype(), [&]<class T>(Tag<T>) -> Status {
    const T overlap = scalar_value<T>(c.input(3));
    if (!(overlap >= T(0) && overlap <= T(1))) return invalid_argument("iou_threshold must be in [0, 1]");
    T score = std::numeric_limits<T>::lowest(), sigma = T(0);
    if (version >= 3) {
      WEFT_RETURN_IF_ERROR(check_scalar(c.input(4), "score_threshold"));
      score = scalar_value<T>(c.input(4));
    }
    if (version >= 5) {
      WEFT_RETURN_IF_ERROR(check_scalar(c.input(5), "soft_nms_sigma"));
      sigma = scalar_value<T>(c.input(5));
      if (!(sigma >= T(0))) return invalid_argument("soft_nms_sigma_val must be >= 0");
    }
    WEFT_RETURN_IF_ERROR(check_boxes(c.input(0), c.input(1)));
    return select_by_boxes<T>(c, overlap, score, sigma);
  });
}

Status run_nms_overlaps(KernelContext& c) {
  const Tensor& overlaps = c.input(0);
  WEFT_RETURN_IF_ERROR(check_scalar(c.input(2), "max_output_size"));
  WEFT_RETURN_IF_ERROR(check_scalar(c.input(3), "overlap_threshold"));
  WEFT_RETURN_IF_ERROR(check_scalar(c.input(4), "score_threshold"));
  if (overlaps.rank() != 2) return invalid_argument("overlaps must be 2-D", overlaps.shape());
  const int64_t n = overlaps.dim(0);
  if (overlaps.dim(1) != n) return invalid_argument("overlaps must be square", overlaps.shape());
  WEFT_RETURN_IF_ERROR(check_scores(c.input(1), n));
  const float* p = overlaps.data<float>();
  return select<float>(c, c.input(3).data<float>()[0], c.input(4).data<float>()[0], 0.f, [=](int64_t i, int64_t j) { return p[i * n + j]; });
}

// ---- CombinedNonMaxSuppression

Status check_combined(KernelContext& c) {
  const Tensor &boxes = c.input(0), &scores = c.input(1);
  if (boxes.rank() > 0 && scores.rank() > 0 && boxes.dim(0) != scores.dim(0)) return invalid_argument("boxes and scores must have same batch size");
  if (boxes.rank() != 4) return invalid_argument("boxes must be 4-D [batch, num_boxes, q, 4], got shape ", boxes.shape());
  if (scores.rank() != 3) return invalid_argument("scores must be 3-D [batch, num_boxes, num_classes], got shape ", scores.shape());
  if (boxes.dim(2) != 1 && boxes.dim(2) != scores.dim(2)) return invalid_argument("third dimension of boxes must be either 1 or num classes");
  if (boxes.dim(3) != 4) return invalid_argument("boxes must have 4 columns");
  if (scores.dim(1) != boxes.dim(1)) return invalid_argument("scores has incompatible shape");
  WEFT_RETURN_IF_ERROR(check_scalar(c.input(2), "max_size_per_class"));
  if (c.input(2).data<int32_t>()[0] <= 0) return invalid_argument("max_size_per_class must be positive");
  WEFT_RETURN_IF_ERROR(check_scalar(c.input(3), "max_total_size"));
  if (c.input(3).data<int32_t>()[0] <= 0) return invalid_argument("max_total_size must be > 0");
  WEFT_RETURN_IF_ERROR(check_scalar(c.input(4), "iou_threshold"));
  WEFT_RETURN_IF_ERROR(check_scalar(c.input(5), "score_threshold"));
  const float threshold = c.input(4).data<float>()[0];
  if (!(threshold >= 0 && threshold <= 1)) return invalid_argument("iou_threshold must be in [0, 1]");
  return {};
}

Status run_combined(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_combined(c));
  const Tensor &boxes = c.input(0), &scores = c.input(1);
  const int64_t batch = boxes.dim(0), count = boxes.dim(1), classes = scores.dim(2), box_classes = boxes.dim(2);
  const int64_t per_class = c.input(2).data<int32_t>()[0], total = c.input(3).data<int32_t>()[0], most = std::min(per_class, count);
  constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();
  const int64_t slots = core::multiply_without_overflow(most, classes);
  if (slots < 0 || slots > kMaxInt || count > kMaxInt) return invalid_argument("size_per_class * num_classes causes overflow");
  int64_t size = total;
  if (c.attr<bool>("pad_per_class")) {
    const int64_t all = core::multiply_without_overflow(per_class, classes);
    size = std::min(total, all < 0 ? kMaxInt : std::min(all, kMaxInt));
  }
  WEFT_ASSIGN(Tensor* out_boxes, c.allocate(0, {batch, size, 4}));
  WEFT_ASSIGN(Tensor* out_scores, c.allocate(1, {batch, size}));
  WEFT_ASSIGN(Tensor* out_classes, c.allocate(2, {batch, size}));
  WEFT_ASSIGN(Tensor* valid, c.allocate(3, {batch}));
  for (Tensor* t : {out_boxes, out_scores, out_classes, valid}) std::memset(t->raw(), 0, t->byte_size());
  const float overlap = c.input(4).data<float>()[0], threshold = c.input(5).data<float>()[0];
  const bool clip = c.attr<bool>("clip_boxes");
  c.pool().parallel_for(batch, double(count) * double(classes) * 50, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const kernels::ClassBoxes in{boxes.data<float>() + b * count * box_classes * 4, scores.data<float>() + b * count * classes, count, box_classes,
                                   classes};
      std::vector<kernels::Detection> found(size_t(slots), {-1, -std::numeric_limits<float>::infinity(), -1, {0, 0, 0, 0}});
      for (int64_t label = 0; label < classes; ++label) kernels::select_class(in, label, most, overlap, threshold, found.data());
      const int64_t real = std::count_if(found.begin(), found.end(), [](const kernels::Detection& d) { return d.box >= 0; });
      std::sort(found.begin(), found.end(), [](const kernels::Detection& x, const kernels::Detection& y) { return y.score < x.score; });
      const int64_t kept = std::min(real, size);
      valid->data<int32_t>()[b] = int32_t(kept);
      for (int64_t i = 0; i < kept; ++i) {
        const kernels::Detection& d = found[size_t(i)];
        for (int k = 0; k < 4; ++k)
          out_boxes->data<float>()[(b * size + i) * 4 + k] = clip ? std::max(std::min(d.corners[k], 1.f), 0.f) : d.corners[k];
        out_scores->data<float>()[b * size + i] = d.score;
        out_classes->data<float>()[b * size + i] = float(d.label);
      }
    }
  });
  return {};
}

}  // namespace

void image_nms(Registry& r) {
  r.add("CombinedNonMaxSuppression")
      .doc("Non-maximum suppression within each class, then the best of all classes, for a batch of images.")
      .in("boxes: float")
      .in("scores: float")
      .in("max_output_size_per_class: int32")
      .in("max_total_size: int32")
      .in("iou_threshold: float")
      .in("score_threshold: float")
      .out("nmsed_boxes: float")
      .out("nmsed_scores: float")
      .out("nmsed_classes: float")
      .out("valid_detections: int32")
      .attr("pad_per_class: bool = false")
      .attr("clip_boxes: bool = true")
      .shape(combined_shape)
      .cpu(run_combined);

  r.add("NonMaxSuppression")
      .doc("Boxes by descending score, without those that overlap an earlier one.")
      .in("boxes: float")
      .in("scores: float")
      .in("max_output_size: int32")
      .out("selected_indices: int32")
      .attr("iou_threshold: float = 0.5")
      .shape(indices_shape)
      .no_grad()
      .cpu(run_nms);

  r.add("NonMaxSuppressionV2")
      .doc("As NonMaxSuppression, with the threshold as an input.")
      .in("boxes: T")
      .in("scores: T")
      .in("max_output_size: int32")
      .in("iou_threshold: T_threshold")
      .out("selected_indices: int32")
      .attr("T: {half, float} = DT_FLOAT")
      .attr("T_threshold: {half, float} = DT_FLOAT")
      .on_gpu(OnGpu::kByCpu)
      .shape(indices_shape)
      .no_grad()
      .cpu(run_nms_inputs<2>);

  r.add("NonMaxSuppressionV3")
      .doc("As NonMaxSuppressionV2, for boxes above a score.")
      .in("boxes: T")
      .in("scores: T")
      .in("max_output_size: int32")
      .in("iou_threshold: T_threshold")
      .in("score_threshold: T_threshold")
      .out("selected_indices: int32")
      .attr("T: {half, float} = DT_FLOAT")
      .attr("T_threshold: {half, float} = DT_FLOAT")
      .on_gpu(OnGpu::kByCpu)
      .shape(indices_shape)
      .cpu(run_nms_inputs<3>);

  r.add("NonMaxSuppressionV4")
      .doc("As NonMaxSuppressionV3, optionally padded with zeros to a fixed size.")
      .in("boxes: T")
      .in("scores: T")
      .in("max_output_size: int32")
      .in("iou_threshold: T_threshold")
      .in("score_threshold: T_threshold")
      .out("selected_indices: int32")
      .out("valid_outputs: int32")
      .attr("T: {half, float} = DT_FLOAT")
      .attr("T_threshold: {half, float} = DT_FLOAT")
      .attr("pad_to_max_output_size: bool = false")
      .on_gpu(OnGpu::kByCpu)
      .shape(padded_shape)
      .cpu(run_nms_inputs<4>);

  r.add("NonMaxSuppressionV5")
      .doc("As NonMaxSuppressionV4, with scores, which overlapping boxes may lose instead of being dropped.")
      .in("boxes: T")
      .in("scores: T")
      .in("max_output_size: int32")
      .in("iou_threshold: T")
      .in("score_threshold: T")
      .in("soft_nms_sigma: T")
      .out("selected_indices: int32")
      .out("selected_scores: T")
      .out("valid_outputs: int32")
      .attr("T: {half, float} = DT_FLOAT")
      .attr("pad_to_max_output_size: bool = false")
      .shape(padded_shape)
      .cpu(run_nms_inputs<5>);

  r.add("NonMaxSuppressionWithOverlaps")
      .doc("Non-maximum suppression with the overlaps given as a matrix.")
      .in("overlaps: float")
      .in("scores: float")
      .in("max_output_size: int32")
      .in("overlap_threshold: float")
      .in("score_threshold: float")
      .out("selected_indices: int32")
      .shape(overlaps_shape)
      .no_grad()
      .cpu(run_nms_overlaps);

  // TensorFlow, too, has no kernel of this one for the CPU.
  r.add("GenerateBoundingBoxProposals")
      .doc("Regions of interest from scores and shifts of anchors, the best after non-maximum suppression.")
      .in("scores: float")
      .in("bbox_deltas: float")
      .in("image_info: float")
      .in("anchors: float")
      .in("nms_threshold: float")
      .in("pre_nms_topn: int32")
      .in("min_size: float")
      .out("rois: float")
      .out("roi_probabilities: float")
      .attr("post_nms_topn: int = 300")
      .on_gpu(OnGpu::kByCpu)
      .shape(proposals_shape)
      .no_grad();
}

}  // namespace weft_engine::ops
