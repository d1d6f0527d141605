// SavedModels as objects in an eager context: saved_model/objects.h behind TF_LoadSavedModel.
#include "tensorflow/c/experimental/saved_model/public/saved_model_api.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capi/internal.h"
#include "saved_model/meta_graph.h"
#include "saved_model/objects.h"
#include "trace/apply.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::saved_model::FunctionForm;
using weft_engine::saved_model::ModelFunction;
using weft_engine::saved_model::Objects;

struct TF_Shape {
  PartialShape shape;
};
struct TF_TensorSpec {
  TF_DataType dtype;
  TF_Shape shape;
};
struct TF_SignatureDefParam {
  std::string name;
  TF_TensorSpec spec;
};
struct TF_SignatureDefParamList {
  std::vector<TF_SignatureDefParam> params;
};
struct TF_SignatureDefFunctionMetadata {
  TF_SignatureDefParamList args, returns;
};
struct TF_FunctionMetadata {};

namespace {

// One traced function of a model, with what it captured.
struct Callable {
  TFE_Context* context = nullptr;
  std::shared_ptr<weft_engine::trace::ConcreteFunction> function;

  Result<TFE_Op*> call_op(TFE_TensorHandle* const* inputs, int n) const {
    if (n < 0 || n != function->num_arguments())
      return invalid_argument("the function takes ", function->num_arguments(), " inputs, ", n, " were given");
    if (n > 0) WEFT_NOT_NULL(inputs);
    auto op = std::make_unique<TFE_Op>(context);
    WEFT_RETURN_IF_ERROR(op->op.reset(function->name()));
    for (int i = 0; i < n; ++i) {
      WEFT_NOT_NULL(inputs[i]);
      op->op.add_input(RefPtr<weft_engine::eager::TensorHandle>::share(unwrap(inputs[i])));
    }
    for (const auto& captured : function->captures()) {
      weft_engine::eager::TensorHandle* handle = weft_engine::trace::eager_handle(captured);
      if (!handle) return internal_error("what ", function->name(), " captured is no eager tensor");
      op->op.add_input(RefPtr<weft_engine::eager::TensorHandle>::share(handle));
    }
    return op.release();
  }
};

TF_SignatureDefParamList params_of(const std::vector<weft_engine::saved_model::Leaf>& leaves) {
  TF_SignatureDefParamList list;
  for (const auto& leaf : leaves) list.params.push_back({leaf.path, {static_cast<TF_DataType>(leaf.dtype), {leaf.shape}}});
  return list;
}

}  // namespace

struct TF_ConcreteFunction {
  Callable callable;
  TF_FunctionMetadata metadata;
};
struct TF_SignatureDefFunction {
  Callable callable;
  TF_SignatureDefFunctionMetadata metadata;
};
struct TF_ConcreteFunctionList {
  std::vector<TF_ConcreteFunction*> functions;
};
struct TF_SavedModel {
  TFE_Context* context;
  std::shared_ptr<Objects> objects;
  std::mutex mutex;
  std::map<std::string, TF_ConcreteFunction> functions;  // by path
  std::map<std::string, TF_SignatureDefFunction> signatures;

  Result<TF_ConcreteFunction*> function(const ModelFunction& f) {
    const std::lock_guard lock(mutex);
    if (auto it = functions.find(f.path); it != functions.end()) return &it->second;
    if (f.forms.size() != 1)
      return failed_precondition("the function '", f.path, "' was traced for ", f.forms.size(),
                                 " signatures, and one can be called by its path alone");
    WEFT_ASSIGN(auto concrete, objects->concrete(f.forms[0]));
    return &functions.emplace(f.path, TF_ConcreteFunction{{context, std::move(concrete)}, {}}).first->second;
  }
  Result<TF_SignatureDefFunction*> signature(const std::string& key) {
    const std::lock_guard lock(mutex);
    if (auto it = signatures.find(key); it != signatures.end()) return &it->second;
    WEFT_ASSIGN(const FunctionForm* form, objects->signature(key));
    WEFT_ASSIGN(auto concrete, objects->concrete(*form));
    return &signatures.emplace(key, TF_SignatureDefFunction{{context, std::move(concrete)}, {params_of(form->inputs), params_of(form->outputs)}})
                .first->second;
  }
};

namespace {

// Without tags the only graph that there is.
TF_SavedModel* load(const char* dirname, TFE_Context* ctx, const std::vector<std::string>* given, TF_Status* status) {
  TF_SavedModel* model = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(dirname);
    WEFT_NOT_NULL(ctx);
    std::vector<std::string> tags;
    if (given) {
      tags = *given;
    } else {
      WEFT_ASSIGN(const auto graphs, weft_engine::saved_model::read_saved_model(dirname));
      if (graphs.size() != 1) return failed_precondition(dirname, " has ", graphs.size(), " graphs: tags must tell which");
      tags = graphs[0].tags;
    }
    WEFT_ASSIGN(auto objects, Objects::load(ctx->context, dirname, tags));
    model = new TF_SavedModel{ctx, std::move(objects), {}, {}, {}};
    return {};
  });
  return model;
}

}  // namespace

