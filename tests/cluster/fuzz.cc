// Mutated and random messages to every method of live servers:
//
//   cluster_fuzz WEFT [--seconds 10] [--seed 1] [--service NAME]
//   cluster_fuzz WEFT --answers FILE     requests for what is not there, and what TensorFlow's servers answered (answers.py)
//
// WEFT is the command. For each service (fuzz_seeds.cc lists them) a server runs in a process of its own for so many seconds; it must not die, hang or grow, and answer rightly at the end.
#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <thread>

#include "../fuzz/mutate.h"
#include "engine/clusters.h"
#include "fuzz_seeds.h"
#include "io/graph_def.h"
#include "op/rendezvous.h"
#include "remote/chunks.h"
#include "remote/large_calls.h"
#include "remote/messages.h"
#include "remote/unpack.h"

using namespace weft_engine;  // NOLINT
using namespace weft_engine::remote;  // NOLINT

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kAnswerSeconds = 30;  // a server that is alive answers in less, also on a loaded machine
constexpr double kCallSeconds = 2;  // what waits for something that never comes is given up
constexpr int kAtOnce = 24;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // such programs keep what they freed
#else
constexpr bool kSanitized = false;
#endif

[[noreturn]] void fail(const std::string& why) {
  std::cerr << "cluster_fuzz: " << why << std::endl;
  std::exit(1);
}

// ---- what is sent

std::string text(Result<Message> m) {
  if (!m.ok()) fail("a seed cannot be encoded: " + m.status().message());
  return std::string(m->flatten());
}

std::string create_context(uint64_t id) {
  CreateContext c;
  c.context_id = id;
  c.keep_alive_secs = 1;
  c.has_server_def = true;
  c.server_def.job = "worker";
  c.server_def.cluster = {{"worker", {{0, "localhost:1"}, {1, "localhost:2"}}}, {"localhost", {{0, "localhost:3"}}}};
  c.devices = {{"/job:worker/replica:0/task:0/device:CPU:0", "CPU", 1 << 20, 7}, {"/job:localhost/replica:0/task:0/device:CPU:0", "CPU", 1 << 20, 8}};
  return encode_create_context(c);
}

constexpr char kDevice[] = "/job:worker/replica:0/task:0/device:CPU:0", kClient[] = "/job:localhost/replica:0/task:0/device:CPU:0";
std::string sent_key() { return op::rendezvous_key(kDevice, 7, kClient, "key"); }

Tensor numbers() {
  auto t = Tensor::allocate(DType::kFloat, Shape({2, 3}));
  if (!t.ok()) fail("no memory");
  std::fill_n(static_cast<float*>(t->raw()), 6, 1.5f);
  return std::move(t).value();
}

Operation add(int64_t id, bool of_handles) {
  Operation o;
  o.id = id;
  o.name = "AddV2";
  o.device = kDevice;
  o.attrs["T"] = DType::kFloat;
  for (int i = 0; i < 2; ++i) {
    if (of_handles) o.inputs.emplace_back(RemoteTensorHandle{1, 0, kDevice, kDevice, DType::kFloat});
    else o.inputs.emplace_back(numbers());
  }
  return o;
}

Operation add_packed(int64_t id, int64_t packed) {
  Operation o = add(id, true);
  std::get<RemoteTensorHandle>(o.inputs[0]).op_id = packed;
  return o;
}

std::string function_def() {
  graph::FunctionDef f;
  f.name = "f";
  auto bytes = io::encode_function_def(f);
  return bytes.ok() ? *bytes : std::string();
}

