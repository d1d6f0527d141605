// Channels that come and go: what they had open is closed, whatever they were doing. Clocks of tasks that are off. Handles that go to other processes and come back.
#include <doctest/doctest.h>

#include <dirent.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "engine/clusters.h"
#include "remote/graph_messages.h"
#include "remote/resource_names.h"
#include "remote/own_address.h"
#include "remote/profile.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

using namespace weft_engine;  // NOLINT
using namespace weft_engine::remote;  // NOLINT

namespace {

class Echo final : public Service {
 public:
  void call(std::string_view, Message request, Reply reply, const OnAbandoned&, const RunOn&) override { reply({}, std::move(request)); }
  std::unique_ptr<StreamHandler> stream(std::string_view, std::shared_ptr<ServerStream>, const RunOn&) override { return nullptr; }
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

TEST_CASE("a process knows which of its addresses leads to a host") {
  CHECK(address_towards("127.0.0.1") == "127.0.0.1");
  CHECK(address_towards("localhost") != "");
  CHECK(address_towards("no such host: a space is in it") == "");
  for (const char* here : {"localhost:1", "127.0.0.1:1", "127.3.0.1:0", "[::1]:7", ":5"}) CHECK(is_loopback(here));
  for (const char* there : {"192.0.2.2:1", "host:5", "[fd00::2]:7", "localhost.example:1"}) CHECK_FALSE(is_loopback(there));
}

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

TEST_CASE("events of tasks whose clocks are off are on one time line") {
  const auto library = engine::clusters();
  REQUIRE(library.ok());
  set_transport((*library)->transport);
  auto api = transport();
  REQUIRE(api.ok());
  constexpr int64_t kHour = int64_t(3600) * 1000000000;
  // Each says what it did now, by its own clock; the last one does not tell its clock, as TensorFlow's tasks.
  const std::array<int64_t, 3> shifts = {kHour, -2 * kHour, 0};
  std::array<MethodTable, 3> tasks;
  std::vector<std::unique_ptr<Listener>> listeners;
  ClusterMap cluster;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const int64_t shift = shifts[i];
    if (shift != 0)
      tasks[i].add("weft.ClockService", "Now",
                   [shift](std::string_view, Reply reply) { reply({}, Message(encode_number(1, wall_clock_ns() + shift))); });
    tasks[i].add("tensorflow.ProfilerService", "Profile", [shift](std::string_view, Reply reply) {
      TraceEvent event;
      event.node = "x";
      event.op = "Add";
      event.start_ns = wall_clock_ns() + shift - op::StepTrace::wall_offset_ns();
      event.end_ns = event.start_ns + 1000;
      wire::ProtoWriter out;
      out.bytes(8, encode_xspace({event}, "task"));
      reply({}, Message(out.take()));
    });
    auto listener = (*api)->listen("127.0.0.1", 0, tasks[i]);
    REQUIRE(listener.ok());
    cluster["worker"][int(i)] = cat("localhost:", (*listener)->port());
    listeners.push_back(std::move(listener).value());
  }
  const int64_t begin = wall_clock_ns();
  auto profiles = profile_all(cluster, 0.01);
  const int64_t end = wall_clock_ns();
  REQUIRE(profiles.ok());
  REQUIRE(profiles->size() == tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    const TaskProfile& p = (*profiles)[i];
    CHECK(p.clock.known == (shifts[i] != 0));
    CHECK(std::abs(p.clock.offset_ns - shifts[i]) <= p.clock.error_ns + 1000000);
    REQUIRE(p.events.ok());
    REQUIRE(p.events->size() == 1);
    const int64_t slack = p.clock.error_ns + 1000000;
    CHECK((*p.events)[0].start_ns >= begin - slack);
    CHECK((*p.events)[0].start_ns <= end + slack);
    CHECK((*p.events)[0].end_ns - (*p.events)[0].start_ns == 1000);
  }
}

TEST_CASE("a resource that its handles own is found again by the name that its handle got for the way") {
  struct Thing final : Resource {
    std::string type_name() const override { return "Thing"; }
  };
  auto info = std::make_shared<ResourceHandle::Info>();
  info->device = "/job:worker/replica:0/task:0/device:CPU:0";
  info->type_name = "Thing";
  info->anonymous = true;
  info->resource = std::make_shared<Thing>();
  Tensor own = Tensor::scalar(ResourceHandle(info));
  auto sent = with_names(own), again = with_names(own);
  REQUIRE(sent.ok());
  REQUIRE(again.ok());
  const ResourceHandle::Info* named = sent->data<ResourceHandle>()[0].info();
  CHECK(!named->name.empty());
  CHECK(!named->resource);
  CHECK(named->device == info->device);
  CHECK(again->data<ResourceHandle>()[0].info()->name == named->name);
  Tensor back = with_resources(std::move(*again));
  CHECK(back.data<ResourceHandle>()[0].info() == info.get());
  // The name does not keep it.
  const std::weak_ptr<Resource> gone = info->resource;
  own = back = *again = Tensor();
  info.reset();
  CHECK(gone.expired());
  CHECK(!with_resources(*sent).data<ResourceHandle>()[0].info()->resource);
  // One that has a name of its own keeps it.
  auto other = std::make_shared<ResourceHandle::Info>();
  other->name = "v";
  auto same = with_names(Tensor::scalar(ResourceHandle(other)));
  REQUIRE(same.ok());
  CHECK(same->data<ResourceHandle>()[0].info() == other.get());
}

TEST_CASE("handles are read from the content of a tensor, as TensorFlow's clients send them") {
  wire::ProtoWriter handle, lengths, tensor;
  handle.bytes(1, "/job:chief/replica:0/task:0/device:CPU:0");
  handle.bytes(3, "a");
  lengths.raw_varint(handle.str().size());
  tensor.varint(1, uint64_t(DType::kResource));
  tensor.bytes(2, wire::encode_shape(PartialShape::scalar()));
  tensor.bytes(4, lengths.str() + handle.str());
  auto read = wire::decode_tensor(tensor.str());
  REQUIRE_MESSAGE(read.ok(), read.status().to_string());
  CHECK(read->data<ResourceHandle>()[0].info()->name == "a");
  wire::ProtoWriter cut;
  cut.varint(1, uint64_t(DType::kResource));
  cut.bytes(4, lengths.str());
  CHECK(!wire::decode_tensor(cut.str()).ok());
}
