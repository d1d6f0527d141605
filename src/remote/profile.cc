#include "remote/profile.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/threads.h"
#include "remote/own_address.h"
#include "remote/read_message.h"
#include "runtime/blocking_threads.h"
#include "wire/file.h"

namespace weft_engine::remote {
namespace {

constexpr int kDeviceStat = 1;

constexpr char kService[] = "tensorflow.ProfilerService";

// What a server notes; one profile at a time. Kept for ever: an op that began in the window may end after it, and after the server.
struct Notes {
  std::mutex one;
  op::StepTrace trace;
  std::mutex mutex;  // of what follows
  std::string session;  // whose profile it is
  bool told_to_end = false;
};

Notes* make_notes() {
  static std::mutex mutex;
  static auto* all = new std::vector<std::unique_ptr<Notes>>;
  std::lock_guard lock(mutex);
  all->push_back(std::make_unique<Notes>());
  return all->back().get();
}

struct ProfileRequest {
  uint64_t duration_ms = 0, max_events = 0;
  std::string folder, session, host;  // where the answer becomes a file
  bool emit_xspace = false;
};

Result<ProfileRequest> decode_profile_request(std::string_view bytes) {
  constexpr uint64_t kLongestMs = 10 * 60 * 1000, kMostEvents = 1000000;
  ProfileRequest q;
  WEFT_RETURN_IF_ERROR(read_message("ProfileRequest", bytes, [&](wire::ProtoReader& r) {
    switch (r.field()) {
      case 1: q.duration_ms = r.varint(); break;
      case 2: q.max_events = r.varint(); break;
      case 5: q.folder = r.string(); break;
      case 6: q.session = r.string(); break;
      case 7: q.host = r.string(); break;
      case 9: q.emit_xspace = r.boolean(); break;
    }
  }));
  if (q.duration_ms == 0 || q.duration_ms > kLongestMs)
    return invalid_argument("duration_ms must be from 1 to ", kLongestMs, ", got ", q.duration_ms);
  q.max_events = q.max_events ? std::min(q.max_events, kMostEvents) : kMostEvents;
  return q;
}

Result<std::vector<TraceEvent>> events_of(const ProfileRequest& request, const TraceInto& trace_into, Notes& notes, const std::atomic<bool>& gone) {
  const std::unique_lock lock(notes.one, std::try_to_lock);
  const auto busy = [] { return internal_error("Another profiling session active."); };
  if (!lock) return busy();
  notes.trace.take();
  {
    std::lock_guard of_session(notes.mutex);
    notes.session = request.session;
    notes.told_to_end = false;
  }
  if (!trace_into(&notes.trace)) return busy();
  std::vector<TraceEvent> events;
  const auto take = [&] {
    for (TraceEvent& e : notes.trace.take()) {
      if (events.size() < request.max_events) events.push_back(std::move(e));
    }
  };
  const auto told_to_end = [&notes] {
    std::lock_guard of_session(notes.mutex);
    return notes.told_to_end;
  };
  // Taken bit by bit, so that a busy task holds no more than it sends.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(request.duration_ms);
  while (std::chrono::steady_clock::now() < end && !gone.load() && !told_to_end() && !process_ending.load(std::memory_order_relaxed)) {
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(std::chrono::milliseconds(20), end - std::chrono::steady_clock::now()));
    take();
  }
  trace_into(nullptr);
  take();
  return events;
}

// FOLDER/SESSION/HOST.xplane.pb, where TensorBoard looks; the host is "localhost_6009".
Status write_xspace(const ProfileRequest& request, std::string_view xspace) {
  const std::string folder = cat(request.folder, "/", request.session);
  std::string host = request.host;
  std::replace(host.begin(), host.end(), ':', '_');
  WEFT_RETURN_IF_ERROR(wire::create_folders(folder));
  return wire::write_file(cat(folder, "/", host, ".xplane.pb"), xspace);
}

Result<Message> profile(const std::string& task, const TraceInto& trace_into, Notes& notes, std::string_view bytes, const std::atomic<bool>& gone) {
  WEFT_ASSIGN(const ProfileRequest request, decode_profile_request(bytes));
  WEFT_ASSIGN(const std::vector<TraceEvent> events, events_of(request, trace_into, notes, gone));
  const bool to_file = !request.folder.empty() && !request.session.empty() && !request.host.empty();
  wire::ProtoWriter out;
  if (events.empty()) out.boolean(7, true);
  const std::string xspace = encode_xspace(events, task);
  if (to_file) WEFT_RETURN_IF_ERROR(write_xspace(request, xspace));
  if (!events.empty() && (request.emit_xspace || !to_file)) out.bytes(8, xspace);
  return Message(out.take());
}

// The profile of that session ends now, with what it has.
Result<Message> terminate(Notes& notes, std::string_view bytes) {
  std::string session;
  WEFT_RETURN_IF_ERROR(read_message("TerminateRequest", bytes, [&](wire::ProtoReader& r) {
    if (r.field() == 1) session = r.string();
  }));
  std::lock_guard lock(notes.mutex);
  if (notes.session == session) notes.told_to_end = true;
  return Message();
}

}  // namespace

