// SPDX-License-Identifier: Apache-2.0
//
// Gauge: a value of now, for each row of labels.
#ifndef TENSORFLOW_CORE_LIB_MONITORING_GAUGE_H_
#define TENSORFLOW_CORE_LIB_MONITORING_GAUGE_H_

#include <functional>
#include <type_traits>

#include "tensorflow/core/lib/monitoring/metric_def.h"

namespace tensorflow {
namespace monitoring {

template <class T>
class GaugeCell {
 public:
  explicit GaugeCell(const T& value) : value_(value) {}
  GaugeCell(const GaugeCell&) = delete;
  void operator=(const GaugeCell&) = delete;
  void Set(const T& value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    value_ = value;
  }
  T value() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

template <class Value, int kLabels>
class Gauge {
 public:
  Gauge(const Gauge&) = delete;
  void operator=(const Gauge&) = delete;
  template <class... Definition>
  static Gauge* New(Definition&&... definition) {
    using std::is_same_v;
    static_assert(is_same_v<Value, int64> || is_same_v<Value, std::string> || is_same_v<Value, bool> || is_same_v<Value, double> ||
                      is_same_v<Value, std::function<int64()>> || is_same_v<Value, std::function<std::string()>> ||
                      is_same_v<Value, std::function<bool()>> || is_same_v<Value, std::function<double()>>,
                  "a gauge holds an int64, a string, a bool or a double, or a function that gives one");
    return new Gauge(MetricDef<MetricKind::kGauge, Value, kLabels>(std::forward<Definition>(definition)...));
  }
  template <class... Labels>
  GaugeCell<Value>* GetCell(const Labels&... labels) {
    static_assert(sizeof...(Labels) == kLabels, "a value for each label");
    return cells_.Get({{std::string(labels)...}}, Value());
  }
  Status GetStatus() { return OkStatus(); }

 private:
  explicit Gauge(const MetricDef<MetricKind::kGauge, Value, kLabels>&) {}
  internal::Cells<GaugeCell<Value>, kLabels> cells_;
};

}  // namespace monitoring
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_MONITORING_GAUGE_H_