// What a client that means well sends in the context `id`, in order.
std::vector<std::string> requests(uint64_t id) {
  Operation call;
  call.id = 4;
  call.name = "f";
  call.device = kDevice;
  call.is_function = true;
  return {text(encode_enqueue(id, QueueItem(add(1, false)))),
          text(encode_enqueue(id, QueueItem(add(2, true)))),
          text(encode_enqueue(id, QueueItem(SendTensor{3, {numbers()}, kDevice}))),
          text(encode_enqueue(id, QueueItem(RegisterFunction{function_def(), false, {}}))),
          text(encode_enqueue(id, QueueItem(std::move(call)))),
          text(encode_enqueue(id, QueueItem(send_operation(5, {1, 0, kDevice, kDevice, DType::kFloat}, 7, kClient, "key")))),
          text(encode_enqueue(
              id, QueueItem(SendPackedHandle{
                      6, {SendPackedHandle::Local{numbers(), kDevice}, RemoteTensorHandle{1, 0, kDevice, kDevice, DType::kFloat}}, kDevice}))),
          text(encode_enqueue(id, QueueItem(add_packed(7, 6)))),
          text(encode_enqueue(id, QueueItem(DecRef{{2, 0, kDevice, kDevice, DType::kFloat}}))),
          text(encode_enqueue(id, QueueItem(CleanupFunction{9}))),
          text(encode_enqueue(id, QueueItem(SyncExecutor{}))),
          text(encode_enqueue(id, QueueItem(RemoveFunction{"f"})))};
}

enum class Seeds { none, create, queue, receive, id };
struct Method {
  const char* name;
  Seeds seeds;  // none: random messages
  bool stream = false;
};
constexpr Method kMethods[] = {
    {"/tensorflow.WorkerService/GetStatus", Seeds::none},
    {"/tensorflow.WorkerService/RecvTensor", Seeds::receive},
    {"/tensorflow.eager.EagerService/CreateContext", Seeds::create},
    {"/tensorflow.eager.EagerService/UpdateContext", Seeds::create},
    {"/tensorflow.eager.EagerService/Enqueue", Seeds::queue},
    {"/tensorflow.eager.EagerService/Enqueue", Seeds::queue},
    {"/tensorflow.eager.EagerService/StreamingEnqueue", Seeds::queue, true},
    {"/tensorflow.eager.EagerService/RunComponentFunction", Seeds::queue},
    {"/tensorflow.eager.EagerService/WaitQueueDone", Seeds::id},
    {"/tensorflow.eager.EagerService/KeepAlive", Seeds::id},
    {"/tensorflow.eager.EagerService/CloseContext", Seeds::id},
    {"/weft.Transport/Call", Seeds::queue, true},
    {"/weft.Transport/Take", Seeds::none, true},
    {"/no.such.Service/Method", Seeds::none},
};

// A message of a stream as it goes where it is too large for one: a header, then its bytes, of which one is changed now and then.
void add_chunks(std::vector<std::string>& all, const std::string& message, std::mt19937_64& r) {
  std::vector<std::string> chunks;
  for (Message& m : cut(Message(message), 1 + r() % 200)) chunks.emplace_back(m.flatten());
  if (r() % 2) {
    std::string& c = chunks[r() % chunks.size()];
    c = changed(c, chunks, r);
  }
  all.insert(all.end(), chunks.begin(), chunks.end());
}

std::string message_for(const Method& m, uint64_t id, std::mt19937_64& r) {
  std::vector<std::string> seeds;
  switch (m.seeds) {
    case Seeds::none: break;
    case Seeds::create: seeds = {create_context(id)}; break;
    case Seeds::queue: seeds = requests(id); break;
    case Seeds::receive: seeds = {encode_recv_tensor({int64_t(r() % 4 ? id : r()), sent_key(), 1})}; break;
    case Seeds::id: seeds = {encode_ids(1, id)}; break;
  }
  if (seeds.empty() || r() % 8 == 0) seeds.push_back(weft_fuzz::any_message(r));
  std::string out = seeds[r() % seeds.size()];
  if (r() % 4) out = changed(out, seeds, r);
  return out;
}

// ---- the server

struct Server {
  pid_t pid = -1;
  std::string address, second;

