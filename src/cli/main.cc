// The `weft` command: reads the command line; what is done is in the other files.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/value.h"
#include "weft/context.h"
#include "weft/error.h"

namespace {

using namespace weft::cli;

// Names that resemble what was typed: the same letters whatever their case, or containing it.
std::vector<std::string> similar(const std::string& typed) {
  auto lower = [](std::string s) {
    std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    return s;
  };
  std::vector<std::string> close;
  for (const auto& name : weft::op_names()) {
    if (lower(name).find(lower(typed)) != std::string::npos) close.push_back(name);
  }
  if (close.size() > 8) close.resize(8);
  return close;
}

int show_op(const std::string& name) {
  try {
    std::cout << weft::describe_op(name);
    return 0;
  } catch (const weft::Error& e) {
    std::cerr << "weft: there is no op '" << name << "'";
    const auto close = similar(name);
    if (!close.empty()) {
      std::cerr << "; did you mean";
      for (const auto& c : close) std::cerr << ' ' << c;
      std::cerr << "?";
    }
    std::cerr << "\nTry `weft ops` for the whole list.\n";
    return 1;
  }
}

int list_ops(bool names, bool table) {
  if (table) {
    std::cout << weft::op_table();
    return 0;
  }
  for (const auto& name : weft::op_names()) {
    if (names) {
      std::cout << name << '\n';
      continue;
    }
    const std::string text = weft::describe_op(name);
    std::cout << text.substr(0, text.find('\n') + 1);
  }
  return 0;
}

void add_load(CLI::App* c, LoadArgs& a, bool runs) {
  c->add_option("MODEL", a.path, "a SavedModel's folder, or a graph (.pb, .pbtxt)")->required();
  c->add_option("--tags", a.tags, "which graph of the SavedModel, by its tags")->delimiter(',')->capture_default_str();
  if (!runs) return;
  c->add_option("--threads", a.threads, "threads of the engine; 0: one per core")->check(CLI::Range(0, 1024));
  c->add_option("--devices", a.devices, "virtual CPU devices")->check(CLI::Range(1, 1024));
  c->add_option("--disable", a.disable, "optimisations to leave out (`weft optimize --list`)")->delimiter(',');
  c->add_option("--init", a.init, "nodes to run once after loading, for graphs of version 1")->delimiter(',');
  c->add_flag("--verify", a.verify, "fail if the fingerprint or a checksum of the variables does not match");
  c->add_flag("--jit", a.jit, "compile just in time where possible; the log names what cannot be compiled");
}

void add_protection(CLI::App* c, ProtectionArgs& a) {
  c->add_option("--tls-cert", a.certificate, "PEM file: the certificate that this side shows; TLS is used then, by both sides (WEFT_TLS_CERT)");
  c->add_option("--tls-key", a.key, "PEM file: its private key (WEFT_TLS_KEY)");
  c->add_option("--tls-ca", a.authority, "PEM file: the authority that must have signed the other side's certificate (WEFT_TLS_CA)");
  c->add_option("--tls-name", a.tls_name, "the name in certificates of servers, where it is not their host's (WEFT_TLS_NAME)");
  c->add_option("--token-file", a.token_file, "file with a secret that all processes of the cluster share (WEFT_CLUSTER_TOKEN_FILE)");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "weft: TensorFlow 2's execution engine in modern C++.\n"
      "Shows SavedModels, graphs and checkpoints, runs, measures, optimizes and compiles them; each command's --help has "
      "examples."};
  app.set_version_flag("--version", "weft " + weft::version() + " (TensorFlow 2.21 ops and C API)");
  app.require_subcommand(0, 1);

