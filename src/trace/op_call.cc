#include "trace/op_call.h"

#include <algorithm>

#include "core/thread_local.h"
#include "trace/func_graph.h"

namespace weft_engine::trace {
namespace {

// Ops of this thread that wait to be used again, with the look-up of their spec and the memory of their lists. More than one is in use where an op runs code
// of the program that calls ops.
struct Spare {
  static constexpr size_t kMost = 8;
  std::vector<std::unique_ptr<eager::Op>> ops;
};

std::unique_ptr<eager::Op> take(eager::Context& context) {
  Spare* spare = core::ThreadLocal<Spare>::get();
  if (!spare || spare->ops.empty()) return std::make_unique<eager::Op>(context);
  auto op = std::move(spare->ops.back());
  spare->ops.pop_back();
  return &op->context() == &context ? std::move(op) : std::make_unique<eager::Op>(context);
}

}  // namespace

OpCall::OpCall(eager::Context& context, FuncGraph* graph) : op_(take(context)), graph_(graph) {}

OpCall::~OpCall() {
  op_->clear();
  op_->forget_function();
  Spare* spare = core::ThreadLocal<Spare>::get();
  if (spare && spare->ops.size() < Spare::kMost) spare->ops.push_back(std::move(op_));
}

Status OpCall::add_input(const Value& v) {
  if (graph_) {
    inputs_.push_back(v);
    return {};
  }
  eager::TensorHandle* h = eager_handle(v);
  if (!h) return invalid_argument("an input of ", spec().name, " belongs to a graph: it has no value outside the function that was traced");
  op_->add_input(RefPtr<eager::TensorHandle>::share(h));
  return {};
}

Result<std::vector<Value>> OpCall::run() {
  if (graph_) {
    AttrMap attrs;
    for (const auto& [name, value] : op_->attrs()) attrs[name] = value;
    return add_node(std::move(attrs));
  }
  std::vector<RefPtr<eager::TensorHandle>> outputs;
  WEFT_RETURN_IF_ERROR(run_eager(outputs));
  EagerEmitter& emitter = eager_emitter(op_->context());
  std::vector<Value> out;
  out.reserve(outputs.size());
  for (auto& h : outputs) out.push_back(emitter.wrap(std::move(h)));
  return out;
}

Result<std::vector<Value>> OpCall::add_node(AttrMap attrs) {
  TraceEmitter& emitter = graph_->emitter();
  if (!device_.empty()) emitter.set_device(device_);
  auto made = emitter.apply(spec().name, inputs_, std::move(attrs));
  if (!device_.empty()) emitter.set_device({});
  WEFT_RETURN_IF_ERROR(emitter.take_status());
  return made;
}

void OpCall::record(std::span<const RefPtr<eager::TensorHandle>> outputs) {
  const auto& inputs = op_->inputs();
  TapeStack& tapes = TapeStack::current();
  if (std::none_of(inputs.begin(), inputs.end(), [&](const auto& h) { return tapes.wants(autodiff::ValueId{h.get(), 0}); })) return;
  EagerEmitter& emitter = eager_emitter(op_->context());
  std::vector<Value> in, out;
  in.reserve(inputs.size());
  out.reserve(outputs.size());
  for (const auto& h : inputs) in.push_back(emitter.wrap(h));
  for (const auto& h : outputs) out.push_back(emitter.wrap(h));
  tapes.record(op_->kernel()->node, op_->kernel(), in, out);
}

}  // namespace weft_engine::trace