  Server(const char* self, const char* weft, const std::string& what) {
    std::ofstream("fuzz_cluster.json") << R"({"worker": ["localhost:0"]})";
    int ends[2];
    if (pipe(ends)) fail("no pipe");
    pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // also when this program fails
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      setenv("WEFT_LOG", "3", 1);
      setenv("GRPC_VERBOSITY", "NONE", 1);
      if (what == "weft") execl(weft, weft, "server", "--cluster", "fuzz_cluster.json", "--threads", "2", nullptr);
      else execl(self, self, "--serve", what.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    std::string line;
    for (char c; read(ends[0], &c, 1) == 1 && c != '\n';) line += c;
    const size_t at = line.find(" at ");
    if (at == line.npos) fail("the server does not start: " + line);
    const size_t end = line.find(',', at);
    address = line.substr(at + 4, end - at - 4);
    if (end != line.npos) second = line.substr(end + 1, line.find(',', end + 1) - end - 1);
  }
  ~Server() {
    if (pid > 0) kill(pid, SIGKILL), waitpid(pid, nullptr, 0);
  }

  void check_alive() {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == 0) return;
    pid = -1;
    fail(WIFSIGNALED(status) ? "the server was killed by signal " + std::to_string(WTERMSIG(status))
                             : "the server ended with " + std::to_string(WEXITSTATUS(status)));
  }
  long field(const char* name) const {  // of /proc/PID/status
    std::ifstream in("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with(name)) return std::atol(line.c_str() + std::strlen(name) + 1);
    }
    return 0;
  }
  long descriptors() const {
    long n = 0;
    if (DIR* d = opendir(("/proc/" + std::to_string(pid) + "/fd").c_str())) {
      while (readdir(d)) ++n;
      closedir(d);
    }
    return n;
  }
  void end() {
    kill(pid, SIGTERM);
    const auto limit = Clock::now() + std::chrono::seconds(60);
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
      if (Clock::now() > limit) fail("the server does not end");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    pid = -1;
    if (status) fail("the server ends with status " + std::to_string(status));
  }
};

// ---- calls

class Caller {
 public:
  explicit Caller(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}

  void send(const std::string& method, std::string request) {
    begin();
    channel_->call(method, Message(std::move(request)), kCallSeconds, false, [this](Status s, Message) { end(s); });
  }
  void stream(const char* method, const std::vector<std::string>& all) {
    begin();
    ClientStream::Events events;
    events.message = [](Message) {};
    events.end = [this](Status s) { end(s); };
    auto stream = channel_->stream(method, std::move(events));
    for (const auto& m : all) stream->write(Message(m));
    if (all.size() % 3) stream->close();
    else stream->cancel();
  }
  // The answer to a call that must be answered.
  Result<std::string> ask(const std::string& method, std::string request) {
    struct Answer {
      std::mutex mutex;
      std::condition_variable changed;
      bool done = false;
      Status status;
      Message message;
    };
    auto answer = std::make_shared<Answer>();
    channel_->call(method, Message(std::move(request)), kAnswerSeconds, false, [answer](Status s, Message m) {
      std::lock_guard lock(answer->mutex);
      answer->status = std::move(s);
      answer->message = std::move(m);
      answer->done = true;
      answer->changed.notify_one();
    });
    std::unique_lock lock(answer->mutex);
    answer->changed.wait(lock, [&] { return answer->done; });
    if (!answer->status.ok()) return answer->status;
    return std::string(answer->message.flatten());
  }
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [&] { return running_ == 0; })) fail("calls do not end");
  }
  size_t count = 0, accepted = 0, lost = 0;

 private:
  void begin() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [&] { return running_ < kAtOnce; })) fail("calls do not end");
    ++running_;
    ++count;
  }
  void end(const Status& s) {
    std::lock_guard lock(mutex_);
    --running_;
    accepted += s.ok();
    lost += s.code() == Code::kUnavailable;
    changed_.notify_all();
  }
  const std::shared_ptr<Channel> channel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
};

// A client that means well gets what it should: 1.5 + 1.5, shapes included.
void check_answers(Caller& caller, uint64_t id) {
  const auto must = [](Result<std::string> r, const char* what) {
    if (!r.ok()) fail(std::string(what) + " fails: " + r.status().message());
    return *r;
  };
  must(caller.ask("/tensorflow.eager.EagerService/CreateContext", create_context(id)), "CreateContext");
  const std::string answer = must(caller.ask("/tensorflow.eager.EagerService/Enqueue", requests(id)[0]), "Enqueue");
  auto responses = decode_enqueue_response(whole(answer));
  if (!responses.ok() || responses->size() != 1 || responses->front().shapes.size() != 1 || responses->front().shapes[0].rank() != 2)
    fail("another answer than it should be");
  must(caller.ask("/tensorflow.eager.EagerService/Enqueue", requests(id)[5]), "Send");
  const std::string value = must(caller.ask("/tensorflow.WorkerService/RecvTensor", encode_recv_tensor({int64_t(id), sent_key(), 1})), "RecvTensor");
  auto tensor = decode_recv_tensor_response(Message(value));
  if (!tensor.ok() || tensor->first.byte_size() != 24 || *static_cast<const float*>(tensor->first.raw()) != 3.f) fail("another value than 3");
  must(caller.ask("/tensorflow.eager.EagerService/CloseContext", encode_ids(1, id)), "CloseContext");
}

