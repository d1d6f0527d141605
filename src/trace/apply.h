// EagerEmitter: the emitter (op/emitter.h) whose ops run at once, by trace/op_call.h.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "autodiff/tape.h"
#include "eager/op.h"

namespace weft_engine::trace {

using namespace weft_engine::op;
using autodiff::Tape;
using autodiff::TapeStack;

// Runs ops on a context. One for each context is enough; it is not bound to a thread, apart from the first error
// that an Emitter remembers, so each thread has its own.
class EagerEmitter final : public Emitter {
 public:
  explicit EagerEmitter(eager::Context& context) : context_(context) {}
  eager::Context& context() { return context_; }
  Value wrap(RefPtr<eager::TensorHandle> h) { return Value(*this, RefPtr<ValueRep>::adopt(h.release())); }
  // The device for ops that follow; empty: where they please.
  void set_device(std::string device) { device_ = std::move(device); }

 protected:
  Result<std::vector<Value>> do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) override;
  Result<Value> do_constant(Tensor value) override;

 private:
  eager::Context& context_;
  std::string device_;
};

// The name scope of this thread: empty, or ending in "/".
std::string& name_scope();

// Of an eager value; null for one of a graph.
inline eager::TensorHandle* eager_handle(const Value& v) {
  return v.rep() && !v.rep()->owner() ? static_cast<eager::TensorHandle*>(v.rep()) : nullptr;
}

// That of the calling thread for a context.
EagerEmitter& eager_emitter(eager::Context& context);

}  // namespace weft_engine::trace