std::string encode_xspace(const std::vector<TraceEvent>& events, const std::string& task) {
  const int64_t offset = op::StepTrace::wall_offset_ns();
  int64_t first = events.empty() ? 0 : events[0].start_ns;
  for (const TraceEvent& e : events) first = std::min(first, e.start_ns);
  std::map<std::string, int64_t> names;
  std::map<int64_t, wire::ProtoWriter> lines;  // by thread
  for (const TraceEvent& e : events) {
    const auto [name, is_new] = names.emplace(cat(e.node, ":", e.op), int64_t(names.size()) + 1);
    wire::ProtoWriter event, stat;
    event.int64(1, name->second);
    event.int64(2, (e.start_ns - first) * 1000);
    event.int64(3, (e.end_ns - e.start_ns) * 1000);
    stat.int64(1, kDeviceStat);
    stat.bytes(5, e.device);
    event.message(4, stat);
    lines[e.thread].message(4, event);
  }
  const auto entry = [](wire::ProtoWriter& plane, int field, int64_t id, const std::string& name) {
    wire::ProtoWriter metadata, pair;
    metadata.int64(1, id);
    metadata.bytes(2, name);
    pair.int64(1, id);
    pair.message(2, metadata);
    plane.message(field, pair);
  };
  wire::ProtoWriter space, plane;
  plane.bytes(2, "/host:CPU");
  for (const auto& [thread, of_thread] : lines) {
    wire::ProtoWriter line;
    line.int64(1, thread);
    line.bytes(2, cat("thread ", thread));
    line.int64(3, first + offset);
    plane.bytes(3, line.take() + of_thread.str());
  }
  for (const auto& [name, id] : names) entry(plane, 4, id, name);
  entry(plane, 5, kDeviceStat, "device");
  space.message(1, plane);
  space.bytes(4, task);
  return space.take();
}

namespace {

struct Line {
  int64_t thread = 0, start_ns = 0;
  std::vector<std::pair<int64_t, TraceEvent>> events;  // with the number of the name
};

bool read_line(wire::ProtoReader r, Line& line) {
  while (r.next()) {
    if (r.field() == 1) line.thread = r.int64();
    if (r.field() == 3) line.start_ns = r.int64();
    if (r.field() != 4) continue;
    auto& [name, event] = line.events.emplace_back();
    wire::ProtoReader e = r.message();
    while (e.next()) {
      if (e.field() == 1) name = e.int64();
      if (e.field() == 2) event.start_ns = e.int64() / 1000;
      if (e.field() == 3) event.end_ns = e.int64() / 1000;
      if (e.field() != 4) continue;
      wire::ProtoReader stat = e.message();
      while (stat.next()) {
        if (stat.field() == 5) event.device = stat.string();
      }
      if (!stat.ok()) return false;
    }
    if (!e.ok()) return false;
  }
  return r.ok();
}

bool read_plane(wire::ProtoReader r, std::vector<TraceEvent>& out) {
  std::vector<Line> lines;
  std::map<int64_t, std::string> names;
  while (r.next()) {
    if (r.field() == 3 && !read_line(r.message(), lines.emplace_back())) return false;
    if (r.field() != 4) continue;
    wire::ProtoReader pair = r.message();
    int64_t id = 0;
    std::string name;
    while (pair.next()) {
      if (pair.field() == 1) id = pair.int64();
      if (pair.field() != 2) continue;
      wire::ProtoReader metadata = pair.message();
      while (metadata.next()) {
        if (metadata.field() == 2) name = metadata.string();
      }
      if (!metadata.ok()) return false;
    }
    if (!pair.ok()) return false;
    names[id] = std::move(name);
  }
  for (Line& line : lines) {
    for (auto& [id, e] : line.events) {
      const std::string& name = names[id];
      const size_t colon = name.rfind(':');
      e.node = name.substr(0, colon);
      e.op = colon == name.npos ? name : name.substr(colon + 1);
      e.thread = line.thread;
      // The sums of strangers may wrap around, but do not overflow.
      e.start_ns = int64_t(uint64_t(e.start_ns) + uint64_t(line.start_ns));
      e.end_ns = int64_t(uint64_t(e.end_ns) + uint64_t(e.start_ns));
      out.push_back(std::move(e));
    }
  }
  return r.ok();
}

}  // namespace

Result<std::vector<TraceEvent>> decode_xspace(std::string_view bytes) {
  std::vector<TraceEvent> out;
  WEFT_RETURN_IF_ERROR(read_message("XSpace", bytes, [&](wire::ProtoReader& r) -> Status {
    return r.field() != 1 || read_plane(r.message(), out) ? Status() : malformed("XSpace");
  }));
  return out;
}

