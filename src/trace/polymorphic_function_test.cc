#include "trace/polymorphic_function.h"

#include <doctest/doctest.h>

#include <thread>

namespace weft_engine::trace {
namespace {

struct Numbered : PolymorphicFunction::Binding {
  explicit Numbered(int n) : number(n) {}
  int number;
};
auto any = [](const PolymorphicFunction::Binding&) { return true; };
int number(const PolymorphicFunction::Ptr& p) { return p ? static_cast<const Numbered&>(*p).number : -1; }

}  // namespace

TEST_CASE("a key finds what was bound to it, and one key may have several bindings") {
  PolymorphicFunction f;
  CHECK(f.empty());
  CHECK(number(f.find("a", any)) == -1);
  f.add("a", std::make_shared<Numbered>(1));
  f.add("b", std::make_shared<Numbered>(2));
  f.add("a", std::make_shared<Numbered>(3));
  f.bind("c", f.traces()[1]);
  CHECK(f.traces().size() == 3);
  CHECK(number(f.find("b", any)) == 2);
  CHECK(number(f.find("c", any)) == 2);
  for (int wanted : {3, 1, 3}) {
    CHECK(number(f.find("a", [&](const auto& b) { return static_cast<const Numbered&>(b).number == wanted; })) == wanted);
  }
  CHECK(number(f.find("a", [](const auto&) { return false; })) == -1);
  CHECK(f.take_calls() == 5);
  CHECK(f.take_calls() == 0);
  CHECK(f.contains("a", any));
  f.forget_keys();
  CHECK(f.empty());
  CHECK_FALSE(f.contains("a", any));
  CHECK(f.traces().size() == 3);
}

TEST_CASE("the oldest keys leave, with graphs that no other key has") {
  PolymorphicFunction f;
  std::weak_ptr<const PolymorphicFunction::Binding> first, second;
  {
    auto one = std::make_shared<Numbered>(1), two = std::make_shared<Numbered>(2);
    first = one;
    second = two;
    f.add("one", one);
    f.add("two", two);
    f.bind("two again", two);
  }
  for (size_t i = 0; i < PolymorphicFunction::kMostKeys - 1; ++i) f.bind(std::to_string(i), std::make_shared<Numbered>(7));
  CHECK(first.expired());
  CHECK_FALSE(second.expired());  // its second key is there
  CHECK(number(f.find("two", any)) == -1);
  CHECK(number(f.find("two again", any)) == 2);
  f.bind("last", std::make_shared<Numbered>(8));
  CHECK(second.expired());
  CHECK(f.traces().empty());
  CHECK(number(f.find("0", any)) == 7);
}

TEST_CASE("what leaves is freed outside of the lock: it may call the function") {
  PolymorphicFunction f;
  struct Calls : PolymorphicFunction::Binding {
    PolymorphicFunction* f = nullptr;
    ~Calls() override { f->find("x", any); }
  };
  auto calls = std::make_shared<Calls>();
  calls->f = &f;
  f.bind("c", std::move(calls));
  f.forget_keys();
  CHECK(f.empty());
}

TEST_CASE("threads bind and look up at once") {
  PolymorphicFunction f;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::string key = std::to_string(i % 50 + t * 1000);
        if (!f.contains(key, any)) f.bind(key, std::make_shared<Numbered>(i % 50));
        if (number(f.find(key, any)) != i % 50) ++wrong;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

}  // namespace weft_engine::trace