// One round of messages to EagerService.
void play_eager(Caller& caller, std::mt19937_64& r) {
  const uint64_t id = r() >> 1 | 1;
  if (r() % 8) caller.send("/tensorflow.eager.EagerService/CreateContext", create_context(id));
  if (r() % 2) {
    for (const std::string& m : requests(id)) caller.send("/tensorflow.eager.EagerService/Enqueue", m);
  }
  for (int i = 0; i < 40; ++i) {
    const Method& m = kMethods[r() % std::size(kMethods)];
    if (!m.stream) {
      caller.send(m.name, message_for(m, id, r));
      continue;
    }
    std::vector<std::string> all;
    if (m.seeds == Seeds::queue && r() % 2 && std::string_view(m.name) == kLargeCall) all.emplace_back("/tensorflow.eager.EagerService/Enqueue");
    for (int k = int(1 + r() % 5); k > 0; --k) {
      const std::string message = message_for(m, id, r);
      if (r() % 3 == 0 && !message.empty()) add_chunks(all, message, r);
      else all.push_back(message);
    }
    caller.stream(m.name, all);
  }
  caller.send("/tensorflow.eager.EagerService/CloseContext", encode_ids(1, id));
}

// One round to another service. Sessions end with it, so that the server may let go of them.
void play_seeds(Caller& caller, const std::vector<weft_fuzz::Seed>& seeds, std::mt19937_64& r) {
  std::vector<std::string> messages;
  for (const auto& s : seeds) messages.push_back(s.second);
  for (int i = 0; i < 40; ++i) {
    const auto& [method, message] = seeds[r() % seeds.size()];
    std::string sent = r() % 8 ? message : weft_fuzz::any_message(r);
    if (r() % 4) sent = changed(sent, messages, r);
    caller.send(method, std::move(sent));
  }
  caller.send(seeds.back().first, seeds.back().second);
}

void play(const weft_fuzz::Service& service, const TransportApi& api, const char* self, const char* weft, double seconds, uint64_t seed) {
  Server server(self, weft, service.server);
  Caller caller(api.connect(service.second_address ? server.second : server.address));
  const bool is_weft = service.server == std::string("weft");
  const auto ask = [&](const std::string& method, const std::string& message) { return caller.ask(method, message); };
  if (is_weft) check_answers(caller, 1);
  std::mt19937_64 r(seed);
  const auto begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  long memory = 0, threads = 0, descriptors = 0;
  double told = 0;
  while (passed() < seconds) {
    if (service.seeds) play_seeds(caller, service.seeds(ask, r()), r);
    else play_eager(caller, r);
    server.check_alive();
    // One that answers, if only that it has no such method.
    if (auto s = caller.ask("/tensorflow.WorkerService/GetStatus", ""); !s.ok() && (is_weft || s.status().code() != Code::kUnimplemented)) {
      server.check_alive();
      if (is_weft || s.status().code() == Code::kUnavailable || s.status().code() == Code::kDeadlineExceeded)
        fail("GetStatus: " + s.status().message());
    }
    if (!memory && passed() > seconds / 3) {  // all that is made once is there
      memory = server.field("VmRSS:");
      threads = server.field("Threads:");
      descriptors = server.descriptors();
    }
    if (passed() > told + 30) {
      told = passed();
      std::cout << int(told) << " s: " << caller.count << " calls, " << server.field("VmRSS:") / 1024 << " MB, " << server.field("Threads:")
                << " threads, " << server.descriptors() << " descriptors" << std::endl;
    }
  }
  caller.wait_for_all();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // contexts are kept for a second
  server.check_alive();
  if (is_weft) check_answers(caller, 2);
  const long grown = (server.field("VmRSS:") - memory) / 1024;
  std::cout << service.name << ": " << caller.count << " calls in " << int(passed()) << " s, " << caller.accepted << " accepted, " << caller.lost
            << " connections lost; memory grew by " << grown << " MB to " << server.field("VmRSS:") / 1024 << " MB, threads " << threads << " to "
            << server.field("Threads:") << ", descriptors " << descriptors << " to " << server.descriptors() << std::endl;
  if (memory && grown > 48 && !kSanitized) fail("the server grows");
  if (threads && server.field("Threads:") > threads + 40) fail("the server leaves threads");
  if (descriptors && server.descriptors() > descriptors + 40) fail("the server leaves descriptors");
  if (caller.accepted < caller.count / 50) fail("hardly any call was accepted: the seeds are not what the server takes");
  server.end();
}

