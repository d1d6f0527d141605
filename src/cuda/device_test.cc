// GPUs over the stand-in for the driver (tests/cuda/stand_in.cc).
#include "cuda/device.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <numeric>

#include "eager/op.h"
#include "engine/engine.h"

namespace weft_engine::cuda {
namespace {

using namespace weft_engine::core;  // NOLINT

long calls(const char* name) {
  static void* library = dlopen(std::getenv("WEFT_CUDA_DRIVER"), RTLD_NOW);
  static auto count = reinterpret_cast<long (*)(const char*)>(dlsym(library, "weftStandInCalls"));
  return count(name);
}

std::unique_ptr<DeviceSet> devices() {
  engine::Engine::get();
  return process_devices(1);
}

CudaDevice& gpu_of(const DeviceSet& set) {
  for (const auto& d : set.all()) {
    if (auto* gpu = dynamic_cast<CudaDevice*>(d.get())) return *gpu;
  }
  REQUIRE(false);
  std::abort();
}

TEST_CASE("a GPU is a device as TensorFlow names it, and is not started by being listed") {
  const auto set = devices();
  REQUIRE(set->all().size() == 2);
  CHECK(set->all()[1]->name() == "/job:localhost/replica:0/task:0/device:GPU:0");
  CHECK(set->all()[1]->description() == "device: 0, name: Stand-in GPU, pci bus id: 0000:0a:00.0, compute capability: 9.0");
  CHECK(calls("cuInit") == 1);
  CHECK(calls("cuDevicePrimaryCtxRetain") == 0);
}

TEST_CASE("tensors go there and come back, whatever their size") {
  const auto set = devices();
  CudaDevice& gpu = gpu_of(*set);
  for (const int64_t n : {1, 1000, 20000, 3 << 20, 9 << 20}) {
    Tensor x = *Tensor::allocate(DType::kInt32, {n});
    std::iota(x.data<int32_t>(), x.data<int32_t>() + n, 7);
    auto there = to_device(x, gpu);
    REQUIRE(there.ok());
    CHECK(memory_of(*there) == &gpu);
    auto twice = gpu.duplicate(*there);
    REQUIRE(twice.ok());
    CHECK(twice->raw() != there->raw());
    auto back = to_host(*twice);
    REQUIRE(back.ok());
    CHECK(std::equal(x.data<int32_t>(), x.data<int32_t>() + n, back->data<int32_t>()));
  }
  CHECK(calls("cuMemHostAlloc") == 5);  // four pieces for large copies, one for small values
}

TEST_CASE("batches are copied beside the work, to blocks by turns") {
  const auto set = devices();
  CudaDevice& gpu = gpu_of(*set);
  const AllocatorStats before = gpu.stats();
  std::vector<const void*> places;
  const long waits = calls("cuStreamWaitEvent");
  for (int turn = 0; turn < 8; ++turn) {
    Tensor x = *Tensor::allocate(DType::kInt32, {50'021});
    std::iota(x.data<int32_t>(), x.data<int32_t>() + 50'021, turn);
    auto there = to_device(x, gpu);
    REQUIRE(there.ok());
    places.push_back(there->raw());
    auto back = to_host(*there);
    REQUIRE(back.ok());
    CHECK(std::equal(x.data<int32_t>(), x.data<int32_t>() + 50'021, back->data<int32_t>()));
  }
  CHECK(calls("cuStreamWaitEvent") - waits == 16);  // the copy for the block, the work for the copy
  for (size_t i = 1; i < places.size(); ++i) CHECK(places[i] != places[i - 1]);
  for (size_t i = 4; i < places.size(); ++i) CHECK(places[i] == places[i - 2]);
  CHECK(gpu.stats().bytes_in_use == before.bytes_in_use);
}

TEST_CASE("memory is counted, and blocks are used again") {
  const auto set = devices();
  CudaDevice& gpu = gpu_of(*set);
  const AllocatorStats before = gpu.stats();
  {
    auto t = gpu.allocate(DType::kFloat, {1000});
    REQUIRE(t.ok());
    CHECK(gpu.stats().bytes_in_use - before.bytes_in_use == 4096);
  }
  CHECK(gpu.stats().bytes_in_use == before.bytes_in_use);
  const long taken = calls("cuMemAllocFromPoolAsync");
  for (int i = 0; i < 100; ++i) REQUIRE(gpu.allocate(DType::kFloat, {1000}).ok());
  CHECK(calls("cuMemAllocFromPoolAsync") == taken);
  gpu.reset_peak_stats();
  CHECK(gpu.stats().peak_bytes_in_use == gpu.stats().bytes_in_use);
}

TEST_CASE("out of memory says who holds what, and passes") {
  const auto set = devices();
  CudaDevice& gpu = gpu_of(*set);
  std::vector<Tensor> held;
  for (int turn = 0; turn < 20; ++turn) {
    const AllocatingFor op("Tile");
    auto t = gpu.allocate(DType::kFloat, {16 << 20});
    if (t.ok()) {
      held.push_back(*t);
      continue;
    }
    CHECK(t.status().code() == Code::kResourceExhausted);
    CHECK(
        t.status().message().starts_with("OOM when allocating tensor with shape[16777216] and type float on "
                                         "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc"));
    CHECK(t.status().message().find("of Tile") != std::string::npos);
  }
  CHECK(held.size() < 16);
  held.clear();
  CHECK(gpu.allocate(DType::kFloat, {16 << 20}).ok());
}

TEST_CASE("an error that a kernel found is told when the host waits, once") {
  const auto set = devices();
  Gpu& gpu = gpu_of(*set).gpu();
  auto messages = std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"first", "second"});
  auto word = gpu.acquire_error_word(messages);
  REQUIRE(word.ok());
  for (const int32_t number : {2, 1}) {
    REQUIRE(gpu.copy_to_device(*word, &number, sizeof number).ok());
    gpu.may_fail();
    CHECK(gpu.wait().message() == (*messages)[size_t(number - 1)]);
    gpu.may_fail();
    CHECK(gpu.wait().ok());
  }
  const int32_t late = 2;
  REQUIRE(gpu.copy_to_device(*word, &late, sizeof late).ok());
  gpu.give_error_word(*word);  // what it held goes with it
  auto next = gpu.acquire_error_word(messages);
  REQUIRE(next.ok());
  CHECK(*next == *word);
  gpu.may_fail();
  CHECK(gpu.wait().ok());
  gpu.give_error_word(*next);
}

TEST_CASE("GPUs that the program hides are not devices") {
  set_visible_gpus(std::vector<int>{});
  CHECK(devices()->all().size() == 1);
  CHECK(physical_gpus().size() == 1);
  set_visible_gpus(std::nullopt);
  CHECK(devices()->all().size() == 2);
}

TEST_CASE("several devices share a GPU, each with its limit") {
  set_logical_gpus(0, {1 << 20, 4 << 20});
  {
    const auto set = devices();
    REQUIRE(set->all().size() == 3);
    auto &first = dynamic_cast<CudaDevice&>(*set->all()[1]), &second = dynamic_cast<CudaDevice&>(*set->all()[2]);
    CHECK(second.name() == "/job:localhost/replica:0/task:0/device:GPU:1");
    CHECK(first.memory_limit() == 1 << 20);
    CHECK(first.allocate(DType::kFloat, {1 << 19}).status().code() == Code::kResourceExhausted);
    auto there = second.allocate(DType::kFloat, {1 << 19});
    REQUIRE(there.ok());
    CHECK(second.stats().bytes_in_use == 1 << 21);
    CHECK(first.stats().bytes_in_use == 0);
    auto small = to_device(Tensor::vector(std::vector<float>{1, 2, 3}), second);
    REQUIRE(small.ok());
    auto other = to_device(*small, first);  // from one to the other
    REQUIRE(other.ok());
    CHECK(memory_of(*other) == &first);
    CHECK(to_host(*other)->data<float>()[2] == 3);
    there = unimplemented("");
    CHECK(second.stats().bytes_in_use == 12);
    CHECK(second.stats().peak_bytes_in_use == (1 << 21) + 12);
  }
  set_logical_gpus(0, {});
  CHECK(devices()->all().size() == 2);
}

TEST_CASE("memory options are for GPUs that are not in use yet") {
  CHECK(physical_gpus()[0]->set_memory_options({1 << 20, 0, true}).code() == Code::kFailedPrecondition);
}

// ---- ops

eager::Context& context() {
  static auto* c = new eager::Context(engine::Engine::get().registry(), {});
  return *c;
}

Result<std::vector<RefPtr<eager::TensorHandle>>> execute(const std::string& name, const std::vector<Tensor>& inputs, const op::AttrMap& attrs = {},
                                                         const std::string& device = "") {
  eager::Op op(context());
  WEFT_RETURN_IF_ERROR(op.reset(name, device));
  for (const auto& [k, v] : attrs) WEFT_RETURN_IF_ERROR(op.set_attr(k, v));
  for (const Tensor& t : inputs) op.add_input(eager::TensorHandle::make(t, nullptr));
  std::vector<RefPtr<eager::TensorHandle>> out;
  WEFT_RETURN_IF_ERROR(op.execute(out));
  return out;
}

TEST_CASE("shapes and int32 arithmetic stay in host memory, values go to the GPU") {
  const Tensor x = Tensor::vector(std::vector<float>{1, 2, 3});
  auto same = execute("Identity", {x});
  REQUIRE(same.ok());
  auto constant = execute("Const", {}, {{"value", x}, {"dtype", DType::kFloat}});
  REQUIRE(constant.ok());
  CHECK((*constant)[0]->device()->type() == "GPU");
  CHECK(lies_elsewhere((*constant)[0]->tensor()));
  const auto here = (*constant)[0]->host_tensor();  // a copy that lives as long as the handle
  REQUIRE(here.ok());
  CHECK((*here)->data<float>()[2] == 3);
  CHECK(*(*constant)[0]->host_tensor() == *here);
  const Tensor n = Tensor::vector(std::vector<int32_t>{1, 2});
  auto sum = execute("AddV2", {n, n});
  REQUIRE(sum.ok());
  CHECK((*sum)[0]->device()->type() == "GPU");
  CHECK(!lies_elsewhere((*sum)[0]->tensor()));
  CHECK((*sum)[0]->tensor().data<int32_t>()[1] == 4);
}

TEST_CASE("a value on the GPU is a constant in host memory") {
  auto axes = execute("Const", {}, {{"value", Tensor::vector(std::vector<int64_t>{1, 0})}, {"dtype", DType::kInt64}});
  REQUIRE(axes.ok());
  REQUIRE(lies_elsewhere((*axes)[0]->tensor()));
  const Tensor* known = (*axes)[0]->constant();
  REQUIRE(known);
  CHECK(!lies_elsewhere(*known));
  CHECK(known->data<int64_t>()[0] == 1);
}

TEST_CASE("kernels are compiled once for all sizes of a rank") {
  const auto add = [](int64_t n) {
    Tensor x = *Tensor::allocate(DType::kFloat, {n});
    std::iota(x.data<float>(), x.data<float>() + n, 0.0f);
    auto out = execute("AddV2", {x, x});
    REQUIRE(out.ok());
    CHECK((*out)[0]->device()->type() == "GPU");
    auto here = to_host((*out)[0]->tensor());
    REQUIRE(here.ok());
    for (int64_t i = 0; i < n; ++i) REQUIRE(here->data<float>()[i] == 2 * float(i));
  };
  add(5);
  const long made = calls("weftHostFunction");
  CHECK(made > 0);
  for (const int64_t n : {2, 100, 1001}) add(n);
  CHECK(calls("weftHostFunction") == made);
}

TEST_CASE("what is wrong with inputs is said as on CPUs") {
  const Tensor x = Tensor::vector(std::vector<float>{1, 2, 3}), y = Tensor::vector(std::vector<float>{1, 2});
  auto bad = execute("AddV2", {x, y});
  REQUIRE(!bad.ok());
  CHECK(bad.status().message() == execute("AddV2", {x, y}, {}, "/device:CPU:0").status().message());
}

}  // namespace
}  // namespace weft_engine::cuda
