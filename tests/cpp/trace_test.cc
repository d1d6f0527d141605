// weft::function: signatures, captures, variables, side effects in program order, errors, threads. Texts and numbers are TensorFlow's.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "api/unwrap.h"
#include "tests/support/api_test.h"

namespace wf = weft;
using wf::Tensor;

namespace {

wf::TensorSpec spec(std::string name, wf::PartialShape shape, wf::DType type = wf::DType::float32) {
  return {std::move(name), type, std::move(shape), ""};
}

}  // namespace

TEST_CASE("functions that were traced before see the variables of the traces around them") {
  wf::Variable v(Tensor(3.f));
  auto product = wf::function([&](Tensor x) { return x * v; });
  auto bump = wf::function([&](Tensor x) { v.assign_add(x); });
  product(Tensor(1.f)), bump(Tensor(0.f));
  auto slope = wf::function([&](Tensor x) {
    wf::GradientTape tape;
    const Tensor y = product(x);
    return tape.gradient(y, v).dense();
  });
  auto outer = wf::function([&](Tensor x) { return slope(x) + 0.f; });
  CHECK(outer(Tensor(5.f)).item<float>() == 5);  // d(x v)/dv = x
  auto around = wf::function([&](Tensor x) {
    const Tensor before = v;
    bump(x);
    const Tensor after = v;
    v.assign(Tensor(0.f));
    return std::pair(before, after);
  });
  auto further = wf::function([&](Tensor x) { return around(x); });
  auto [before, after] = further(Tensor(2.f));
  CHECK(before.item<float>() == 3);
  CHECK(after.item<float>() == 5);
  CHECK(v.value().item<float>() == 0);
}

TEST_CASE("one graph for each signature; plain values are baked in") {
  int runs = 0;
  auto f = wf::function([&](const Tensor& x, int times, const std::string& how) {
    ++runs;
    Tensor y = x;
    for (int i = 0; i < times; ++i) y = how == "add" ? y + x : y * x;
    return y;
  });
  CHECK(values(f(Tensor{1.f, 2.f}, 2, "add")) == Floats{3, 6});
  CHECK(values(f(Tensor{2.f, 3.f}, 2, "add")) == Floats{6, 9});
  CHECK(runs == 1);
  CHECK(values(f(Tensor{2.f, 3.f}, 2, "mul")) == Floats{8, 27});
  CHECK(values(f(Tensor{2.f, 3.f}, 3, "add")) == Floats{8, 12});
  CHECK(values(f(Tensor{2.f}, 3, "add")) == Floats{8});
  CHECK(f(Tensor{2}, 1, "add").item<int32_t>() == 4);
  CHECK(runs == 5);
  CHECK(f.num_traces() == 5);
}

TEST_CASE("input_signature and relaxed shapes") {
  auto f = wf::function([](const Tensor& a) { return a; }, {.input_signature = {spec("a", {-1, 2})}});
  CHECK(f(wf::ones({3, 2})).shape() == std::vector<int64_t>{3, 2});
  CHECK(f(wf::ones({5, 2})).shape() == std::vector<int64_t>{5, 2});
  CHECK(f.num_traces() == 1);
  CHECK(has(message_of([&] { f(wf::ones({3, 3})); }), "is float[3,3], its input_signature has float[?,2]"));
  CHECK(has(message_of([&] { f(wf::ones({3, 2}, wf::DType::int32)); }), "argument 0 of the function"));
  CHECK(f.pretty_printed_signatures() ==
        "Input Parameters:\n  a (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(None, 2), dtype=tf.float32, name='a')\nOutput Type:\n"
        "  TensorSpec(shape=(None, 2), dtype=tf.float32, name=None)\nCaptures:\n  None");

  auto g = wf::function([](const Tensor& a) { return wf::reduce_sum(a, {.axis = {1}}); }, {.reduce_retracing = true});
  g(wf::ones({2, 3}));
  g(wf::ones({4, 3}));
  CHECK(g.num_traces() == 2);
  CHECK(g(wf::ones({7, 3})).size() == 7);
  CHECK(g.num_traces() == 2);
}