  ShowArgs show_args;
  auto* show_command = app.add_subcommand("show", "Show what a SavedModel, a graph or a checkpoint holds");
  show_command->add_option("PATH", show_args.path, "a SavedModel's folder, a GraphDef (.pb, .pbtxt) or a checkpoint's prefix")->required();
  show_command->add_flag("--json", show_args.json, "machine-readable output");
  show_command->add_flag("--nodes", show_args.nodes, "of a graph: every node");
  show_command->add_flag("--verify", show_args.verify, "first compare all checksums: a SavedModel's fingerprint, every tensor of a checkpoint");
  show_command->footer(
      "Examples:\n  weft show mnist                          signatures, functions, variables, ops\n"
      "  weft show mnist --json | jq .graphs[0].signatures\n  weft show frozen.pb --nodes\n  weft show mnist/variables/variables      the "
      "tensors of a checkpoint\n  weft show mnist --verify                 fails with DataLoss where a file is damaged");

  RunArgs run_args;
  auto* run_command = app.add_subcommand("run", "Run a model once on arrays or values from the command line");
  add_load(run_command, run_args.load, true);
  run_command->add_option("-s,--signature", run_args.signature, "default: serving_default, or the only one");
  run_command->add_option("-i,--input", run_args.inputs, "NAME=VALUE, once for each input");
  run_command->add_option("-o,--output", run_args.outputs, "NAME=FILE.npy; without any the outputs are printed");
  run_command->add_option("--save", run_args.save, "all outputs into one FILE.npz");
  run_command->add_option("-f,--function", run_args.function, "a function of the object graph instead of a signature");
  run_command->add_option("--fetch", run_args.fetches, "tensors of the graph (node:0) instead of a signature")->delimiter(',');
  run_command->add_option("--target", run_args.targets, "nodes to run for their effects")->delimiter(',');
  run_command->add_flag("--cast", run_args.cast, "convert arrays to the inputs' types");
  run_command->footer(
      std::string(kValueHelp) +
      "\nExamples:\n  weft run mnist -i x='random(1,784)'\n  weft run mnist -i x=images.npz[test] -o y=scores.npy\n"
      "  weft run frozen.pb --input x:0=x.npy --fetch dense/Relu:0\n  weft run v1.pb --init init -i x='ones(8,12)' --fetch predict:0");

  GraphArgs graph_args;
  auto* graph_command = app.add_subcommand("graph", "Draw a graph: functions inside their calls, devices by colour, shapes on edges");
  add_load(graph_command, graph_args.load, true);
  graph_command->add_option("--svg", graph_args.svg, "the picture");
  graph_command->add_option("--dot", graph_args.dot, "the same for Graphviz");
  graph_command->add_option("-s,--signature", graph_args.signature, "what of a SavedModel; default: serving_default, or the only one");
  graph_command->add_option("-f,--function", graph_args.function, "one function of the library");
  graph_command->add_flag("--optimized", graph_args.optimized, "after the engine's passes and placement");
  graph_command->add_flag("--saved", graph_args.saved, "of a SavedModel: the whole graph as it was saved");
  graph_command->add_option("--limit", graph_args.limit, "boxes before scopes are collapsed")->check(CLI::Range(1, 100000))->capture_default_str();
  graph_command->add_option("--depth", graph_args.depth, "functions inside functions")->check(CLI::Range(0, 32))->capture_default_str();
  graph_command->footer(
      "Examples:\n  weft graph mnist --svg mnist.svg\n  weft graph mnist --svg fast.svg --optimized\n  weft graph model --svg parts.svg "
      "--optimized --devices 3\n"
      "  weft graph frozen.pb --dot frozen.dot --limit 60");

  FreezeArgs freeze_args;
  auto* freeze_command = app.add_subcommand("freeze", "Write a model as one graph, with its variables as constants");
  add_load(freeze_command, freeze_args.load, true);
  freeze_command->add_option("-o,--output", freeze_args.output, "the GraphDef; text where it ends in .pbtxt")->required();
  freeze_command->add_option("-s,--signature", freeze_args.signature, "default: serving_default, or the only one");
  freeze_command->add_option("--inputs", freeze_args.inputs, "tensors of the graph instead of a signature's")->delimiter(',');
  freeze_command->add_option("--outputs", freeze_args.outputs, "tensors of the graph instead of a signature's")->delimiter(',');
  freeze_command->footer(
      "Inputs are placeholders and outputs identities under the signature's names. A signature that writes variables cannot be frozen.\n"
      "Examples:\n  weft freeze mnist -o mnist.pb\n  weft freeze mnist -o mnist.pbtxt --signature serving_default\n"
      "  weft freeze v1.pb --init init --outputs predict:0 -o v1_frozen.pb");

