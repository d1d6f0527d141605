// The variables of one call of compiled code, in an order in which they can be locked, and which of them are the same: code that takes one variable for two would compute
// with an old value of it.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "op/variable.h"

namespace weft_engine::op {

// Each further one with the first that it is the same as, by their numbers, in order.
using SameVariables = std::vector<std::pair<int, int>>;

// The one that stands for it in the code.
inline int first_of(const SameVariables& same, int variable) {
  const auto it = std::lower_bound(same.begin(), same.end(), std::pair(variable, -1));
  return it != same.end() && it->first == variable ? it->second : variable;
}

struct VariablesOfCall {
  std::vector<std::shared_ptr<Variable>> all;
  std::vector<int> by_address;
  SameVariables same;

  Variable& operator[](int i) const { return *all[size_t(i)]; }
  // When `all` are there.
  void sort() {
    for (size_t i = 0; i < all.size(); ++i) by_address.push_back(int(i));
    std::sort(by_address.begin(), by_address.end(), [&](int a, int b) {
      const Variable *x = all[size_t(a)].get(), *y = all[size_t(b)].get();
      return x != y ? std::less<const Variable*>()(x, y) : a < b;
    });
    for (size_t k = 1, first = 0; k < by_address.size(); ++k) {
      if (all[size_t(by_address[k])] == all[size_t(by_address[first])]) same.emplace_back(by_address[k], by_address[first]);
      else first = k;
    }
    std::sort(same.begin(), same.end());
  }
  int first_of(int variable) const { return op::first_of(same, variable); }
};

}  // namespace weft_engine::op
