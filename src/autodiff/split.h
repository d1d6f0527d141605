// A graph that holds a body and its gradient, taken apart: which values of the body must be kept for the way back.
#pragma once

#include <functional>

#include "autodiff/backward.h"

namespace weft_engine::autodiff {

struct Split {
  std::vector<const Node*> forward, backward;  // nodes of either, without arguments and results
  std::vector<Endpoint> needed;                // values of the body that the way back reads, each once, in a fixed order
  bool reads_values = false;                   // some of them, constants included, have gradients and are not results
};

// `results`: what the way back gives (they may change: a value that only hands on another gives way to it). `given`: arguments
// of the body that the way back has at no cost. Constants and facts about shapes that follow from what is there anyway are
// copied, and of values whose shape alone is read only that is kept.
Result<Split> split(BodyGradient& g, std::vector<Endpoint>& results, const std::function<bool(const Endpoint&)>& given);

// The readers of `from` on the way back read `to`.
void read_instead(Graph& graph, const Split& split, std::vector<Endpoint>& results, Endpoint from, Endpoint to);

}  // namespace weft_engine::autodiff