  QuantizeArgs quantize_args;
  auto* quantize_command =
      app.add_subcommand("quantize", "Write a model whose products and convolutions are of 8-bit numbers, and tell what it costs");
  add_load(quantize_command, quantize_args.load, true);
  quantize_command->add_option("-o,--output", quantize_args.output, "the folder of the new SavedModel")->required();
  quantize_command->add_option("--calibrate", quantize_args.calibrate, "NAME=VALUE, once for each input: samples of what the model will see")
      ->required();
  quantize_command->add_option("--test", quantize_args.test, "NAME=VALUE: samples to compare the two models on; default: those of --calibrate");
  quantize_command->add_option("--labels", quantize_args.labels,
                               "the right classes of these samples, for the accuracy: labels.npy, data.npz[labels]");
  quantize_command->add_option("--keep", quantize_args.keep, "layers that stay floats, by name")->delimiter(',');
  quantize_command->add_option("--least-depth", quantize_args.least_depth, "layers whose sums have fewer terms stay floats")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  quantize_command->add_option("--batch", quantize_args.batch, "rows of samples to a run")->check(CLI::Range(1, 1 << 30))->capture_default_str();
  quantize_command->add_option("-s,--signature", quantize_args.signature, "default: serving_default, or the only one");
  quantize_command->footer(
      std::string(kValueHelp) +
      "\n\nMatMul and Conv2D with constant weights become UniformQuantize, UniformQuantizedDot or UniformQuantizedConvolution, and "
      "UniformDequantize:\n"
      "weights with a scale for each output channel, what goes into a layer with the range that it has on the samples (a few hundred rows will do).\n"
      "A layer that costs too much accuracy stays as it is with --keep. weft and TensorFlow load the result.\n"
      "Examples:\n  weft quantize mnist --calibrate x=train.npz[images] -o mnist_int8\n"
      "  weft quantize mnist --calibrate x=train.npz[images] --test x=test.npz[images] --labels test.npz[labels] -o mnist_int8\n"
      "  weft quantize mnist --calibrate x=train.npy --keep dense_1/MatMul -o mnist_int8");

  CompileArgs compile_args;
  auto* compile_command = app.add_subcommand("compile", "Compile a model to an object file and a C++ header");
  add_load(compile_command, compile_args.load, true);
  compile_command->add_option("-o,--output", compile_args.output, "DIR/net: writes DIR/net.o, net.h, net_c.h and net.cmake");
  compile_command->add_option("--class", compile_args.class_name, "name of the class, with namespaces: ns::Net");
  compile_command->add_option("-s,--signature", compile_args.signatures,
                              "what to compile, one method each; default: serving_default, or what a graph offers");
  compile_command->add_option("--feed", compile_args.feeds, "tensors of the graph instead of a signature's: x:0")->delimiter(',');
  compile_command->add_option("--fetch", compile_args.fetches, "tensors to compute: predict:0")->delimiter(',');
  compile_command->add_option("--target", compile_args.targets, "nodes to run for their effect: train_op")->delimiter(',');
  compile_command->add_option("--shape", compile_args.shapes,
                              "shape of an input, where the model's is not known well enough: x=1,28,28 (? is unknown)");
  compile_command->add_option("--config", compile_args.config, "a tfcompile config file (.pbtxt); never needed");
  compile_command->add_option("--keep", compile_args.keep, "variables to keep settable though nothing writes them")->delimiter(',');
  compile_command->add_option("--target-cpu", compile_args.cpu, "processor: x86-64-v3 (the default here), native, znver4, ...");
  compile_command->add_option("--target-features", compile_args.features, "more or fewer instructions: +avx512f,-fma");
  compile_command->add_option("--target-triple", compile_args.triple, "another machine: aarch64-linux-gnu");
  compile_command
      ->add_option("--parts", compile_args.parts, "threads that large steps of fixed shapes are split over, if the class is given a pool (set_pool)")
      ->check(CLI::Range(1, 16));
  compile_command->add_option("--emit", compile_args.emit, "print instead: ir, plan, llvm, asm or ptx (kernels for GPUs)");
  compile_command->add_flag("--archive", compile_args.archive, "write net.a, too");
  compile_command->add_flag("--shared", compile_args.shared, "write net.so, too");
  compile_command->add_flag("--check", compile_args.check, "compare the result with the engine's on random inputs");
  compile_command->add_option("--check-size", compile_args.check_size, "size of unknown dimensions in the check");
  compile_command->footer(
      "\nThe object needs nothing but libc and libm. Variables that no method writes are frozen into it; the others are state of the class.\n\n"
      "Examples:\n  weft compile mnist -o out/net --class demo::Net --check\n  weft compile mnist -o out/net -s serving_default -s train "
      "--target-cpu native\n"
      "  weft compile v1.pb -o out/net\n  weft compile mnist --emit ir");

