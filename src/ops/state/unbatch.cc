#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>

#include "core/threads.h"
#include "ops/control_flow/summarize.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

struct Row {
  int64_t id, begin, end;
};

// The rows of a batch_index tensor; `available` of the batch.
Result<std::vector<Row>> read_index(const Tensor& index, int64_t available) {
  if (index.rank() != 2) return invalid_argument("Wrong shape for index tensor. Expected a matrix; Got: ", index.shape(), ".");
  if (index.dim(1) != 3) return invalid_argument("Wrong shape for index tensor. Expected 1st dimension size to be 3 ; Got: ", index.dim(1), ".");
  std::vector<Row> rows;
  for (int64_t i = 0; i < index.dim(0); ++i) {
    const int64_t* v = index.data<int64_t>() + 3 * i;
    if (v[1] < 0 || v[2] < v[1] || v[2] > available) return invalid_argument("Rows ", v[1], " to ", v[2], " are outside of a batch of ", available);
    rows.push_back({v[0], v[1], v[2]});
  }
  return rows;
}

Result<int64_t> id_input(const Tensor& id) {
  if (id.rank() != 0)
    return invalid_argument("Input id should be scalar; Got: Tensor<type: int64 shape: ", id.shape(), " values: ", summarize(id, 3), ">.");
  return id.data<int64_t>()[0];
}

// Results that wait for their call, and calls that wait for their result.
class Unbatched final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow15UnbatchResourceE";
  std::string type_name() const override { return "UnbatchResource"; }

  static void unbatch(const std::shared_ptr<Unbatched>& self, KernelContext& c, Kernel::Done done) {
    if (Status s = self->try_unbatch(self, c, done); !s.ok()) done(std::move(s));
  }

 private:
  struct Waiting {
    Tensor tensor;
    std::chrono::steady_clock::time_point deadline;
  };
  struct Call {
    KernelContext* context;
    Kernel::Done done;
    std::shared_ptr<std::condition_variable> answered;
  };

  // Takes `done` over unless it fails.
  Status try_unbatch(const std::shared_ptr<Unbatched>& self, KernelContext& c, Kernel::Done& done) {
    const Tensor &data = c.input(0), &index = c.input(1);
    if (data.rank() < 1) return invalid_argument("The batched tensor must have at least one dimension.");
    if (index.rank() == 2 && index.dim(0) > data.dim(0))
      return invalid_argument("Wrong shape for index tensor. Expected 0th dimension size to be no greater than ", data.dim(0),
                              "; Got: ", index.dim(0), ".");
    WEFT_ASSIGN(std::vector<Row> rows, read_index(index, data.dim(0)));
    WEFT_ASSIGN(int64_t id, id_input(c.input(2)));
    std::vector<std::pair<Call, Tensor>> ready;
    {
      std::lock_guard lock(mutex_);
      const auto now = std::chrono::steady_clock::now(), deadline = now + std::chrono::microseconds(c.attr<int64_t>("timeout_micros"));
      std::erase_if(results_, [&](const auto& r) { return r.second.deadline < now; });
      if (auto it = results_.find(id); it != results_.end()) {
        ready.push_back({{&c, std::move(done), nullptr}, std::move(it->second.tensor)});
        results_.erase(it);
      } else {
        if (calls_.contains(id)) return already_exists("Multiple session runs with the same batch key.");
        auto answered = std::make_shared<std::condition_variable>();
        const bool here = std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return r.id == id; });
        if (!here) WEFT_RETURN_IF_ERROR(watch(self, id, answered, c.attr<int64_t>("timeout_micros")));
        calls_.emplace(id, Call{&c, std::move(done), std::move(answered)});
      }
      for (const Row& r : rows) {
        Tensor part = data.slice_rows(r.begin, r.end);
        if (auto it = calls_.find(r.id); it != calls_.end()) {
          it->second.answered->notify_one();
          ready.push_back({std::move(it->second), std::move(part)});
          calls_.erase(it);
        } else {
          results_.insert_or_assign(r.id, Waiting{std::move(part), deadline});
        }
      }
    }
    for (auto& [call, result] : ready) {
      call.context->set_output(0, std::move(result));
      call.done({});
    }
    return {};
  }

  // A thread that ends the call if no result comes.
  Status watch(std::shared_ptr<Unbatched> self, int64_t id, std::shared_ptr<std::condition_variable> answered, int64_t micros) {
    return core::start_thread([self = std::move(self), id, answered = std::move(answered), micros] {
      std::unique_lock lock(self->mutex_);
      const auto waits = [&] {
        auto it = self->calls_.find(id);
        return it != self->calls_.end() && it->second.answered == answered;
      };
      answered->wait_for(lock, std::chrono::microseconds(micros), [&] { return !waits(); });
      if (!waits()) return;
      Call call = std::move(self->calls_.at(id));
      self->calls_.erase(id);
      lock.unlock();
      call.done(core::without_exceptions([] { return deadline_exceeded("Batched data did not arrive within timeout window."); }));
    });
  }

  std::mutex mutex_;
  std::map<int64_t, Waiting> results_;
  std::map<int64_t, Call> calls_;
};

