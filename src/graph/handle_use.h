// HandleUse: a node that reads a variable by its handle, on the way to a node that has the variable's value in place of it
// (saved_model/freeze.h). What it becomes, the op says (OpTraits::on_value).
#pragma once

#include <functional>
#include <string>

#include "graph/defs.h"

namespace weft_engine::graph {

struct HandleUse {
  NodeDef& node;  // its op and its inputs behind the first are changed in place
  DType dtype;    // of the value
  std::function<std::string(std::string_view suffix, Tensor value)> constant;  // adds a constant: the input that reads it
  AttrMap attrs;  // those of the new node

  // An attribute that both ops have, as it was given.
  void keep(const std::string& name) {
    if (auto it = node.attrs.find(name); it != node.attrs.end()) attrs[name] = it->second;
  }
};

}  // namespace weft_engine::graph
