// Calls that come at about the same time, with their rows put together: for one call of a function (BatchFunction), or as
// tensors for the ops behind (Batch), whose results unbatch.cc takes apart again.
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>

#include "core/threads.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/function/function_call.h"
#include "ops/random/random_common.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

struct Options {
  int64_t max_rows = 0, timeout_micros = 0;
  std::vector<int64_t> allowed;  // sizes that the function is called with, in order; empty: any
};

Result<Options> read_options(const NodeInfo& node) {
  Options o{node.attr<int64_t>("max_batch_size"), node.attr<int64_t>("batch_timeout_micros"), node.attr<std::vector<int64_t>>("allowed_batch_sizes")};
  for (size_t i = 1; i < o.allowed.size(); ++i) {
    if (o.allowed[i] <= o.allowed[i - 1]) return invalid_argument("allowed_batch_sizes entries must be monotonically increasing");
  }
  // Batch has no such attribute.
  const AttrValue* splitting = node.find_attr("enable_large_batch_splitting");
  if (!o.allowed.empty() && !(splitting && *splitting->get<bool>()) && o.allowed.back() != o.max_rows)
    return invalid_argument("final entry in allowed_batch_sizes must equal max_batch_size",
                            splitting ? " when enable_large_batch_splitting is False" : "");
  return o;
}

// The calls of one batch. Its runner waits for it to be full, for the time to pass, or for a call that does not fit.
struct Batch {
  struct Task {
    KernelContext* context;
    Kernel::Done done;
    int64_t rows;
  };
  std::vector<Task> tasks;
  int64_t rows = 0;
  bool closed = false;
  std::condition_variable change;
};

// Where calls meet: those of one name, whichever kernel they come from (a session may have several for a node). Outlives the
// kernel as long as runners need it.
struct Line final : core::Resource {
  static constexpr const char* kTypeName = "BatchLine";
  std::string type_name() const override { return kTypeName; }
  std::mutex mutex;
  std::shared_ptr<Batch> open;
};

class BatchKernel : public Kernel {
 public:
  BatchKernel(Options options, size_t num_in) : options_(std::move(options)), num_in_(int(num_in)) {}
  bool is_async() const override { return true; }
  Status run(KernelContext& c) override {
    std::promise<Status> result;
    run_async(c, [&](Status s) { result.set_value(std::move(s)); });
    return result.get_future().get();
  }

  void run_async(KernelContext& c, Done done) override {
    int64_t rows = 0;
    if (Status s = check(c, rows); !s.ok()) return done(std::move(s));
    if (Status s = join_batch(c, rows, done); !s.ok()) done(std::move(s));
  }

 protected:
  // Sets the outputs of all calls.
  virtual Status compute(Batch& batch) = 0;
  // With how many rows the function is called: those of the calls, or more.
  int64_t padded_rows(const Batch& batch) const {
    for (int64_t size : options_.allowed) {
      if (size >= batch.rows) return size;
    }
    return batch.rows;
  }
  // Input i of all calls; what is missing to `rows` repeats the first row of the last call.
  Result<Tensor> join(const Batch& batch, int i, int64_t rows) const {
    const Tensor& first = batch.tasks[0].context->input(i);
    if (first.dim(0) == rows) return first;
    Shape shape = first.shape();
    shape.set_dim(0, rows);
    WEFT_ASSIGN(Tensor out, batch.tasks[0].context->temp(first.dtype(), shape));
    const int64_t each = shape.elements_in(1, shape.rank());
    int64_t at = 0;
    for (const Batch::Task& task : batch.tasks) {
      copy_elements(task.context->input(i), 0, out, at * each, task.rows * each);
      at += task.rows;
    }
    const Batch::Task& last = batch.tasks.back();
    if (last.rows == 0) return out;
    for (; at < rows; ++at) copy_elements(last.context->input(i), 0, out, at * each, each);
    return out;
  }

  int num_in() const { return num_in_; }

 private:
  // Takes `done` over unless it fails.
  Status join_batch(KernelContext& c, int64_t rows, Done& done) {
    WEFT_ASSIGN(std::shared_ptr<Line> line, line_of(c));
    std::lock_guard lock(line->mutex);
    std::shared_ptr<Batch>& open = line->open;
    if (open && (open->rows + rows > options_.max_rows || !fits(*open->tasks[0].context, c))) close(*open), open = nullptr;
    if (!open) {
      auto made = std::make_shared<Batch>();
      WEFT_RETURN_IF_ERROR(core::start_thread([this, line, batch = made] { serve(*line, batch); }));
      open = std::move(made);
    }
    open->tasks.push_back({&c, std::move(done), rows});
    open->rows += rows;
    if (open->rows >= options_.max_rows) close(*open), open = nullptr;
    return {};
  }