  OptimizeArgs optimize_args;
  auto* optimize_command = app.add_subcommand("optimize", "Run the engine's optimisations over a graph and write it");
  optimize_command->add_option("IN", optimize_args.input, "a GraphDef (.pb, .pbtxt), or a SavedModel, which is frozen first");
  optimize_command->add_option("-o,--output", optimize_args.output, "the GraphDef; text where it ends in .pbtxt");
  optimize_command->add_option("--passes", optimize_args.passes, "only these")->delimiter(',');
  optimize_command->add_option("--disable", optimize_args.disable, "all but these")->delimiter(',');
  optimize_command->add_flag("--list", optimize_args.list, "name the passes, in order");
  optimize_command->add_option("-s,--signature", optimize_args.signature, "of a SavedModel");
  optimize_command->add_option("--init", optimize_args.init, "nodes to run before freezing a graph of version 1")->delimiter(',');
  optimize_command->add_option("--outputs", optimize_args.outputs, "freeze first, up to these tensors")->delimiter(',');
  optimize_command->add_option("--inputs", optimize_args.inputs, "and from these")->delimiter(',');
  optimize_command->footer(
      "Examples:\n  weft optimize --list\n  weft optimize frozen.pb -o fast.pb\n  weft optimize mnist -o fast.pb --disable fold");

  TraceArgs trace_args;
  auto* trace_command = app.add_subcommand("trace", "Record what runs when, for Perfetto or Chrome, and list the most expensive ops");
  add_load(trace_command, trace_args.load, true);
  trace_command->get_option("MODEL")->required(false);
  trace_command->add_option("--cluster", trace_args.cluster, "JSON file: what all tasks of this cluster do, on one time line, instead of a model");
  trace_command->add_option("--seconds", trace_args.seconds, "how long tasks are watched")->check(CLI::Range(0.001, 600.0))->capture_default_str();
  add_protection(trace_command, trace_args.protection);
  trace_command->add_option("-s,--signature", trace_args.signature, "default: serving_default, or the only one");
  trace_command->add_option("-i,--input", trace_args.inputs, "NAME=VALUE; inputs that are not given are random");
  trace_command->add_option("-o,--output", trace_args.output, "the trace, e.g. trace.json");
  trace_command->add_option("--runs", trace_args.runs, "how many are recorded")->check(CLI::Range(1, 1000000))->capture_default_str();
  trace_command->add_option("--warmup", trace_args.warmup, "runs before")->check(CLI::Range(0, 1000000))->capture_default_str();
  trace_command->add_option("--rows", trace_args.rows, "of the table")->check(CLI::Range(0, 10000))->capture_default_str();
  trace_command->add_option("--batch", trace_args.batch, "rows of random inputs")->check(CLI::Range(1, 1 << 24))->capture_default_str();
  trace_command->add_flag("--cast", trace_args.cast, "convert arrays to the inputs' types");
  trace_command->footer(std::string(kValueHelp) +
                        "\nExamples:\n  weft trace mnist -o trace.json\n  weft trace mnist --batch 32 --runs 10 -o trace.json --threads 2\n"
                        "  weft trace --cluster cluster.json --seconds 10 -o trace.json        what tasks do for their clients");

