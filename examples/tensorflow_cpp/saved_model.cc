// Runs a SavedModel with TensorFlow's C++ API: saved_model FOLDER prints the signatures, and what serving_default makes of ones.
#include <iostream>

#include "tensorflow/cc/saved_model/loader.h"
#include "tensorflow/cc/saved_model/signature_constants.h"
#include "tensorflow/cc/saved_model/tag_constants.h"

int main(int argc, char** argv) {
  tensorflow::SessionOptions options;
  options.config.set_intra_op_parallelism_threads(2);
  options.config.mutable_gpu_options()->set_allow_growth(true);
  tensorflow::SavedModelBundle bundle;
  tensorflow::Status status =
      tensorflow::LoadSavedModel(options, tensorflow::RunOptions(), argc > 1 ? argv[1] : "", {tensorflow::kSavedModelTagServe}, &bundle);
  if (!status.ok()) {
    std::cerr << status.ToString() << '\n';
    return 1;
  }
  for (const auto& signature : bundle.GetSignatures()) std::cout << "signature " << signature.first << '\n';

  const auto& serving = bundle.meta_graph_def.signature_def().at(tensorflow::kDefaultServingSignatureDefKey);
  std::vector<std::pair<std::string, tensorflow::Tensor>> inputs;
  for (const auto& input : serving.inputs()) {
    tensorflow::TensorShape shape;
    for (const auto& dim : input.second.tensor_shape().dim()) shape.AddDim(dim.size() < 0 ? 1 : dim.size());
    tensorflow::Tensor ones(tensorflow::DT_FLOAT, shape);
    ones.flat<float>().setConstant(1);
    std::cout << input.first << " " << tensorflow::DataType_Name(input.second.dtype()) << " " << shape.DebugString() << '\n';
    inputs.emplace_back(input.second.name(), ones);
  }
  std::vector<std::string> names;
  for (const auto& output : serving.outputs()) names.push_back(output.second.name());
  std::vector<tensorflow::Tensor> outputs;
  status = bundle.GetSession()->Run(inputs, names, {}, &outputs);
  if (!status.ok()) {
    std::cerr << status.ToString() << '\n';
    return 1;
  }
  for (const tensorflow::Tensor& output : outputs) std::cout << output.DebugString(4) << '\n';
}
