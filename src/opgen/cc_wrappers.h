// The wrappers of ops that TensorFlow's C++ clients use (tensorflow/cc/ops).
#pragma once

#include <string>

#include "op/registry.h"

// Writes a file unless it is there already: what includes it is then not compiled again.
bool write_file(const std::string& path, const std::string& text);

// Writes <folder>/<name>_ops.h for each of TensorFlow's headers: one class for each op, with TensorFlow's names and order of arguments.
bool write_cc_wrappers(const weft_engine::op::Registry& registry, const std::string& folder);
