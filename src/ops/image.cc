#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void image(Registry& r) {
  r.add("AdjustContrastv2")
      .in("images: T")
      .in("contrast_factor: float")
      .out("output: T")
      .attr("T: {half, float} = DT_FLOAT");

  r.add("AdjustHue")
      .in("images: T")
      .in("delta: float")
      .out("output: T")
      .attr("T: {half, float} = DT_FLOAT");

  r.add("AdjustSaturation")
      .in("images: T")
      .in("scale: float")
      .out("output: T")
      .attr("T: {half, float} = DT_FLOAT");

  r.add("CombinedNonMaxSuppression")
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
      .attr("clip_boxes: bool = true");

  r.add("DrawBoundingBoxes")
      .in("images: T")
      .in("boxes: float")
      .out("output: T")
      .attr("T: {float, half} = DT_FLOAT");

  r.add("DrawBoundingBoxesV2")
      .in("images: T")
      .in("boxes: float")
      .in("colors: float")
      .out("output: T")
      .attr("T: {float, half} = DT_FLOAT");

  r.add("HSVToRGB")
      .in("images: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double} = DT_FLOAT");

  r.add("NonMaxSuppression")
      .in("boxes: float")
      .in("scores: float")
      .in("max_output_size: int32")
      .out("selected_indices: int32")
      .attr("iou_threshold: float = 0.5");

  r.add("NonMaxSuppressionV2")
      .in("boxes: T")
      .in("scores: T")
      .in("max_output_size: int32")
      .in("iou_threshold: T_threshold")
      .out("selected_indices: int32")
      .attr("T: {half, float} = DT_FLOAT")
      .attr("T_threshold: {half, float} = DT_FLOAT");

  r.add("NonMaxSuppressionV3")
      .in("boxes: T")
      .in("scores: T")
      .in("max_output_size: int32")
      .in("iou_threshold: T_threshold")
      .in("score_threshold: T_threshold")
      .out("selected_indices: int32")
      .attr("T: {half, float} = DT_FLOAT")
      .attr("T_threshold: {half, float} = DT_FLOAT");

  r.add("NonMaxSuppressionV4")
      .in("boxes: T")
      .in("scores: T")
      .in("max_output_size: int32")
      .in("iou_threshold: T_threshold")
      .in("score_threshold: T_threshold")
      .out("selected_indices: int32")
      .out("valid_outputs: int32")
      .attr("T: {half, float} = DT_FLOAT")
      .attr("T_threshold: {half, float} = DT_FLOAT")
      .attr("pad_to_max_output_size: bool = false");

  r.add("NonMaxSuppressionV5")
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
      .attr("pad_to_max_output_size: bool = false");

  r.add("NonMaxSuppressionWithOverlaps")
      .in("overlaps: float")
      .in("scores: float")
      .in("max_output_size: int32")
      .in("overlap_threshold: float")
      .in("score_threshold: float")
      .out("selected_indices: int32");

  r.add("RGBToHSV")
      .in("images: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double} = DT_FLOAT");
}

}  // namespace weft::ops
