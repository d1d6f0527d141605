// TF_Operation: reading finished nodes and the edges between them.
#include "capi/graph_internal.h"
#include "io/graph_def.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::graph::Endpoint;
using weft_engine::graph::Node;

namespace {

// The number of tensors of a named argument.
int list_length(TF_Operation* oper, const char* arg, TF_Status* status, bool input) {
  int length = -1;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(oper);
    WEFT_NOT_NULL(arg);
    const Node& n = *unwrap(oper);
    const auto& args = input ? n.spec().signature().inputs : n.spec().signature().outputs;
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].name != arg) continue;
      length = (input ? n.info().input_range(int(i)) : n.info().output_range(int(i))).size();
      return {};
    }
    return invalid_argument(input ? "Input" : "Output", " arg '", arg, "' not found");
  });
  return length;
}

}  // namespace

const char* TF_OperationName(TF_Operation* oper) { return oper ? unwrap(oper)->name().c_str() : nullptr; }
// A literal, or interned with a terminator.
const char* TF_OperationOpType(TF_Operation* oper) { return oper ? unwrap(oper)->op().data() : nullptr; }
const char* TF_OperationDevice(TF_Operation* oper) { return oper ? unwrap(oper)->device.c_str() : nullptr; }

int TF_OperationNumOutputs(TF_Operation* oper) { return oper ? unwrap(oper)->num_outputs() : 0; }
TF_DataType TF_OperationOutputType(TF_Output output) {
  const Node* n = unwrap(output.oper);
  if (!n || output.index < 0 || output.index >= n->num_outputs()) return static_cast<TF_DataType>(0);
  return static_cast<TF_DataType>(n->output_type(output.index));
}
int TF_OperationOutputListLength(TF_Operation* oper, const char* arg, TF_Status* status) { return list_length(oper, arg, status, false); }

int TF_OperationNumInputs(TF_Operation* oper) { return oper ? unwrap(oper)->num_inputs() : 0; }
TF_DataType TF_OperationInputType(TF_Input input) {
  const Node* n = unwrap(input.oper);
  if (!n || input.index < 0 || input.index >= n->num_inputs()) return static_cast<TF_DataType>(0);
  return static_cast<TF_DataType>(n->input_type(input.index));
}
int TF_OperationInputListLength(TF_Operation* oper, const char* arg, TF_Status* status) { return list_length(oper, arg, status, true); }

TF_Output TF_OperationInput(TF_Input input) {
  const Node* n = unwrap(input.oper);
  if (!n || input.index < 0 || input.index >= n->num_inputs()) return {nullptr, -1};
  const Endpoint& e = n->input(input.index);
  return e.node ? wrap(e) : TF_Output{nullptr, -1};
}
void TF_OperationAllInputs(TF_Operation* oper, TF_Output* inputs, int max) {
  if (!oper || !inputs) return;
  for (int i = 0; i < max && i < unwrap(oper)->num_inputs(); ++i) inputs[i] = TF_OperationInput({oper, i});
}

int TF_OperationOutputNumConsumers(TF_Output output) { return TF_OperationOutputConsumers(output, nullptr, 0); }
int TF_OperationOutputConsumers(TF_Output output, TF_Input* consumers, int max) {
  if (!output.oper) return 0;
  int count = 0;
  for (const auto& use : unwrap(output.oper)->uses()) {
    if (use.output != output.index) continue;
    if (consumers && count < max) consumers[count] = {wrap(use.node), use.input};
    ++count;
  }
  return count;
}

namespace {

int copy_nodes(const std::vector<Node*>& nodes, TF_Operation** out, int max) {
  for (int i = 0; out && i < max && i < int(nodes.size()); ++i) out[i] = wrap(nodes[size_t(i)]);
  return int(nodes.size());
}

}  // namespace

int TF_OperationNumControlInputs(TF_Operation* oper) { return oper ? int(unwrap(oper)->control_inputs().size()) : 0; }
int TF_OperationGetControlInputs(TF_Operation* oper, TF_Operation** out, int max) {
  return oper ? copy_nodes(unwrap(oper)->control_inputs(), out, max) : 0;
}
int TF_OperationNumControlOutputs(TF_Operation* oper) { return oper ? int(unwrap(oper)->control_outputs().size()) : 0; }
int TF_OperationGetControlOutputs(TF_Operation* oper, TF_Operation** out, int max) {
  return oper ? copy_nodes(unwrap(oper)->control_outputs(), out, max) : 0;
}

void TF_OperationToNodeDef(TF_Operation* oper, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(oper);
    WEFT_ASSIGN(std::string bytes, weft_engine::io::encode_node_def(weft_engine::io::to_node_def(*unwrap(oper))));
    return fill_empty_buffer(buffer, bytes);
  });
}
