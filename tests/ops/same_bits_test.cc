// The same call gives the same bits whatever the thread count, on inputs large enough to be split, and on every level of
// vector instructions it stays within the tolerance of the types (the lower levels are run by ctest with WEFT_CPU).
#include <doctest/doctest.h>

#include <random>

#include "eager/op.h"
#include "engine/engine.h"

using namespace weft_engine;        // NOLINT
using namespace weft_engine::core;  // NOLINT
using op::AttrValue;

namespace {

Tensor floats(const Shape& shape, unsigned seed = 1) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  Tensor t = *Tensor::allocate(DType::kFloat, shape);
  for (float& v : t.span<float>()) v = normal(rng);
  return t;
}

Tensor ints(const Shape& shape, int limit, bool sorted = false) {
  std::mt19937 rng(7);
  Tensor t = *Tensor::allocate(DType::kInt32, shape);
  for (int32_t& v : t.span<int32_t>()) v = int32_t(rng() % unsigned(limit));
  if (sorted) std::sort(t.span<int32_t>().begin(), t.span<int32_t>().end());
  return t;
}

Tensor vec(std::vector<int32_t> v) { return Tensor::vector(v); }

struct Case {
  std::string op;
  std::vector<Tensor> inputs;
  op::AttrMap attrs;
};

std::vector<Tensor> run(int threads, const Case& c) {
  eager::Context context(engine::Engine::get().registry(), {.intra_threads = threads});
  eager::Op op(context);
  Status s = op.reset(c.op);
  for (const auto& [k, v] : c.attrs) {
    if (s.ok()) s = op.set_attr(k, v);
  }
  for (const auto& t : c.inputs) op.add_input(eager::TensorHandle::make(t, nullptr));
  std::vector<RefPtr<eager::TensorHandle>> handles;
  if (s.ok()) s = op.execute(handles);
  REQUIRE_MESSAGE(s.ok(), s.to_string());
  std::vector<Tensor> out;
  for (auto& h : handles) out.push_back(h->tensor());
  return out;
}

using Ints = std::vector<int64_t>;

