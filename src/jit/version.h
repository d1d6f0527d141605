// Version: the machine code of a function for one signature, the shapes of its arguments and variables. Compiled once, called from any number of threads.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/codegen.h"
#include "compiler/lower.h"
#include "op/kernel.h"
#include "op/variables_of_call.h"

namespace weft_engine::jit {

using namespace weft_engine::op;

using Variables = VariablesOfCall;

// Where a function has its variables from: arguments that are handles, and nodes that make one.
class VariableSources {
 public:
  explicit VariableSources(const graph::FunctionBody& body);
  // Of a call, in the order of the sources.
  Result<Variables> find(const KernelEnv& env, std::span<const Tensor> args) const;
  size_t size() const { return sources_.size(); }
  std::optional<int> of_argument(int argument) const;
  std::optional<int> of_node(const std::string& node) const;
  int argument(size_t i) const { return sources_[i].argument; }  // -1: a node's

 private:
  struct Source {
    int argument = -1;
    std::string node, container, name;
  };
  std::string function_;
  std::vector<Source> sources_;
};

struct CallSignature {
  std::vector<Shape> args;
  std::vector<DType> variable_types;
  std::vector<Shape> variable_shapes;
  SameVariables same;
  std::vector<Tensor> integers;  // by argument: copies of small ones, which may decide about shapes
  // FailedPrecondition for a variable without a value.
  static Result<CallSignature> of(const std::string& function, std::span<const Tensor> args, const Variables& variables);
};

// The counters of a function's random ops, which all its versions share.
class Generators {
 public:
  Result<void*> state(const std::string& name);
  std::mutex calls;  // of code that uses them: one after the other

 private:
  std::mutex mutex_;
  std::map<std::string, Tensor> states_;
};

struct CompileOptions {
  int threads = 1;
  bool lists_may_grow = false;  // a list that grows as it is written is an error of the call; else of compiling
  Generators* generators = nullptr;  // outlive the version; null: functions with random ops that need them are refused
  const std::atomic<bool>* cancel_flag = nullptr;  // as in compiler::CodegenOptions
};

class Version {
 public:
  static Result<std::shared_ptr<Version>> compile(const graph::FunctionBody& body, const VariableSources& sources, const CallSignature& signature,
                                                  const CompileOptions& options);

  bool fits(std::span<const Tensor> args, const Variables& variables) const;
  // `unchanged`: it failed and changed nothing, so that the engine can run the same call. Variables whose shapes do not fit are such a failure, too.
  Status call(const KernelEnv& env, std::span<Tensor> args, const Variables& variables, std::span<Tensor> rets, bool& unchanged);
  // Of code and working memory.
  size_t bytes() const { return code_->bytes() + arena_bytes_; }
  // May a call that fails have changed something?
  bool fails_late() const { return code_->fails_late(); }
  // Does it draw random numbers?
  bool is_random() const { return random_; }

 private:
  Status bind(const compiler::LowerOptions& o, const CompileOptions& options, std::span<const DType> results);

  std::string function_;
  CallSignature signature_;
  std::vector<std::pair<int, Tensor>> fixed_;  // arguments whose values are in the code
  std::unique_ptr<ir::Module> module_;
  compiler::Plan plan_;
  std::unique_ptr<compiler::JitCode> code_;
  compiler::Entry entry_ = nullptr;
  size_t arena_bytes_ = 0;
  bool loops_ = false, random_ = false;
  struct Parameter {
    int argument = -1, variable = -1;
    void* own = nullptr;  // a state of the function itself
    bool written = false;
  };
  std::vector<Parameter> parameters_;
  struct Output {
    int ret = -1;  // of the function; -1: a state
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  std::vector<Output> outputs_;
  std::vector<const void*> constants_;
  bool writes_ = false;
  Generators* generators_ = nullptr;  // null: it uses none
  // Working memory of calls that are over.
  std::mutex mutex_;
  std::vector<Tensor> spare_;
};

}  // namespace weft_engine::jit
