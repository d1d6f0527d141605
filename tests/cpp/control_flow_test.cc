// Branches, loops, messages and checks, eagerly and in traced functions. The numbers are TensorFlow's.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "tests/support/api_test.h"

namespace wf = weft;
using wf::Tensor;
using Ints = std::vector<int32_t>;

namespace {

// Runs f eagerly and in a function.
void both(const std::function<void(bool)>& f) {
  f(false);
  f(true);
}
template <class F>
auto run(bool traced, F f) {
  return traced ? wf::function(f)() : f();
}

}  // namespace

TEST_CASE("cond runs one branch, chosen when the program runs") {
  auto f = [](const Tensor& x) { return wf::cond(wf::reduce_sum(x) > Tensor(0.f), [&] { return x * Tensor(2.f); }, [&] { return -x; }); };
  auto g = wf::function(f);
  for (auto& h : {std::function<Tensor(const Tensor&)>(f), std::function<Tensor(const Tensor&)>(g)}) {
    CHECK(h(Tensor{1.f, 2.f}).to_vector<float>() == Floats{2, 4});
    CHECK(h(Tensor{-1.f, -2.f}).to_vector<float>() == Floats{1, 2});
  }
  CHECK(g.num_traces() == 1);
}

TEST_CASE("cond gives structures, and may give nothing") {
  auto f = [](const Tensor& p) {
    return wf::cond(
        p, [] { return std::pair(Tensor(1.f), std::vector<Tensor>{Tensor(2)}); },
        [] { return std::pair(Tensor(3.f), std::vector<Tensor>{Tensor(4)}); });
  };
  auto g = wf::function(f);
  CHECK(g(Tensor(true)).second[0].item<int32_t>() == 2);
  CHECK(g(Tensor(false)).first.item<float>() == 3);
  wf::Variable v(Tensor(0.f));
  auto h = wf::function([&](const Tensor& p) { wf::cond(p, [&] { v.assign_add(Tensor(1.f)); }, [&] { v.assign_sub(Tensor(10.f)); }); });
  h(Tensor(true));
  CHECK(v.value().item<float>() == 1);
  h(Tensor(false));
  CHECK(v.value().item<float>() == -9);
}

TEST_CASE("branches that do not fit give TensorFlow's error") {
  const Tensor x{1.f, 2.f};
  auto types = wf::function([&](const Tensor& p) { return wf::cond(p, [&] { return x; }, [] { return Tensor(1); }); });
  CHECK(has(message_of([&] { types(Tensor(true)); }),
            "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return values."));
  CHECK(has(message_of([&] { types(Tensor(true)); }), "have different types"));
  auto number =
      wf::function([&](const Tensor& p) { return wf::cond(p, [&] { return std::vector<Tensor>{x, x}; }, [&] { return std::vector<Tensor>{x}; }); });
  CHECK(has(message_of([&] { number(Tensor(true)); }), "must have the same number"));
  CHECK(has(message_of([&] { wf::cond(Tensor{true, false}, [&] { return x; }, [&] { return x; }); }),
            "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"));
  // Shapes may differ; what is known is what both have.
  auto shapes = wf::function([&](const Tensor& p) {
    Tensor y = wf::cond(p, [&] { return x; }, [] { return Tensor{1.f, 2.f, 3.f}; });
    CHECK(y.partial_shape().dims == std::vector<int64_t>{-1});
    return y;
  });
  CHECK(shapes(Tensor(false)).size() == 3);
}

TEST_CASE("an error in a branch leaves everything usable") {
  auto bad = wf::function(
      [&](const Tensor& p) -> Tensor { return wf::cond(p, [&]() -> Tensor { throw std::runtime_error("mine"); }, [] { return Tensor(1.f); }); });
  CHECK_THROWS_AS(bad(Tensor(true)), std::runtime_error);
  CHECK(!wf::is_tracing());
  auto good = wf::function([&](const Tensor& p) { return wf::cond(p, [] { return Tensor(2.f); }, [] { return Tensor(1.f); }); });
  CHECK(good(Tensor(true)).item<float>() == 2);
}

