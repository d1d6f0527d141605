// Metrics of eager/c_api_experimental.h: counters, gauges and samplers with up to four labels. Each metric
// owns its cells, one for each set of label values; cells may be used from any thread.
#include <atomic>
#include <cfloat>
#include <cmath>
#include <map>
#include <mutex>

#include "capi/internal.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "wire/proto.h"

using namespace weft_engine::capi;  // NOLINT

struct TFE_MonitoringCounterCell {
  std::atomic<int64_t> value{0};
};
struct TFE_MonitoringIntGaugeCell {
  std::atomic<int64_t> value{0};
};
struct TFE_MonitoringBoolGaugeCell {
  std::atomic<bool> value{false};
};
struct TFE_MonitoringStringGaugeCell {
  std::mutex mutex;
  std::string value;
};
struct TFE_MonitoringBuckets {
  std::vector<double> limits;  // each bucket is below its limit; the last limit is DBL_MAX
};
struct TFE_MonitoringSamplerCell {
  explicit TFE_MonitoringSamplerCell(const std::vector<double>& l) : limits(l), counts(l.size()) {}
  std::mutex mutex;
  const std::vector<double> limits;
  std::vector<double> counts;
  double min = DBL_MAX, max = -DBL_MAX, num = 0, sum = 0, sum_squares = 0;
};

namespace {

template <class Cell>
class Metric {
 public:
  explicit Metric(std::vector<double> limits = {}) : limits_(std::move(limits)) {}

  template <class... Label>
  Cell* cell(Label... labels) {
    return guard_pointer<Cell>([&]() -> Cell* {
      std::vector<std::string> key{std::string(labels ? labels : "")...};
      std::lock_guard lock(mutex_);
      auto& slot = cells_[std::move(key)];
      if (!slot) {
        if constexpr (std::is_constructible_v<Cell, const std::vector<double>&>) slot = std::make_unique<Cell>(limits_);
        else slot = std::make_unique<Cell>();
      }
      return slot.get();
    });
  }

 private:
  const std::vector<double> limits_;
  std::mutex mutex_;
  std::map<std::vector<std::string>, std::unique_ptr<Cell>> cells_;
};

template <class M>
M* new_metric(const char* name, TF_Status* status) {
  M* m = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(name);
    m = new M;
    return {};
  });
  return m;
}

template <class M>
M* new_sampler(const char* name, const TFE_MonitoringBuckets* buckets, TF_Status* status) {
  M* m = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(name);
    WEFT_NOT_NULL(buckets);
    m = new M(buckets->limits);
    return {};
  });
  return m;
}

}  // namespace

// One metric with its number of labels; the label names are for a collector, which the engine has not.
#define WEFT_LABELS_0
#define WEFT_LABELS_1 , const char* l1
#define WEFT_LABELS_2 WEFT_LABELS_1, const char* l2
#define WEFT_LABELS_3 WEFT_LABELS_2, const char* l3
#define WEFT_LABELS_4 WEFT_LABELS_3, const char* l4
#define WEFT_NAMES_0
#define WEFT_NAMES_1 , const char*
#define WEFT_NAMES_2 WEFT_NAMES_1, const char*
#define WEFT_NAMES_3 WEFT_NAMES_2, const char*
#define WEFT_NAMES_4 WEFT_NAMES_3, const char*
#define WEFT_USE_0
#define WEFT_USE_1 l1
#define WEFT_USE_2 l1, l2
#define WEFT_USE_3 l1, l2, l3
#define WEFT_USE_4 l1, l2, l3, l4

#define WEFT_METRIC_COMMON(Kind, n)                                                                        \
  struct TFE_Monitoring##Kind##n : Metric<TFE_Monitoring##Kind##Cell> {                                    \
    using Metric::Metric;                                                                                  \
  };                                                                                                       \
  void TFE_MonitoringDelete##Kind##n(TFE_Monitoring##Kind##n* m) { delete m; }                             \
  TFE_Monitoring##Kind##Cell* TFE_MonitoringGetCell##Kind##n(TFE_Monitoring##Kind##n* m WEFT_LABELS_##n) { \
    return m ? m->cell(WEFT_USE_##n) : nullptr;                                                            \
  }
#define WEFT_METRIC(Kind, n)                                                                                             \
  WEFT_METRIC_COMMON(Kind, n)                                                                                            \
  TFE_Monitoring##Kind##n* TFE_MonitoringNew##Kind##n(const char* name, TF_Status* status, const char* WEFT_NAMES_##n) { \
    return new_metric<TFE_Monitoring##Kind##n>(name, status);                                                            \
  }