TEST_CASE("concrete functions and their graphs") {
  wf::Variable v(Tensor(2.f), {.name = "v"});
  auto f = wf::function([&](const Tensor& x) { return x * v; }, {.name = "times"});
  auto c = f.concrete_function({spec("x", {-1})});
  CHECK(c.inputs()[0].name == "x");
  CHECK(c.outputs()[0].shape.dims == std::vector<int64_t>{-1});
  CHECK(c.num_captures() == 1);
  REQUIRE(c.variables().size() == 1);
  CHECK(c.variables()[0].same(v));
  CHECK(values(c({Tensor{1.f, 2.f}})[0]) == Floats{2, 4});
  CHECK(has(message_of([&] { c({}); }), "takes 1 tensors, 0 were given"));
  CHECK(has(message_of([&] { c({Tensor{1}}); }), "was expected to be a float tensor but is a int32 tensor"));
  CHECK(has(c.name(), "__inference_times_"));
}

TEST_CASE("run_functions_eagerly") {
  int runs = 0;
  auto f = wf::function([&](const Tensor& x) {
    ++runs;
    return x + x;
  });
  wf::run_functions_eagerly(true);
  CHECK(f(Tensor(1.f)).item<float>() == 2);
  CHECK(f(Tensor(1.f)).item<float>() == 2);
  wf::run_functions_eagerly(false);
  CHECK(runs == 2);
  CHECK(f.num_traces() == 0);
}

TEST_CASE("side effects happen in program order") {
  wf::Variable a(Tensor(1.f)), b(Tensor(10.f));
  auto add = wf::function([&](const Tensor& x) { a.assign_add(x); });  // writes a variable, gives nothing
  auto f = wf::function([&] {
    Tensor before = a;
    a.assign(b + Tensor(1.f));
    Tensor between = a;
    b.assign(a * Tensor(2.f));
    add(Tensor(100.f));
    Tensor after = a;
    a.assign_sub(Tensor(1.f));
    return std::tuple(before, between, after, Tensor(b));
  });
  auto [before, between, after, of_b] = f();
  CHECK(before.item<float>() == 1);
  CHECK(between.item<float>() == 11);
  CHECK(after.item<float>() == 111);
  CHECK(of_b.item<float>() == 22);
  CHECK(a.value().item<float>() == 110);
  // Writes that nobody reads happen, too; of many, the last one stays.
  auto g = wf::function([&] {
    for (int i = 0; i < 20; ++i) a.assign(Tensor(float(i)));
  });
  g();
  CHECK(a.value().item<float>() == 19);
  // Through branches, loops and nested functions.
  auto h = wf::function([&](const Tensor& p) {
    a.assign(Tensor(1.f));
    wf::cond(p, [&] { a.assign(a * Tensor(3.f)); }, [&] { a.assign(a * Tensor(5.f)); });
    Tensor one = a;
    wf::while_loop([](const Tensor& i) { return i < Tensor(3); },
                   [&](const Tensor& i) {
                     a.assign_add(a);
                     return i + Tensor(1);
                   },
                   Tensor(0));
    return std::pair(one, Tensor(a));
  });
  CHECK(h(Tensor(true)).second.item<float>() == 24);
  CHECK(h(Tensor(false)).first.item<float>() == 5);
}

TEST_CASE("queues keep program order") {
  Tensor queue = wf::Call("FIFOQueueV2").attr("component_types", std::vector<wf::DType>{wf::DType::float32}).attr("capacity", 10).one();
  auto f = wf::function([&] {
    for (int i = 0; i < 4; ++i) wf::Call("QueueEnqueueV2").in(queue).in(std::vector<Tensor>{Tensor(float(i))}).run();
    std::vector<Tensor> out;
    for (int i = 0; i < 4; ++i)
      out.push_back(wf::Call("QueueDequeueV2").in(queue).attr("component_types", std::vector<wf::DType>{wf::DType::float32}).one());
    return wf::stack(out);
  });
  for (int i = 0; i < 20; ++i) CHECK(values(f()) == Floats{0, 1, 2, 3});
}