  BenchArgs bench_args;
  auto* bench_command = app.add_subcommand("bench", "Measure latency, throughput and memory of a model");
  add_load(bench_command, bench_args.load, true);
  bench_command->add_option("-s,--signature", bench_args.signature, "default: serving_default, or the only one");
  bench_command->add_option("-i,--input", bench_args.inputs, "NAME=VALUE; inputs that are not given are random");
  bench_command->add_option("--batch", bench_args.batch, "rows of random inputs")->check(CLI::Range(1, 1 << 24))->capture_default_str();
  bench_command->add_option("--clients", bench_args.clients, "threads that call at once")->check(CLI::Range(1, 1024))->capture_default_str();
  bench_command->add_option("--duration", bench_args.duration, "seconds")->check(CLI::Range(0.01, 86400.0))->capture_default_str();
  bench_command->add_flag("--cast", bench_args.cast, "convert arrays to the inputs' types");
  bench_command->add_flag("--json", bench_args.json, "machine-readable output");
  bench_command->footer(std::string(kValueHelp) +
                        "\nExamples:\n  weft bench mnist\n  weft bench mnist --batch 32 --threads 1\n  weft bench mnist --clients 8 "
                        "--threads 1 --duration 10 --json");

  std::string op;
  bool names = false, table = false;
  auto* ops = app.add_subcommand("ops", "List the ops, or explain one");
  ops->add_option("NAME", op, "an op, e.g. MatMul");
  ops->add_flag("--names", names, "only the names, one a line");
  ops->add_flag("--table", table, "a Markdown table of all ops with their kernels");
  ops->footer("Examples:\n  weft ops MatMul      signature, kernels and what it does\n  weft ops | grep -i pool\n  weft ops --table > ops.md");

  ServerArgs server_args;
  auto* server_command = app.add_subcommand("server", "Serve a task of a cluster: other processes run ops and functions on its devices");
  server_command->add_option("--cluster", server_args.cluster,
                             "JSON file: {\"worker\": [\"host:port\", ...]}; default: TF_CONFIG, or the nodes of a Slurm step");
  server_command->add_option("--job", server_args.job, "its job; default: TF_CONFIG's, or the only one");
  server_command->add_option("--task", server_args.task, "its number there; default: TF_CONFIG's, or the rank that Slurm or Open MPI gave")
      ->check(CLI::Range(0, 1 << 30));
  server_command->add_option("--port", server_args.port, "first port on each node of a Slurm step")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  server_command->add_option("--devices", server_args.devices, "virtual CPU devices that others see")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  server_command->add_option("--threads", server_args.threads, "threads of the engine; 0: one per core")->check(CLI::Range(0, 1024));
  server_command->add_option("--bind", server_args.bind,
                             "address to listen on; default: 127.0.0.1 if the task's host is localhost, else all (WEFT_CLUSTER_BIND)");
  add_protection(server_command, server_args.protection);
  server_command->add_option("--max-message-mb", server_args.max_message_mb, "larger requests are refused (WEFT_CLUSTER_MAX_MESSAGE_MB)")
      ->check(CLI::Range(1, 2047));
  server_command->add_option("--max-streams", server_args.max_streams, "calls of one connection at a time (WEFT_CLUSTER_MAX_STREAMS)")
      ->check(CLI::Range(1, 1 << 30));
  server_command->add_option("--max-contexts", server_args.max_contexts, "clients that it keeps state for; default: 1024 (WEFT_CLUSTER_MAX_CONTEXTS)")
      ->check(CLI::Range(1, 1 << 30));
  server_command->footer(
      "It runs until SIGTERM or Ctrl-C. Whoever can reach it can run any op, files included: a task whose host is localhost is reached from this "
      "machine alone; protect others.\n"
      "Examples:\n  weft server --cluster cluster.json --job worker --task 0\n"
      "  TF_CONFIG='{\"cluster\": {\"worker\": [\"localhost:9001\"]}, \"task\": {\"type\": \"worker\", \"index\": 0}}' weft server\n"
      "  srun -N 4 weft server                                    one on each node, at port 8888\n"
      "  weft server --cluster cluster.json --task 1 --tls-cert task.pem --tls-key task.key --tls-ca ca.pem --token-file token");