#define WEFT_SAMPLER(n)                                                                                                                              \
  WEFT_METRIC_COMMON(Sampler, n)                                                                                                                     \
  TFE_MonitoringSampler##n* TFE_MonitoringNewSampler##n(const char* name, TFE_MonitoringBuckets* b, TF_Status* status, const char* WEFT_NAMES_##n) { \
    return new_sampler<TFE_MonitoringSampler##n>(name, b, status);                                                                                   \
  }

WEFT_METRIC(Counter, 0)
WEFT_METRIC(Counter, 1)
WEFT_METRIC(Counter, 2)
WEFT_METRIC(IntGauge, 0)
WEFT_METRIC(IntGauge, 1)
WEFT_METRIC(IntGauge, 2)
WEFT_METRIC(BoolGauge, 0)
WEFT_METRIC(BoolGauge, 1)
WEFT_METRIC(BoolGauge, 2)
WEFT_METRIC(StringGauge, 0)
WEFT_METRIC(StringGauge, 1)
WEFT_METRIC(StringGauge, 2)
WEFT_METRIC(StringGauge, 3)
WEFT_METRIC(StringGauge, 4)
WEFT_SAMPLER(0)
WEFT_SAMPLER(1)
WEFT_SAMPLER(2)

void TFE_MonitoringCounterCellIncrementBy(TFE_MonitoringCounterCell* c, int64_t v) {
  if (c) c->value.fetch_add(v);
}
int64_t TFE_MonitoringCounterCellValue(TFE_MonitoringCounterCell* c) { return c ? c->value.load() : 0; }
void TFE_MonitoringIntGaugeCellSet(TFE_MonitoringIntGaugeCell* c, int64_t v) {
  if (c) c->value.store(v);
}
int64_t TFE_MonitoringIntGaugeCellValue(TFE_MonitoringIntGaugeCell* c) { return c ? c->value.load() : 0; }
void TFE_MonitoringBoolGaugeCellSet(TFE_MonitoringBoolGaugeCell* c, bool v) {
  if (c) c->value.store(v);
}
bool TFE_MonitoringBoolGaugeCellValue(TFE_MonitoringBoolGaugeCell* c) { return c && c->value.load(); }
void TFE_MonitoringStringGaugeCellSet(TFE_MonitoringStringGaugeCell* c, const char* v) {
  if (!c || !v) return;
  guard(nullptr, [&]() -> Status {
    std::lock_guard lock(c->mutex);
    c->value = v;
    return {};
  });
}
void TFE_MonitoringStringGaugeCellValue(TFE_MonitoringStringGaugeCell* c, TF_Buffer* buffer) {
  if (!c || !buffer) return;
  guard(nullptr, [&]() -> Status {
    std::lock_guard lock(c->mutex);
    fill_buffer(buffer, c->value);
    return {};
  });
}

TFE_MonitoringBuckets* TFE_MonitoringNewExponentialBuckets(double scale, double growth_factor, int count) {
  return guard_pointer<TFE_MonitoringBuckets>([&] {
    auto b = std::make_unique<TFE_MonitoringBuckets>();
    double limit = scale;
    for (int i = 0; i < count && std::isfinite(limit); ++i, limit *= growth_factor) b->limits.push_back(limit);
    if (b->limits.empty() || b->limits.back() != DBL_MAX) b->limits.push_back(DBL_MAX);
    return b.release();
  });
}
void TFE_MonitoringDeleteBuckets(TFE_MonitoringBuckets* b) { delete b; }

void TFE_MonitoringSamplerCellAdd(TFE_MonitoringSamplerCell* c, double v) {
  if (!c) return;
  std::lock_guard lock(c->mutex);
  const auto bucket = std::upper_bound(c->limits.begin(), c->limits.end(), v) - c->limits.begin();
  c->counts[std::min(size_t(bucket), c->counts.size() - 1)] += 1;
  c->min = std::min(c->min, v);
  c->max = std::max(c->max, v);
  c->num += 1;
  c->sum += v;
  c->sum_squares += v * v;
}
void TFE_MonitoringSamplerCellValue(TFE_MonitoringSamplerCell* c, TF_Buffer* buffer) {
  if (!c || !buffer) return;
  guard(nullptr, [&]() -> Status {
    std::lock_guard lock(c->mutex);
    weft_engine::wire::ProtoWriter w;  // HistogramProto
    const double numbers[] = {c->min, c->max, c->num, c->sum, c->sum_squares};
    for (int i = 0; i < 5; ++i) {
      if (numbers[i] != 0) w.float64(i + 1, numbers[i]);
    }
    auto packed = [](const std::vector<double>& v) { return std::string_view(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(double)); };
    w.bytes(6, packed(c->limits));
    w.bytes(7, packed(c->counts));
    fill_buffer(buffer, w.str());
    return {};
  });
}
