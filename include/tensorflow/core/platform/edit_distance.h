// SPDX-License-Identifier: Apache-2.0
//
// gtl::LevenshteinDistance: how many changes make one text of the other.
#ifndef TENSORFLOW_CORE_PLATFORM_EDIT_DISTANCE_H_
#define TENSORFLOW_CORE_PLATFORM_EDIT_DISTANCE_H_

#include <algorithm>
#include <vector>
#include <functional>

#include "tensorflow/core/platform/span.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace gtl {

template <class T, class Equal>
int64 LevenshteinDistance(ArraySlice<T> s, ArraySlice<T> t, const Equal& same) {
  std::vector<int64> row(t.size() + 1);
  for (size_t j = 0; j <= t.size(); ++j) row[j] = static_cast<int64>(j);
  for (size_t i = 1; i <= s.size(); ++i) {
    int64 corner = row[0];
    row[0] = static_cast<int64>(i);
    for (size_t j = 1; j <= t.size(); ++j) {
      const int64 changed = corner + (same(s[i - 1], t[j - 1]) ? 0 : 1);
      corner = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[t.size()];
}
template <class Container1, class Container2, class Equal = std::equal_to<typename Container1::value_type>>
int64 LevenshteinDistance(const Container1& s, const Container2& t, const Equal& same = Equal()) {
  return LevenshteinDistance<typename Container1::value_type>(ArraySlice<typename Container1::value_type>(s.data(), s.size()),
                                                              ArraySlice<typename Container1::value_type>(t.data(), t.size()), same);
}

}  // namespace gtl
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_EDIT_DISTANCE_H_