TEST_CASE("switch_case takes the last branch for what is out of range") {
  auto f = [](const Tensor& i) {
    std::vector<std::function<Tensor()>> list{[] { return Tensor(1); }, [] { return Tensor(2); }, [] { return Tensor(3); }};
    return wf::switch_case(i, list);
  };
  auto g = wf::function(f);
  const std::vector<std::pair<int, int>> want{{-1, 3}, {0, 1}, {1, 2}, {2, 3}, {5, 3}};
  for (auto [i, y] : want) {
    CHECK(f(Tensor(i)).item<int32_t>() == y);
    CHECK(g(Tensor(i)).item<int32_t>() == y);
  }
  CHECK(message_of([&] { wf::switch_case(Tensor(0), std::vector<std::function<Tensor()>>{}); }) == "Must provide at least one item in 'branch_fns'");
  CHECK(has(message_of([&] { f(Tensor(0.f)); }), "'branch_index' must be an integer Tensor"));
}

TEST_CASE("while_loop: variables, limits, captures") {
  both([](bool traced) {
    auto [i, x] = run(traced, [] {
      return wf::while_loop([](const Tensor& i, const Tensor&) { return i < Tensor(5); },
                            [](const Tensor& i, const Tensor& x) { return std::tuple(i + Tensor(1), x * Tensor(2.f)); },
                            std::tuple(Tensor(0), Tensor(1.f)));
    });
    CHECK(i.template item<int32_t>() == 5);
    CHECK(x.template item<float>() == 32);
    Tensor limited = run(traced, [] {
      return wf::while_loop([](const Tensor& i) { return i < Tensor(30); }, [](const Tensor& i) { return i + Tensor(1); }, Tensor(0),
                            {.maximum_iterations = Tensor(7)});
    });
    CHECK(limited.item<int32_t>() == 7);
    wf::Variable v(Tensor(3.f));
    const Tensor big = wf::ones({20, 20});
    Tensor y = run(traced, [&] {
      auto [i, s] = wf::while_loop([&](const Tensor& i, const Tensor&) { return wf::cast(i, wf::DType::float32) < v; },
                                   [&](const Tensor& i, const Tensor& s) {
                                     v.assign_add(Tensor(0.5f));
                                     return std::tuple(i + Tensor(1), s + wf::reduce_sum(big) * v);
                                   },
                                   std::tuple(Tensor(0), Tensor(0.f)));
      return s;
    });
    // v goes 3.5, 4, ... 6 while i goes 0 .. 5: at i = 6, v = 6.
    CHECK(v.value().item<float>() == 6);
    CHECK(y.item<float>() == 400 * (3.5f + 4 + 4.5f + 5 + 5.5f + 6));
  });
}

TEST_CASE("while_loop: shapes that change need invariants; types never change") {
  const Tensor x{1.f, 2.f};
  auto grow = [&](const wf::WhileOptions& o) {
    return wf::function([&, o] {
      auto [i, y] = wf::while_loop([](const Tensor& i, const Tensor&) { return i < Tensor(3); },
                                   [](const Tensor& i, const Tensor& v) { return std::tuple(i + Tensor(1), wf::concat({v, v}, 0)); },
                                   std::tuple(Tensor(0), x), o);
      return y;
    })();
  };
  CHECK(has(message_of([&] { grow({}); }),
            "enters the loop with shape [2], but has shape [4] after one iteration. To allow the shape to vary across iterations, give "
            "less specific `shape_invariants`."));
  CHECK(grow({.shape_invariants = {wf::PartialShape(std::vector<int64_t>{}), {-1}}}).size() == 16);
  auto types = wf::function([&] {
    return wf::while_loop([](const Tensor& i) { return i < Tensor(3); }, [](const Tensor& i) { return wf::cast(i + Tensor(1), wf::DType::float32); },
                          Tensor(0));
  });
  CHECK(has(message_of([&] { types(); }), "enters the loop with type int32 but has type float after 1 iteration."));
  auto not_bool = wf::function(
      [&] { return wf::while_loop([](const Tensor& i) { return Tensor(3) - i; }, [](const Tensor& i) { return i + Tensor(1); }, Tensor(0)); });
  CHECK(has(message_of([&] { not_bool(); }), "passed int32 expected bool"));
  auto number = wf::function([&] {
    return wf::while_loop([](const std::vector<Tensor>& v) { return v[0] < Tensor(3); },
                          [](const std::vector<Tensor>& v) { return std::vector<Tensor>{v[0]}; }, std::vector<Tensor>{Tensor(0), Tensor(1)});
  });
  CHECK(has(message_of([&] { number(); }), "The two structures don't have the same nested structure."));
}

