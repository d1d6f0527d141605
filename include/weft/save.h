// Writing SavedModels that weft, TensorFlow, TF Serving and saved_model_cli read, and loading them back as objects to train on.
//
//   struct Net : weft::Module {
//     weft::Variable w{weft::zeros({4, 2}), {.name = "w"}};
//     weft::TracedFunction<weft::Tensor(weft::Tensor)> predict = weft::function([this](weft::Tensor x) { return weft::matmul(x, w); });
//     Net() { track("w", w); track("predict", predict); }
//   };
//   Net net;
//   weft::save(net, "net", {{"serving_default", net.predict.concrete_function({{"x", weft::DType::float32, {-1, 4}}})}});
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weft/function.h"
#include "weft/module.h"
#include "weft/saved_model.h"

namespace weft {

// A function under the name of a signature. Inputs are called as the function's specs are; outputs as given here, or, without
// names, as the keys of a map that the function gives, else output_0, output_1, ...
struct SaveSignature {
  std::string name;
  ConcreteFunction function;
  std::vector<std::string> output_names = {};
};

// Everything that the module tracks, functions with all the graphs that they were traced into. A model that was at `dir` is replaced in one step when
// all is written; other files in the folder stay.
WEFT_API void save(const Module& module, const std::string& dir, const std::vector<SaveSignature>& signatures = {});

// A SavedModel as objects: its variables can be read, changed and trained, its functions called, also under a GradientTape.
class WEFT_API LoadedModule : public Module {
 public:
  // The functions of the object graph by path: "predict", "encoder.call".
  std::vector<FunctionInfo> functions() const;
  bool has_function(const std::string& path) const;
  // Calls the form that the tensors fit.
  std::vector<Tensor> call(const std::string& function, const std::vector<Tensor>& inputs,
                           const std::map<std::string, PlainValue>& values = {}) const;
  // A signature by name: tensors by name in and out.
  std::vector<std::string> signatures() const;
  std::map<std::string, Tensor> signature(const std::string& name, const std::map<std::string, Tensor>& inputs) const;
  // A variable by its path in the object graph ("layers.0.kernel").
  Variable variable(const std::string& path) const;
  std::map<std::string, Variable> variables_by_path() const;

 private:
  friend WEFT_API LoadedModule load_module(const std::string& dir, const std::vector<std::string>& tags, bool verify);
  struct Impl;
  explicit LoadedModule(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

// verify: as LoadOptions::verify.
WEFT_API LoadedModule load_module(const std::string& dir, const std::vector<std::string>& tags = {"serve"}, bool verify = false);

}  // namespace weft
