// Statistics of datasets: those that report, and where the numbers go.
#include "ops/data/stats.h"

#include <chrono>

#include "op/registry.h"
#include "ops/data/dataset.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops::data {

void StatsAggregator::add(const std::string& tag, double value, int64_t step) {
  std::string summary;
  Write write;
  {
    std::lock_guard lock(mutex_);
    Histogram& h = histograms_[tag];
    h.add(value);
    if (!writes_ || !write_) return;
    h.add_to(summary, tag);
    write = write_;
  }
  // A file that cannot be written is no reason to stop a pipeline.
  (void)write(step, summary);
}

std::string StatsAggregator::summary() const {
  std::string out;
  if (writes_) return out;
  std::lock_guard lock(mutex_);
  for (const auto& [tag, h] : histograms_) h.add_to(out, tag);
  return out;
}

void StatsAggregator::set_writer(Write write) {
  if (!writes_) return;
  std::lock_guard lock(mutex_);
  write_ = std::move(write);
}

namespace {

template <bool kWrites>
struct AggregatorMaker {
  static constexpr const char* kTypeName = StatsAggregator::kTypeName;
  static Result<std::shared_ptr<StatsAggregator>> make(const KernelContext&, const std::string&) {
    return std::make_shared<StatsAggregator>(kWrites);
  }
};

Status run_summary(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<StatsAggregator> aggregator, c.resource<StatsAggregator>(0));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
  out->data<tstring>()[0] = aggregator->summary();
  return {};
}

class SetStatsAggregatorDataset final : public UnaryDataset {
 public:
  SetStatsAggregatorDataset(const DatasetPtr& input, std::shared_ptr<const StatsSink> sink)
      : UnaryDataset("SetStatsAggregator", input), sink_(std::move(sink)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<SetStatsAggregatorDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      auto outer = std::exchange(c.stats, d().sink_);
      Status s = pull(c, out, end);
      c.stats = std::move(outer);
      return s;
    }
  };
  const std::shared_ptr<const StatsSink> sink_;
};

Status run_set_aggregator(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(std::shared_ptr<StatsAggregator> aggregator, c.resource<StatsAggregator>(1));
  for (const char* name : {"tag", "counter_prefix"}) WEFT_RETURN_IF_ERROR(check_scalar(c, name));
  const std::string tag = c.input("tag").data<tstring>()[0].str();
  auto sink = std::make_shared<StatsSink>(StatsSink{std::move(aggregator), tag.empty() ? "" : tag + "::"});
  return emit(c, std::make_shared<SetStatsAggregatorDataset>(input, std::move(sink)));
}

// Reports how long each element took in microseconds, or how large it is in bytes.
class StatsDataset final : public UnaryDataset {
 public:
  StatsDataset(const DatasetPtr& input, bool latency, std::string tag)
      : UnaryDataset(latency ? "LatencyStats" : "BytesProducedStats", input), latency_(latency), tag_(std::move(tag)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<StatsDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      using Clock = std::chrono::steady_clock;
      const auto start = Clock::now();
      Status s = pull(c, out, end);
      if (!c.stats || end || (!s.ok() && !d().latency_)) return s;
      const double value = d().latency_ ? double(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count()) : bytes(out);
      c.stats->aggregator->add(c.stats->prefix + d().tag_, value, given_++);
      return s;
    }

   private:
    static double bytes(const Element& e) {
      double n = 0;
      for (const Tensor& t : e) {
        n += double(t.byte_size());
        if (t.dtype() != DType::kString) continue;
        for (const tstring& s : t.span<tstring>()) n += double(s.size());
      }
      return n;
    }
    int64_t given_ = 0;
  };
  const bool latency_;
  const std::string tag_;
};

template <bool kLatency>
Status run_stats(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_RETURN_IF_ERROR(check_scalar(c, "tag"));
  return emit(c, std::make_shared<StatsDataset>(input, kLatency, c.input("tag").data<tstring>()[0].str()));
}

}  // namespace

void stats(Registry& r) {
  r.add("StatsAggregatorHandle")
      .out("handle: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .doc("A resource that gathers statistics of datasets.")
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<AggregatorMaker<false>, StatsAggregator>::create);

  r.add("ExperimentalStatsAggregatorHandle")
      .out("handle: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .doc("The former name of StatsAggregatorHandle.")
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<AggregatorMaker<false>, StatsAggregator>::create);

  r.add("StatsAggregatorHandleV2")
      .out("handle: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .doc("A resource that gathers statistics of datasets and writes them to a summary writer.")
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<AggregatorMaker<true>, StatsAggregator>::create);

  r.add("StatsAggregatorSummary")
      .in("iterator: resource")
      .out("summary: string")
      .stateful()
      .doc("The gathered statistics as a serialized summary.")
      .shape(shapes::scalar)
      .cpu(run_summary);

  r.add("ExperimentalStatsAggregatorSummary")
      .in("iterator: resource")
      .out("summary: string")
      .stateful()
      .doc("The former name of StatsAggregatorSummary.")
      .shape(shapes::scalar)
      .cpu(run_summary);

  r.add("SetStatsAggregatorDataset")
      .in("input_dataset: variant")
      .in("stats_aggregator: resource")
      .in("tag: string")
      .in("counter_prefix: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("A dataset whose inputs report statistics to an aggregator.")
      .shape(shapes::scalar)
      .cpu(run_set_aggregator);

  r.add("ExperimentalSetStatsAggregatorDataset")
      .in("input_dataset: variant")
      .in("stats_aggregator: resource")
      .in("tag: string")
      .in("counter_prefix: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The former name of SetStatsAggregatorDataset.")
      .shape(shapes::scalar)
      .cpu(run_set_aggregator);

  r.add("LatencyStatsDataset")
      .in("input_dataset: variant")
      .in("tag: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset that records how long elements take.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"tag"}); })
      .cpu(run_stats<true>);

  r.add("ExperimentalLatencyStatsDataset")
      .in("input_dataset: variant")
      .in("tag: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of LatencyStatsDataset.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"tag"}); })
      .cpu(run_stats<true>);

  r.add("BytesProducedStatsDataset")
      .in("input_dataset: variant")
      .in("tag: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset that records how large elements are.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"tag"}); })
      .cpu(run_stats<false>);

  r.add("ExperimentalBytesProducedStatsDataset")
      .in("input_dataset: variant")
      .in("tag: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of BytesProducedStatsDataset.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"tag"}); })
      .cpu(run_stats<false>);
}

}  // namespace weft_engine::ops::data
