// One interface for running ops at once and for tracing them into a function. A context that traces is a
// graph in the making; everything else is said in terms of the eager and the graph functions.
#include "tensorflow/c/eager/c_api_unified_experimental.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capi/checked.h"
#include "op/op_traits.h"

using namespace weft_engine::capi;  // NOLINT

struct TF_ExecutionContext {
  TFE_Context* eager = nullptr;  // one of the two
  TF_Graph* graph = nullptr;
  std::string name;  // of the function
  std::vector<TF_Output> parameters;
  ~TF_ExecutionContext() {
    TFE_DeleteContext(eager);
    TF_DeleteGraph(graph);
  }
};

struct TF_AbstractTensor {
  TFE_TensorHandle* handle = nullptr;  // null: `output` of `graph`, which may have been deleted
  TF_Output output{};
  const TF_Graph* graph = nullptr;
  ~TF_AbstractTensor() { TFE_DeleteTensorHandle(handle); }
};

struct TF_AbstractOp {
  TF_ExecutionContext* context;
  std::string type, name;  // the name is needed to trace
  std::vector<std::pair<std::string, TF_DataType>> types;
};

struct TF_AbstractFunction {
  TF_Function* function;
  ~TF_AbstractFunction() { TF_DeleteFunction(function); }
};

struct TF_OutputList {
  std::vector<TF_AbstractTensor*> tensors;
  int expected = -1;
};

namespace {

Status run_eager(const TF_AbstractOp& op, std::span<TF_AbstractTensor* const> inputs, std::vector<TF_AbstractTensor*>& outputs) {
  TFE_Op* made = nullptr;
  WEFT_RETURN_IF_ERROR(checked([&](TF_Status* s) { made = TFE_NewOp(op.context->eager, op.type.c_str(), s); }));
  std::unique_ptr<TFE_Op, void (*)(TFE_Op*)> call(made, TFE_DeleteOp);
  for (const auto& [name, type] : op.types) {
    WEFT_ASSIGN(DType t, dtype_from(type));
    WEFT_RETURN_IF_ERROR(call->op.set_attr(name, t));
  }
  for (TF_AbstractTensor* t : inputs) {
    if (!t->handle) return invalid_argument("Not an eager tensor handle.");
    WEFT_RETURN_IF_ERROR(checked([&](TF_Status* s) { TFE_OpAddInput(call.get(), t->handle, s); }));
  }
  std::vector<TFE_TensorHandle*> handles(outputs.size());
  int count = int(handles.size());
  WEFT_RETURN_IF_ERROR(checked([&](TF_Status* s) { TFE_Execute(call.get(), handles.data(), &count, s); }));
  outputs.resize(size_t(count));
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = new TF_AbstractTensor{handles[i], {}, nullptr};
  return {};
}

Status add_node(const TF_AbstractOp& op, std::span<TF_AbstractTensor* const> inputs, std::vector<TF_AbstractTensor*>& outputs) {
  TF_Graph* graph = op.context->graph;
  for (const TF_AbstractTensor* t : inputs) {
    if (t->handle) return invalid_argument("Unable to cast input to GraphTensor");
    if (t->graph != graph) return invalid_argument("An input of ", op.name, " belongs to another function");
  }
  TF_OperationDescription* d = TF_NewOperation(graph, op.type.c_str(), op.name.c_str());
  for (const auto& [name, type] : op.types) TF_SetAttrType(d, name.c_str(), type);
  for (const TF_AbstractTensor* t : inputs) TF_AddInput(d, t->output);
  TF_Operation* node = nullptr;
  WEFT_RETURN_IF_ERROR(checked([&](TF_Status* s) { node = TF_FinishOperation(d, s); }));
  const int count = TF_OperationNumOutputs(node);
  if (size_t(count) > outputs.size()) return invalid_argument("Expecting ", count, " outputs, but *num_retvals is ", outputs.size());
  outputs.resize(size_t(count));
  for (int i = 0; i < count; ++i) outputs[size_t(i)] = new TF_AbstractTensor{nullptr, {node, i}, graph};
  return {};
}

Status execute(TF_AbstractOp& op, std::span<TF_AbstractTensor* const> inputs, TF_OutputList& list) {
  const bool traces = op.context->graph != nullptr;
  if (op.type.empty() || (traces && op.name.empty())) return invalid_argument("AbstractOp is incomplete.");
  if (list.expected < 0) return invalid_argument("the number of outputs must be set before an op is executed");
  for (TF_AbstractTensor* t : inputs) WEFT_NOT_NULL(t);
  std::vector<TF_AbstractTensor*> outputs(size_t(list.expected), nullptr);
  Status s = traces ? add_node(op, inputs, outputs) : run_eager(op, inputs, outputs);
  op.name.clear();  // it is built: the next one says all again
  op.types.clear();
  if (s.ok()) list.tensors = std::move(outputs);
  return s;
}

}  // namespace

