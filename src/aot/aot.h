// Models ahead of time: signatures of a model (or parts of a graph) to an object file with no dependency but libc and libm, and a
// header with a class for it. The road: discover (which functions, which inputs and outputs) -> lower each -> plan -> code; the variables
// that no function writes are frozen in, the others become state of the class.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/codegen.h"
#include "compiler/lower.h"
#include "compiler/plan.h"
#include "saved_model/model.h"

namespace weft_engine::aot {

using core::DType;
using core::Result;
using core::Status;
using core::Tensor;

// What the user wants compiled.
struct FunctionSpec {
  std::string name;       // of the method; empty: the signature's
  std::string signature;  // of the model; or
  std::vector<std::string> feeds, fetches, targets;  // tensors ("node:0") and nodes of its graph
};

struct Options {
  std::vector<FunctionSpec> functions;  // empty: found in the model (discover.cc)
  std::map<std::string, core::PartialShape> shapes;  // of inputs, by name, where the model leaves more open than is wanted
  std::vector<std::string> kept;        // variables to keep as state though nobody writes them
  std::string config;                   // a tfcompile config (text form); feeds, fetches and variables come from it
  std::string class_name = "Net";       // "ns::Net"
  compiler::CodegenOptions code;
  int threads = 1;  // Plan::threads
  bool gpu = false;  // LowerOptions::gpu
};

// One tensor of a function, with the name that it has in C++.
struct Port {
  std::string name;        // the model's
  std::string identifier;  // in C++
  ir::Type type;
};

struct NetVariable {
  std::string name, identifier, checkpoint_key;
  ir::Type type;  // all sizes known
  Tensor initial;
  int64_t offset = 0;  // in the state's memory
};

struct NetFunction {
  std::string name, identifier, symbol;
  std::vector<Port> inputs, outputs;
  std::unique_ptr<ir::Module> module;
  compiler::Plan plan;
  std::vector<int> parameters;  // of the module: >= 0 input, else ~ number of the variable
  std::vector<int> results;     // of the module: number of the output; -1: new value of a state
  // For checks: how to run the same thing in the engine.
  std::vector<graph::Endpoint> feeds, fetches;
  std::vector<graph::Node*> targets;
};

// A compiled model, ready to be written.
struct Net {
  std::string source;      // the model's path, as given
  std::vector<std::string> namespaces;
  std::string class_name;  // without them
  std::vector<NetFunction> functions;
  std::vector<NetVariable> variables;
  int64_t state_bytes = 0;
  std::string initial_symbol, initial;  // the state's first contents
  std::vector<std::string> frozen;      // variables inside the code
};

// The functions to compile: those asked for, or what the model offers: its signatures; of a plain graph a function of the outputs
// and, where it trains, one of the training step.
Result<std::vector<FunctionSpec>> discover(saved_model::Model& model, const Options& options);
// Of a plain graph of version 1 whose variables have no values yet: runs what initialises them (nodes that nothing reads, that assign, and that need no
// input). Nothing to do for others.
Status initialise(saved_model::Model& model);
// tfcompile's config into specs. The names that it gives feeds and fetches become those of the ports.
struct Config {
  FunctionSpec function;
  std::map<std::string, std::string> names;  // tensor -> name
  std::map<std::string, core::PartialShape> shapes;  // tensor -> shape
};
Result<Config> read_config(const std::string& path);

// Everything up to code. The model must outlive the Net.
Result<Net> build(saved_model::Model& model, const Options& options);
// The object file, assembly or LLVM's text of it (options.code.emit).
Result<std::string> emit(const Net& net, const compiler::CodegenOptions& options);
// The kernels for GPUs, one function of the net after the other.
Result<std::string> emit_ptx(const Net& net);

// Names ---------------------------------------------------------------------------------------------------
// An identifier of C and C++ made of any name: "dense/kernel:0" -> "dense_kernel_0"; unique among `taken`, to which it is added.
std::string identifier(std::string_view name, std::vector<std::string>& taken);
bool is_identifier(std::string_view name);  // and no keyword

// Writing -------------------------------------------------------------------------------------------------
std::string cpp_header(const Net& net, const std::string& file);  // net.h
std::string c_header(const Net& net, const std::string& file);  // net_c.h
std::string cmake_snippet(const Net& net, const std::string& file);
// What symbol i must be equal to, where a guard says so; the others are the caller's to give.
const ir::Dim* bound_to(const ir::Module& m, size_t symbol);
// A size as an expression of C over the symbols' names.
std::string expression(const ir::Dim& d, const ir::Module& m);

// Checking ------------------------------------------------------------------------------------------------
struct CheckLine {
  std::string function, output;
  double difference = 0, largest = 0;  // absolute, and the largest value
  bool agrees = false;
};
// Runs every function `steps` times on random inputs, compiled for this machine and in the engine, states going on in both.
Result<std::vector<CheckLine>> check(saved_model::Model& model, const Net& net, int64_t open_size, int steps);

}  // namespace weft_engine::aot
