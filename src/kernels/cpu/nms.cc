#include "kernels/cpu/nms.h"

#include <cmath>
#include <deque>
#include <limits>
#include <queue>

#include "core/float_types.h"

namespace weft_engine::kernels {

namespace {

// Of the first, unless the second is truly smaller or larger: this is what decides where one is NaN.
float smaller(float a, float b) { return b < a ? b : a; }
float larger(float a, float b) { return a < b ? b : a; }

}  // namespace

float box_overlap(const float* a, const float* b) {
  const float top_a = smaller(a[0], a[2]), left_a = smaller(a[1], a[3]), bottom_a = larger(a[0], a[2]), right_a = larger(a[1], a[3]);
  const float top_b = smaller(b[0], b[2]), left_b = smaller(b[1], b[3]), bottom_b = larger(b[0], b[2]), right_b = larger(b[1], b[3]);
  const float area_a = (bottom_a - top_a) * (right_a - left_a), area_b = (bottom_b - top_b) * (right_b - left_b);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = larger(smaller(bottom_a, bottom_b) - larger(top_a, top_b), 0.f);
  const float width = larger(smaller(right_a, right_b) - larger(left_a, left_b), 0.f);
  const float common = height * width;
  return common / (area_a + area_b - common);
}

template <class T>
Selection<T> select_boxes(const T* scores, int64_t count, int64_t most, T overlap_threshold, T score_threshold, T soft_sigma,
                          core::FunctionRef<float(int64_t, int64_t)> overlap) {
  struct Candidate {
    int32_t box;
    T score;
    size_t compared;  // with the selected ones before this
  };
  const auto worse = [](const Candidate& a, const Candidate& b) { return (a.score == b.score && a.box > b.box) || a.score < b.score; };
  std::priority_queue<Candidate, std::deque<Candidate>, decltype(worse)> queue(worse);
  for (int64_t i = 0; i < count; ++i) {
    if (scores[i] > score_threshold) queue.push({int32_t(i), scores[i], 0});
  }
  const bool soft = soft_sigma > T(0);
  const T scale = soft ? T(-0.5) / soft_sigma : T(0);
  Selection<T> out;
  while (int64_t(out.indices.size()) < most && !queue.empty()) {
    Candidate next = queue.top();
    const T before = next.score;
    queue.pop();
    bool dropped = false;
    // Backwards: boxes with like scores are likely to overlap.
    for (size_t j = out.indices.size(); j-- > next.compared;) {
      const T common = T(overlap(next.box, out.indices[j]));
      next.score *= soft || common <= overlap_threshold ? T(std::exp(float(T(T(scale * common) * common)))) : T(0);
      if (!soft && common > overlap_threshold) {
        dropped = true;
        break;
      }
      if (next.score <= score_threshold) break;
    }
    next.compared = out.indices.size();
    if (dropped) continue;
    if (next.score == before) {
      out.indices.push_back(next.box);
      out.scores.push_back(next.score);
    } else if (next.score > score_threshold) {
      queue.push(next);
    }
  }
  return out;
}
template Selection<float> select_boxes(const float*, int64_t, int64_t, float, float, float, core::FunctionRef<float(int64_t, int64_t)>);
template Selection<core::half> select_boxes(const core::half*, int64_t, int64_t, core::half, core::half, core::half,
                                            core::FunctionRef<float(int64_t, int64_t)>);

void select_class(const ClassBoxes& in, int64_t label, int64_t most, float overlap_threshold, float score_threshold, Detection* out) {
  struct Candidate {
    int32_t box;
    float score;
  };
  // Here equal scores come in whatever order the heap has; TensorFlow's heap is the same one.
  const auto worse = [](const Candidate& a, const Candidate& b) { return a.score < b.score; };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(worse)> queue(worse);
  for (int64_t i = 0; i < in.count; ++i) {
    const float score = in.scores[i * in.classes + label];
    if (score > score_threshold) queue.push({int32_t(i), score});
  }
  const int64_t box_class = in.box_classes > 1 ? label : 0;
  const auto corners = [&](int32_t box) { return in.boxes + (box * in.box_classes + box_class) * 4; };
  Detection* slot = out + label * most;
  int64_t taken = 0;
  while (taken < most && !queue.empty()) {
    const Candidate next = queue.top();
    queue.pop();
    const float* box = corners(next.box);
    bool free = true;
    for (int64_t j = taken - 1; j >= 0 && free; --j) free = !(box_overlap(box, corners(slot[j].box)) > overlap_threshold);
    if (!free) continue;
    slot[taken++] = {next.box, next.score, int32_t(label), {box[0], box[1], box[2], box[3]}};
  }
}

}  // namespace weft_engine::kernels