std::vector<Case> cases() {
  const Tensor big = floats({300, 2000}), image = floats({8, 40, 40, 16});
  return {
      {"AddV2", {big, floats({2000})}, {}},
      {"Exp", {big}, {}},
      {"Tanh", {big}, {}},
      {"Sum", {big, vec({0})}, {}},
      {"Sum", {big, vec({1})}, {}},
      {"Sum", {big, vec({0, 1})}, {}},
      {"Mean", {image, vec({0, 1, 2})}, {}},
      {"Max", {big, vec({1})}, {}},
      {"ArgMax", {big, Tensor::scalar(int32_t(1))}, {}},
      {"Cumsum", {big, Tensor::scalar(int32_t(1))}, {}},
      {"Softmax", {big}, {}},
      {"LogSoftmax", {big}, {}},
      {"L2Loss", {big}, {}},
      {"BiasAddGrad", {image}, {}},
      {"MatMul", {floats({300, 500}), floats({500, 400})}, {}},
      {"MatMul", {floats({500, 300}), floats({400, 500})}, {{"transpose_a", true}, {"transpose_b", true}}},
      {"BatchMatMulV2", {floats({12, 100, 90}), floats({12, 90, 110})}, {}},
      {"Einsum", {floats({20, 50, 60}), floats({60, 70})}, {{"equation", "bij,jk->bik"}}},
      {"Conv2D", {image, floats({3, 3, 16, 32})}, {{"strides", Ints{1, 1, 1, 1}}, {"padding", "SAME"}}},
      {"Conv2DBackpropFilter", {image, vec({3, 3, 16, 32}), floats({8, 40, 40, 32})}, {{"strides", Ints{1, 1, 1, 1}}, {"padding", "SAME"}}},
      {"Conv2DBackpropInput",
       {vec({8, 40, 40, 16}), floats({3, 3, 16, 32}), floats({8, 40, 40, 32})},
       {{"strides", Ints{1, 1, 1, 1}}, {"padding", "SAME"}}},
      {"DepthwiseConv2dNative", {image, floats({3, 3, 16, 2})}, {{"strides", Ints{1, 1, 1, 1}}, {"padding", "SAME"}}},
      {"MaxPool", {image}, {{"ksize", Ints{1, 2, 2, 1}}, {"strides", Ints{1, 2, 2, 1}}, {"padding", "VALID"}}},
      {"AvgPool", {image}, {{"ksize", Ints{1, 3, 3, 1}}, {"strides", Ints{1, 1, 1, 1}}, {"padding", "SAME"}}},
      {"FusedBatchNormV3", {image, floats({16}), floats({16}), floats({0}), floats({0})}, {{"is_training", true}}},
      {"MaxPoolGrad",
       {image, floats({8, 20, 20, 16}), floats({8, 20, 20, 16})},
       {{"ksize", Ints{1, 2, 2, 1}}, {"strides", Ints{1, 2, 2, 1}}, {"padding", "VALID"}}},
      {"_WeftFusedElementwise",
       {big, floats({2000}), floats({300, 1})},
       {{"steps", std::vector<std::string>{"Mul 0 1", "Add 3 2", "Tanh 4"}}, {"results", Ints{5, 4}}, {"M", int64_t(2)}, {"N", int64_t(3)}}},
      {"_WeftLayerNorm", {big, floats({2000}), floats({2000})}, {}},
      {"_WeftLstmCell",
       {floats({70, 50}), floats({70, 200}), floats({70, 200}), floats({50, 800}), floats({200, 800}), floats({800})},
       {{"keep_gates", true}}},
      {"_WeftGruCell", {floats({70, 50}), floats({70, 200}), floats({50, 600}), floats({200, 600}), floats({2, 600})}, {{"keep_gates", true}}},
      {"_WeftAttention",
       {floats({4, 60, 8, 32}), floats({4, 70, 8, 32}), floats({4, 70, 8, 32})},
       {{"num_masks", int64_t(0)}, {"keep_probabilities", true}}},
      {"_FusedMatMul",
       {floats({300, 500}), floats({500, 400}), floats({400})},
       {{"num_args", int64_t(1)}, {"fused_ops", std::vector<std::string>{"BiasAdd", "GeluExact"}}}},
      {"_FusedConv2D",
       {image, floats({3, 3, 16, 32}), floats({32})},
       {{"num_args", int64_t(1)}, {"strides", Ints{1, 1, 1, 1}}, {"padding", "SAME"}, {"fused_ops", std::vector<std::string>{"BiasAdd", "Relu"}}}},
      {"SegmentSum", {big, ints({300}, 40, true)}, {}},
      {"UnsortedSegmentSum", {big, ints({300}, 40), Tensor::scalar(int32_t(40))}, {}},
      {"GatherV2", {big, ints({5000}, 300), Tensor::scalar(int32_t(0))}, {}},
      {"Transpose", {image, vec({3, 1, 0, 2})}, {}},
      {"TopKV2", {big, Tensor::scalar(int32_t(50))}, {}},
      {"ResizeBilinear", {image, vec({77, 63})}, {}},
      {"StatelessRandomNormal", {vec({500, 700}), vec({3, 5})}, {}},
      {"StatelessTruncatedNormal", {vec({500, 700}), vec({3, 5})}, {}},
  };
}

}  // namespace

TEST_CASE("one, two and five threads give the same bits") {
  for (const Case& c : cases()) {
    CAPTURE(c.op);
    const auto one = run(1, c);
    for (int threads : {2, 5}) {
      const auto many = run(threads, c);
      REQUIRE(one.size() == many.size());
      for (size_t i = 0; i < one.size(); ++i) {
        REQUIRE((one[i].shape() == many[i].shape()));
        const bool same = one[i].byte_size() == 0 || std::memcmp(one[i].raw(), many[i].raw(), one[i].byte_size()) == 0;
        CHECK_MESSAGE(same, c.op, " output ", i, " with ", threads, " threads");
      }
    }
  }
}
