// The commands, each in the file of its name. main.cc reads the command line into these structs; the functions give
// the exit code and throw weft::Error where the engine does.
#pragma once

#include <string>
#include <vector>

#include "weft/saved_model.h"

namespace weft::cli {

// What to load and how; shared by the commands that run a model.
struct LoadArgs {
  std::string path;
  std::vector<std::string> tags = {"serve"};
  std::vector<std::string> disable;  // passes
  std::vector<std::string> init;     // nodes that run once after loading, for graphs of version 1
  int threads = 0, devices = 1;
  bool verify = false, jit = false;
};
Model load_model(const LoadArgs& args);
// The signature that is meant: the named one, or serving_default, or the only one.
std::string choose_signature(const Model& model, const std::string& wanted);

struct ShowArgs {
  std::string path;
  bool json = false, nodes = false, verify = false;
};
int show(const ShowArgs& args);

struct RunArgs {
  LoadArgs load;
  std::string signature, function, save;
  std::vector<std::string> inputs, outputs, fetches, targets;
  bool cast = false;
};
int run(const RunArgs& args);

struct GraphArgs {
  LoadArgs load;
  std::string svg, dot, function, signature;
  bool optimized = false, saved = false;
  int limit = 150, depth = 3;
};
int graph(const GraphArgs& args);

struct FreezeArgs {
  LoadArgs load;
  std::string signature, output;
  std::vector<std::string> inputs, outputs;
};
int freeze(const FreezeArgs& args);

struct QuantizeArgs {
  LoadArgs load;
  std::string signature, output, labels;
  std::vector<std::string> calibrate, test, keep;
  int64_t batch = 64, least_depth = 16;
};
int quantize(const QuantizeArgs& args);

struct OptimizeArgs {
  std::string input, output, signature;
  std::vector<std::string> passes, disable, init, inputs, outputs;
  bool list = false;
};
int optimize(const OptimizeArgs& args);

// How connections are protected; shared by the commands that speak with other processes. Empty: as the environment says.
struct ProtectionArgs {
  std::string certificate, key, authority, tls_name, token_file;
};
// For all that follows.
void protect(const ProtectionArgs& args);

struct TraceArgs {
  LoadArgs load;
  std::string signature, output;
  std::vector<std::string> inputs;
  bool cast = false;
  int runs = 1, warmup = 2, rows = 15;
  int64_t batch = 1;
  std::string cluster;  // what its tasks do, instead of a model
  double seconds = 5;
  ProtectionArgs protection;
};
int trace(const TraceArgs& args);

struct BenchArgs {
  LoadArgs load;
  std::string signature;
  std::vector<std::string> inputs;
  bool cast = false, json = false;
  int clients = 1;
  int64_t batch = 1;
  double duration = 3;
};
int bench(const BenchArgs& args);

struct CompileArgs {
  LoadArgs load;
  std::string output, class_name = "Net", config, triple, cpu, features, emit;
  std::vector<std::string> signatures, feeds, fetches, targets, shapes, keep;
  bool archive = false, shared = false, check = false;
  int64_t check_size = 3;
  int parts = 1;
};
int compile(const CompileArgs& args);

struct ServerArgs {
  std::string cluster, job, bind;
  int task = -1, devices = 1, threads = 0, port = 8888;
  int max_message_mb = 0, max_streams = 0, max_contexts = 0;  // 0: not said
  ProtectionArgs protection;
};
int server(const ServerArgs& args);

struct DevicesArgs {
  std::string cluster;
  std::vector<std::string> addresses;
  double timeout = 5;
  ProtectionArgs protection;
};
int list_devices(const DevicesArgs& args);

struct LaunchArgs {
  int count = 1, ps = 0, grace = 10;
  bool chief = false, secure = false;
  std::string job = "worker", log_dir;
  std::vector<std::string> program;
};
int launch(const LaunchArgs& args);

}  // namespace weft::cli
