// Products and convolutions of compiled code beside oneDNN's, one thread, in turn: GFLOP/s from the best of many rounds, processor time.
//
//   ninja -C BUILD bench_products && OMP_NUM_THREADS=1 WEFT_JIT_LIBRARY=BUILD/src/libweft_jit.so BUILD/tests/bench_products [CPU
//   [PART_OF_A_NAME]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dnnl.hpp>
#include <functional>
#include <random>
#include <string>

#include "compiler/codegen.h"
#include "compiler/plan.h"
#include "ir/builder.h"

namespace {

using namespace weft_engine;
using ir::Dim;
using ir::DType;
using ir::Value;

const char* cpu = "native";
const char* only = "";

double seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

double once(const std::function<void()>& f, int n) {
  const double t = seconds();
  for (int i = 0; i < n; ++i) f();
  return (seconds() - t) / n;
}

struct Memory {
  explicit Memory(size_t n) : floats(static_cast<float*>(std::aligned_alloc(64, n * 4 / 64 * 64 + 64))) {
    static std::mt19937 random(1);
    for (size_t i = 0; i < n; ++i) floats[i] = std::uniform_real_distribution<float>(-1, 1)(random);
  }
  Memory(Memory&& m) : floats(std::exchange(m.floats, nullptr)) {}
  ~Memory() { std::free(floats); }
  float* floats;
};

// `peer` gets the operands.
void compare(const std::string& name, double flops, const std::function<Value(ir::Builder&)>& make,
             const std::function<std::function<void()>(float*, float*)>& peer) {
  if (name.find(only) == std::string::npos) return;
  ir::Module m;
  ir::Builder b(m);
  Value v = make(b);
  m.main->results.push_back(v);
  m.results.push_back({"y", -1});
  auto plan = compiler::make_plan(m);
  auto api = compiler::codegen();
  if (!v || !plan.ok() || !api.ok()) return void(std::fprintf(stderr, "%s\n", (!api.ok() ? api.status() : b.status()).to_string().c_str()));
  compiler::CodegenOptions options;
  options.cpu = cpu;
  auto code = (*api)->jit(*plan, options);
  if (!code.ok()) return void(std::fprintf(stderr, "%s: %s\n", name.c_str(), code.status().to_string().c_str()));
  std::vector<Memory> memory;
  std::vector<void*> parameters;
  for (const ir::Parameter& p : m.parameters) {
    memory.emplace_back(size_t(p.type.elements().value()));
    parameters.push_back(memory.back().floats);
  }
  Memory result(size_t(v->type.elements().value())), arena(size_t(plan -> arena_bytes.value()) / 4 + 16);
  void* results[] = {result.floats};
  const auto entry = (*code)->entry();
  const auto ours = [&] { entry(parameters.data(), results, nullptr, nullptr, reinterpret_cast<char*>(arena.floats), nullptr); };
  const auto theirs = peer(memory[0].floats, memory[1].floats);
  const int n = std::max(1, int(1e-3 / std::max(1e-7, once(ours, 3))));
  once(theirs, 1);
  double best = 1, other = 1;
  for (int round = 0; round < 25; ++round) best = std::min(best, once(ours, n)), other = std::min(other, once(theirs, n));
  std::printf("%-34s %9.2f us %6.1f GFLOP/s   oneDNN %9.2f us %6.1f   ratio %.2f\n", name.c_str(), best * 1e6, flops / best * 1e-9, other * 1e6,
              flops / other * 1e-9, other / best);
}

void product(int64_t m, int64_t n, int64_t k, bool ta = false, bool tb = false) {
  const std::string name =
      "product " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + (ta ? " A^T" : "") + (tb ? " B^T" : "");
  compare(
      name, 2.0 * double(m) * double(n) * double(k),
      [=](ir::Builder& b) {
        Value x = b.parameter({ir::Parameter::Kind::kInput, "a", {DType::kFloat, {ta ? k : m, ta ? m : k}}});
        Value y = b.parameter({ir::Parameter::Kind::kInput, "b", {DType::kFloat, {tb ? n : k, tb ? k : n}}});
        return b.dot(x, y, ta, tb);
      },
      [=](float* a, float* b) {
        auto c = std::make_shared<Memory>(size_t(m * n));
        return [=] { dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, a, ta ? m : k, b, tb ? k : n, 0, c->floats, n); };
      });
}