TEST_CASE("variables are made in the first trace only, and initialised outside of it") {
  struct Held {
    wf::Variable v;
  } held;
  int runs = 0;
  auto f = wf::function([&](const Tensor& x) {
    ++runs;
    if (!held.v.has_value()) held.v = wf::Variable(wf::ones({2}) * Tensor(3.f), {.name = "made"});
    return x * held.v;
  });
  CHECK(values(f(Tensor{1.f, 2.f})) == Floats{3, 6});
  CHECK(runs == 2);  // the second trace makes none, and is kept
  held.v.assign(Tensor{1.f, 1.f});
  CHECK(values(f(Tensor{1.f, 2.f})) == Floats{1, 2});
  CHECK(f(Tensor{{1.f, 2.f}, {3.f, 4.f}}).size() == 4);

  auto bad = wf::function([] { return Tensor(wf::Variable(Tensor(1.f))) + Tensor(0.f); });
  CHECK(has(message_of([&] { bad(); }), "in a call that is not its first: make it once, in the first call, or outside of the function"));
  wf::Variable of_argument;
  auto worse = wf::function([&](const Tensor& x) {
    if (!of_argument.has_value()) of_argument = wf::Variable(x * Tensor(2.f));
    return Tensor(of_argument);
  });
  CHECK(has(message_of([&] { worse(Tensor(1.f)); }), "depends on an argument of the function"));
}

TEST_CASE("functions in functions capture what is around them") {
  const Tensor big = wf::ones({300});
  wf::Variable v(Tensor(2.f));
  auto outer = wf::function([&](const Tensor& x) {
    Tensor y = x * x;
    auto inner = wf::function([&](const Tensor& z) { return z * y + wf::reduce_sum(big) * v; });
    return inner(x) + inner(y);
  });
  CHECK(outer(Tensor(2.f)).item<float>() == 8 + 600 + 16 + 600);
  CHECK(outer(Tensor(3.f)).item<float>() == 27 + 600 + 81 + 600);
  // One made outside and called in two graphs.
  auto shared = wf::function([&](const Tensor& x) { return x + v; });
  auto one = wf::function([&](const Tensor& x) { return shared(x) * Tensor(2.f); });
  auto two = wf::function([&](const Tensor& x) { return shared(x) * Tensor(3.f); });
  CHECK(one(Tensor(1.f)).item<float>() == 6);
  CHECK(two(Tensor(1.f)).item<float>() == 9);
  CHECK(shared(Tensor(1.f)).item<float>() == 3);
}

TEST_CASE("recursion over plain values ends; without an end it is an error") {
  std::function<Tensor(const Tensor&, int)> power;
  auto f = wf::function([&](const Tensor& x, int n) -> Tensor { return n == 0 ? Tensor(1.f) : x * power(x, n - 1); });
  power = f;
  CHECK(f(Tensor(2.f), 10).item<float>() == 1024);
  std::function<Tensor(const Tensor&)> again;
  auto g = wf::function([&](const Tensor& x) -> Tensor { return again(x); });
  again = g;
  CHECK(has(message_of([&] { g(Tensor(2.f)); }), "without end"));
  CHECK(f(Tensor(3.f), 2).item<float>() == 9);
}

TEST_CASE("values of a trace cannot be used outside of it, nor read") {
  Tensor leaked;
  auto f = wf::function([&](const Tensor& x) {
    leaked = x * x;
    return leaked;
  });
  f(Tensor(2.f));
  CHECK(has(message_of([&] { leaked.item<float>(); }), "stands for a value of a function that is being traced"));
  auto g = wf::function([&](const Tensor& x) { return x + leaked; });
  CHECK(has(message_of([&] { g(Tensor(1.f)); }), "is out of scope and cannot be used here"));
  CHECK(!wf::is_tracing());
  auto reads = wf::function([&](const Tensor& x) { return Tensor(x.item<float>()); });
  CHECK(has(message_of([&] { reads(Tensor(1.f)); }), "Use ops on it, or return it from the function."));
  CHECK(f(Tensor(3.f)).item<float>() == 9);
}

TEST_CASE("errors of a call name the node and the function") {
  auto f = wf::function([](const Tensor& x, const Tensor& y) { return wf::reshape(x, {-1}) + wf::reshape(y, {-1}); },
                        {.name = "adds", .input_signature = {spec("x", wf::PartialShape()), spec("y", wf::PartialShape())}});
  const std::string text = message_of([&] { f(Tensor{1.f, 2.f}, Tensor{1.f, 2.f, 3.f}); });
  CHECK(has(text, "Incompatible shapes: [2] vs. [3]"));
  CHECK(has(text, "{{node AddV2}}"));
  CHECK(has(text, " (function __inference_adds_"));
  CHECK(!has(text, "[Op:"));
  CHECK(has(text, "run_functions_eagerly"));
  CHECK(f(Tensor{1.f}, Tensor{2.f}).item<float>() == 3);
}