  Result<std::shared_ptr<Line>> line_of(const KernelContext& c) {
    if (c.attr<std::string>("shared_name").empty() && c.node().name().empty()) return line_;
    return shared_resource<Line>(c, []() -> Result<std::shared_ptr<Line>> { return std::make_shared<Line>(); });
  }

  static void close(Batch& batch) {
    batch.closed = true;
    batch.change.notify_one();
  }

  Status check(const KernelContext& c, int64_t& rows) const {
    const auto shapes = [&] {
      std::string text = "\nBelow are the input tensors: \n";
      for (int i = 0; i < num_in_; ++i) text += cat(" - in__tensors_", i, " has shape ", c.input(i).shape(), "\n");
      return text;
    };
    for (int i = 0; i < num_in_; ++i) {
      if (c.input(i).rank() == 0) return invalid_argument("Batching input tensors must have at least one dimension.", shapes());
      if (i && c.input(i).dim(0) != rows)
        return invalid_argument("Batching input tensors supplied in a given op invocation must have equal 0th-dimension size.", shapes());
      rows = c.input(i).dim(0);
    }
    if (rows > options_.max_rows) return invalid_argument("Task size ", rows, " is larger than maximum input batch size ", options_.max_rows);
    return {};
  }

  // Whether two calls are of the same op and function, and their rows of the same shapes.
  bool fits(const KernelContext& a, const KernelContext& b) const {
    const AttrValue *f = a.node().find_attr("f"), *g = b.node().find_attr("f");
    if (a.node().op() != b.node().op() || a.node().input_types() != b.node().input_types() || (f && f->to_string() != g->to_string())) return false;
    for (int i = 0; i < num_in_; ++i) {
      const Shape &x = a.input(i).shape(), &y = b.input(i).shape();
      if (x.rank() != y.rank()) return false;
      for (int axis = 1; axis < x.rank(); ++axis) {
        if (x.dim(axis) != y.dim(axis)) return false;
      }
    }
    return true;
  }

  // On a thread of its own. Its calls keep the kernel alive until they are done.
  void serve(Line& line, const std::shared_ptr<Batch>& batch) {
    {
      std::unique_lock lock(line.mutex);
      batch->change.wait_for(lock, std::chrono::microseconds(options_.timeout_micros), [&] { return batch->closed; });
      if (line.open == batch) line.open = nullptr;
    }
    const Status status = core::without_exceptions([&] { return compute(*batch); });
    for (Batch::Task& task : batch->tasks) task.done(status);
  }

  const Options options_;
  const int num_in_;
  const std::shared_ptr<Line> line_ = std::make_shared<Line>();
};

class BatchFunctionKernel final : public BatchKernel {
 public:
  BatchFunctionKernel(const NodeInfo& node, Options options)
      : BatchKernel(std::move(options), node.attr<std::vector<DType>>("Tin").size()), f_(node.attr<FunctionAttr>("f")) {}
  static Result<std::unique_ptr<Kernel>> make(const NodeInfo& node) {
    WEFT_ASSIGN(Options options, read_options(node));
    return std::unique_ptr<Kernel>(new BatchFunctionKernel(node, std::move(options)));
  }

 protected:
  Status compute(Batch& batch) override {
    KernelContext& first = *batch.tasks[0].context;
    WEFT_ASSIGN(auto f, f_.get(first));
    const int64_t rows = padded_rows(batch);
    std::vector<Tensor> args, rets(size_t(first.num_outputs()));
    for (int i = 0; i < num_in(); ++i) {
      WEFT_ASSIGN(Tensor joined, join(batch, i, rows));
      args.push_back(std::move(joined));
    }
    for (int i = num_in(); i < first.num_inputs(); ++i) args.push_back(first.input(i));
    if (f->arg_types().size() != args.size() || f->ret_types().size() != rets.size())
      return invalid_argument("Expected ", f->arg_types().size(), " arguments and ", f->ret_types().size(), " results, got ", args.size(), " and ",
                              rets.size());
    WEFT_RETURN_IF_ERROR(f->run(first.env(), args, rets));
    for (size_t i = 0; i < rets.size(); ++i) WEFT_RETURN_IF_ERROR(split(batch, int(i), rets[i], rows));
    return {};
  }

 private:
  Status split(Batch& batch, int i, const Tensor& t, int64_t rows) const {
    if (t.rank() == 0) return failed_precondition("Batched output tensor has 0 dimensions");
    if (t.dim(0) != rows)
      return failed_precondition(
          "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input tensors. 0th dimension size: ",
          t.dim(0), "; batch size: ", batch.rows, "; unbatched tasks size: 0; padding size: ", rows - batch.rows);
    if (batch.tasks.size() == 1 && batch.rows == rows) {
      batch.tasks[0].context->set_output(i, t);
      return {};
    }
    const int64_t each = t.shape().elements_in(1, t.rank());
    int64_t at = 0;
    for (Batch::Task& task : batch.tasks) {
      Shape shape = t.shape();
      shape.set_dim(0, task.rows);
      WEFT_ASSIGN(Tensor* out, task.context->allocate(i, shape));
      copy_elements(t, at * each, *out, 0, task.rows * each);
      at += task.rows;
    }
    return {};
  }

