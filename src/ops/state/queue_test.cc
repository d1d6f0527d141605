// Calls that wait: recorded sequences cannot show them, since there one call follows the other.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "eager/op.h"
#include "engine/engine.h"

using namespace weft_engine;        // NOLINT
using namespace weft_engine::core;  // NOLINT

namespace {

using Handles = std::vector<RefPtr<eager::TensorHandle>>;

struct Runner {
  eager::Context context{engine::Engine::get().registry(), {}};

  Status run(std::string op_name, std::vector<Tensor> inputs, op::AttrMap attrs, std::vector<Tensor>& outputs) {
    eager::Op op(context);
    WEFT_RETURN_IF_ERROR(op.reset(op_name));
    for (const auto& [k, v] : attrs) WEFT_RETURN_IF_ERROR(op.set_attr(k, v));
    for (Tensor& t : inputs) op.add_input(eager::TensorHandle::make(t, nullptr));
    Handles handles;
    Status s = op.execute(handles);
    outputs.clear();
    for (auto& h : handles) outputs.push_back(h->tensor());
    return s;
  }
  Tensor one(std::string op_name, std::vector<Tensor> inputs, op::AttrMap attrs) {
    std::vector<Tensor> outputs;
    Status s = run(std::move(op_name), std::move(inputs), std::move(attrs), outputs);
    REQUIRE_MESSAGE(s.ok(), s.to_string());
    return outputs.empty() ? Tensor() : outputs[0];
  }
  Tensor queue(int64_t capacity) {
    return one("FIFOQueueV2", {},
               {{"component_types", std::vector<DType>{DType::kInt64}},
                {"shapes", std::vector<PartialShape>{PartialShape::scalar()}},
                {"capacity", capacity},
                {"shared_name", std::string("q")}});
  }
  int64_t size(const Tensor& q) { return one("QueueSizeV2", {q}, {}).data<int32_t>()[0]; }
};

const op::AttrMap kInt64s{{"component_types", std::vector<DType>{DType::kInt64}}};

// A call in a thread of its own.
struct Waiting {
  template <class F>
  explicit Waiting(F f)
      : thread([this, f] {
          f();
          finished = true;
        }) {}
  ~Waiting() { thread.join(); }
  std::atomic<bool> finished{false};
  std::thread thread;
};

}  // namespace

TEST_CASE("a dequeue waits for an element") {
  Runner r;
  Tensor q = r.queue(10);
  std::vector<Tensor> out;
  Status s;
  {
    Waiting w([&] { s = r.run("QueueDequeueManyV2", {q, Tensor::scalar(int32_t(2))}, kInt64s, out); });
    r.one("QueueEnqueueV2", {q, Tensor::scalar(int64_t(4))}, {});
    CHECK(!w.finished);  // one is not enough
    r.one("QueueEnqueueV2", {q, Tensor::scalar(int64_t(5))}, {});
  }
  REQUIRE(s.ok());
  CHECK(out[0].data<int64_t>()[0] == 4);
  CHECK(out[0].data<int64_t>()[1] == 5);
}

TEST_CASE("closing wakes who waits for an element") {
  Runner r;
  Tensor q = r.queue(10);
  std::vector<Tensor> out;
  Status s;
  {
    Waiting w([&] { s = r.run("QueueDequeueV2", {q}, kInt64s, out); });
    r.one("QueueCloseV2", {q}, {});
  }
  CHECK(s.code() == Code::kOutOfRange);
}

TEST_CASE("an enqueue waits for room, and cancelling ends the wait") {
  Runner r;
  Tensor q = r.queue(1);
  std::vector<Tensor> none;
  Status s;
  {
    Waiting w([&] { s = r.run("QueueEnqueueManyV2", {q, Tensor::vector(std::vector<int64_t>{1, 2})}, {}, none); });
    CHECK(r.one("QueueDequeueV2", {q}, kInt64s).data<int64_t>()[0] == 1);
  }
  CHECK(s.ok());
  {
    Waiting w([&] { s = r.run("QueueEnqueueV2", {q, Tensor::scalar(int64_t(3))}, {}, none); });
    r.one("QueueCloseV2", {q}, {{"cancel_pending_enqueues", true}});
  }
  CHECK(s.code() == Code::kCancelled);
  CHECK(r.size(q) == 1);
}

TEST_CASE("a mutex goes from one holder to the next") {
  Runner r;
  Tensor mutex = r.one("MutexV2", {}, {{"shared_name", std::string("m")}});
  Tensor first = r.one("MutexLock", {mutex}, {});
  std::atomic<bool> got{false};
  Waiting w([&] {
    std::vector<Tensor> lock;
    Status s = r.run("MutexLock", {mutex}, {}, lock);
    got = s.ok();
  });
  CHECK(!w.finished);
  first = {};
  while (!w.finished) std::this_thread::yield();
  CHECK(got);
}

TEST_CASE("many producers and consumers lose nothing") {
  Runner r;
  Tensor q = r.queue(3);
  std::atomic<int64_t> sum{0};
  {
    std::vector<std::unique_ptr<Waiting>> all;
    for (int t = 0; t < 4; ++t) {
      all.push_back(std::make_unique<Waiting>([&] {
        std::vector<Tensor> none;
        for (int64_t i = 1; i <= 100; ++i) CHECK(r.run("QueueEnqueueV2", {q, Tensor::scalar(i)}, {}, none).ok());
      }));
      all.push_back(std::make_unique<Waiting>([&] {
        std::vector<Tensor> out;
        for (int i = 0; i < 100; ++i) {
          CHECK(r.run("QueueDequeueV2", {q}, kInt64s, out).ok());
          sum += out[0].data<int64_t>()[0];
        }
      }));
    }
  }
  CHECK(sum == 4 * 5050);
  CHECK(r.size(q) == 0);
}
