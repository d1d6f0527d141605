#include "trace/resource_state.h"

#include <atomic>
#include <functional>

#include "op/emit.h"
#include "op/op_traits.h"

namespace weft_engine::trace {

AssetState::AssetState(std::string path)
    : CapturedState("asset"), path_(std::move(path)), handle_(eager::TensorHandle::make(Tensor::scalar(path_.c_str()), nullptr)) {}

namespace {

Result<std::shared_ptr<ConcreteFunction>> traced(eager::Context& context, std::string name, const std::function<Result<Value>(FuncGraph&)>& body) {
  auto g = FuncGraph::make(context, std::move(name), nullptr);
  Entered inside(g.get());
  WEFT_ASSIGN(Value out, body(*g));
  return ConcreteFunction::make(g, {&out, 1});
}

}  // namespace

Status TableState::fill(Emitter& e, const Value& handle) const {
  if (spec_.file) {
    AttrMap attrs;
    attrs["key_index"] = spec_.key_column;
    attrs["value_index"] = spec_.value_column;
    attrs["vocab_size"] = spec_.vocabulary_size;
    attrs["delimiter"] = spec_.delimiter;
    e.apply("InitializeTableFromTextFileV2", {handle, eager_emitter(context_).wrap(spec_.file->handle())}, std::move(attrs));
  } else {
    e.apply(op_of(Role::kFillTable), {handle, spec_.key_tensor, spec_.value_tensor});
  }
  return e.take_status();
}

Result<std::shared_ptr<TableState>> TableState::make(eager::Context& context, Spec spec) {
  static std::atomic<int64_t> next{0};
  const std::string shared_name = cat("hash_table_weft_", next.fetch_add(1, std::memory_order_relaxed));
  std::shared_ptr<TableState> t(new TableState(context, std::move(spec)));
  auto create = [&](Emitter& e) {
    AttrMap attrs;
    attrs["key_dtype"] = t->spec_.keys;
    attrs["value_dtype"] = t->spec_.values;
    attrs["shared_name"] = shared_name;
    return e.one(op_of(Role::kHashTable), {}, std::move(attrs));
  };
  {
    Entered eagerly(nullptr);
    EagerEmitter& e = eager_emitter(context);
    Value handle = create(e);
    WEFT_RETURN_IF_ERROR(e.take_status());
    t->handle_ = RefPtr<eager::TensorHandle>::share(eager_handle(handle));
    WEFT_RETURN_IF_ERROR(t->fill(e, handle));
  }
  WEFT_ASSIGN(t->creator_, traced(
                               context, "creator",
                               [&](FuncGraph& g) -> Result<Value> {
                                 Value v = create(g.emitter());
                                 WEFT_RETURN_IF_ERROR(g.emitter().take_status());
                                 return v;
                               }));
  WEFT_ASSIGN(t->initializer_, traced(
                                   context, "initializer",
                                   [&](FuncGraph& g) -> Result<Value> {
                                     WEFT_ASSIGN(Value handle, g.import(eager_emitter(context).wrap(t->handle_)));
                                     WEFT_RETURN_IF_ERROR(t->fill(g.emitter(), handle));
                                     return g.emitter().constant(Tensor::scalar(int32_t(1)));
                                   }));
  WEFT_ASSIGN(t->destroyer_,
              traced(context, "destroyer", [&](FuncGraph& g) -> Result<Value> { return g.emitter().constant(Tensor::scalar(int32_t(1))); }));
  return t;
}

TableState::~TableState() { destroy_resource(context_, handle_); }

}  // namespace weft_engine::trace
