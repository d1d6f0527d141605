// Channels that come and go: what they had open is closed, whatever they were doing. Clocks of tasks that are off. Handles that go to other processes and come back.
#include <doctest/doctest.h>

#include <dirent.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <thread>

#include "engine/clusters.h"
#include "remote/chunks.h"
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

namespace {

// Answers each message of a stream with itself.
class EchoStream final : public StreamHandler {
 public:
  explicit EchoStream(std::shared_ptr<ServerStream> stream) : stream_(std::move(stream)) {}
  void message(Message m) override {
    stream_->write(std::move(m));
    stream_->next();
  }
  void ended() override { stream_->finish({}); }

 private:
  const std::shared_ptr<ServerStream> stream_;
};

// What came back on one stream, and how it ended.
std::pair<std::vector<std::string>, Status> echoed(Channel& channel, const std::vector<std::string>& messages) {
  struct Got {
    std::vector<std::string> messages;
    std::promise<Status> end;
  };
  auto got = std::make_shared<Got>();
  const auto stream = channel.stream(
      "/any/Echo", {[got](Message m) { got->messages.emplace_back(m.flatten()); }, [got](Status s) { got->end.set_value(std::move(s)); }});
  for (const std::string& m : messages) CHECK(stream->write(Message(m)));
  stream->close();
  Status end = got->end.get_future().get();
  return {got->messages, end};
}

std::string text_of(size_t bytes) {
  std::string out(bytes, ' ');
  for (size_t i = 0; i < bytes; ++i) out[i] = char(i * 2654435761u >> 13);
  return out;
}

}  // namespace

TEST_CASE("messages that are larger than gRPC sends go in chunks: requests, answers and both ways of a stream") {
  const auto library = engine::clusters();
  REQUIRE(library.ok());
  const TransportApi& api = *(*library)->transport;
  Settings small;
  small.max_send = 1 << 20;
  api.configure(small);
  MethodTable table;
  table.add("any", "Echo2", [](std::string_view q, Reply reply) { reply({}, Message(std::string(q))); });
  table.add("any", "Bytes", [](std::string_view q, Reply reply) { reply({}, Message(text_of(size_t(decode_number(1, q))))); });
  table.add("any", "Fail", [](std::string_view q, Reply reply) { reply(core::not_found("after ", q.size(), " bytes"), {}); });
  table.add_stream("any", "Echo", [](std::shared_ptr<ServerStream> stream, const RunOn&) { return std::make_unique<EchoStream>(std::move(stream)); });
  auto listener = api.listen("127.0.0.1", 0, table);
  REQUIRE(listener.ok());
  const std::string address = cat("localhost:", (*listener)->port());
  const auto channel = api.connect(address);
  const auto ask = [&](const char* method, std::string request) {
    return call_and_wait(*channel, method, Message(std::move(request)), {.seconds = 60});
  };
  constexpr size_t kLimit = 1 << 20;
  for (const size_t bytes : {size_t(100), kLimit, kLimit + 1, 5 * kLimit + 12345}) {
    auto back = ask("/any/Echo2", text_of(bytes));
    REQUIRE_MESSAGE(back.ok(), back.status().to_string());
    CHECK(back->flatten() == text_of(bytes));
    auto answer = ask("/any/Bytes", encode_number(1, int64_t(bytes)));
    REQUIRE_MESSAGE(answer.ok(), answer.status().to_string());
    CHECK(answer->flatten() == text_of(bytes));
    CHECK(ask("/any/Fail", text_of(bytes)).status().message() == cat("after ", bytes, " bytes"));
    CHECK(ask("/any/Nobody", text_of(bytes)).status().code() != Code::kOk);
  }
  const std::vector<std::string> messages{text_of(10), text_of(3 * kLimit), "", text_of(kLimit + 1), text_of(7)};
  auto [back, end] = echoed(*channel, messages);
  CHECK_MESSAGE(end.ok(), end.to_string());
  CHECK(back == messages);

  // A server's limit is for the whole message.
  small.max_message = 4 << 20;
  api.configure(small);
  auto limited = api.listen("127.0.0.1", 0, table);
  REQUIRE(limited.ok());
  const auto other = api.connect(cat("localhost:", (*limited)->port()));
  const auto size = [&](size_t bytes) { return call_and_wait(*other, "/any/Echo2", Message(text_of(bytes)), {.seconds = 60}).status(); };
  CHECK(size(4 * kLimit).ok());
  const Status refused = size(4 * kLimit + 1);
  CHECK(refused.code() == Code::kResourceExhausted);
  CHECK(refused.message().find("4194305 bytes") != std::string::npos);
  CHECK(size(4 * kLimit).ok());
  api.configure(Settings());
}

TEST_CASE("chunks that make no sense are an error, and ask for no memory that was not filled") {
  const Message message = [] {
    Message m(std::string(100, 'a'));
    auto large = core::Buffer::allocate(core::DType::kUint8, 100000);
    std::memset(large->data(), 'b', large->size());
    m.append(std::move(large));
    m.append(std::string(5, 'c'));
    return m;
  }();
  const std::vector<Message> chunks = cut(message, 1000);
  CHECK(chunks.size() == 102);  // a header, and 100,105 bytes
  ChunkReader whole(-1);
  std::optional<Message> out;
  for (const Message& c : chunks) {
    CHECK(!out);
    auto got = whole.add(c);
    REQUIRE(got.ok());
    out = std::move(*got);
  }
  REQUIRE(out);
  REQUIRE(out->pieces().size() == 3);
  CHECK(out->pieces()[1].buffer);  // a tensor can take it over
  CHECK(out->flatten() == Message(message).flatten());
  CHECK(ChunkReader(100104).add(chunks[0]).status().code() == Code::kResourceExhausted);
  CHECK(ChunkReader(100105).add(chunks[0]).ok());
  ChunkReader longer(-1);
  REQUIRE(longer.add(chunks[0]).ok());
  CHECK(longer.add(Message(std::string(100106, 'x'))).status().code() == Code::kInvalidArgument);
  ChunkReader empty(-1);
  REQUIRE(empty.add(chunks[0]).ok());
  CHECK(empty.add(Message()).status().code() == Code::kInvalidArgument);
  // Headers of other sizes.
  const auto header = [](std::vector<int64_t> runs) {
    wire::ProtoWriter w;
    w.packed_varints(536870910, runs);
    return Message(w.take());
  };
  for (const auto& runs : {std::vector<int64_t>{0}, {-1}, {int64_t(1) << 49}, {int64_t(1) << 48, 1}, {int64_t(1) << 62, int64_t(1) << 62}})
    CHECK(ChunkReader(-1).add(header(runs)).status().code() == Code::kInvalidArgument);
  ChunkReader huge(-1);
  REQUIRE(huge.add(header({int64_t(1) << 48})).ok());
  const auto first = huge.add(Message("x"));
  CHECK((first.ok() || first.status().code() == Code::kResourceExhausted));
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
