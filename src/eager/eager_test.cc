// Handles whose value comes later, and single calls. Texts are TensorFlow's.
#include <doctest/doctest.h>

#include <thread>

#include "eager/cancellable.h"
#include "eager/op.h"
#include "engine/engine.h"

namespace weft_engine::eager {
namespace {

RefPtr<TensorHandle> value(Tensor t) { return TensorHandle::make(std::move(t), nullptr); }

// Runs an op with these inputs.
Status call(Context& context, std::string_view name, std::vector<RefPtr<TensorHandle>> inputs, std::vector<RefPtr<TensorHandle>>& outputs) {
  Op op(context);
  WEFT_RETURN_IF_ERROR(op.reset(name));
  for (auto& t : inputs) op.add_input(std::move(t));
  return op.execute(outputs);
}

TEST_CASE("a pending handle is waited for, and its error passes on") {
  auto later = TensorHandle::pending(DType::kFloat, nullptr);
  CHECK(later->dtype() == DType::kFloat);
  CHECK_FALSE(later->ready());
  std::thread maker([&] { later->set(Tensor::scalar(2.5f)); });
  CHECK(later->wait().ok());
  maker.join();
  CHECK(later->tensor().data<float>()[0] == 2.5f);

  auto broken = TensorHandle::pending(DType::kFloat, nullptr);
  broken->fail(out_of_range("End of sequence"));
  CHECK(broken->wait().code() == Code::kOutOfRange);
  CHECK(broken->constant() == nullptr);
  Context context(engine::Engine::get().registry(), {});
  std::vector<RefPtr<TensorHandle>> out;
  CHECK(call(context, "Neg", {broken}, out).code() == Code::kOutOfRange);
}

TEST_CASE("an op of many outputs ends where its call is cancelled") {
  constexpr int64_t kMany = 5000;
  Context context(engine::Engine::get().registry(), {});
  const auto run = [&](std::string_view name, std::vector<Tensor> inputs, const char* attr) {
    Op op(context);
    REQUIRE(op.reset(name).ok());
    for (Tensor& t : inputs) op.add_input(value(std::move(t)));
    REQUIRE(op.set_attr(attr, kMany).ok());
    std::vector<RefPtr<TensorHandle>> outputs;
    const Status s = op.execute(outputs);
    CHECK(outputs.size() == (s.ok() ? size_t(kMany) : 0));
    return s.code();
  };
  op::CancellationManager cancellation;
  const Cancellable cancellable(&cancellation);
  const Tensor x = *Tensor::zeros(DType::kFloat, {kMany}), to = *Tensor::zeros(DType::kInt32, {kMany}), axis = Tensor::scalar(int32_t(0));
  for (const Code expected : {Code::kOk, Code::kCancelled}) {
    CHECK(run("Unpack", {x}, "num") == expected);
    CHECK(run("Split", {axis, x}, "num_split") == expected);
    CHECK(run("DynamicPartition", {x, to}, "num_partitions") == expected);
    cancellation.start_cancel();
  }
}

TEST_CASE("an op of many inputs ends where its caller is interrupted") {
  Context context(engine::Engine::get().registry(), {});
  bool wanted = false;
  const auto run = [&](std::string_view name, std::vector<RefPtr<TensorHandle>> inputs) {
    const core::Interrupt call_of([](void* w) { return *static_cast<bool*>(w); }, &wanted);
    core::time_to_look.store(true);
    std::vector<RefPtr<TensorHandle>> outputs;
    return call(context, name, std::move(inputs), outputs).code();
  };
  const std::vector<RefPtr<TensorHandle>> many(5000, value(*Tensor::zeros(DType::kFloat, {1})));
  auto and_axis = many;
  and_axis.push_back(value(Tensor::scalar(int32_t(0))));
  for (const Code expected : {Code::kOk, Code::kCancelled}) {
    CHECK(run("Pack", many) == expected);
    CHECK(run("AddN", many) == expected);
    CHECK(run("ConcatV2", and_axis) == expected);
    wanted = true;
  }
}

TEST_CASE("an op is put together, run and used again") {
  Context context(engine::Engine::get().registry(), {});
  Op op(context);
  REQUIRE(op.reset("AddV2").ok());
  op.add_input(value(Tensor::scalar(1.0f)));
  op.add_input(value(Tensor::vector(std::vector<float>{2, 3})));
  std::vector<RefPtr<TensorHandle>> out;
  REQUIRE(op.execute(out).ok());
  REQUIRE(out.size() == 1);
  CHECK(out[0]->tensor().shape() == Shape({2}));
  CHECK(out[0]->tensor().data<float>()[1] == 4);

  REQUIRE(op.reset("ConcatV2").ok());
  for (const int32_t x : {1, 2, 0}) op.add_input(x ? value(Tensor::vector(std::vector<int32_t>{x})) : value(Tensor::scalar(x)));
  CHECK(op.set_attr("no_such_attribute", int64_t(1)).code() == Code::kInvalidArgument);
  REQUIRE(op.execute(out).ok());
  CHECK(out[0]->tensor().num_elements() == 2);
}

TEST_CASE("wrong calls say what TensorFlow says") {
  Context context(engine::Engine::get().registry(), {});
  std::vector<RefPtr<TensorHandle>> out;
  Status s = call(context, "AddV2", {value(Tensor::scalar(1.0f)), value(Tensor::scalar(int32_t(1)))}, out);
  CHECK(s.code() == Code::kInvalidArgument);
  CHECK(std::string(s.message()).starts_with("cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is a int32 tensor"));
  s = call(context, "AddV2", {value(Tensor::vector(std::vector<float>{1, 2})), value(Tensor::vector(std::vector<float>{1, 2, 3}))}, out);
  CHECK(s.code() == Code::kInvalidArgument);
  CHECK(std::string(s.message()).find("Incompatible shapes: [2] vs. [3]") != std::string::npos);
  CHECK(call(context, "NoSuchOp", {}, out).code() == Code::kNotFound);
}

}  // namespace
}  // namespace weft_engine::eager
