// Recorded op calls with TensorFlow's answers: reading them and comparing with ours.
// The format is described in tests/ops/README.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"
#include "op/attr_value.h"

namespace weft_engine::testing {

using namespace weft_engine::core;

// One tensor of a record; nothing for the empty message, which is not compared.
using Recorded = std::optional<Tensor>;

struct OpCase {
  std::string op;
  op::AttrMap attrs;
  std::vector<Recorded> inputs, outputs;
  std::vector<Recorded> output_grads, input_grads;  // of a gradient case: what flows in, what must come out
};

// One call of a recorded sequence on stateful ops.
struct SeqStep {
  struct Arg {
    Recorded tensor;
    bool is_ref = false;  // the value is output `output` of step `step` of this sequence
    int step = 0, output = 0;
  };
  std::string sequence;  // not empty: a new sequence starts here
  std::string op, node_name;
  op::AttrMap attrs;
  std::vector<Arg> inputs;
  std::vector<Recorded> outputs;
  int error_code = 0;
  std::string error_message;
  bool ref = false;
};

// Length-prefixed records of a file.
Result<std::vector<std::string>> read_records(const std::string& path);
Result<OpCase> parse_case(std::string_view record);
// Calls f for each case of the files, with its number in the file; `only` is an op, or empty for all. False, and a line printed, for a file or a record that cannot be read.
bool each_case(const std::vector<std::string>& paths, const std::string& only, const std::function<void(const OpCase&, int number)>& f);
Result<SeqStep> parse_step(std::string_view record);
// The same for sequences; `only` is how their names start.
bool each_sequence(const std::vector<std::string>& paths, const std::string& only, const std::function<void(const std::vector<SeqStep>&)>& f);

// Quantised numbers as the integers that compiled code has for them; others as they are.
DType plain_type(DType t);
Tensor plain(const Tensor& t);
// Integers as the quantised numbers that were recorded.
std::vector<Tensor> in_recorded_types(std::vector<Tensor> got, const std::vector<Recorded>& want);

// Empty when the tensors agree within the tolerance of their type, else what differs.
// `scale` is the size of the numbers that the result was made from, where that is larger than its own.
std::string difference(const Tensor& got, const Tensor& want, double scale = 0);
// For all outputs; those that were not recorded are skipped.
std::string difference(const std::vector<Tensor>& got, const std::vector<Recorded>& want);

}  // namespace weft_engine::testing
