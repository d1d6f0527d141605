// weft server and weft devices: a task of a cluster, and what those of a running one say.
#include "weft/cluster.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "cli/commands.h"
#include "cli/text.h"

namespace weft::cli {
namespace {

Cluster read_cluster(const std::string& file, int port = 8888) { return file.empty() ? Cluster::from_environment(port) : Cluster::from_file(file); }

// The number that a launcher gave this process: Slurm, Open MPI, and others that follow PMI.
int rank_of_process() {
  for (const char* name : {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return -1;
}

// The options are the variables that all programs have.
void set(const char* variable, const std::string& value) {
  if (!value.empty()) setenv(variable, value.c_str(), 1);
}
void set(const char* variable, int value) {
  if (value > 0) set(variable, std::to_string(value));
}

bool is_loopback(const std::string& host) { return host == "localhost" || host.starts_with("127.") || host == "[::1]" || host == "::1"; }

}  // namespace

void protect(const ProtectionArgs& args) {
  set("WEFT_TLS_CERT", args.certificate);
  set("WEFT_TLS_KEY", args.key);
  set("WEFT_TLS_CA", args.authority);
  set("WEFT_TLS_NAME", args.tls_name);
  set("WEFT_CLUSTER_TOKEN_FILE", args.token_file);
}

int server(const ServerArgs& args) {
  // Before any thread is made, so that none of them gets the signals that end the server.
  sigset_t ends;
  sigemptyset(&ends);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, s);
  sigprocmask(SIG_BLOCK, &ends, nullptr);

  protect(args.protection);
  set("WEFT_CLUSTER_BIND", args.bind);
  set("WEFT_CLUSTER_MAX_MESSAGE_MB", args.max_message_mb);
  set("WEFT_CLUSTER_MAX_STREAMS", args.max_streams);
  set("WEFT_CLUSTER_MAX_CONTEXTS", args.max_contexts);
  const Cluster cluster = read_cluster(args.cluster, args.port);
  ServerOptions options{args.job, args.task, args.devices};
  const bool own = cluster.task >= 0 && (args.job.empty() || args.job == cluster.job);
  if (options.task < 0 && !own) options.task = rank_of_process();
  configure({.cpu_devices = 1, .intra_threads = args.threads, .inter_threads = args.threads});
  const std::string protection = cluster_protection();
  Server served(cluster, options);

  const std::string& address = cluster.address(served.job(), served.task());
  std::string host = !args.bind.empty() ? args.bind : std::getenv("WEFT_CLUSTER_BIND") ? std::getenv("WEFT_CLUSTER_BIND") : "";
  if (host.empty()) host = address.substr(0, address.rfind(':'));
  const bool local = is_loopback(host);
  std::cout << "weft server: /job:" << served.job() << "/task:" << served.task() << " at " << address.substr(0, address.rfind(':'))
            << served.target().substr(served.target().rfind(':')) << ", "
            << (local ? "reached from this machine alone" : "reached from other machines") << ", "
            << (!protection.empty() ? "protected by " + protection
                : local             ? "unprotected: every user of this machine can run ops here"
                                    : "UNPROTECTED: whoever reaches it can run ops here, files included (--tls-cert, --token-file)")
            << "; Ctrl-C ends it" << std::endl;
  int signal = 0;
  sigwait(&ends, &signal);
  std::cout << "weft server: ends (" << strsignal(signal) << ")" << std::endl;
  served.stop();
  return 0;
}

int list_devices(const DevicesArgs& args) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const DeviceInfo& d, const std::string& address) {
    rows.push_back({d.name, d.type, human_bytes(double(d.memory_limit)), address});
  };
  if (args.cluster.empty() && args.addresses.empty()) {
    for (const auto& d : devices()) add(d, "");
    std::cout << table({"device", "type", "memory>"}, rows);
    return 0;
  }
  protect(args.protection);
  Cluster cluster = args.cluster.empty() ? Cluster() : read_cluster(args.cluster);
  for (size_t i = 0; i < args.addresses.size(); ++i) cluster.add("(asked by address)", int(i), args.addresses[i]);
  std::vector<std::string> silent;
  for (const TaskStatus& t : cluster_status(cluster, args.timeout)) {
    for (const auto& d : t.devices) add(d, t.address);
    if (t.code != Code::kOk) silent.push_back(t.address + " does not answer: " + t.error.substr(0, t.error.find('\n')));
  }
  if (!rows.empty()) std::cout << table({"device", "type", "memory>", "address"}, rows);
  std::cout.flush();
  for (const std::string& s : silent) std::cerr << "weft: " << s << '\n';
  return silent.empty() ? 0 : 1;
}

}  // namespace weft::cli
