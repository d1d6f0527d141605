#include "weft/cluster.h"

#include "api/model_internal.h"
#include "api/unwrap.h"
#include "core/error_notes.h"
#include "engine/clusters.h"
#include "engine/engine.h"
#include "runtime/server.h"

namespace weft {

namespace remote = weft_engine::remote;

namespace {

const remote::Library& library() { return *api::unwrap(engine::clusters()); }

}  // namespace

// This process is no server of the cluster while it is a client: its context keeps the name "localhost", which TensorFlow's clients have, too.
void connect(const Cluster& cluster, const ConnectOptions& options) {
  constexpr const char* kSelf = "localhost";
  if (cluster.jobs().contains(kSelf)) throw Error(Code::kInvalidArgument, "a job of a cluster cannot be called 'localhost': that is this process");
  if (!(options.timeout_seconds > 0)) throw Error(Code::kInvalidArgument, "timeout_seconds must be positive");
  if (options.keep_alive_seconds < 1) throw Error(Code::kInvalidArgument, "keep_alive_seconds must be positive");
  remote::ServerDef def;
  def.cluster = cluster.jobs();
  if (const auto own = def.cluster.find(cluster.job); own != def.cluster.end()) {
    own->second.erase(cluster.task);
    if (own->second.empty()) def.cluster.erase(own);
  }
  def.cluster[kSelf][0] = "localhost:0";
  def.job = kSelf;
  api::check(library().connect(api::context(), def, {.timeout_seconds = options.timeout_seconds, .keep_alive_seconds = options.keep_alive_seconds}));
}

void synchronize() { api::check(api::context().sync_executors()); }

struct Server::State {
  std::string job;
  int task = 0;
  std::shared_ptr<runtime::Server> server;
};

Server::Server(const Cluster& cluster, const ServerOptions& options) : state_(std::make_unique<State>()) {
  engine::Engine::get();  // which gives servers their network
  state_->job = !options.job.empty() ? options.job : cluster.job;
  if (state_->job.empty()) {
    if (cluster.jobs().size() != 1) throw Error(Code::kInvalidArgument, "the cluster has several jobs or none: say which one this server belongs to");
    state_->job = cluster.jobs().begin()->first;
  }
  state_->task = options.task >= 0 ? options.task : state_->job == cluster.job ? cluster.task : -1;
  const auto job = cluster.jobs().find(state_->job);
  if (state_->task < 0 && job != cluster.jobs().end()) {
    if (job->second.size() != 1) throw Error(Code::kInvalidArgument, "job '" + state_->job + "' has several tasks: say which one this server is");
    state_->task = job->second.begin()->first;
  }
  if (options.cpu_devices < 1 || options.cpu_devices > 1024) throw Error(Code::kInvalidArgument, "cpu_devices must be from 1 to 1024");
  runtime::ServerSpec spec;
  spec.job = state_->job;
  spec.task = state_->task;
  spec.cluster = cluster.jobs();
  spec.cpu_devices = options.cpu_devices;
  state_->server = api::unwrap(runtime::Server::make(std::move(spec)));
  api::check(state_->server->start());
}

Server::~Server() = default;
std::string Server::target() const { return state_->server->target(); }
const std::string& Server::job() const { return state_->job; }
int Server::task() const { return state_->task; }
void Server::join() { api::check(state_->server->join()); }
void Server::stop() { api::check(state_->server->stop()); }

std::vector<TaskStatus> cluster_status(const Cluster& cluster, double timeout_seconds) {
  if (!(timeout_seconds > 0)) throw Error(Code::kInvalidArgument, "timeout_seconds must be positive");
  std::vector<TaskStatus> out;
  for (auto& answer : api::unwrap(library().ask_all(cluster.jobs(), timeout_seconds))) {
    TaskStatus& t = out.emplace_back();
    t.job = std::move(answer.job);
    t.task = answer.task;
    t.address = std::move(answer.address);
    if (!answer.devices.ok()) {
      t.code = static_cast<Code>(answer.devices.status().code());
      t.error = answer.devices.status().message();
      continue;
    }
    for (const auto& d : *answer.devices) t.devices.push_back({d.name, d.type, d.memory_limit});
  }
  return out;
}

TraceEvents trace_cluster(const Cluster& cluster, double seconds) {
  if (!(seconds > 0)) throw Error(Code::kInvalidArgument, "seconds must be positive");
  TraceEvents out;
  for (auto& profile : api::unwrap(library().profile_all(cluster.jobs(), seconds))) {
    if (!profile.events.ok()) {
      const core::Status& s = profile.events.status();
      api::check(core::reworded(s, core::cat("task ", profile.task, " of job '", profile.job, "' at ", profile.address, ": ", s.message())));
    }
    api::append(out, std::move(*profile.events));
  }
  return out;
}

std::string cluster_protection() {
  const remote::Settings s = api::unwrap(library().settings());
  std::string out = s.tls() ? "TLS with certificates on both sides" : "";
  if (!s.token.empty()) out += out.empty() ? "a token, without encryption" : " and a token";
  return out;
}

}  // namespace weft