  Callee f_;
};

// The last call of a batch gives the tensors and which rows are whose; the others give nothing but their number.
class BatchTensorsKernel final : public BatchKernel {
 public:
  BatchTensorsKernel(const NodeInfo& node, Options options) : BatchKernel(std::move(options), node.attr<std::vector<DType>>("T").size()) {}
  static Result<std::unique_ptr<Kernel>> make(const NodeInfo& node) {
    WEFT_ASSIGN(Options options, read_options(node));
    return std::unique_ptr<Kernel>(new BatchTensorsKernel(node, std::move(options)));
  }

 protected:
  Status compute(Batch& batch) override {
    const size_t n = batch.tasks.size();
    for (int i = 0; i < num_in(); ++i) {
      WEFT_ASSIGN(Tensor joined, join(batch, i, batch.rows));
      for (size_t k = 0; k + 1 < n; ++k) {
        Shape none = batch.tasks[k].context->input(i).shape();
        none.set_dim(0, 0);
        WEFT_RETURN_IF_ERROR(batch.tasks[k].context->allocate(i, none).status());
      }
      batch.tasks.back().context->set_output(i, std::move(joined));
    }
    WEFT_ASSIGN(Tensor index, Tensor::allocate(DType::kInt64, Shape({int64_t(n), 3})));
    int64_t at = 0;
    for (size_t k = 0; k < n; ++k) {
      const int64_t id = int64_t(entropy() >> 1);
      int64_t* row = index.data<int64_t>() + 3 * k;
      row[0] = id;
      row[1] = at;
      row[2] = at += batch.tasks[k].rows;
      KernelContext& c = *batch.tasks[k].context;
      if (k + 1 < n) WEFT_RETURN_IF_ERROR(c.allocate(num_in(), Shape({0, 3})).status());
      c.set_output(num_in() + 1, Tensor::scalar(id));
    }
    batch.tasks.back().context->set_output(num_in(), std::move(index));
    return {};
  }
};

Status batch_shape(ShapeContext& c) {
  const int n = c.num_outputs() - 2;
  for (int i = 0; i < n; ++i) {
    WEFT_ASSIGN(PartialShape s, c.with_rank_at_least(i, 1));
    if (s.has_rank()) s.set_dim(0, kUnknownDim);
    c.output(i, std::move(s));
  }
  c.output(n, {kUnknownDim, 3});
  c.output(n + 1, PartialShape::scalar());
  return {};
}

}  // namespace

void batch(Registry& r) {
  r.add("Batch")
      .in("in_tensors: T")
      .out("batched_tensors: T")
      .out("batch_index: int64")
      .out("id: int64")
      .attr("num_batch_threads: int")
      .attr("max_batch_size: int")
      .attr("max_enqueued_batches: int = 10")
      .attr("batch_timeout_micros: int")
      .attr("allowed_batch_sizes: list(int) = []")
      .attr("grad_timeout_micros: int")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("batching_queue: string = ''")
      .attr("T: list(type) >= 1")
      .distributed_communication()
      .doc("Puts the rows of several calls together.")
      .traits({.impure = true})
      .shape(batch_shape)
      .cpu_make(BatchTensorsKernel::make);

  r.add("BatchFunction")
      .in("in_tensors: Tin")
      .in("captured_tensors: Tcaptured")
      .out("out_tensors: Tout")
      .attr("f: func")
      .attr("num_batch_threads: int")
      .attr("max_batch_size: int")
      .attr("batch_timeout_micros: int")
      .attr("max_enqueued_batches: int = 10")
      .attr("allowed_batch_sizes: list(int) = []")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("batching_queue: string = ''")
      .attr("low_priority_max_batch_size: int = 0")
      .attr("low_priority_batch_timeout_micros: int = 0")
      .attr("low_priority_allowed_batch_sizes: list(int) = []")
      .attr("low_priority_max_enqueued_batches: int = 0")
      .attr(
          "mixed_priority_policy: {'low_priority_padding_with_max_batch_size', 'low_priority_padding_with_next_allowed_batch_size', "
          "'priority_isolation', "
          "'priority_merge'} = 'low_priority_padding_with_max_batch_size'")
      .attr("batch_padding_policy: {'PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'} = 'PAD_UP'")
      .attr("Tin: list(type) >= 1")
      .attr("Tcaptured: list(type) >= 0")
      .attr("Tout: list(type) >= 1")
      .attr("enable_large_batch_splitting: bool = false")
      .distributed_communication()
      .doc("Calls a function once for the rows of several calls.")
      .traits({.impure = true})
      .shape(shapes::unknown)
      .cpu_make(BatchFunctionKernel::make);
}

}  // namespace weft_engine::ops