std::string bytes_of(std::string_view digits) {
  std::string out;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) out.push_back(char(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  return out;
}

std::string replaced(std::string text, const std::string& what, const char* by) {
  for (size_t at = 0; !what.empty() && (at = text.find(what, at)) != text.npos; at += std::strlen(by)) text.replace(at, what.size(), by);
  return text;
}

// What differs from run to run and from machine to machine: incarnations and the machine's name.
std::string lasting(std::string text) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  text = replaced(replaced(std::move(text), cat("running on ", host, "."), "running on HOST."), "\n", "\\n");
  std::string out, digits;
  for (const char c : text + '\0') {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      digits += c;
      continue;
    }
    out += digits.size() > 12 ? "NUMBER" : digits;
    digits.clear();
    if (c) out += c;
  }
  return out;
}

int play_answers(const char* file, const TransportApi& api, const char* self, const char* weft) {
  Server task(self, weft, "weft"), data(self, weft, "data"), coordination(self, weft, "coordination");
  std::map<std::string, std::unique_ptr<Caller>> callers;
  callers["task"] = std::make_unique<Caller>(api.connect(task.address));
  callers["dispatcher"] = std::make_unique<Caller>(api.connect(data.address));
  callers["coordination"] = std::make_unique<Caller>(api.connect(coordination.address));
  callers["data worker"] = std::make_unique<Caller>(api.connect(data.second));
  std::ifstream in(file);
  int played = 0, differ = 0;
  for (std::string line; std::getline(in, line); ++played) {
    std::vector<std::string> parts;
    for (size_t at = 0, end = 0; end != line.npos; at = end + 1) {
      end = line.find('\t', at);
      parts.push_back(line.substr(at, end - at));
    }
    if (parts.size() != 5 || !callers.contains(parts[0])) fail("not a recorded answer: " + line);
    const auto answer = callers[parts[0]]->ask(parts[1], bytes_of(parts[2]));
    const std::string code = std::to_string(int(answer.status().code())), text = lasting(answer.status().message());
    if (code == parts[3] && text == parts[4]) continue;
    ++differ;
    std::cout << parts[1] << " " << parts[2] << "\n  expected " << parts[3] << " " << parts[4] << "\n  answered " << code << " " << text << std::endl;
  }
  task.end();
  data.end();
  coordination.end();
  if (!played) fail(std::string("nothing is recorded in ") + file);
  std::cout << played << " requests, " << differ << " answers differ\n";
  return differ > 0;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("GRPC_VERBOSITY", "NONE", 0);
  auto library = weft_engine::engine::clusters();
  if (!library.ok()) fail(library.status().message());
  const TransportApi& api = *(*library)->transport;
  set_transport(&api);  // remote/ itself is inside this program
  if (argc == 3 && !std::strcmp(argv[1], "--serve")) return weft_fuzz::serve(argv[2]);
  if (argc < 2) fail("cluster_fuzz WEFT [--seconds 10] [--seed 1] [--service NAME]");
  double seconds = 10;
  uint64_t seed = 1;
  std::string only;
  for (int i = 2; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--seconds")) seconds = std::atof(argv[i + 1]);
    if (!std::strcmp(argv[i], "--seed")) seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (!std::strcmp(argv[i], "--service")) only = argv[i + 1];
  }
  if (argc == 4 && !std::strcmp(argv[2], "--answers")) return play_answers(argv[3], api, argv[0], argv[1]);
  int played = 0;
  for (const weft_fuzz::Service& service : weft_fuzz::services()) {
    if (!only.empty() && only != service.name) continue;
    play(service, api, argv[0], argv[1], seconds, seed);
    ++played;
  }
  if (!played) fail("there is no service " + only);
  std::cout << "seed " << seed << ": the servers lived, answered rightly and ended by themselves\n";
}
