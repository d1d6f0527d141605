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
#include "remote/blocking_call.h"
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

TEST_CASE("a profile that is told to end does, and one at a time is made") {
  const auto library = engine::clusters();
  REQUIRE(library.ok());
  set_transport((*library)->transport);
  std::atomic<op::StepTrace*> trace{nullptr};
  auto server = serve_profiler(0, [&](op::StepTrace* t) {
    op::StepTrace* none = nullptr;
    if (t) return trace.compare_exchange_strong(none, t);
    trace.store(nullptr);
    return true;
  });
  REQUIRE_MESSAGE(server.ok(), server.status().to_string());
  CHECK(serve_profiler((*server)->port(), [](op::StepTrace*) { return true; }).status().code() == Code::kUnknown);
  CHECK(serve_profiler(-5, [](op::StepTrace*) { return true; }).status().code() == Code::kInvalidArgument);
  const auto channel = (*library)->transport->connect(cat("localhost:", (*server)->port()));
  const auto ask = [&](const char* method, std::string request) {
    return call_and_wait(*channel, cat("/tensorflow.ProfilerService/", method), Message(std::move(request)), {.seconds = 60});
  };
  const std::string request = encode_number(1, 50000) + encode_text(6, "session");
  Result<Message> profile = core::unavailable("not yet");
  const auto begin = std::chrono::steady_clock::now();
  std::thread profiles([&] { profile = ask("Profile", request); });
  while (!trace.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  TraceEvent event;
  event.node = event.op = "x";
  trace.load()->add(event);
  CHECK(ask("Profile", request).status().message() == "Another profiling session active.");
  CHECK(ask("Terminate", encode_text(1, "another")).ok());
  CHECK(trace.load() != nullptr);
  CHECK(ask("Terminate", encode_text(1, "session")).ok());
  profiles.join();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(40));
  REQUIRE_MESSAGE(profile.ok(), profile.status().to_string());
  auto events = decode_xspace(decode_text(8, profile->flatten()));
  REQUIRE(events.ok());
  CHECK(events->size() == 1);
  CHECK(trace.load() == nullptr);
  CHECK(ask("Monitor", encode_number(1, 1)).status().code() == Code::kUnimplemented);
  (*server)->stop();
}

TEST_CASE("a message that is larger than gRPC sends fails alone") {
  const auto library = engine::clusters();
  REQUIRE(library.ok());
  const TransportApi& api = *(*library)->transport;
  Settings small;
  small.max_send = 1 << 20;
  api.configure(small);
  MethodTable table;
  table.add("any", "Size", [](std::string_view q, Reply reply) { reply({}, Message(encode_number(1, int64_t(q.size())))); });
  table.add("any", "Bytes", [](std::string_view q, Reply reply) { reply({}, Message(std::string(size_t(decode_number(1, q)), 'x'))); });
  auto listener = api.listen("127.0.0.1", 0, table);
  REQUIRE(listener.ok());
  const auto channel = api.connect(cat("localhost:", (*listener)->port()));
  const auto ask = [&](const char* method, std::string request) {
    return call_and_wait(*channel, method, Message(std::move(request)), {.seconds = 60});
  };
  for (int i = 0; i < 2; ++i) {
    auto size = ask("/any/Size", std::string(1 << 20, 'x'));
    REQUIRE_MESSAGE(size.ok(), size.status().to_string());
    CHECK(decode_number(1, size->flatten()) == 1 << 20);
    for (const Status& s :
         {ask("/any/Size", std::string((1 << 20) + 1, 'x')).status(), ask("/any/Bytes", encode_number(1, (1 << 20) + 1)).status()}) {
      CHECK(s.code() == Code::kResourceExhausted);
      CHECK(s.message().find("1048577 bytes") != std::string::npos);
    }
    CHECK(ask("/any/Bytes", encode_number(1, 1 << 20)).ok());
  }
  api.configure(Settings());
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