extern "C" {

// ---- contexts ----

void TF_SetTracingImplementation(const char* name, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(name);
    if (std::string_view(name) == "graphdef") return {};
    return invalid_argument("No tracing engine factory has been registered with the key '", name, "' (available: graphdef)");
  });
}

TF_ExecutionContext* TF_NewEagerExecutionContext(TFE_ContextOptions* options, TF_Status* status) {
  TF_ExecutionContext* out = nullptr;
  guard(status, [&]() -> Status {
    auto made = std::make_unique<TF_ExecutionContext>();
    WEFT_RETURN_IF_ERROR(checked([&](TF_Status* s) { made->eager = TFE_NewContext(options, s); }));
    out = made.release();
    return {};
  });
  return out;
}

void TF_DeleteExecutionContext(TF_ExecutionContext* ctx) { delete ctx; }

TFE_Context* TF_ExecutionContextGetTFEContext(TF_ExecutionContext* ctx, TF_Status* status) {
  TFE_Context* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(ctx);
    out = ctx->eager;
    return out ? Status() : invalid_argument("Not an eager context.");
  });
  return out;
}

// ---- tracing ----

TF_ExecutionContext* TF_CreateFunction(const char* fn_name, TF_Status* status) {
  TF_ExecutionContext* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(fn_name);
    auto made = std::make_unique<TF_ExecutionContext>();
    made->name = fn_name;
    made->graph = TF_NewGraph();
    if (!made->graph) return resource_exhausted("out of memory");
    out = made.release();
    return {};
  });
  return out;
}

TF_AbstractTensor* TF_AddFunctionParameter(TF_ExecutionContext* func, TF_DataType dtype, TF_Shape shape, TF_Status* status) {
  TF_AbstractTensor* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(func);
    if (!func->graph) return invalid_argument("TF_AddFunctionParameter must be called on a tracing context.");
    if (shape.num_dims > 0) WEFT_NOT_NULL(shape.dim_sizes);
    const std::string name = cat("_input_", func->parameters.size());
    TF_OperationDescription* d = TF_NewOperation(func->graph, op_of(weft_engine::op::Role::kPlaceholder).data(), name.c_str());
    TF_SetAttrType(d, "dtype", dtype);
    if (shape.num_dims >= 0) TF_SetAttrShape(d, "shape", shape.dim_sizes, shape.num_dims);
    TF_Operation* node = nullptr;
    WEFT_RETURN_IF_ERROR(checked([&](TF_Status* s) { node = TF_FinishOperation(d, s); }));
    func->parameters.push_back({node, 0});
    out = new TF_AbstractTensor{nullptr, {node, 0}, func->graph};
    return {};
  });
  return out;
}

TF_AbstractFunction* TF_FinalizeFunction(TF_ExecutionContext* ctx, TF_OutputList* outputs, TF_Status* status) {
  TF_AbstractFunction* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(ctx);
    if (!ctx->graph) return invalid_argument("Only a tracing context can be made into a function.");
    std::unique_ptr<TF_ExecutionContext> owned(ctx);
    WEFT_NOT_NULL(outputs);
    std::vector<TF_Output> ends;
    for (const TF_AbstractTensor* t : outputs->tensors) {
      WEFT_NOT_NULL(t);
      if (t->handle) return unimplemented("Capturing eager tensors is not supported yet.");
      if (t->graph != ctx->graph) return invalid_argument("An output belongs to another function");
      ends.push_back(t->output);
    }
    TF_Function* made = nullptr;
    WEFT_RETURN_IF_ERROR(checked([&](TF_Status* s) {
      made = TF_GraphToFunction(ctx->graph, ctx->name.c_str(), 0, -1, nullptr, int(ctx->parameters.size()), ctx->parameters.data(), int(ends.size()),
                                ends.data(), nullptr, nullptr, ctx->name.c_str(), s);
    }));
    out = new TF_AbstractFunction{made};
    return {};
  });
  return out;
}

void TF_DeleteAbstractFunction(TF_AbstractFunction* func) { delete func; }

void TF_ExecutionContextRegisterFunction(TF_ExecutionContext* ctx, TF_AbstractFunction* func, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(ctx);
    WEFT_NOT_NULL(func);
    return checked([&](TF_Status* s) {
      if (ctx->eager) TFE_ContextAddFunction(ctx->eager, func->function, s);
      else TF_GraphCopyFunction(ctx->graph, func->function, nullptr, s);
    });
  });
}

