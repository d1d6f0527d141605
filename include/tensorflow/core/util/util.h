// SPDX-License-Identifier: Apache-2.0
//
// Small helpers: the scope of a node's name, a moving average.
#ifndef TENSORFLOW_CORE_UTIL_UTIL_H_
#define TENSORFLOW_CORE_UTIL_UTIL_H_

#include <vector>

#include "tensorflow/core/platform/stringpiece.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

// The name's first part, without the underscore in front of it.
inline StringPiece NodeNamePrefix(const StringPiece& op_name) {
  StringPiece name = op_name;
  if (!name.empty() && name[0] == '_') name.remove_prefix(1);
  const size_t slash = name.find('/');
  return slash == StringPiece::npos ? name : name.substr(0, slash);
}

// The mean of the last values, at most `window` of them.
class MovingAverage {
 public:
  explicit MovingAverage(int window) : data_(static_cast<size_t>(window)) {}
  MovingAverage(const MovingAverage&) = delete;
  void operator=(const MovingAverage&) = delete;
  void Clear() {
    count_ = head_ = 0;
    sum_ = 0;
  }
  double GetAverage() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }
  void AddValue(double v) {
    if (data_.empty()) return;
    if (count_ < data_.size()) {
      head_ = count_++;
    } else {
      head_ = (head_ + 1) % data_.size();
      sum_ -= data_[head_];
    }
    data_[head_] = v;
    sum_ += v;
  }

 private:
  std::vector<double> data_;
  size_t count_ = 0, head_ = 0;
  double sum_ = 0;
};

inline bool IsMKLEnabled() { return false; }

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_UTIL_H_
