// SPDX-License-Identifier: Apache-2.0
//
// Counter: a number that only grows, for each row of labels.
#ifndef TENSORFLOW_CORE_LIB_MONITORING_COUNTER_H_
#define TENSORFLOW_CORE_LIB_MONITORING_COUNTER_H_

#include <atomic>

#include "tensorflow/core/lib/monitoring/metric_def.h"

namespace tensorflow {
namespace monitoring {

class CounterCell {
 public:
  explicit CounterCell(int64 value = 0) : value_(value) {}
  CounterCell(const CounterCell&) = delete;
  void operator=(const CounterCell&) = delete;
  void IncrementBy(int64 step) { value_ += step; }
  int64 value() const { return value_; }

 private:
  std::atomic<int64> value_;
};

template <int kLabels>
class Counter {
 public:
  Counter(const Counter&) = delete;
  void operator=(const Counter&) = delete;
  // Name, description, and what each label is.
  template <class... Definition>
  static Counter* New(Definition&&... definition) {
    return new Counter(MetricDef<MetricKind::kCumulative, int64, kLabels>(std::forward<Definition>(definition)...));
  }
  template <class... Labels>
  CounterCell* GetCell(const Labels&... labels) {
    static_assert(sizeof...(Labels) == kLabels, "a value for each label");
    return cells_.Get({{std::string(labels)...}});
  }
  Status GetStatus() { return OkStatus(); }

 private:
  explicit Counter(const MetricDef<MetricKind::kCumulative, int64, kLabels>&) {}
  internal::Cells<CounterCell, kLabels> cells_;
};

}  // namespace monitoring
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_MONITORING_COUNTER_H_
