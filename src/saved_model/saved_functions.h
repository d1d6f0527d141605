// Functions as TensorFlow's files have them and as the engine has them. A file tells in a signature what its handles are handles of, under which
// names Python's arguments came, and keeps custom gradients as functions of all results of an IdentityN; the engine has the first in attributes of
// arguments, and names a gradient's function at the node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/defs.h"
#include "graph/function_library.h"
#include "op/registry.h"
#include "saved_model/object_graph.h"

namespace weft_engine::saved_model {

using FunctionMap = std::map<std::string, graph::FunctionDef>;

// FunctionDefLibrary.registered_gradients: the type that nodes name -> the function that is its gradient.
using RegisteredGradients = std::map<std::string, std::string>;
Result<RegisteredGradients> decode_registered_gradients(std::string_view graph_def);
std::string encode_registered_gradients(const RegisteredGradients& gradients);  // as fields of a FunctionDefLibrary

// ---- into a file

// Tells what the handles among the arguments are of, also in the functions that are called: gradients in TensorFlow need it.
void write_handle_data(FunctionMap& functions, const ObjectGraph& objects, const op::Registry& registry);
// TensorFlow's form of the engine's custom gradients: functions that are added here, and described among the objects'.
RegisteredGradients export_gradients(FunctionMap& functions, ObjectGraph& objects);

// ---- out of a file

// What the signature says of handles, where the engine looks for it.
Status read_handle_data(graph::FunctionDef& def);
// Custom gradients as the engine finds them: a node names the function, and has what that uses besides as further inputs.
void attach_gradients(FunctionMap& functions, const RegisteredGradients& registered, const ObjectGraph& objects, const op::Registry& registry);

}  // namespace weft_engine::saved_model
