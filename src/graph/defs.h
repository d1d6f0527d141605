// Graphs and functions as plain data, the way files hold them: names and attributes, nothing resolved.
// The wire forms are read and written in io/.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "op/op_spec.h"

namespace weft_engine::graph {

using namespace weft_engine::op;

struct NodeDef {
  std::string name, op, device;
  std::vector<std::string> inputs;  // "node", "node:1", "^node"; in functions also "node:output:0"
  AttrMap attrs;
  std::string debug_info, full_type;  // messages that are handed on unread
};

struct ArgDef {
  std::string name;
  DType type = DType::kInvalid;
  std::string type_attr, number_attr, type_list_attr;
  bool is_ref = false;
  std::string unread;  // further fields (description, handle data, full type), as bytes
};

struct FunctionDef {
  std::string name;
  std::vector<ArgDef> inputs, outputs;
  std::vector<AttrSpec> signature_attrs;
  std::vector<std::string> control_outputs;
  bool stateful = false;
  std::string description;
  AttrMap attrs;                                   // of the definition itself (_noinline ...)
  std::vector<NodeDef> nodes;
  std::map<std::string, std::string> ret;          // output -> "node:output:0" or an argument
  std::map<std::string, std::string> control_ret;  // control output -> node
  std::map<int, AttrMap> arg_attrs;
  std::map<int, int> resource_arg_unique_id;
};

struct GradientDef {
  std::string function, gradient;
};

struct Versions {
  int producer = 0, min_consumer = 0;
  std::vector<int> bad_consumers;
};

// A function that is decoded when it is first asked for: most functions of a model are never called.
using LazyFunction = std::function<Result<FunctionDef>()>;

struct GraphDef {
  std::vector<NodeDef> nodes;
  std::vector<std::pair<std::string, LazyFunction>> functions;
  std::vector<GradientDef> gradients;
  Versions versions;
};

}  // namespace weft_engine::graph
