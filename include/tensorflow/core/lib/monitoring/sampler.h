// SPDX-License-Identifier: Apache-2.0
//
// Sampler: how often samples fell into each bucket, for each row of labels.
#ifndef TENSORFLOW_CORE_LIB_MONITORING_SAMPLER_H_
#define TENSORFLOW_CORE_LIB_MONITORING_SAMPLER_H_

#include <cfloat>
#include <initializer_list>
#include <memory>

#include "tensorflow/core/framework/summary.pb.h"
#include "tensorflow/core/lib/histogram/histogram.h"
#include "tensorflow/core/lib/monitoring/metric_def.h"
#include "tensorflow/core/platform/logging.h"

namespace tensorflow {
namespace monitoring {

class SamplerCell {
 public:
  explicit SamplerCell(const std::vector<double>& bucket_limits) : histogram_(bucket_limits) {}
  SamplerCell(const SamplerCell&) = delete;
  void operator=(const SamplerCell&) = delete;
  void Add(double sample) {
    const std::lock_guard<std::mutex> lock(mutex_);
    histogram_.Add(sample);
  }
  HistogramProto value() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    HistogramProto proto;
    histogram_.EncodeToProto(&proto, true);
    return proto;
  }

 private:
  mutable std::mutex mutex_;
  histogram::Histogram histogram_;
};

// The upper limits of buckets; the last bucket takes all that is above.
class Buckets {
 public:
  virtual ~Buckets() = default;
  virtual const std::vector<double>& explicit_bounds() const = 0;
  static std::unique_ptr<Buckets> Explicit(std::vector<double> limits);
  static std::unique_ptr<Buckets> Explicit(std::initializer_list<double> limits) { return Explicit(std::vector<double>(limits)); }
  // scale, scale * growth_factor, ...
  static std::unique_ptr<Buckets> Exponential(double scale, double growth_factor, int bucket_count) {
    CHECK_GT(bucket_count, 0);
    CHECK_GT(scale, 0.0);
    CHECK_GT(growth_factor, 1.0);
    std::vector<double> limits;
    for (double limit = scale; static_cast<int>(limits.size()) < bucket_count; limit *= growth_factor) limits.push_back(limit);
    return Explicit(std::move(limits));
  }
};

namespace internal {
class GivenBuckets : public Buckets {
 public:
  explicit GivenBuckets(std::vector<double> limits) : limits_(std::move(limits)) {}
  const std::vector<double>& explicit_bounds() const override { return limits_; }

 private:
  const std::vector<double> limits_;
};
}  // namespace internal

inline std::unique_ptr<Buckets> Buckets::Explicit(std::vector<double> limits) {
  CHECK(!limits.empty()) << "buckets without a limit";
  for (size_t i = 1; i < limits.size(); ++i) CHECK_GT(limits[i], limits[i - 1]);
  if (limits.back() != DBL_MAX) limits.push_back(DBL_MAX);
  return std::make_unique<internal::GivenBuckets>(std::move(limits));
}

template <int kLabels>
class Sampler {
 public:
  using Definition = MetricDef<MetricKind::kCumulative, HistogramProto, kLabels>;
  Sampler(const Sampler&) = delete;
  void operator=(const Sampler&) = delete;
  static Sampler* New(const Definition& def, std::unique_ptr<Buckets> buckets) { return new Sampler(def, std::move(buckets)); }
  template <class... Labels>
  SamplerCell* GetCell(const Labels&... labels) {
    static_assert(sizeof...(Labels) == kLabels, "a value for each label");
    return cells_.Get({{std::string(labels)...}}, buckets_->explicit_bounds());
  }
  Status GetStatus() { return OkStatus(); }

 private:
  Sampler(const Definition&, std::unique_ptr<Buckets> buckets) : buckets_(std::move(buckets)) {}
  const std::unique_ptr<Buckets> buckets_;
  internal::Cells<SamplerCell, kLabels> cells_;
};

}  // namespace monitoring
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_MONITORING_SAMPLER_H_
