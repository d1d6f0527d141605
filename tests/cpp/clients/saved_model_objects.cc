// SavedModelAPI: a SavedModel's functions and signatures without a session, in C++ and in C. Prints what TensorFlow computes with the same model
// (make_objects_model.py). Argument: the model.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "tensorflow/c/experimental/saved_model/public/c_saved_model_api.h"
#include "tensorflow/cc/experimental/base/public/runtime.h"
#include "tensorflow/cc/experimental/base/public/runtime_builder.h"
#include "tensorflow/cc/experimental/base/public/tensorhandle.h"
#include "tensorflow/cc/saved_model/experimental/public/saved_model_api.h"
#include "tensorflow/core/platform/tstring.h"

namespace cc = tensorflow::experimental::cc;
using tensorflow::tstring;

void Check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}
#define CHECK_THAT(condition) Check(condition, #condition)

class Model {
 public:
  explicit Model(const std::string& folder) : runtime_(cc::RuntimeBuilder().SetUseTFRT(false).Build(&status_)) {
    const std::unordered_set<std::string> tags = {"serve"};
    model_ = cc::SavedModelAPI::Load(folder, *runtime_, &status_, &tags);
    CHECK_THAT(status_.ok());
    model_ = cc::SavedModelAPI::Load(folder, *runtime_, &status_);
    CHECK_THAT(status_.ok());
  }
  cc::SavedModelAPI* operator->() { return model_.get(); }
  cc::Status* status() { return &status_; }

  cc::TensorHandle Floats(std::vector<int64_t> shape, std::vector<float> values) {
    auto* keep = new std::vector<float>(std::move(values));
    const cc::Tensor t =
        cc::Tensor::FromBuffer(TF_FLOAT, shape, keep->data(), keep->size() * sizeof(float), [keep](void*, size_t) { delete keep; }, &status_);
    return cc::TensorHandle::FromTensor(t, *runtime_, &status_);
  }
  cc::TensorHandle Words(const std::vector<std::string>& words) {
    auto* keep = new std::vector<tstring>(words.begin(), words.end());
    const cc::Tensor t = cc::Tensor::FromBuffer(
        TF_STRING, {static_cast<int64_t>(words.size())}, keep->data(), keep->size() * sizeof(tstring), [keep](void*, size_t) { delete keep; },
        &status_);
    return cc::TensorHandle::FromTensor(t, *runtime_, &status_);
  }
  void Show(const char* name, std::vector<cc::TensorHandle> results) {
    CHECK_THAT(status_.ok());
    std::printf("%s", name);
    for (cc::TensorHandle& r : results) {
      const cc::Tensor t = r.Resolve(&status_);
      CHECK_THAT(status_.ok());
      std::printf(" [");
      for (int64_t i = 0; i < t.num_elements(); ++i) {
        const double v = t.dtype() == TF_FLOAT   ? static_cast<double>(static_cast<const float*>(t.data())[i])
                         : t.dtype() == TF_INT64 ? static_cast<double>(static_cast<const int64_t*>(t.data())[i])
                                                 : static_cast<double>(static_cast<const int32_t*>(t.data())[i]);
        std::printf("%s%g", i ? " " : "", v);
      }
      std::printf("]");
    }
    std::printf("\n");
  }

 private:
  cc::Status status_;
  std::unique_ptr<cc::Runtime> runtime_;
  std::unique_ptr<cc::SavedModelAPI> model_;
};

void ShowParams(const char* what, const TF_SignatureDefParamList* list) {
  for (size_t i = 0; i < TF_SignatureDefParamListSize(list); ++i) {
    const TF_SignatureDefParam* p = TF_SignatureDefParamListGet(list, static_cast<int>(i));
    const TF_TensorSpec* spec = TF_SignatureDefParamTensorSpec(p);
    const TF_Shape* shape = TF_TensorSpecShape(spec);
    std::printf("%s %s %d %d", what, TF_SignatureDefParamName(p), static_cast<int>(TF_TensorSpecDataType(spec)), TF_ShapeDims(shape));
    for (int d = 0; d < TF_ShapeDims(shape); ++d) std::printf(" %d", static_cast<int>(TF_ShapeDimSize(shape, d)));
    std::printf("\n");
  }
}