TEST_CASE("loops in loops and branches in loops") {
  both([](bool traced) {
    Tensor y = run(traced, [] {
      auto [i, s] = wf::while_loop(
          [](const Tensor& i, const Tensor&) { return i < Tensor(4); },
          [](const Tensor& i, const Tensor& s) {
            auto [j, t] = wf::while_loop(
                [&](const Tensor& j, const Tensor&) { return j < i; },
                [&](const Tensor& j, const Tensor& t) {
                  return std::tuple(j + Tensor(1), wf::cond(j % Tensor(2) == Tensor(0), [&] { return t + i; }, [&] { return t * Tensor(2); }));
                },
                std::tuple(Tensor(0), s));
            return std::tuple(i + Tensor(1), t);
          },
          std::tuple(Tensor(0), Tensor(1)));
      return s;
    });
    // i=1: 1+1=2; i=2: 2+2=4, 8; i=3: 11, 22, 25
    CHECK(y.item<int32_t>() == 25);
  });
}

TEST_CASE("map_fn, scan and folds") {
  both([](bool traced) {
    const Tensor m{{1.f, 2.f}, {3.f, 4.f}}, v{1.f, 2.f, 3.f};
    CHECK(run(traced, [&] { return wf::map_fn([](const Tensor& r) { return r * Tensor(2.f); }, m); }).to_vector<float>() == Floats{2, 4, 6, 8});
    CHECK(run(traced, [&] { return wf::map_fn([](const Tensor& r) { return wf::cast(r, wf::DType::int32); }, v); }).to_vector<int32_t>() ==
          Ints{1, 2, 3});
    auto two = run(
        traced, [&] { return wf::map_fn([](const Tensor& a, const Tensor& b) { return std::pair(a + b, a - b); }, std::pair(v, v * Tensor(3.f))); });
    CHECK(two.first.to_vector<float>() == Floats{4, 8, 12});
    CHECK(two.second.to_vector<float>() == Floats{-2, -4, -6});
    CHECK(run(traced, [&] { return wf::map_fn([](const Tensor& r) { return r * Tensor(2.f); }, wf::zeros({0, 3})); }).shape() ==
          std::vector<int64_t>{0, 3});

    auto add = [](const Tensor& a, const Tensor& b) { return a + b; };
    auto minus = [](const Tensor& a, const Tensor& b) { return a - b; };
    auto times = [](const Tensor& a, const Tensor& b) { return a * b; };
    CHECK(run(traced, [&] { return wf::scan(add, v); }).to_vector<float>() == Floats{1, 3, 6});
    CHECK(run(traced, [&] { return wf::scan(times, v, Tensor(2.f)); }).to_vector<float>() == Floats{2, 4, 12});
    CHECK(run(traced, [&] { return wf::scan(minus, v, wf::LoopOptions{.reverse = true}); }).to_vector<float>() == Floats{0, 1, 3});
    CHECK(run(traced, [&] { return wf::scan(minus, v, Tensor(0.f), {.reverse = true}); }).to_vector<float>() == Floats{-6, -5, -3});
    CHECK(run(traced, [&] { return wf::scan(minus, wf::zeros({0}), Tensor(0.f)); }).size() == 0);
    CHECK(run(traced, [&] { return wf::foldl(minus, v); }).item<float>() == -4);
    CHECK(run(traced, [&] { return wf::foldl(minus, v, Tensor(10.f)); }).item<float>() == 4);
    CHECK(run(traced, [&] { return wf::foldr(minus, v); }).item<float>() == 0);
    CHECK(message_of([&] { run(traced, [&] { return wf::map_fn(add, std::pair(Tensor{1.f, 2.f}, v)); }); }) ==
          "Dimensions 2 and 3 are not compatible");
    CHECK(message_of([&] { run(traced, [&] { return wf::map_fn([](const Tensor& x) { return x; }, Tensor(1.f)); }); }) ==
          "Elements in elems must be 1+ dimensional Tensors, not scalars");
  });
}

