// Connectionist temporal classification (Graves, "Supervised Sequence Labelling with Recurrent Neural
// Networks", chapter 7): loss with gradient, and the beam search decoder, for one sequence of a batch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weft_engine::kernels {

// One sequence: `time` rows of `classes` logits that lie `stride` apart. The blank is the last class.
template <class T>
struct CtcSequence {
  const T* logits;
  int64_t time, classes, stride;
};

// -log p(labels | logits). `path` is the labels with blanks between and around them. Writes the gradient
// for the logits, with the same stride.
template <class T>
T ctc_loss(const CtcSequence<T>& s, std::span<const int32_t> path, bool merge_repeated, T* gradient);

struct BeamPath {
  std::vector<int64_t> labels;
  double log_probability;
};

// The `top` best label sequences. Fewer if the beam holds fewer.
template <class T>
std::vector<BeamPath> ctc_beam_search(const CtcSequence<T>& s, int64_t beam_width, int64_t top, bool merge_repeated);

}  // namespace weft_engine::kernels
