#include "trace/apply.h"

#include <algorithm>
#include <mutex>

#include "trace/op_call.h"

namespace weft_engine::trace {
namespace {

// Values name the emitter of the thread that made them, and may outlive that thread: emitters are never freed, but handed
// on to a later thread.
struct Emitters {
  std::mutex mutex;
  std::vector<EagerEmitter*> free;
};
Emitters& emitters() {
  static auto* e = new Emitters;
  return *e;
}
EagerEmitter* from_pool(eager::Context& context) {
  std::lock_guard lock(emitters().mutex);
  auto& free = emitters().free;
  auto it = std::find_if(free.begin(), free.end(), [&](EagerEmitter* e) { return &e->context() == &context; });
  if (it == free.end()) return new EagerEmitter(context);
  EagerEmitter* got = *it;
  free.erase(it);
  return got;
}
// Plain, so that they can be read when the thread's other objects are destroyed: variables of static storage die last.
thread_local EagerEmitter* t_latest = nullptr;
thread_local bool t_ending = false;
struct OfThread {
  std::vector<EagerEmitter*> list;
  ~OfThread() {
    std::lock_guard lock(emitters().mutex);
    emitters().free.insert(emitters().free.end(), list.begin(), list.end());
    t_ending = true;
  }
};

}  // namespace

EagerEmitter& eager_emitter(eager::Context& context) {
  if (t_latest && &t_latest->context() == &context) return *t_latest;
  if (t_ending) return *(t_latest = from_pool(context));
  thread_local OfThread mine;
  for (EagerEmitter* e : mine.list) {
    if (&e->context() == &context) return *(t_latest = e);
  }
  mine.list.push_back(from_pool(context));
  return *(t_latest = mine.list.back());
}

std::string& name_scope() {
  thread_local std::string scope;
  return scope;
}

Result<std::vector<Value>> EagerEmitter::do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  OpCall call(context_);
  WEFT_RETURN_IF_ERROR(call.reset(op, device_));
  for (const Value& v : inputs) WEFT_RETURN_IF_ERROR(call.add_input(v));
  for (auto& [name, value] : attrs) WEFT_RETURN_IF_ERROR(call.set_attr(name, std::move(value)));
  std::vector<RefPtr<eager::TensorHandle>> outputs;
  WEFT_RETURN_IF_ERROR(call.run_eager(outputs));
  std::vector<Value> out;
  out.reserve(outputs.size());
  for (auto& h : outputs) out.push_back(wrap(std::move(h)));
  return out;
}

Result<Value> EagerEmitter::do_constant(Tensor value) { return wrap(eager::TensorHandle::make(std::move(value), nullptr)); }

}  // namespace weft_engine::trace
