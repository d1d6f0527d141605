// CancellationManager: what callbacks may do while they are called.
#include <memory>
#include <thread>

#include "runtime/testing.h"

using weft_engine::op::CancellationManager;

TEST_CASE("a callback takes itself and others back") {
  CancellationManager m;
  const auto first = m.get_token(), second = m.get_token();
  int called = 0;
  bool self = true, other = false;
  REQUIRE(m.register_callback(first, [&] {
    ++called;
    self = m.deregister_callback(first);
    other = m.deregister_callback(second);
  }));
  REQUIRE(m.register_callback(second, [&] { called += 10; }));
  m.start_cancel();
  CHECK(called == 1);
  CHECK_FALSE(self);
  CHECK(other);
  CHECK(m.cancelled());
  CHECK_FALSE(m.register_callback(m.get_token(), [] {}));
}

TEST_CASE("another thread waits for a callback that is being called") {
  CancellationManager m;
  const auto token = m.get_token();
  std::atomic<bool> inside{false}, leave{false}, done{false};
  REQUIRE(m.register_callback(token, [&] {
    inside = true;
    while (!leave) std::this_thread::yield();
    done = true;
  }));
  std::thread canceller([&] { m.start_cancel(); });
  while (!inside) std::this_thread::yield();
  std::thread helper([&] { leave = true; });
  CHECK_FALSE(m.deregister_callback(token));
  CHECK(done);
  canceller.join();
  helper.join();
}

TEST_CASE("a callback destroys a child, and a manager itself") {
  CancellationManager parent;
  auto child = std::make_unique<CancellationManager>(&parent);
  int called = 0;
  REQUIRE(child->register_callback(child->get_token(), [&] {
    ++called;
    child.reset();
  }));
  parent.start_cancel();
  CHECK(called == 1);
  CHECK_FALSE(child);
}
