// Functions of the context's library that have an owner: they leave the library when its last holder goes. Graphs
// that name such a function hold its owner, so a function stays as long as one that calls it, or a plan of one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/to_function.h"
#include "trace/func_graph.h"

namespace weft_engine::trace {

// A function that this process made.
class LibraryFunction {
 public:
  // The trace as a function: of these inputs (arguments and captures of it), with these results, which are values of it.
  static Result<std::shared_ptr<LibraryFunction>> make(FuncGraph& graph, std::string name, std::vector<Endpoint> inputs,
                                                       std::span<const Value> results);
  // A name that no function of the context has.
  static std::string unique_name(eager::Context& context, const std::string& base);
  // One that was made here and still lives; else null.
  static std::shared_ptr<LibraryFunction> find(const std::string& name);
  ~LibraryFunction();
  LibraryFunction(const LibraryFunction&) = delete;

  const std::string& name() const { return name_; }
  bool stateful() const { return stateful_; }
  // Does something besides its results that no resource among its arguments stands for: prints, asserts.
  bool free_effects() const { return free_effects_; }
  // Whether it changes the resource that it gets as that argument.
  bool writes(size_t argument) const { return argument >= writes_.size() || writes_[argument]; }

 private:
  explicit LibraryFunction(eager::Context& context) : context_(context) {}
  eager::Context& context_;
  std::string name_;
  bool stateful_ = false, free_effects_ = false;
  std::vector<bool> writes_;
  std::vector<std::shared_ptr<const void>> callees_;
};

// Functions of a file, which call each other: all stay as long as one of them is held.
class LoadedFunctions {
 public:
  // InvalidArgument, with none of them in the library, where a name is taken by another function.
  static Result<std::shared_ptr<LoadedFunctions>> make(eager::Context& context, std::vector<graph::FunctionDef> functions,
                                                       std::span<const graph::GradientDef> gradients = {});
  ~LoadedFunctions();
  LoadedFunctions(const LoadedFunctions&) = delete;

 private:
  explicit LoadedFunctions(eager::Context& context) : context_(context) {}
  eager::Context& context_;
  std::vector<std::string> names_;
};

}  // namespace weft_engine::trace
