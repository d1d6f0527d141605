#include "ops/list/tensor_array_grad.h"

#include "op/emit.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

struct Array {
  Value handle, flow;
};

// The op of that kind for the form of handle that the differentiated op has.
std::string op_for(const GradContext& g, std::string_view kind) {
  const DType handle = g.x(0).dtype();
  return cat("TensorArray", kind, handle == DType::kResource ? "V3" : is_ref_type(handle) ? "" : "V2");
}

Array gradient_of(const GradContext& g, const Value& handle, const Value& flow) {
  auto out = g.emitter().apply(op_for(g, "Grad"), {handle, flow}, {{"source", g.emitter().gradient_source()}});
  if (out.empty()) return {};
  // Only behind the making of the array may others touch it, and the array only behind the flow. Older forms have no flow
  // of their own; who touches the array waits for its handle.
  return {out[0], out.size() == 2 ? out[1] : flow};
}

// Behind what was written: a flow's value means nothing, so a sum of two waits for both.
Value after(const Value& flow, const Value& written) { return flow + written; }

}  // namespace

Grads array_read_grad(const GradContext& g) {
  const Array a = gradient_of(g, g.x(0), g.x(2));
  return {{}, {}, g.one(op_for(g, "Write"), {a.handle, g.x(1), g.dy(), a.flow})};
}

Grads array_write_grad(const GradContext& g) {
  const Value flow = after(g.dy(), g.y());
  const Array a = gradient_of(g, g.x(0), flow);
  return {{}, {}, g.one(op_for(g, "Read"), {a.handle, g.x(1), a.flow}, {{"dtype", g.x(2).dtype()}}), flow};
}

Grads array_gather_grad(const GradContext& g) {
  const Array a = gradient_of(g, g.x(0), g.x(2));
  return {{}, {}, g.one(op_for(g, "Scatter"), {a.handle, g.x(1), g.dy(), a.flow})};
}

Grads array_scatter_grad(const GradContext& g) {
  const Value flow = after(g.dy(), g.y());
  const Array a = gradient_of(g, g.x(0), flow);
  return {{}, {}, g.one(op_for(g, "Gather"), {a.handle, g.x(1), a.flow}, {{"dtype", g.x(2).dtype()}}), flow};
}

Grads array_concat_grad(const GradContext& g) {
  const Array a = gradient_of(g, g.x(0), g.x(1));
  return {{}, g.one(op_for(g, "Split"), {a.handle, g.dy(0), g.y(1), a.flow})};
}

Grads array_split_grad(const GradContext& g) {
  const Value flow = after(g.dy(), g.y());
  const Array a = gradient_of(g, g.x(0), flow);
  return {{}, g.one(op_for(g, "Concat"), {a.handle, a.flow}, {{"dtype", g.x(1).dtype()}}), {}, flow};
}

}  // namespace weft_engine::ops