  LaunchArgs launch_args;
  auto* launch_command = app.add_subcommand("launch", "Run a program as all tasks of a cluster on this machine");
  launch_command->prefix_command();
  launch_command->add_option("-n,--count", launch_args.count, "tasks of the job")->check(CLI::Range(0, 1024))->capture_default_str();
  launch_command->add_option("--job", launch_args.job, "the job's name")->capture_default_str();
  launch_command->add_option("--ps", launch_args.ps, "parameter servers beside them")->check(CLI::Range(0, 1024))->capture_default_str();
  launch_command->add_flag("--chief", launch_args.chief, "a task \"chief\" beside them, which the others serve");
  launch_command->add_option("--log-dir", launch_args.log_dir, "also write what each task prints into FOLDER/worker-0.log and so on");
  launch_command->add_option("--grace", launch_args.grace, "seconds between asking tasks to end and killing them")
      ->check(CLI::Range(0, 86400))
      ->capture_default_str();
  launch_command->add_flag("--secure", launch_args.secure, "a token for this job: no other user of the machine can use its servers");
  launch_command->footer(
      "PROGRAM ARGUMENTS ... come last. Each task gets TF_CONFIG with free ports and its own number, and each line that it prints starts with its "
      "name. The\n"
      "first task that fails ends the others, and its exit status is the command's; Ctrl-C ends all, twice: at once. Parameter servers (with --chief "
      "also\n"
      "workers) are ended when the others are done.\n"
      "Examples:\n  weft launch -n 4 python train.py --epochs 3\n  weft launch -n 2 --ps 2 --chief --log-dir logs python train.py\n  weft launch -n "
      "2 weft server");

  DevicesArgs devices_args;
  auto* devices = app.add_subcommand("devices", "List the devices of this machine, or of a running cluster");
  devices->add_option("ADDRESS", devices_args.addresses, "host:port of tasks to ask");
  devices->add_option("--cluster", devices_args.cluster, "JSON file: all tasks of this cluster");
  devices->add_option("--timeout", devices_args.timeout, "seconds to wait for answers")->check(CLI::Range(0.01, 86400.0))->capture_default_str();
  add_protection(devices, devices_args.protection);
  devices->footer(
      "Fails if a task does not answer.\nExamples:\n  weft devices\n  weft devices --cluster cluster.json\n  weft devices localhost:9001 "
      "localhost:9002");

  std::string shell;
  auto* completion = app.add_subcommand("completion", "Print a completion script for your shell");
  completion->add_option("SHELL", shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer("Examples:\n  source <(weft completion bash)\n  weft completion fish > ~/.config/fish/completions/weft.fish");

  CLI11_PARSE(app, argc, argv);
  try {
    if (*show_command) return show(show_args);
    if (*run_command) return run(run_args);
    if (*graph_command) return graph(graph_args);
    if (*freeze_command) return freeze(freeze_args);
    if (*compile_command) return compile(compile_args);
    if (*quantize_command) return quantize(quantize_args);
    if (*optimize_command) return optimize(optimize_args);
    if (*trace_command) return trace(trace_args);
    if (*bench_command) return bench(bench_args);
    if (*ops) return op.empty() ? list_ops(names, table) : show_op(op);
    if (*server_command) return server(server_args);
    if (*devices) return list_devices(devices_args);
    if (*launch_command) {
      launch_args.program = launch_command->remaining();
      return launch(launch_args);
    }
    if (*completion) {
      std::cout << completion_script(shell);
    } else {
      std::cout << app.help();
    }
  } catch (const weft::Error& e) {
    std::cerr << "weft: " << e.what() << '\n';
    return 1;
  } catch (const std::exception& e) {
    std::cerr << "weft: " << e.what() << '\n';
    return 1;
  }
  return 0;
}
