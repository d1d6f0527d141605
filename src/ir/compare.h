// Compare, of numbers.
#pragma once

#include "ir/ir.h"

namespace weft_engine::ir {

template <class T>
bool compared(Compare c, T x, T y) {
  switch (c) {
    case Compare::kEq: return x == y;
    case Compare::kNe: return x != y;
    case Compare::kLt: return x < y;
    case Compare::kLe: return x <= y;
    case Compare::kGt: return x > y;
    case Compare::kGe: return x >= y;
  }
  return false;
}

}  // namespace weft_engine::ir