// ---- ops ----

TF_AbstractOp* TF_NewAbstractOp(TF_ExecutionContext* ctx) {
  return guard_pointer<TF_AbstractOp>([&]() -> TF_AbstractOp* { return ctx ? new TF_AbstractOp{ctx, {}, {}, {}} : nullptr; });
}

void TF_DeleteAbstractOp(TF_AbstractOp* op) { delete op; }

void TF_AbstractOpSetOpType(TF_AbstractOp* op, const char* const op_type, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(op);
    WEFT_NOT_NULL(op_type);
    if (!op->name.empty()) return failed_precondition("Reset called on already built op.");
    // An eager op is looked up now; a node, when it is added.
    if (op->context->eager) {
      TFE_Op* made = nullptr;
      WEFT_RETURN_IF_ERROR(checked([&](TF_Status* s) { made = TFE_NewOp(op->context->eager, op_type, s); }));
      TFE_DeleteOp(made);
    }
    op->type = op_type;
    op->types.clear();
    return {};
  });
}

void TF_AbstractOpSetOpName(TF_AbstractOp* op, const char* const op_name, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(op);
    WEFT_NOT_NULL(op_name);
    if (op->context->eager) return invalid_argument("Provided AbstractOp is not a TracingOperation.");
    if (!op->name.empty()) return failed_precondition("SetOpName called on already built op.");
    if (op->type.empty()) return failed_precondition("GraphOperation::Reset must be called before calling SetOpName.");
    op->name = op_name;
    return {};
  });
}

void TF_AbstractOpSetAttrType(TF_AbstractOp* op, const char* const attr_name, TF_DataType value, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(op);
    WEFT_NOT_NULL(attr_name);
    if (op->type.empty() || (op->context->graph && op->name.empty()))
      return failed_precondition("op_type and op_name must be specified before specifying attrs.");
    WEFT_RETURN_IF_ERROR(dtype_from(value).status());
    op->types.emplace_back(attr_name, value);
    return {};
  });
}

void TF_ExecuteOperation(TF_AbstractOp* op, int num_inputs, TF_AbstractTensor* const* inputs, TF_OutputList* outputs, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(op);
    WEFT_NOT_NULL(outputs);
    if (num_inputs < 0) return invalid_argument("negative number of inputs: ", num_inputs);
    if (num_inputs > 0) WEFT_NOT_NULL(inputs);
    return execute(*op, {inputs, size_t(num_inputs)}, *outputs);
  });
}

// ---- tensors ----

TF_AbstractTensor* TF_CreateAbstractTensorFromEagerTensor(TFE_TensorHandle* t, TF_Status* status) {
  TF_AbstractTensor* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(t);
    out = new TF_AbstractTensor{t, {}, nullptr};
    return {};
  });
  return out;
}

TFE_TensorHandle* TF_AbstractTensorGetEagerTensor(TF_AbstractTensor* tensor, TF_Status* status) {
  TFE_TensorHandle* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(tensor);
    out = tensor->handle;
    return out ? Status() : invalid_argument("Not an eager tensor handle.");
  });
  return out;
}

void TF_DeleteAbstractTensor(TF_AbstractTensor* tensor) { delete tensor; }

// ---- lists of outputs ----

TF_OutputList* TF_NewOutputList() {
  return guard_pointer<TF_OutputList>([] { return new TF_OutputList; });
}

void TF_DeleteOutputList(TF_OutputList* outputs) { delete outputs; }

void TF_OutputListSetNumOutputs(TF_OutputList* outputs, int num_outputs, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(outputs);
    constexpr int kMost = 1 << 20;
    if (num_outputs < 0 || num_outputs > kMost) return invalid_argument("bad number of outputs: ", num_outputs);
    outputs->expected = num_outputs;
    outputs->tensors.assign(size_t(num_outputs), nullptr);
    return {};
  });
}

int TF_OutputListNumOutputs(TF_OutputList* outputs) { return outputs ? int(outputs->tensors.size()) : 0; }

TF_AbstractTensor* TF_OutputListGet(TF_OutputList* outputs, int i) {
  return outputs && i >= 0 && size_t(i) < outputs->tensors.size() ? outputs->tensors[size_t(i)] : nullptr;
}

void TF_OutputListPushBack(TF_OutputList* outputs, TF_AbstractTensor* tensor, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(outputs);
    WEFT_NOT_NULL(tensor);
    outputs->tensors.push_back(tensor);
    return {};
  });
}

}  // extern "C"
