// Pools of threads for datasets. Threads are the walk's own here (prefetch_buffer.h): a pool is its numbers alone.
#include "op/registry.h"
#include "ops/data/dataset.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops::data {

namespace {

class ThreadPool final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow4data12experimental18ThreadPoolResourceE";
  std::string type_name() const override { return "ThreadPoolResource"; }
  static Result<std::shared_ptr<ThreadPool>> make(const KernelContext&, const std::string&) { return std::make_shared<ThreadPool>(); }
  Status check_shared(const KernelContext&) const { return {}; }
};

class ThreadPoolDataset final : public UnaryDataset {
 public:
  explicit ThreadPoolDataset(const DatasetPtr& input) : UnaryDataset("ThreadPool", input) {}

 protected:
  int64_t count() const override { return input().cardinality(); }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<ThreadPoolDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override { return pull(c, out, end); }
  };
};

Status run_thread_pool(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_RETURN_IF_ERROR(c.resource<ThreadPool>(1).status());
  return emit(c, std::make_shared<ThreadPoolDataset>(input));
}

}  // namespace

void thread_pools(Registry& r) {
  r.add("ThreadPoolHandle")
      .out("handle: resource")
      .attr("num_threads: int")
      .attr("max_intra_op_parallelism: int = 1")
      .attr("display_name: string")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .doc("A resource that represents a pool of threads.")
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<ThreadPool>::create);

  r.add("ExperimentalThreadPoolHandle")
      .out("handle: resource")
      .attr("num_threads: int")
      .attr("max_intra_op_parallelism: int = 1")
      .attr("display_name: string")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .doc("The former name of ThreadPoolHandle.")
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<ThreadPool>::create);

  r.add("ThreadPoolDataset")
      .in("input_dataset: variant")
      .in("thread_pool: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("A dataset that uses a thread pool of its own; here the dataset as it is.")
      .shape(shapes::scalar)
      .cpu(run_thread_pool);

  r.add("ExperimentalThreadPoolDataset")
      .in("input_dataset: variant")
      .in("thread_pool: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The former name of ThreadPoolDataset.")
      .shape(shapes::scalar)
      .cpu(run_thread_pool);
}

}  // namespace weft_engine::ops::data