// What a signature takes and gives only the C form tells.
void Signature(const char* folder) {
  TF_Status* s = TF_NewStatus();
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TFE_Context* context = TFE_NewContext(options, s);
  TF_SavedModel* model = TF_LoadSavedModel(folder, context, s);
  CHECK_THAT(TF_GetCode(s) == TF_OK);
  TF_SignatureDefFunction* f = TF_GetSavedModelSignatureDefFunction(model, "serving_default", s);
  CHECK_THAT(TF_GetCode(s) == TF_OK);
  ShowParams("takes", TF_SignatureDefFunctionMetadataArgs(TF_SignatureDefFunctionGetMetadata(f)));
  ShowParams("gives", TF_SignatureDefFunctionMetadataReturns(TF_SignatureDefFunctionGetMetadata(f)));
  // What is wrong is an error.
  CHECK_THAT(!TF_GetSavedModelSignatureDefFunction(model, "none", s) && TF_GetCode(s) == TF_NOT_FOUND);
  CHECK_THAT(!TF_SignatureDefFunctionMakeCallOp(f, nullptr, 0, s) && TF_GetCode(s) == TF_INVALID_ARGUMENT);
  CHECK_THAT(!TF_SignatureDefFunctionMakeCallOp(f, nullptr, 2, s) && TF_GetCode(s) == TF_INVALID_ARGUMENT);
  CHECK_THAT(!TF_GetSavedModelConcreteFunction(nullptr, "scale", s) && TF_GetCode(s) == TF_INVALID_ARGUMENT);
  CHECK_THAT(!TF_LoadSavedModel("/no/such/folder", context, s) && TF_GetCode(s) == TF_NOT_FOUND);
  const char* tags[] = {"gpu"};
  CHECK_THAT(!TF_LoadSavedModelWithTags(folder, context, tags, 1, s) && TF_GetCode(s) == TF_NOT_FOUND);
  CHECK_THAT(TF_SignatureDefParamListGet(nullptr, 0) == nullptr && TF_ConcreteFunctionListGet(nullptr, 0) == nullptr);
  TF_Shape* shape = TF_NewShape();
  CHECK_THAT(TF_ShapeDims(shape) == -1 && TF_ShapeDimSize(shape, 0) == -1);
  TF_DeleteShape(shape);
  TF_DeleteSavedModel(model);
  TFE_DeleteContext(context);
  TFE_DeleteContextOptions(options);
  TF_DeleteStatus(s);
}

int main(int, char** argv) {
  {
    Model m(argv[1]);
    const cc::TensorHandle two = m.Floats({}, {2}), three = m.Floats({}, {3}), rows = m.Floats({2, 2}, {1, 2, 3, 4}), row = m.Floats({2}, {1, 10});
    const cc::TensorHandle words = m.Words({"two", "four", "one"});
    m.Show("scale", m->GetConcreteFunction("scale", m.status())->Run({&two, &three}, m.status()));
    m.Show("net", m->GetConcreteFunction("net.call", m.status())->Run({&rows}, m.status()));
    m.Show("lookup", m->GetConcreteFunction("lookup", m.status())->Run({&words}, m.status()));
    cc::ConcreteFunction* count = m->GetConcreteFunction("count", m.status());
    CHECK_THAT(count == m->GetConcreteFunction("count", m.status()) && count->GetFunctionMetadata() != nullptr);
    m.Show("count", count->Run({}, m.status()));
    m.Show("count", count->Run({}, m.status()));
    Signature(argv[1]);
    m.Show("serve", m->GetSignatureDefFunction("serving_default", m.status())->Run({&two, &row}, m.status()));
    CHECK_THAT(m->ListFunctions().size() == 5);  // not the one with two traces

    CHECK_THAT(count->Run({&two}, m.status()).empty() && m.status()->code() == TF_INVALID_ARGUMENT);
    CHECK_THAT(!m->GetConcreteFunction("none", m.status()) && m.status()->code() == TF_NOT_FOUND);
    CHECK_THAT(!m->GetConcreteFunction("any", m.status()) && m.status()->code() == TF_FAILED_PRECONDITION);
    CHECK_THAT(m->GetConcreteFunction("scale", m.status())->Run({&two, &words}, m.status()).empty() && !m.status()->ok());
  }
}
