// Tensors from the command line: files of numpy and small expressions, in the type that an input asks for.
#pragma once

#include <string>
#include <vector>

#include "weft/saved_model.h"

namespace weft::cli {

// "NAME=FILE.npy", "NAME=FILE.npz[key]" or "NAME=EXPRESSION", for an input of that name, type and shape:
//   [[1, 2], [3, 4]]   7   true   "text"   ["a", "b"]
//   zeros(2,3)  ones(2,3)  fill(0.5,2,3)  random(1,28,28)  normal(1,28,28)  randint(10,1,40)  range(5)
// `cast` turns arrays of other number types into the input's.
Tensor parse_value(const TensorSpec& spec, const std::string& text, bool cast);
// Only the expression.
Tensor parse_expression(const TensorSpec& spec, const std::string& text);

// "NAME=VALUE" taken apart; throws without a '='.
std::pair<std::string, std::string> split_assignment(const std::string& text, const char* option);

// Inputs for a signature: those given, and for the others, where `fill` allows, random numbers with `batch` rows.
NamedTensors make_inputs(const SignatureInfo& signature, const std::vector<std::string>& assignments, bool cast, bool fill, int64_t batch);

inline constexpr const char* kValueHelp =
    "Values:\n"
    "  x=data.npy  x=data.npz  x=data.npz[images]          arrays of numpy\n"
    "  x='[[1, 2], [3, 4]]'  x=7  x=true  s='\"text\"'       written out, in the input's type\n"
    "  x='zeros(2,3)'  ones(2,3)  fill(0.5,2,3)  range(5)  random(1,28,28) from 0 to 1  normal(2,3)  randint(10,1,40) below 10";

}  // namespace weft::cli
