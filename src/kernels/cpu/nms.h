// Non-maximum suppression: boxes taken in the order of their scores, unless they overlap one taken before.
#pragma once

#include <cstdint>
#include <vector>

#include "core/function_ref.h"

namespace weft_engine::kernels {

// Intersection over union of two boxes given by any two opposite corners.
float box_overlap(const float* a, const float* b);

template <class T>
struct Selection {
  std::vector<int32_t> indices;
  std::vector<T> scores;
};

// T (float or half) is the type that TensorFlow computes scores in. With soft_sigma > 0 overlapping boxes
// lose score instead of being dropped. Equal scores: the lower index first.
template <class T>
Selection<T> select_boxes(const T* scores, int64_t count, int64_t most, T overlap_threshold, T score_threshold, T soft_sigma,
                          core::FunctionRef<float(int64_t, int64_t)> overlap);

// One image of several classes (CombinedNonMaxSuppression).
struct ClassBoxes {
  const float* boxes;   // [count, box_classes, 4]
  const float* scores;  // [count, classes]
  int64_t count, box_classes, classes;
};
struct Detection {
  int32_t box;  // -1: none
  float score;
  int32_t label;
  float corners[4];
};
// The best `most` of each class: detections [label * most, (label + 1) * most), those unused left as they are.
void select_class(const ClassBoxes& in, int64_t label, int64_t most, float overlap_threshold, float score_threshold, Detection* out);

}  // namespace weft_engine::kernels
