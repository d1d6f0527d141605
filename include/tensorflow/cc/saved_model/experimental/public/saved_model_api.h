// SPDX-License-Identifier: Apache-2.0
//
// SavedModelAPI: a SavedModel as objects, its functions by path and its signatures, without a session.
#ifndef TENSORFLOW_CC_SAVED_MODEL_EXPERIMENTAL_PUBLIC_SAVED_MODEL_API_H_
#define TENSORFLOW_CC_SAVED_MODEL_EXPERIMENTAL_PUBLIC_SAVED_MODEL_API_H_

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "tensorflow/c/experimental/saved_model/public/saved_model_api.h"
#include "tensorflow/cc/experimental/base/public/runtime.h"

namespace tensorflow {
namespace experimental {
namespace cc {

namespace internal {
// Executes and deletes the op. `most` is how many results there can be.
inline std::vector<TFE_TensorHandle*> RunCall(TFE_Op* op, int most, TF_Status* status) {
  std::vector<TFE_TensorHandle*> results(static_cast<size_t>(most));
  int n = 0;
  if (op) {
    n = most;
    TFE_Execute(op, results.data(), &n, status);
    TFE_DeleteOp(op);
  }
  results.resize(TF_GetCode(status) == TF_OK ? static_cast<size_t>(n) : 0);
  return results;
}
}  // namespace internal

// Of the C API's object of that name, to which a pointer is the same pointer.
class FunctionMetadata final {
 private:
  friend class ConcreteFunction;
  FunctionMetadata() = delete;
};
class SignatureDefFunctionMetadata final {
 private:
  friend class SignatureDefFunction;
  SignatureDefFunctionMetadata() = delete;
};

class ConcreteFunction final {
 public:
  const FunctionMetadata* GetFunctionMetadata() { return reinterpret_cast<const FunctionMetadata*>(TF_ConcreteFunctionGetMetadata(c())); }
  // Weft's: TensorFlow's class has no call. Empty where the status is not OK.
  std::vector<TensorHandle> Run(const std::vector<const TensorHandle*>& inputs, Status* status) {
    std::vector<TFE_TensorHandle*> handles;
    for (const TensorHandle* t : inputs) handles.push_back(t->handle_.get());
    TFE_Op* op = TF_ConcreteFunctionMakeCallOp(c(), handles.data(), static_cast<int>(handles.size()), status->status_.get());
    std::vector<TensorHandle> out;
    for (TFE_TensorHandle* h : internal::RunCall(op, kMostResults, status->status_.get())) out.push_back(TensorHandle(h));
    return out;
  }

 private:
  friend class SavedModelAPI;
  friend class ConcreteFunctionList;
  static constexpr int kMostResults = 1024;
  ConcreteFunction() = delete;
  TF_ConcreteFunction* c() { return reinterpret_cast<TF_ConcreteFunction*>(this); }
};

class ConcreteFunctionList {
 public:
  std::vector<ConcreteFunction*> ToVector() {
    std::vector<ConcreteFunction*> out;
    for (size_t i = 0; i < TF_ConcreteFunctionListSize(list_.get()); ++i)
      out.push_back(reinterpret_cast<ConcreteFunction*>(TF_ConcreteFunctionListGet(list_.get(), static_cast<int>(i))));
    return out;
  }

 private:
  friend class SavedModelAPI;
  explicit ConcreteFunctionList(TF_ConcreteFunctionList* list) : list_(list) {}
  internal::Owned<TF_ConcreteFunctionList, TF_DeleteConcreteFunctionList> list_;
};

class SignatureDefFunction final {
 public:
  const SignatureDefFunctionMetadata* GetFunctionMetadata() {
    return reinterpret_cast<const SignatureDefFunctionMetadata*>(TF_SignatureDefFunctionGetMetadata(c()));
  }
  // Weft's, as that of ConcreteFunction; inputs and results are in the order of their names.
  std::vector<TensorHandle> Run(const std::vector<const TensorHandle*>& inputs, Status* status) {
    std::vector<TFE_TensorHandle*> handles;
    for (const TensorHandle* t : inputs) handles.push_back(t->handle_.get());
    const auto most = TF_SignatureDefParamListSize(TF_SignatureDefFunctionMetadataReturns(TF_SignatureDefFunctionGetMetadata(c())));
    TFE_Op* op = TF_SignatureDefFunctionMakeCallOp(c(), handles.data(), static_cast<int>(handles.size()), status->status_.get());
    std::vector<TensorHandle> out;
    for (TFE_TensorHandle* h : internal::RunCall(op, static_cast<int>(most), status->status_.get())) out.push_back(TensorHandle(h));
    return out;
  }

 private:
  friend class SavedModelAPI;
  SignatureDefFunction() = delete;
  TF_SignatureDefFunction* c() { return reinterpret_cast<TF_SignatureDefFunction*>(this); }
};

class SavedModelAPI {
 public:
  // Null where the status is not OK. The runtime must last longer. Without tags the model must have one graph.
  static std::unique_ptr<SavedModelAPI> Load(const std::string& saved_model_path, const Runtime& runtime, Status* status,
                                             const std::unordered_set<std::string>* tags = nullptr) {
    std::vector<const char*> names;
    if (tags) {
      for (const std::string& tag : *tags) names.push_back(tag.c_str());
    }
    TF_SavedModel* model = tags ? TF_LoadSavedModelWithTags(saved_model_path.c_str(), runtime.context_.get(), names.data(),
                                                            static_cast<int>(names.size()), status->status_.get())
                                : TF_LoadSavedModel(saved_model_path.c_str(), runtime.context_.get(), status->status_.get());
    return status->ok() ? std::unique_ptr<SavedModelAPI>(new SavedModelAPI(model)) : nullptr;
  }
  SavedModelAPI(SavedModelAPI&&) = default;
  SavedModelAPI& operator=(SavedModelAPI&&) = default;

  // What these give belongs to the model; null where the status is not OK.
  ConcreteFunction* GetConcreteFunction(const std::string& function_path, Status* status) {
    return reinterpret_cast<ConcreteFunction*>(TF_GetSavedModelConcreteFunction(model_.get(), function_path.c_str(), status->status_.get()));
  }
  SignatureDefFunction* GetSignatureDefFunction(const std::string& key, Status* status) {
    return reinterpret_cast<SignatureDefFunction*>(TF_GetSavedModelSignatureDefFunction(model_.get(), key.c_str(), status->status_.get()));
  }
  std::vector<ConcreteFunction*> ListFunctions() { return ConcreteFunctionList(TF_ListSavedModelFunctions(model_.get())).ToVector(); }

 private:
  explicit SavedModelAPI(TF_SavedModel* model) : model_(model) {}
  internal::Owned<TF_SavedModel, TF_DeleteSavedModel> model_;
};

}  // namespace cc
}  // namespace experimental
}  // namespace tensorflow

#endif  // TENSORFLOW_CC_SAVED_MODEL_EXPERIMENTAL_PUBLIC_SAVED_MODEL_API_H_
