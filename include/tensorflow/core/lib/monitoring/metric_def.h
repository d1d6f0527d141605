// SPDX-License-Identifier: Apache-2.0
//
// MetricDef: the name, description and labels of a metric. Metrics are the program's own: nobody else reads them.
#ifndef TENSORFLOW_CORE_LIB_MONITORING_METRIC_DEF_H_
#define TENSORFLOW_CORE_LIB_MONITORING_METRIC_DEF_H_

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace monitoring {

enum class MetricKind { kGauge, kCumulative };
enum class ValueType { kInt64, kHistogram, kString, kBool, kPercentiles, kDouble };

class AbstractMetricDef {
 public:
  MetricKind kind() const { return kind_; }
  std::string_view name() const { return name_; }
  std::string_view description() const { return description_; }
  const std::vector<std::string>& label_descriptions() const { return labels_; }

 protected:
  AbstractMetricDef(MetricKind kind, std::string_view name, std::string_view description, std::vector<std::string> labels)
      : kind_(kind), name_(name), description_(description), labels_(std::move(labels)) {}

 private:
  MetricKind kind_;
  std::string name_, description_;
  std::vector<std::string> labels_;
};

template <MetricKind kKind, class Value, int kLabels>
class MetricDef : public AbstractMetricDef {
 public:
  template <class... Labels>
  MetricDef(std::string_view name, std::string_view description, const Labels&... labels)
      : AbstractMetricDef(kKind, name, description, {std::string(labels)...}) {
    static_assert(sizeof...(Labels) == kLabels, "a description for each label");
  }
};

namespace internal {

// The cells of a metric, one for each row of labels; a cell stays where it is as long as the metric.
template <class Cell, int kLabels>
class Cells {
 public:
  template <class... Arguments>
  Cell* Get(std::array<std::string, kLabels> labels, const Arguments&... arguments) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return &cells_.emplace(std::piecewise_construct, std::forward_as_tuple(std::move(labels)), std::forward_as_tuple(arguments...)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::array<std::string, kLabels>, Cell> cells_;
};

}  // namespace internal
}  // namespace monitoring
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_MONITORING_METRIC_DEF_H_