TEST_CASE("rows of a number that is known only when the function runs") {
  auto f = wf::function(
      [](const Tensor& x) {
        return std::pair(wf::map_fn([](const Tensor& r) { return wf::reduce_sum(r); }, x),
                         wf::foldl([](const Tensor& a, const Tensor& b) { return a + b; }, x));
      },
      {.input_signature = {{"x", wf::DType::float32, {-1, 2}, ""}}});
  auto [sums, total] = f(Tensor{{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  CHECK(sums.to_vector<float>() == Floats{3, 7, 11});
  CHECK(total.to_vector<float>() == Floats{9, 12});
}

TEST_CASE("print and assert happen in program order") {
  const std::string path = (std::filesystem::temp_directory_path() / ("weft_print_" + std::to_string(getpid()))).string();
  const wf::PrintOptions to{.output_stream = "file://" + path};
  auto lines = [&] {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    in.close();
    std::remove(path.c_str());
    return text.str();
  };
  both([&](bool traced) {
    wf::Variable v(Tensor(1.f));
    auto inner = wf::function([&](const Tensor& x) {
      wf::print({"inner", x}, to);
      v.assign_add(x);
    });
    run(traced, [&] {
      wf::print({"a", Tensor{1, 2, 3}, 5, Tensor(1.5f), 2.5, true, 1.0}, to);
      v.assign(Tensor(5.f));
      wf::print({v}, to);
      wf::cond(v.value() > Tensor(3.f), [&] { wf::print({"large"}, to); }, [&] { wf::print({"small"}, to); });
      inner(Tensor(2.f));
      wf::print({v, "x%y{}"}, to);
      for (int i = 0; i < 3; ++i) wf::print({i}, to);
      return Tensor(0);
    });
    CHECK(lines() == "a [1 2 3] 5 1.5 2.5 True 1.0\n5\nlarge\ninner 2\n7 x%y{}\n0\n1\n2\n");
    run(traced, [&] {
      wf::PrintOptions o = to;
      o.summarize = 2;
      o.separator = "|";
      o.end = "!\n";
      wf::print({wf::range(Tensor(0), Tensor(100), Tensor(1)), wf::zeros({10, 10}), "x%y{}"}, o);
      wf::print({Tensor("str"), Tensor::of_strings({2}, {"a", "b"})}, to);
      return Tensor(0);
    });
    CHECK(lines() == "[0 1 ... 98 99]|[[0 0 ... 0 0]\n [0 0 ... 0 0]\n ...\n [0 0 ... 0 0]\n [0 0 ... 0 0]]|x%y{}!\n\"str\" [\"a\" \"b\"]\n");
    const std::string failed = message_of([&] {
      run(traced, [&] {
        wf::print({"before"}, to);
        wf::assert_equal(Tensor{1, 2}, Tensor{1, 3}, {.message = "msg"});
        wf::print({"after"}, to);
        return Tensor(0);
      });
    });
    CHECK(has(failed, "assertion failed: [msg] [Condition x == y did not hold element-wise:] [x = ] [1 2] [y = ] [1 3]"));
    CHECK(lines() == "before\n");
  });
}