void convolution(int64_t batch, int64_t size, int64_t in, int64_t out, int64_t filter = 3, int64_t stride = 1) {
  const int64_t pad = filter / 2, to = (size + 2 * pad - filter) / stride + 1;
  const std::string name = "conv " + std::to_string(batch) + "x" + std::to_string(size) + "x" + std::to_string(size) + "x" + std::to_string(in) +
                           " by " + std::to_string(filter) + "x" + std::to_string(filter) + "x" + std::to_string(out) +
                           (stride > 1 ? "/" + std::to_string(stride) : "");
  compare(
      name, 2.0 * double(batch * to * to * filter * filter * in * out),
      [=](ir::Builder& b) {
        ir::Window w{{filter, filter}, {stride, stride}, {1, 1}, {1, 1}, {pad, pad}, {pad, pad}, 1};
        Value x = b.parameter({ir::Parameter::Kind::kInput, "x", {DType::kFloat, {batch, size, size, in}}});
        Value f = b.parameter({ir::Parameter::Kind::kInput, "f", {DType::kFloat, {filter, filter, in, out}}});
        return b.conv(x, f, w);
      },
      [=](float* x, float* f) {
        using md = dnnl::memory::desc;
        using tag = dnnl::memory::format_tag;
        const auto f32 = dnnl::memory::data_type::f32;
        static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
        static dnnl::stream stream(engine);
        const md xs({batch, in, size, size}, f32, tag::nhwc), ys({batch, out, to, to}, f32, tag::nhwc),
            given({out, in, filter, filter}, f32, tag::hwio);
        const dnnl::convolution_forward::desc d(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, xs,
                                                md({out, in, filter, filter}, f32, tag::any), ys, {stride, stride}, {pad, pad}, {pad, pad});
        const dnnl::convolution_forward::primitive_desc pd(d, engine);
        dnnl::memory source(xs, engine, x), weights(pd.weights_desc(), engine), result(ys, engine), plain(given, engine, f);
        dnnl::reorder(plain, weights).execute(stream, plain, weights);
        dnnl::convolution_forward run(pd);
        return [=]() mutable { run.execute(stream, {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, result}}); };
      });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) cpu = argv[1];
  if (argc > 2) only = argv[2];
  // What the golden networks compute.
  for (int64_t m : {1, 32}) {
    for (auto [n, k] : {std::pair<int64_t, int64_t>{128, 784}, {10, 128}, {128, 3136}, {512, 128}, {512, 28}, {144, 48}, {64, 64}}) product(m, n, k);
  }
  product(1024, 64, 64), product(1024, 256, 64), product(1024, 64, 256);
  product(784, 128, 32, true), product(3136, 128, 32, true), product(128, 512, 32, true);
  product(32, 3136, 128, false, true), product(32, 128, 512, false, true), product(1024, 64, 256, false, true);
  product(256, 256, 256), product(512, 512, 512), product(1024, 1024, 1024);
  for (int64_t batch : {1, 32}) {
    convolution(batch, 28, 1, 32), convolution(batch, 14, 32, 64);
    convolution(batch, 32, 3, 16), convolution(batch, 32, 16, 32, 3, 2), convolution(batch, 16, 32, 32), convolution(batch, 16, 32, 64, 3, 2);
  }
  convolution(1, 224, 3, 64, 7, 2), convolution(1, 56, 64, 64), convolution(1, 28, 128, 128), convolution(1, 14, 256, 256),
      convolution(1, 7, 512, 512);
  convolution(1, 56, 64, 256, 1);
}
