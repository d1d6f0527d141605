// Models compiled ahead of time: an object file that needs nothing but libc and libm, and a header with a class for it.
//
//   weft::compile(weft::load("mnist"), {.output = "out/net", .class_name = "demo::Net"});
//
// The `weft compile` command is this function.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "weft/saved_model.h"

namespace weft {

// One method of the class: a signature, or tensors ("node:0") and nodes of the graph.
struct CompiledFunction {
  std::string name;  // empty: the signature's
  std::string signature;
  std::vector<std::string> feeds, fetches, targets;
};

struct CompileOptions {
  std::string output;              // "DIR/net": DIR/net.h, DIR/net.o ...
  std::string class_name = "Net";  // "ns::Net"
  std::vector<CompiledFunction> functions;     // empty: serving_default, or what a plain graph offers
  std::map<std::string, PartialShape> shapes;  // of inputs; -1 is open
  std::string config;                          // a tfcompile config file; never needed
  std::vector<std::string> keep;               // variables to keep as state though no function writes them
  std::string target_triple, target_cpu = "x86-64-v3", target_features;  // cpu "native": this machine
  int parts = 1;  // that large steps of known sizes may run in at once, on the threads of a pool (set_pool)
  std::string emit;                            // "ir", "plan", "llvm", "asm", "ptx": that text as `text`, and no files
  bool archive = false, shared = false;        // net.a and net.so, too
  bool check = false;                          // run it beside the engine
  int64_t check_size = 3;                      // for open dimensions
};

struct CompileReport {
  struct Input {
    std::string function, name, identifier, type;
    bool is_output = false;
  };
  struct Difference {
    std::string function, output;
    double difference = 0, largest = 0;
    bool agrees = false;
  };
  std::vector<std::string> files, functions;
  std::vector<Input> ports;
  std::vector<std::string> states, frozen;  // variables
  std::vector<Difference> check;
  int64_t object_bytes = 0, weight_bytes = 0, state_bytes = 0;
  double seconds = 0;  // for everything but the check
  std::string text;
};

// Throws Error: Unimplemented names the ops and nodes that cannot be compiled.
WEFT_API CompileReport compile(const Model& model, const CompileOptions& options);

}  // namespace weft