// Gradients that wait for the rest of their batch.
class BatchGradients final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow19UnbatchGradResourceE";
  std::string type_name() const override { return "UnbatchGradResource"; }

  Status add(KernelContext& c, Kernel::Done& done) {
    const Tensor &data = c.input(0), &index = c.input(1), &gradient = c.input(2);
    if (data.rank() < 1 || gradient.rank() < 1) return invalid_argument("The original input and the gradient must have at least one dimension.");
    WEFT_ASSIGN(int64_t id, id_input(c.input(3)));
    const bool whole = data.num_elements() > 0;
    std::vector<Row> rows;
    if (whole) {
      if (index.num_elements() == 0) return invalid_argument("batch_index is empty while the tensor isn't.");
      WEFT_ASSIGN(rows, read_index(index, data.dim(0)));
    }
    Kernel::Done own;
    std::vector<std::pair<Batch, Status>> ready;
    {
      std::lock_guard lock(mutex_);
      if (!gradients_.emplace(id, gradient).second) return invalid_argument("Two runs with the same batch key.");
      if (whole) {
        batches_.push_back({&c, std::move(done), std::move(rows)});
      } else {
        own = std::move(done);
      }
      for (auto it = batches_.begin(); it != batches_.end();) {
        const bool complete = std::all_of(it->rows.begin(), it->rows.end(), [&](const Row& r) { return gradients_.contains(r.id); });
        if (!complete) {
          ++it;
          continue;
        }
        Status s = join(*it);
        ready.emplace_back(std::move(*it), std::move(s));
        it = batches_.erase(it);
      }
    }
    for (auto& [batch, status] : ready) batch.done(std::move(status));
    if (own) {
      Shape none = gradient.shape();
      none.set_dim(0, 0);
      own(c.allocate(0, none).status());
    }
    return {};
  }

 private:
  struct Batch {
    KernelContext* context;
    Kernel::Done done;
    std::vector<Row> rows;
  };

  Status join(const Batch& batch) {
    std::vector<Tensor> parts;
    for (const Row& r : batch.rows) {
      auto it = gradients_.find(r.id);
      if (it == gradients_.end()) return invalid_argument("The same batch key stands twice in batch_index: ", r.id);
      parts.push_back(std::move(it->second));
      gradients_.erase(it);
    }
    Shape shape = parts[0].shape();
    int64_t total = 0;
    for (const Tensor& t : parts) {
      Shape one = t.shape();
      if (one.rank() == shape.rank()) one.set_dim(0, shape.dim(0));
      if (one != shape) return invalid_argument("Gradients of one batch differ in shape: ", t.shape(), " and ", parts[0].shape());
      total += t.dim(0);
    }
    shape.set_dim(0, total);
    WEFT_ASSIGN(Tensor* out, batch.context->allocate(0, shape));
    int64_t at = 0;
    for (const Tensor& t : parts) {
      copy_elements(t, 0, *out, at, t.num_elements());
      at += t.num_elements();
    }
    return {};
  }

  std::mutex mutex_;
  std::map<int64_t, Tensor> gradients_;
  std::vector<Batch> batches_;
};

void run_unbatch(KernelContext& c, Kernel::Done done) {
  auto state = shared_resource<Unbatched>(c, []() -> Result<std::shared_ptr<Unbatched>> { return std::make_shared<Unbatched>(); });
  if (!state.ok()) return done(state.status());
  Unbatched::unbatch(*state, c, std::move(done));
}

void run_unbatch_grad(KernelContext& c, Kernel::Done done) {
  auto state = shared_resource<BatchGradients>(c, []() -> Result<std::shared_ptr<BatchGradients>> { return std::make_shared<BatchGradients>(); });
  if (!state.ok()) return done(state.status());
  if (Status s = (*state)->add(c, done); !s.ok()) done(std::move(s));
}

Status first_dim_open(ShapeContext& c, int input) {
  WEFT_ASSIGN(PartialShape s, c.with_rank_at_least(input, 1));
  if (s.has_rank()) s.set_dim(0, kUnknownDim);
  c.output(0, std::move(s));
  return {};
}

}  // namespace

void unbatch(Registry& r) {
  r.add("Unbatch")
      .in("batched_tensor: T")
      .in("batch_index: int64")
      .in("id: int64")
      .out("unbatched_tensor: T")
      .attr("timeout_micros: int")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("T: type")
      .doc("The rows of one call from the result of a batch, which may come with another call.")
      .traits({.impure = true})
      .shape([](ShapeContext& c) { return first_dim_open(c, 0); })
      .cpu_make(AsyncKernel<run_unbatch>::create);

  r.add("UnbatchGrad")
      .in("original_input: T")
      .in("batch_index: int64")
      .in("grad: T")
      .in("id: int64")
      .out("batched_grad: T")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("T: type")
      .doc("The gradients of the calls of a batch put together again.")
      .traits({.impure = true})
      .shape([](ShapeContext& c) { return first_dim_open(c, 2); })
      .cpu_make(AsyncKernel<run_unbatch_grad>::create);
}

}  // namespace weft_engine::ops
