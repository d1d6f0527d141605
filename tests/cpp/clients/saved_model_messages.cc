// What a SavedModel's folder says without being loaded, and the steps of loading one after the other. Prints what it prints with TensorFlow.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/cc/saved_model/loader.h"
#include "tensorflow/cc/saved_model/reader.h"
#include "tensorflow/core/public/session.h"

using namespace tensorflow;  // NOLINT
const char* const kServe = "serve";

template <class S>
void Print(const char* what, const S& s) {
  std::string text(s.message());
  std::printf("%s: %d %s\n", what, static_cast<int>(s.code()), text.substr(0, text.find(": /")).c_str());
}

int main(int, char** argv) {
  const std::string folder = argv[1];
  SavedModel model;
  Print("read", ReadSavedModel(folder, &model));
  Print("nowhere", ReadSavedModel(folder + "/nowhere", &model));
  std::printf("version %d, %d graphs\n", static_cast<int>(model.saved_model_schema_version()), model.meta_graphs_size());
  const auto found = FindMetaGraphDef({kServe}, &model);
  std::printf("%d\n", found.ok() && *found == model.mutable_meta_graphs(0));
  Print("other tags", FindMetaGraphDef({"other"}, &model).status());
  MetaGraphDef meta_graph;
  Print("too many tags", ReadMetaGraphDefFromSavedModel(folder, {kServe, "gpu"}, &meta_graph));
  Print("graph", ReadMetaGraphDefFromSavedModel(folder, {kServe}, &meta_graph));
  std::printf("%d signatures\n", static_cast<int>(meta_graph.signature_def().size()));
  std::unique_ptr<GraphDebugInfo> info;
  Print("debug info", ReadSavedModelDebugInfoIfPresent(folder + "/nowhere", &info));
  std::printf("%d\n", info == nullptr);

  std::unique_ptr<Session> session;
  Print("session", LoadMetagraphIntoSession(SessionOptions(), meta_graph, &session));
  Print("restored", RestoreSession(RunOptions(), meta_graph, folder, &session));
  SavedModelBundle bundle;
  Print("loaded", LoadSavedModel(SessionOptions(), RunOptions(), folder, {kServe}, &bundle));
  const SignatureDef& signature = meta_graph.signature_def().at("serving_default");
  std::vector<std::pair<std::string, Tensor>> feeds;
  for (const auto& input : signature.inputs()) {
    TensorShape shape;
    for (const auto& d : input.second.tensor_shape().dim()) shape.AddDim(d.size() < 0 ? 3 : d.size());
    Tensor x(DT_FLOAT, shape);
    for (int i = 0; i < x.NumElements(); ++i) x.flat<float>()(i) = static_cast<float>(i + 2);
    feeds.emplace_back(input.second.name(), x);
  }
  for (const char* name : {"sum", "product"}) {
    const std::string fetch = signature.outputs().at(name).name();
    std::vector<Tensor> step_by_step, at_once;
    TF_CHECK_OK(session->Run(feeds, {fetch}, {}, &step_by_step));
    TF_CHECK_OK(bundle.session->Run(feeds, {fetch}, {}, &at_once));
    std::printf("%s: %s, %s\n", name, step_by_step[0].DebugString(4).c_str(), at_once[0].DebugString(4).c_str());
  }
  std::printf("not restored: %d\n", static_cast<int>(RestoreSession(RunOptions(), meta_graph, folder + "/nowhere", &session).code()));
}
