// Channels that come and go: what they had open is closed, whatever they were doing.
#include <doctest/doctest.h>

#include <dirent.h>

#include <chrono>
#include <thread>

#include "engine/clusters.h"
#include "remote/transport.h"

using namespace weft_engine;  // NOLINT
using namespace weft_engine::remote;  // NOLINT

namespace {

class Echo final : public Service {
 public:
  void call(std::string_view, Message request, Reply reply, const OnAbandoned&) override { reply({}, std::move(request)); }
  std::unique_ptr<StreamHandler> stream(std::string_view, std::shared_ptr<ServerStream>) override { return nullptr; }
  bool is_stream(std::string_view) const override { return false; }
};

int descriptors() {
  int n = 0;
  if (DIR* d = opendir("/proc/self/fd")) {
    while (readdir(d)) ++n;
    closedir(d);
  }
  return n;
}

}  // namespace

TEST_CASE("a channel that is dropped while it connects leaves no descriptor") {
  const auto library = engine::clusters();
  REQUIRE(library.ok());
  set_transport((*library)->transport);  // remote/ itself is inside this program
  auto api = transport();
  REQUIRE(api.ok());
  Echo echo;
  auto listener = (*api)->listen("127.0.0.1", 0, echo);
  REQUIRE(listener.ok());
  const std::string address = cat("localhost:", (*listener)->port());
  const auto drop = [&](int i) {
    auto channel = (*api)->connect(address);
    channel->call("/any", Message("x"), 0.001 * (i % 5 + 1), true, [](Status, Message) {});
    std::this_thread::sleep_for(std::chrono::microseconds(i * 37 % 1500));
  };
  const auto settled = [&](int limit) {  // those that the listener's side has, too; a loaded machine under a sanitizer takes its time
    int n = descriptors();
    for (int i = 0; i < 1200 && n > limit; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      n = descriptors();
    }
    return n;
  };
  drop(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const int before = descriptors();
  for (int i = 0; i < 200; ++i) drop(i);
  CHECK(settled(before + 4) <= before + 4);
}