void add_profile_methods(MethodTable& methods, const std::string& task, TraceInto trace_into) {
  Notes* const notes = make_notes();
  methods.add_waiting(kService, "Profile",
                      [task, trace_into = std::move(trace_into), notes](std::string_view bytes, Reply reply, const OnAbandoned& on_abandoned) {
                        auto gone = std::make_shared<std::atomic<bool>>(false);
                        on_abandoned([gone] { gone->store(true); });
                        runtime::run_on_blocking_thread([=, request = std::string(bytes)] {
                          Message response;
                          Status s = without_exceptions([&]() -> Status {
                            WEFT_ASSIGN(response, profile(task, trace_into, *notes, request, *gone));
                            return {};
                          });
                          reply(std::move(s), std::move(response));
                        });
                      });
  methods.add_blocking(kService, "Terminate", [notes](std::string_view bytes) { return terminate(*notes, bytes); });
  // TensorFlow's servers on CPUs answer so: a summary is made by TPUs.
  methods.add_blocking(kService, "Monitor", [](std::string_view) -> Result<Message> { return unimplemented("unimplemented."); });
}

namespace {

class ProfilerNetwork final : public runtime::ServerNetwork {
 public:
  explicit ProfilerNetwork(TraceInto trace_into) { add_profile_methods(methods_, host_name(), std::move(trace_into)); }
  ~ProfilerNetwork() override { stop(); }
  Status listen(int port) {
    WEFT_ASSIGN(const TransportApi* api, transport());
    WEFT_ASSIGN(listener_, listen_as(*api, "the profiler", "localhost:0", port, methods_));
    return {};
  }
  int port() const override { return listener_->port(); }
  void start() override {}
  void stop() override {
    if (listener_) listener_->stop();
  }

 private:
  static std::string host_name() {
    char name[256] = "";
    (void)gethostname(name, sizeof name - 1);
    return name;
  }
  MethodTable methods_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace

Result<std::unique_ptr<runtime::ServerNetwork>> serve_profiler(int port, TraceInto trace_into) {
  if (port < 0 || port > 65535) return invalid_argument("a port is a number from 0 to 65535, got ", port);
  auto network = std::make_unique<ProfilerNetwork>(std::move(trace_into));
  WEFT_RETURN_IF_ERROR(network->listen(port));
  return std::unique_ptr<runtime::ServerNetwork>(std::move(network));
}

Result<std::vector<TaskProfile>> profile_all(const ClusterMap& cluster, double seconds) {
  WEFT_ASSIGN(const TransportApi* api, transport());
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    size_t left = 0;
    std::vector<TaskProfile> profiles;
    void one_less() {
      --left;
      changed.notify_one();
    }
  };
  constexpr double kToAnswer = 60;
  auto state = std::make_shared<Waiting>();
  for (const auto& [job, tasks] : cluster) {
    for (const auto& [task, address] : tasks) state->profiles.push_back({job, task, address, unavailable("not asked yet")});
  }
  state->left = 2 * state->profiles.size();  // a profile and a clock of each
  wire::ProtoWriter request;
  request.varint(1, uint64_t(std::max(1.0, seconds * 1000)));
  request.boolean(9, true);
  std::vector<std::shared_ptr<Channel>> channels;
  for (size_t i = 0; i < state->profiles.size(); ++i) {
    channels.push_back(api->connect(state->profiles[i].address));
    channels.back()->call("/tensorflow.ProfilerService/Profile", Message(request.str()), seconds + kToAnswer, false,
                          [state, i](Status s, Message response) {
                            Result<std::vector<TraceEvent>> events = std::vector<TraceEvent>();
                            if (s.ok()) {
                              s = read_message("ProfileResponse", response.flatten(), [&](wire::ProtoReader& r) {
                                if (r.field() == 8) events = decode_xspace(r.bytes());
                              });
                            }
                            if (!s.ok()) events = std::move(s);
                            std::lock_guard lock(state->mutex);
                            state->profiles[i].events = std::move(events);
                            state->one_less();
                          });
    // Meanwhile: clocks drift.
    measure_clock(channels.back(), [state, i](ClockOffset clock) {
      std::lock_guard lock(state->mutex);
      state->profiles[i].clock = clock;
      state->one_less();
    });
  }
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return state->left == 0; });  // each call has its deadline
  for (TaskProfile& p : state->profiles) {
    if (!p.events.ok()) continue;
    for (TraceEvent& e : *p.events) {
      e.start_ns = int64_t(uint64_t(e.start_ns) - uint64_t(p.clock.offset_ns));
      e.end_ns = int64_t(uint64_t(e.end_ns) - uint64_t(p.clock.offset_ns));
    }
  }
  return std::move(state->profiles);
}

}  // namespace weft_engine::remote
