// weft::Variable, creator scopes, and copies on several devices. The numbers are TensorFlow's.
#include <doctest/doctest.h>

#include "tests/support/api_test.h"

namespace wf = weft;
namespace wd = weft::distribute;
using wf::Tensor;

namespace {

Floats copies(const wf::Variable& v) {
  Floats out;
  for (const Tensor& t : wd::MirroredStrategy::local_values(v)) out.push_back(t.item<float>());
  return out;
}

}  // namespace

TEST_CASE("what a variable says of itself") {
  wf::Variable v(Tensor{1.f, 2.f}, {.name = "w", .trainable = false, .aggregation = wf::VariableAggregation::mean});
  CHECK(v.name() == "w");
  CHECK(v.dtype() == wf::DType::float32);
  CHECK(v.shape() == std::vector<int64_t>{2});
  CHECK(!v.trainable());
  CHECK(v.aggregation() == wf::VariableAggregation::mean);
  CHECK(v.is_initialized());
  wf::Variable same = v;
  same.assign(Tensor{3.f, 4.f});
  CHECK(values(v) == Floats{3, 4});
  CHECK(v.same(same));
  CHECK(has(message_of([] { wf::Variable().value(); }), "a variable that was not made was used"));
  wf::Variable positive(Tensor{-1.f}, {.constraint = [](const Tensor& t) { return wf::relu(t); }});
  CHECK(values(positive.constraint()(positive)) == Floats{0});
  wf::Variable mine(Tensor(1.f), {.synchronization = wf::VariableSynchronization::on_read});
  CHECK(!mine.trainable());
}

TEST_CASE("assignments check types and shapes; open dimensions may change") {
  wf::Variable v(Tensor{1.f, 2.f}), open(Tensor{1.f, 2.f}, {.shape = {-1}}), any(Tensor(1.f), {.unknown_rank = true});
  CHECK(has(message_of([&] { v.assign(Tensor{1.f, 2.f, 3.f}); }), "Shape mismatch"));
  CHECK(has(message_of([&] { v.assign(Tensor{1, 2}); }), "int32"));
  open.assign(Tensor{1.f, 2.f, 3.f});
  CHECK(open.shape() == std::vector<int64_t>{3});
  CHECK(has(message_of([&] { open.assign(Tensor{{1.f, 2.f, 3.f}}); }), "Shape mismatch"));
  any.assign(wf::ones({2, 2}));
  CHECK(any.shape() == std::vector<int64_t>{2, 2});
  v.assign_add(Tensor{1.f, 1.f}).assign_sub(Tensor{0.f, 3.f});
  CHECK(values(v) == Floats{2, 0});
  CHECK(has(message_of([] { wf::Variable(Tensor(1.f), {.dtype = wf::DType::int32}); }), "int32"));
}

TEST_CASE("a variable without a value") {
  Tensor handle = wf::Call("VarHandleOp").attr("dtype", wf::DType::float32).attr("shape", wf::PartialShape{2}).attr("shared_name", "never_set").one();
  const std::string text = message_of([&] { wf::Call("ReadVariableOp").in(handle).attr("dtype", wf::DType::float32).one(); });
  CHECK(has(text,
            "Could not find variable never_set. This could mean that the variable has been deleted. In TF1, it can also mean the variable is "
            "uninitialized."));
}

