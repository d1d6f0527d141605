// SPDX-License-Identifier: Apache-2.0
//
// Histogram: how often numbers lie between limits, as summaries have it.
#ifndef TENSORFLOW_CORE_LIB_HISTOGRAM_HISTOGRAM_H_
#define TENSORFLOW_CORE_LIB_HISTOGRAM_HISTOGRAM_H_

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "tensorflow/core/framework/summary.pb.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/platform/span.h"

namespace tensorflow {
namespace histogram {

class Histogram {
 public:
  // Limits that grow by a tenth, from 1e-12 to 1e20, and their negatives.
  Histogram() : limits_(DefaultLimits()) { Clear(); }
  explicit Histogram(gtl::ArraySlice<double> limits) : limits_(limits.begin(), limits.end()) { Clear(); }
  Histogram(const Histogram&) = delete;
  void operator=(const Histogram&) = delete;

  // False where the message is no histogram.
  bool DecodeFromProto(const HistogramProto& proto) {
    if (proto.bucket_size() != proto.bucket_limit_size() || proto.bucket_size() == 0) return false;
    min_ = proto.min(), max_ = proto.max(), num_ = proto.num(), sum_ = proto.sum(), squares_ = proto.sum_squares();
    limits_.assign(proto.bucket_limit().begin(), proto.bucket_limit().end());
    buckets_.assign(proto.bucket().begin(), proto.bucket().end());
    return true;
  }
  void Clear() {
    min_ = limits_.empty() ? DBL_MAX : limits_.back();
    max_ = -DBL_MAX;
    num_ = sum_ = squares_ = 0;
    buckets_.assign(limits_.size(), 0);
  }
  void Add(double value) {
    const auto at = static_cast<size_t>(std::upper_bound(limits_.begin(), limits_.end(), value) - limits_.begin());
    if (at < buckets_.size()) buckets_[at] += 1;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    num_ += 1;
    sum_ += value;
    squares_ += value * value;
  }
  // Runs of empty buckets become one, unless they are kept.
  void EncodeToProto(HistogramProto* proto, bool preserve_zero_buckets) const {
    proto->Clear();
    proto->set_min(min_);
    proto->set_max(max_);
    proto->set_num(num_);
    proto->set_sum(sum_);
    proto->set_sum_squares(squares_);
    for (size_t i = 0; i < buckets_.size(); ++i) {
      const bool run = !preserve_zero_buckets && buckets_[i] <= 0 && i + 1 < buckets_.size() && buckets_[i + 1] <= 0;
      if (run) continue;
      proto->add_bucket_limit(limits_[i]);
      proto->add_bucket(buckets_[i]);
    }
    if (proto->bucket_size() > 0) return;
    proto->add_bucket_limit(DBL_MAX);
    proto->add_bucket(0);
  }
  double Median() const { return Percentile(50); }
  double Percentile(double p) const {
    if (num_ == 0) return 0;
    const double threshold = num_ * (p / 100);
    double before = 0;
    for (size_t i = 0; i < buckets_.size(); ++i) {
      const double sum = before + buckets_[i];
      if (sum >= threshold && sum > before) {
        const double low = std::max(i == 0 || before == 0 ? min_ : limits_[i - 1], min_), high = std::min(limits_[i], max_);
        return low + (threshold - before) / (sum - before) * (high - low);
      }
      before = sum;
    }
    return max_;
  }
  double Average() const { return num_ == 0 ? 0 : sum_ / num_; }
  double StandardDeviation() const { return num_ == 0 ? 0 : std::sqrt((squares_ * num_ - sum_ * sum_) / (num_ * num_)); }
  // Lines end after 199 characters, which those of an empty histogram have.
  std::string ToString() const {
    char line[200];
    std::snprintf(line, sizeof line, "Count: %.0f  Average: %.4f  StdDev: %.2f\n", num_, Average(), StandardDeviation());
    std::string out = line;
    std::snprintf(line, sizeof line, "Min: %.4f  Median: %.4f  Max: %.4f\n", num_ == 0 ? 0.0 : min_, Median(), max_);
    out += line + std::string(54, '-') + "\n";
    const double percent = num_ > 0 ? 100 / num_ : 0;
    double sum = 0;
    for (size_t i = 0; i < buckets_.size(); ++i) {
      if (buckets_[i] <= 0) continue;
      sum += buckets_[i];
      std::snprintf(line, sizeof line, "[ %10.2g, %10.2g ) %7.0f %7.3f%% %7.3f%% ", i == 0 ? -DBL_MAX : limits_[i - 1], limits_[i], buckets_[i],
                    percent * buckets_[i], percent * sum);
      out += line + std::string(static_cast<size_t>(20 * (buckets_[i] / num_) + 0.5), '#') + "\n";
    }
    return out;
  }

 private:
  static const std::vector<double>& DefaultLimits() {
    static const auto* const limits = [] {
      std::vector<double> positive;
      for (double v = 1.0e-12; v < 1.0e20; v *= 1.1) positive.push_back(v);
      positive.push_back(DBL_MAX);
      auto* all = new std::vector<double>;
      for (auto it = positive.rbegin(); it != positive.rend(); ++it) all->push_back(-*it);
      all->push_back(0);
      all->insert(all->end(), positive.begin(), positive.end());
      return all;
    }();
    return *limits;
  }

  std::vector<double> limits_, buckets_;
  double min_ = 0, max_ = 0, num_ = 0, sum_ = 0, squares_ = 0;
};

// For several threads.
class ThreadSafeHistogram {
  template <class F>
  auto Locked(F f) const {
    const mutex_lock lock(mu_);
    return f(histogram_);
  }

 public:
  ThreadSafeHistogram() = default;
  explicit ThreadSafeHistogram(gtl::ArraySlice<double> limits) : histogram_(limits) {}
  bool DecodeFromProto(const HistogramProto& proto) {
    return Locked([&](Histogram& h) { return h.DecodeFromProto(proto); });
  }
  void Clear() {
    Locked([](Histogram& h) { return h.Clear(), 0; });
  }
  void Add(double value) {
    Locked([&](Histogram& h) { return h.Add(value), 0; });
  }
  void EncodeToProto(HistogramProto* proto, bool preserve_zero_buckets) const {
    Locked([&](const Histogram& h) { return h.EncodeToProto(proto, preserve_zero_buckets), 0; });
  }
  double Median() const { return Percentile(50); }
  double Percentile(double p) const {
    return Locked([&](const Histogram& h) { return h.Percentile(p); });
  }
  double Average() const {
    return Locked([](const Histogram& h) { return h.Average(); });
  }
  double StandardDeviation() const {
    return Locked([](const Histogram& h) { return h.StandardDeviation(); });
  }
  std::string ToString() const {
    return Locked([](const Histogram& h) { return h.ToString(); });
  }

 private:
  mutable mutex mu_;
  mutable Histogram histogram_;
};

}  // namespace histogram
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_HISTOGRAM_HISTOGRAM_H_
