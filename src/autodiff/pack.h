// Saved values in lists. A function that calls another and loops over a third saves what each of them saves: in trees of calls the number doubles at each level. Where
// several calls give more than kMostSavedByCalls, those of one type and shape therefore become one list, and all do beyond kMostSaved: so the number stays bounded.
#pragma once

#include "autodiff/split.h"

namespace weft_engine::autodiff {

constexpr size_t kMostSaved = 1024, kMostSavedByCalls = 128, kMostShapes = 32;

struct Packed {
  Endpoint list;
  DType type;
  std::vector<Endpoint> values;
};

struct Pack {
  std::vector<Packed> lists;
  std::vector<const Node*> nodes;  // that make them: part of the forward pass
};

// Where there are too many, replaces `values` of the body by the lists and what cannot be in one.
Result<Pack> pack(BodyGradient& g, std::vector<Endpoint>& values);

// The backward pass reads elements of `list`, which is there in place of `packed.list`, instead of the values.
Status unpack(BodyGradient& g, const Split& parts, std::vector<Endpoint>& results, const Packed& packed, Endpoint list);

// Lists, by the ops of loops' gradients (loop_gradient.cc).
Value empty_list(Emitter& e, const PartialShape& element, const Value& most, DType type);
Value pushed_back(const Value& list, const Value& item, DType type);
std::vector<Value> popped_back(const Value& list, const PartialShape& element, DType type);  // what is left, and the last one

}  // namespace weft_engine::autodiff
