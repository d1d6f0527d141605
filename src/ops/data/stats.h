// StatsAggregator: numbers that datasets report while they are walked, as histograms.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/resource.h"
#include "core/status.h"
#include "ops/io/summary_values.h"

namespace weft_engine::op {
class KernelContext;
}

namespace weft_engine::ops::data {

class StatsAggregator final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow4data23StatsAggregatorResourceE";
  using Write = std::function<core::Status(int64_t step, const std::string& summary)>;
  // The first version is asked for a summary; the second writes one to the summary writer with each number.
  explicit StatsAggregator(bool writes) : writes_(writes) {}
  std::string type_name() const override { return "StatsAggregator"; }
  core::Status check_shared(const op::KernelContext&) const { return {}; }

  void add(const std::string& tag, double value, int64_t step);
  std::string summary() const;
  void set_writer(Write write);

 private:
  const bool writes_;
  mutable std::mutex mutex_;
  std::map<std::string, Histogram> histograms_;
  Write write_;
};

// Where the datasets below a SetStatsAggregatorDataset report to.
struct StatsSink {
  std::shared_ptr<StatsAggregator> aggregator;
  std::string prefix;
};

}  // namespace weft_engine::ops::data