TEST_CASE("slices and rows") {
  wf::Variable w(wf::reshape(wf::range(Tensor(0.f), Tensor(12.f), Tensor(1.f)), {3, 4}));
  w.assign_slice({1, 0}, {3, 4}, {1, 2}, Tensor{{-1.f, -2.f}, {-3.f, -4.f}});
  CHECK(values(w) == Floats{0, 1, 2, 3, -1, 5, -2, 7, -3, 9, -4, 11});
  const wf::IndexedSlices rows{Tensor{{2.f, 4.f}, {4.f, 2.f}}, Tensor{2, 0}, {}};
  using Method = const wf::Variable& (wf::Variable::*)(const wf::IndexedSlices&) const;
  const std::vector<std::pair<Method, Floats>> cases{
      {&wf::Variable::scatter_add, {5, 4, 3, 4, 7, 10}},  {&wf::Variable::scatter_sub, {-3, 0, 3, 4, 3, 2}},
      {&wf::Variable::scatter_mul, {4, 4, 3, 4, 10, 24}}, {&wf::Variable::scatter_div, {.25f, 1, 3, 4, 2.5f, 1.5f}},
      {&wf::Variable::scatter_max, {4, 2, 3, 4, 5, 6}},   {&wf::Variable::scatter_min, {1, 2, 3, 4, 2, 4}},
      {&wf::Variable::scatter_update, {4, 2, 3, 4, 2, 4}}};
  for (const auto& [method, want] : cases) {
    wf::Variable v(Tensor{{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    CHECK(values((v.*method)(rows)) == want);
  }
  wf::Variable v(Tensor{{4.f, 2.f}, {3.f, 4.f}, {2.f, 4.f}});
  v.scatter_nd_add(Tensor{{0, 1}, {2, 0}}, Tensor{10.f, 20.f});
  CHECK(values(v) == Floats{4, 12, 3, 4, 22, 4});
  CHECK(has(message_of([&] { v.scatter_add({Tensor{{1.f, 1.f}}, Tensor{7}, {}}); }), "7"));
  // In a function, in order.
  auto f = wf::function([&] {
    v.assign(wf::zeros({3, 2}));
    v.scatter_add(rows);
    v.scatter_add(rows);
    return v.value();
  });
  CHECK(values(f()) == Floats{8, 4, 0, 0, 4, 8});
}

TEST_CASE("creator scopes: the innermost is asked first, and may do as it likes") {
  std::vector<std::string> asked;
  auto scope = [&](std::string name) {
    return [&asked, name](const wf::VariableCreatorScope::Next& next, const std::function<Tensor()>& value, const wf::VariableOptions& options) {
      asked.push_back(name);
      wf::VariableOptions o = options;
      o.name = name + "_" + o.name;
      return next(value, o);
    };
  };
  wf::VariableCreatorScope outer(scope("outer"));
  {
    wf::VariableCreatorScope inner(scope("inner"));
    wf::Variable v(Tensor(1.f), {.name = "v"});
    CHECK(v.name() == "outer_inner_v");
    CHECK(asked == std::vector<std::string>{"inner", "outer"});
  }
  wf::Variable shared(Tensor(5.f), {.name = "shared"});
  wf::VariableCreatorScope one([&](const auto&, const auto&, const auto&) { return shared; });
  wf::Variable again(Tensor(7.f));
  CHECK(again.same(shared));
  CHECK(again.value().item<float>() == 5);
}

TEST_CASE("copies on two devices: synchronised on write") {
  wd::MirroredStrategy strategy({"CPU:0", "CPU:1"});
  CHECK(strategy.num_replicas_in_sync() == 2);
  auto made = [&](wf::VariableAggregation a, wf::VariableSynchronization s = wf::VariableSynchronization::automatic) {
    auto scope = strategy.scope();
    return wf::Variable(Tensor(1.f), {.synchronization = s, .aggregation = a});
  };
  using A = wf::VariableAggregation;
  struct Case {
    A mode;
    Floats assign, add, sub;
  };
  for (const Case& c : {Case{A::none, {2, 3}, {4, 6}, {2, 3}}, Case{A::sum, {5, 5}, {10, 10}, {5, 5}},
                        Case{A::mean, {2.5f, 2.5f}, {5, 5}, {2.5f, 2.5f}}, Case{A::only_first_replica, {2, 2}, {4, 4}, {2, 2}}}) {
    wf::Variable v = made(c.mode);
    CHECK(copies(v) == Floats{1, 1});
    strategy.run([&](int i) { v.assign(Tensor(float(i) + 2)); });
    CHECK(copies(v) == c.assign);
    strategy.run([&](int i) { v.assign_add(Tensor(float(i) + 2)); });
    CHECK(copies(v) == c.add);
    strategy.run([&](int i) { v.assign_sub(Tensor(float(i) + 2)); });
    CHECK(copies(v) == c.sub);
    v.assign_add(Tensor(8.f));
    CHECK(copies(v) == Floats{c.sub[0] + 8, c.sub[1] + 8});
  }
  wf::Variable v = made(A::sum);
  strategy.run([&](int i) {
    CHECK(wd::replica_id() == i);
    CHECK(v.value().item<float>() == 1);
  });
  CHECK(wd::replica_id() == -1);
  CHECK(strategy.devices()[1].find("CPU:1") != std::string::npos);
  // One that does not come is told, and so is one that fails.
  CHECK(has(message_of([&] {
              strategy.run([&](int i) {
                if (i == 0) v.assign(Tensor(1.f));
              });
            }),
            "every replica must run the same code"));
  CHECK(has(message_of([&] {
              strategy.run([&](int i) {
                if (i == 1) throw wf::Error(wf::Code::kAborted, "mine");
                v.assign(Tensor(1.f));
              });
            }),
            "mine"));
  wf::Variable rows;
  {
    auto scope = strategy.scope();
    rows = wf::Variable(Tensor{1.f, 2.f}, {.aggregation = A::sum});
  }
  rows.scatter_update({Tensor{4.f}, Tensor{1}, {}});
  for (const Tensor& t : wd::MirroredStrategy::local_values(rows)) CHECK(values(t) == Floats{1, 4});
  CHECK(has(message_of([&] { strategy.run([&](int) { rows.scatter_add({Tensor{4.f}, Tensor{1}, {}}); }); }), "must write it together"));
}

TEST_CASE("copies on two devices: synchronised on read") {
  wd::MirroredStrategy strategy;
  REQUIRE(strategy.num_replicas_in_sync() == 2);
  using A = wf::VariableAggregation;
  struct Case {
    A mode;
    float read, after_add;
    Floats assigned;
  };
  auto made = [&](A mode) {
    auto scope = strategy.scope();
    return wf::Variable(Tensor(1.f), {.synchronization = wf::VariableSynchronization::on_read, .aggregation = mode});
  };
  for (const Case& c : {Case{A::sum, 5, 10, {4, 4}}, Case{A::mean, 2.5f, 5, {8, 8}}, Case{A::only_first_replica, 2, 4, {8, 8}}}) {
    wf::Variable v = made(c.mode);
    strategy.run([&](int i) { v.assign(Tensor(float(i) + 2)); });
    CHECK(copies(v) == Floats{2, 3});
    CHECK(v.value().item<float>() == c.read);
    strategy.run([&](int i) { v.assign_add(Tensor(float(i) + 2)); });
    CHECK(v.value().item<float>() == c.after_add);
    v.assign(Tensor(8.f));
    CHECK(copies(v) == c.assigned);
    CHECK(!v.trainable());
  }
  wf::Variable sum = made(A::sum), none = made(A::none);
  CHECK(message_of([&] { sum.assign_add(Tensor(1.f)); }) ==
        "a variable whose value is the sum over all replicas does not support assign_add outside of replicas");
  const std::string no_way = "the values of a variable that is put together when it is read, but has no aggregation, can only be used in replicas";
  CHECK(message_of([&] { none.value(); }) == no_way);
  CHECK(message_of([&] { none.assign(Tensor(1.f)); }) == no_way);
}

TEST_CASE("a replica that fails is the error to tell, not those that waited for it") {
  wd::MirroredStrategy strategy;
  REQUIRE(strategy.num_replicas_in_sync() == 2);
  wf::Variable w;
  {
    auto scope = strategy.scope();
    w = wf::Variable(Tensor(3.f), {.aggregation = wf::VariableAggregation::mean});
  }
  for (const int failing : {0, 1}) {
    CHECK(message_of([&] {
            strategy.run([&](int i) {
              if (i == failing) wf::check_numerics(Tensor(1.f) / Tensor(0.f), "mine");
              w.assign_add(Tensor(1.f));
            });
          }).starts_with("mine : Tensor had Inf values"));
  }
  CHECK(has(message_of([&] {
              strategy.run([&](int i) {
                if (i == 0) w.assign_add(Tensor(1.f));
              });
            }),
            "every replica must run the same code"));
  for (float c : copies(w)) CHECK(c == 3);
}

TEST_CASE("a step on two devices: gradients of each, one update") {
  wd::MirroredStrategy strategy;
  wf::Variable w;
  {
    auto scope = strategy.scope();
    w = wf::Variable(Tensor(3.f), {.aggregation = wf::VariableAggregation::mean});
  }
  auto squares = wf::function([&](const Tensor& x) { return wf::square(x * w); });
  auto losses = strategy.run([&](int i) {
    wf::GradientTape tape;
    Tensor loss = squares(Tensor(float(i + 1)));
    Tensor g = tape.gradient(loss, w);
    w.assign_sub(Tensor(0.1f) * g);
    return loss;
  });
  CHECK(losses[0].item<float>() == 9);
  CHECK(losses[1].item<float>() == 36);
  CHECK(strategy.reduce(wd::ReduceOp::sum, losses).item<float>() == 45);
  CHECK(strategy.reduce(wd::ReduceOp::mean, losses).item<float>() == 22.5f);
  // Gradients 2 x^2 w: 6 and 24; a tenth of their mean.
  for (float c : copies(w)) CHECK(c == doctest::Approx(1.5f));
}

int main(int argc, char** argv) {
  wf::configure({.cpu_devices = 2});
  doctest::Context context(argc, argv);
  return context.run();
}
