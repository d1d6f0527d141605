#include "weft/dataset.h"

#include <atomic>
#include <numeric>
#include <set>
#include <thread>

#include "api/data/prefetch.h"
#include "testing.h"

using namespace weft;           // NOLINT
using namespace weft::data;     // NOLINT
using namespace weft::testing;  // NOLINT

namespace {

Dataset numbers(int n) {
  std::vector<int32_t> v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return Dataset::from_tensor_slices({Tensor::of<int32_t>({n}, std::span<const int32_t>(v))});
}

// All numbers of the first tensors, in the order in which they come.
std::vector<int32_t> walk(const Dataset& d) {
  std::vector<int32_t> out;
  for (const Element& e : d) {
    for (const int32_t v : e[0].data<int32_t>()) out.push_back(v);
  }
  return out;
}

int64_t count(const Dataset& d) {
  int64_t n = 0;
  for ([[maybe_unused]] const Element& e : d) ++n;
  return n;
}

Element plus(Element e, int32_t n) { return {Tensor(e[0].item<int32_t>() + n)}; }

using Ints = std::vector<int32_t>;

}  // namespace

TEST_CASE("slices of several tensors, batched") {
  const Tensor x{{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}, y{int64_t(10), int64_t(20), int64_t(30)}, s = Tensor::of_strings({3, 1}, {"a", "b", "c"});
  const Dataset d = Dataset::from_tensor_slices({x, y, s});
  CHECK(d.cardinality() == 3);
  auto it = d.begin();
  CHECK((*it)[0].to_vector<float>() == std::vector<float>{1, 2});
  CHECK((*it)[1].rank() == 0);
  ++it;
  CHECK((*it)[2].strings() == std::vector<std::string>{"b"});
  const Dataset b = d.batch(2);
  CHECK(b.cardinality() == 2);
  auto at = b.begin();
  CHECK((*at)[0].shape() == std::vector<int64_t>{2, 2});
  CHECK((*at)[0].to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK((*at)[1].to_vector<int64_t>() == std::vector<int64_t>{10, 20});
  CHECK((*at)[2].shape() == std::vector<int64_t>{2, 1});
  ++at;
  CHECK((*at)[0].to_vector<float>() == std::vector<float>{5, 6});
  CHECK((*at)[2].strings() == std::vector<std::string>{"c"});
  ++at;
  CHECK(at == Iterator::End());
  CHECK(d.batch(2, true).cardinality() == 1);
  CHECK(count(d.batch(2, true)) == 1);
  const Dataset named = Dataset::from_named_slices({{"y", y}, {"x", x}}).shuffle().batch(2);
  CHECK(named.names() == std::vector<std::string>{"x", "y"});
}

TEST_CASE("what cannot be sliced or batched is told") {
  CHECK(contains(error_of([] { Dataset::from_tensor_slices({Tensor{1.f, 2.f}, Tensor{1.f}}); }), "tensor 1 has 1 slices, the first one has 2"));
  CHECK(contains(error_of([] { Dataset::from_tensor_slices({Tensor(1.f)}); }), "tensor 0 is a scalar"));
  CHECK(contains(error_of([] { Dataset::from_tensor_slices({}); }), "at least one tensor"));
  CHECK(contains(error_of([] { numbers(3).batch(0); }), "at least one element, not 0"));
  CHECK(contains(error_of([] { numbers(3).shard(2, 2); }), "shard 2 of 2 does not exist"));
  const Dataset uneven =
      Dataset::from_generator([](int64_t i) -> std::optional<Element> { return Element{Tensor::of<float>({i}, std::vector<float>(size_t(i)))}; });
  CHECK(error_of([&] { count(uneven.batch(2)); }) ==
        "Cannot batch tensors with different shapes in component 0. First element had shape [0] and element 1 had shape [1].");
}

TEST_CASE("take, skip, repeat, shard, filter") {
  const Dataset d = numbers(5);
  CHECK(walk(d.take(2)) == Ints{0, 1});
  CHECK(walk(d.take(-1)).size() == 5);
  CHECK(walk(d.skip(3)) == Ints{3, 4});
  CHECK(walk(d.skip(9)).empty());
  CHECK(walk(d.repeat(2)) == Ints{0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  CHECK(walk(d.repeat().skip(4).take(3)) == Ints{4, 0, 1});
  CHECK(walk(d.shard(2, 1)) == Ints{1, 3});
  CHECK(walk(d.filter([](const Element& e) { return e[0].item<int32_t>() % 2 == 0; })) == Ints{0, 2, 4});
  CHECK(walk(d.repeat(2).batch(4)) == Ints{0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  CHECK(d.repeat().cardinality() == Dataset::kInfinite);
  CHECK(d.repeat(3).batch(4).cardinality() == 4);
  CHECK(d.shard(2, 0).cardinality() == 3);
  CHECK(d.skip(2).take(9).cardinality() == 3);
  CHECK(walk(d.take(0).repeat()).empty());
}

TEST_CASE("shuffling is a permutation, new in every walk, the same for the same seed") {
  const auto order = [](const Dataset& d) {
    std::vector<Ints> out;
    for (int i = 0; i < 3; ++i) out.push_back(walk(d));
    return out;
  };
  for (const int64_t buffer : {int64_t(0), int64_t(10), int64_t(100)}) {
    const auto a = order(numbers(100).shuffle(buffer, 7)), b = order(numbers(100).shuffle(buffer, 7).batch(9).prefetch(3));
    CHECK(a == b);
    CHECK(a[0] != a[1]);
    CHECK(a[0] != order(numbers(100).shuffle(buffer, 8))[0]);
    for (const Ints& o : a) CHECK(std::set<int32_t>(o.begin(), o.end()).size() == 100);
    if (buffer == 10)
      for (size_t i = 0; i < 100; ++i) CHECK(a[0][i] < int32_t(i) + 10);
  }
  const auto fixed = order(numbers(50).shuffle(0, 7, false));
  CHECK(fixed[0] == fixed[1]);
  // Each repetition has an order of its own, and a walk that was left early changes nothing for the next.
  const Dataset d = numbers(20).shuffle(0, 3).repeat(2), e = numbers(20).shuffle(0, 3).repeat(2).prefetch(8);
  const Ints first = walk(d);
  CHECK(Ints(first.begin(), first.begin() + 20) != Ints(first.begin() + 20, first.end()));
  for ([[maybe_unused]] const Element& x : e.take(5)) {
  }
  CHECK(walk(d) == walk(e));
  // A recipe built again in every epoch still continues.
  const Dataset base = numbers(100).shuffle(0, 7);
  CHECK(walk(base.batch(10)) != walk(base.batch(10)));
}

TEST_CASE("every place is equally likely") {
  constexpr int kWalks = 3000, kItems = 6;
  int counts[kItems][kItems] = {};
  const Dataset d = numbers(kItems).shuffle(0, 1);
  for (int i = 0; i < kWalks; ++i) {
    const Ints o = walk(d);
    for (int k = 0; k < kItems; ++k) ++counts[k][o[size_t(k)]];
  }
  double chi = 0;
  for (const auto& row : counts) {
    for (const int n : row) chi += (n - 500.0) * (n - 500.0) / 500.0;
  }
  CHECK(chi < 60);  // 25 degrees of freedom: 1 in 10,000
}

TEST_CASE("map keeps the order on any number of threads") {
  const Dataset d = numbers(200);
  Ints expected(200);
  std::iota(expected.begin(), expected.end(), 1000);
  for (const int threads : {1, 2, 5, 0}) CHECK(walk(d.map([](Element e) { return plus(std::move(e), 1000); }, threads)) == expected);
  CHECK(walk(d.map([](Element e) { return plus(std::move(e), 500); }, 3)
                 .map([](Element e) { return plus(std::move(e), 500); }, 2)
                 .prefetch(4)
                 .batch(32)) == expected);
  CHECK(d.map([](Element e) { return e; }, 4).cardinality() == 200);
}

TEST_CASE("what a thread throws comes out where the element is asked for") {
  for (const int threads : {1, 4}) {
    const Dataset d = numbers(100).map(
        [](Element e) {
          if (e[0].item<int32_t>() == 37) throw Error(Code::kDataLoss, "element 37 is bad");
          return e;
        },
        threads);
    for (const Dataset& form : {d, d.prefetch(5), d.prefetch(1).map([](Element e) { return e; }, 3)}) {
      int n = 0;
      CHECK(error_of([&] {
              for ([[maybe_unused]] const Element& e : form) ++n;
            }) == "element 37 is bad");
      CHECK(n == 37);
    }
  }
  const Dataset g = Dataset::from_generator([](int64_t i) -> std::optional<Element> {
    if (i == 3) throw std::runtime_error("the source broke");
    return Element{Tensor(int32_t(i))};
  });
  auto it = g.prefetch(8).begin();
  ++it, ++it;
  CHECK_THROWS_WITH_AS(++it, "the source broke", std::runtime_error);
  CHECK(it == Iterator::End());
}

TEST_CASE("leaving early stops the threads") {
  std::atomic<int> inside{0}, calls{0};
  const Dataset d = Dataset::from_generator([&](int64_t i) -> std::optional<Element> { return Element{Tensor(int32_t(i))}; })
                        .map(
                            [&](Element e) {
                              ++inside;
                              ++calls;
                              std::this_thread::yield();
                              --inside;
                              return e;
                            },
                            4)
                        .batch(3)
                        .prefetch(2);
  for (int round = 0; round < 200; ++round) {
    int n = 0;
    for ([[maybe_unused]] const Element& e : d) {
      if (++n > round % 7) break;
    }
    CHECK(inside == 0);
    const int after = calls;
    if (round % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(calls == after);
  }
}

TEST_CASE("walks on many threads at once") {
  const Dataset d = numbers(300).shuffle(50, 5).map([](Element e) { return plus(std::move(e), 1); }, 3).batch(8).prefetch(2);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const Ints all = walk(d);
        good += std::set<int32_t>(all.begin(), all.end()).size() == 300;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(good == 30);
}

TEST_CASE("records and images as datasets") {
  const Scratch scratch;
  for (const char* name : {"a", "b"}) {
    TFRecordWriter w(scratch(name));
    for (int i = 0; i < 3; ++i) w.write(Example().set("x", Tensor(int64_t(i))).serialize());
  }
  const Dataset d = Dataset::from_tfrecords({scratch("a"), scratch("b")}).batch(4).map([](Element e) {
    return Element{parse_example(e[0], {{"x", {DType::int64}}}).at("x")};
  });
  std::vector<int64_t> all;
  for (const Element& e : d) {
    for (const int64_t v : e[0].data<int64_t>()) all.push_back(v);
  }
  CHECK(all == std::vector<int64_t>{0, 1, 2, 0, 1, 2});
  CHECK(contains(error_of([&] { count(Dataset::from_tfrecords({scratch("c")})); }), "c; No such file"));
  write_png(scratch("cats/1.png"), Tensor::of<uint8_t>({2, 2}, {1, 2, 3, 4}));
  write_png(scratch("dogs/1.png"), Tensor::of<uint8_t>({3, 1}, {5, 6, 7}));
  int n = 0;
  for (const Element& e : Dataset::from_image_folder(scratch.folder, {.channels = 1, .height = 4, .width = 4}).batch(2)) {
    CHECK(e[0].shape() == std::vector<int64_t>{2, 4, 4, 1});
    CHECK(e[1].to_vector<int32_t>() == Ints{0, 1});
    ++n;
  }
  CHECK(n == 1);
}