TEST_CASE("exceptions of the user's code pass, and nothing is left behind") {
  bool fail = true;
  auto f = wf::function([&](const Tensor& x) {
    wf::GradientTape tape;
    wf::DeviceScope device("CPU:0");
    wf::NameScope scope("a");
    Tensor y = x * x;
    if (fail) throw std::out_of_range("mine");
    return y;
  });
  CHECK_THROWS_AS(f(Tensor(2.f)), std::out_of_range);
  CHECK(f.num_traces() == 0);
  CHECK(!wf::is_tracing());
  fail = false;
  CHECK(f(Tensor(2.f)).item<float>() == 4);
}

TEST_CASE("init_scope leaves every trace") {
  int64_t seen = 0;
  auto f = wf::function([&](const Tensor& x) {
    wf::init_scope([&] { seen = (Tensor(int64_t(20)) + Tensor(int64_t(1))).item<int64_t>(); });
    return x;
  });
  f(Tensor(1.f));
  CHECK(seen == 21);
}

TEST_CASE("sixteen threads call one function, and race for the first call") {
  for (int round = 0; round < 5; ++round) {
    wf::Variable v(Tensor(0.f));
    std::atomic<int> runs{0}, wrong{0};
    auto inner = wf::function([&](const Tensor& x) { return x * x; });
    auto f = wf::function([&](const Tensor& x) {
      ++runs;
      v.assign_add(Tensor(1.f));
      return inner(x) + x;
    });
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          if (f(Tensor(float(t))).item<float>() != float(t * t + t)) ++wrong;
        }
        wf::GradientTape tape;
        const Tensor x(float(t) + 1);
        tape.watch(x);
        Tensor y = f(x);
        if (tape.gradient(y, x).dense().item<float>() != 2 * float(t + 1) + 1) ++wrong;
      });
    }
    for (auto& t : threads) t.join();
    CHECK(wrong == 0);
    CHECK(runs == 1);
    CHECK(v.value().item<float>() == 16 * 21);
  }
}

TEST_CASE("functions that are gone leave the library") {
  auto& library = wf::api::context().functions();
  wf::Variable v(Tensor(2.f));
  auto churn = [&] {
    auto inner = wf::function([&](const Tensor& x) { return x * v; });
    auto f = wf::function([&](const Tensor& x) {
      wf::GradientTape tape;
      tape.watch(x);
      Tensor y = wf::cond(x > Tensor(0.f), [&] { return inner(x); }, [&] { return -x; });
      auto [i, z] = wf::while_loop([](const Tensor& i, const Tensor&) { return i < Tensor(3); },
                                   [](const Tensor& i, const Tensor& s) { return std::tuple(i + Tensor(1), s * s); }, std::tuple(Tensor(0), y));
      return Tensor(tape.gradient(z, x));
    });
    f(Tensor(1.f));
    wf::GradientTape tape;
    Tensor y = inner(Tensor(1.f));
    tape.gradient(y, v);
  };
  churn();
  const int before = library.size();
  for (int i = 0; i < 10; ++i) churn();
  CHECK(library.size() == before);
  // One that another calls stays with it.
  std::function<Tensor(const Tensor&)> kept;
  {
    auto inner = wf::function([&](const Tensor& x) { return wf::cond(x > Tensor(0.f), [&] { return x * v; }, [&] { return x; }); });
    auto outer = wf::function([inner](const Tensor& x) { return inner(x) + x; });
    outer(Tensor(1.f));
    auto c = outer.concrete_function_for(Tensor(1.f));
    kept = [c](const Tensor& x) { return c({x})[0]; };
  }
  CHECK(kept(Tensor(5.f)).item<float>() == 15);
}

TEST_CASE("devices in traces") {
  auto f = wf::function([](const Tensor& x) {
    wf::DeviceScope device("/device:CPU:1");
    Tensor y = x * x;
    wf::DeviceScope other("/device:CPU:0");
    return y + x;
  });
  CHECK(f(Tensor(3.f)).item<float>() == 12);
}

int main(int argc, char** argv) {
  wf::configure({.cpu_devices = 2});
  doctest::Context context(argc, argv);
  return context.run();
}