TF_SavedModel* TF_LoadSavedModel(const char* dirname, TFE_Context* ctx, TF_Status* status) { return load(dirname, ctx, nullptr, status); }
TF_SavedModel* TF_LoadSavedModelWithTags(const char* dirname, TFE_Context* ctx, const char* const* tags, int tags_len, TF_Status* status) {
  std::vector<std::string> names;
  guard(status, [&]() -> Status {
    if (tags_len > 0) WEFT_NOT_NULL(tags);
    for (int i = 0; i < tags_len; ++i) {
      WEFT_NOT_NULL(tags[i]);
      names.emplace_back(tags[i]);
    }
    return {};
  });
  return status && TF_GetCode(status) != TF_OK ? nullptr : load(dirname, ctx, &names, status);
}
void TF_DeleteSavedModel(TF_SavedModel* model) { delete model; }

TF_ConcreteFunction* TF_GetSavedModelConcreteFunction(TF_SavedModel* model, const char* path, TF_Status* status) {
  TF_ConcreteFunction* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(model);
    WEFT_NOT_NULL(path);
    WEFT_ASSIGN(const ModelFunction* f, model->objects->function(path));
    WEFT_ASSIGN(out, model->function(*f));
    return {};
  });
  return out;
}
TF_SignatureDefFunction* TF_GetSavedModelSignatureDefFunction(TF_SavedModel* model, const char* key, TF_Status* status) {
  TF_SignatureDefFunction* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(model);
    WEFT_NOT_NULL(key);
    WEFT_ASSIGN(out, model->signature(key));
    return {};
  });
  return out;
}

TF_ConcreteFunctionList* TF_ListSavedModelFunctions(TF_SavedModel* model) {
  return guard_pointer<TF_ConcreteFunctionList>([&] {
    auto list = std::make_unique<TF_ConcreteFunctionList>();
    if (!model) return list.release();
    for (const ModelFunction& f : model->objects->functions()) {
      if (f.internal) continue;
      if (auto one = model->function(f); one.ok()) list->functions.push_back(*one);
    }
    return list.release();
  });
}
size_t TF_ConcreteFunctionListSize(TF_ConcreteFunctionList* list) { return list ? list->functions.size() : 0; }
TF_ConcreteFunction* TF_ConcreteFunctionListGet(TF_ConcreteFunctionList* list, int i) {
  return list && i >= 0 && size_t(i) < list->functions.size() ? list->functions[size_t(i)] : nullptr;
}
void TF_DeleteConcreteFunctionList(TF_ConcreteFunctionList* list) { delete list; }

TFE_Op* TF_ConcreteFunctionMakeCallOp(TF_ConcreteFunction* f, TFE_TensorHandle** inputs, int n, TF_Status* status) {
  TFE_Op* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(f);
    WEFT_ASSIGN(out, f->callable.call_op(inputs, n));
    return {};
  });
  return out;
}
TF_FunctionMetadata* TF_ConcreteFunctionGetMetadata(TF_ConcreteFunction* f) { return f ? &f->metadata : nullptr; }

TFE_Op* TF_SignatureDefFunctionMakeCallOp(TF_SignatureDefFunction* f, TFE_TensorHandle** inputs, int n, TF_Status* status) {
  TFE_Op* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(f);
    WEFT_ASSIGN(out, f->callable.call_op(inputs, n));
    return {};
  });
  return out;
}
TF_SignatureDefFunctionMetadata* TF_SignatureDefFunctionGetMetadata(TF_SignatureDefFunction* f) { return f ? &f->metadata : nullptr; }
const TF_SignatureDefParamList* TF_SignatureDefFunctionMetadataArgs(const TF_SignatureDefFunctionMetadata* m) { return m ? &m->args : nullptr; }
const TF_SignatureDefParamList* TF_SignatureDefFunctionMetadataReturns(const TF_SignatureDefFunctionMetadata* m) { return m ? &m->returns : nullptr; }
size_t TF_SignatureDefParamListSize(const TF_SignatureDefParamList* list) { return list ? list->params.size() : 0; }
const TF_SignatureDefParam* TF_SignatureDefParamListGet(const TF_SignatureDefParamList* list, int i) {
  return list && i >= 0 && size_t(i) < list->params.size() ? &list->params[size_t(i)] : nullptr;
}
const char* TF_SignatureDefParamName(const TF_SignatureDefParam* param) { return param ? param->name.c_str() : ""; }
const TF_TensorSpec* TF_SignatureDefParamTensorSpec(const TF_SignatureDefParam* param) { return param ? &param->spec : nullptr; }
TF_DataType TF_TensorSpecDataType(const TF_TensorSpec* spec) { return spec ? spec->dtype : static_cast<TF_DataType>(0); }
const TF_Shape* TF_TensorSpecShape(const TF_TensorSpec* spec) { return spec ? &spec->shape : nullptr; }

int TF_ShapeDims(const TF_Shape* shape) { return shape ? shape->shape.rank() : -1; }
int64_t TF_ShapeDimSize(const TF_Shape* shape, int d) { return shape && d >= 0 && d < shape->shape.rank() ? shape->shape.dims()[size_t(d)] : -1; }
TF_Shape* TF_NewShape() {
  return guard_pointer<TF_Shape>([] { return new TF_Shape; });
}
void TF_DeleteShape(TF_Shape* shape) { delete shape; }
