// SPDX-License-Identifier: Apache-2.0
//
// LoadSavedModel: a SavedModel as a session and its signatures.
#ifndef TENSORFLOW_CC_SAVED_MODEL_LOADER_H_
#define TENSORFLOW_CC_SAVED_MODEL_LOADER_H_

#include <fstream>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tensorflow/cc/saved_model/reader.h"
#include "tensorflow/core/public/session.h"

namespace tensorflow {

struct SavedModelBundleInterface {
  virtual ~SavedModelBundleInterface() = default;
  virtual Session* GetSession() const = 0;
  virtual const protobuf::Map<std::string, SignatureDef>& GetSignatures() const = 0;
};

struct SavedModelBundle : public SavedModelBundleInterface {
  ~SavedModelBundle() override {
    if (session) session->Close().IgnoreError();
  }
  SavedModelBundle() = default;
  Session* GetSession() const override { return session.get(); }
  const protobuf::Map<std::string, SignatureDef>& GetSignatures() const override { return meta_graph_def.signature_def(); }
  std::unique_ptr<Session> session;
  MetaGraphDef meta_graph_def;
  std::unique_ptr<GraphDebugInfo> debug_info;
};

// Without the graph.
class SavedModelBundleLite : public SavedModelBundleInterface {
 public:
  SavedModelBundleLite() = default;
  SavedModelBundleLite(std::unique_ptr<Session> session, protobuf::Map<std::string, SignatureDef> signatures)
      : session_(std::move(session)), signatures_(std::move(signatures)) {}
  ~SavedModelBundleLite() override {
    if (session_) session_->Close().IgnoreError();
  }
  SavedModelBundleLite& operator=(SavedModelBundleLite&& o) noexcept = default;
  Session* GetSession() const override { return session_.get(); }
  const protobuf::Map<std::string, SignatureDef>& GetSignatures() const override { return signatures_; }

 private:
  std::unique_ptr<Session> session_;
  protobuf::Map<std::string, SignatureDef> signatures_;
};

inline Status LoadSavedModel(const SessionOptions& options, const RunOptions& run_options, const std::string& export_dir,
                             const std::unordered_set<std::string>& tags, SavedModelBundle* bundle) {
  internal::Owned<TF_SessionOptions> c_options;
  TF_RETURN_IF_ERROR(internal::COptions(options, &c_options));
  std::vector<const char*> c_tags;
  for (const std::string& tag : tags) c_tags.push_back(tag.c_str());
  internal::Owned<TF_Graph> graph(TF_NewGraph());
  const internal::Owned<TF_Buffer> meta(TF_NewBuffer());
  const auto c_run_options = internal::Bytes(run_options);
  const internal::CStatus s;
  TF_Session* session = TF_LoadSessionFromSavedModel(c_options.get(), c_run_options.get(), export_dir.c_str(), c_tags.data(),
                                                     static_cast<int>(c_tags.size()), graph.get(), meta.get(), s);
  TF_RETURN_IF_ERROR(s.status());
  bundle->session = std::make_unique<Session>(options);
  bundle->session->Adopt(std::move(graph), session);
  if (!bundle->meta_graph_def.ParseFromArray(meta->data, static_cast<int>(meta->length))) return errors::DataLoss("the MetaGraphDef cannot be read");
  return ReadSavedModelDebugInfoIfPresent(export_dir, &bundle->debug_info);
}
inline Status LoadSavedModel(const SessionOptions& options, const RunOptions& run_options, const std::string& export_dir,
                             const std::unordered_set<std::string>& tags, SavedModelBundleLite* bundle) {
  SavedModelBundle whole;
  TF_RETURN_IF_ERROR(LoadSavedModel(options, run_options, export_dir, tags, &whole));
  *bundle = SavedModelBundleLite(std::move(whole.session), whole.meta_graph_def.signature_def());
  return OkStatus();
}

// The two steps of it for a MetaGraphDef that a program has in hand: a session with the graph; the variables, assets and initialisation of a folder.
inline Status LoadMetagraphIntoSession(const SessionOptions& options, const MetaGraphDef& meta_graph, std::unique_ptr<Session>* session) {
  Session* made = nullptr;
  TF_RETURN_IF_ERROR(NewSession(options, &made));
  session->reset(made);
  return made->Create(meta_graph.graph_def());
}
inline Status RestoreSession(const RunOptions& run_options, const MetaGraphDef& meta_graph, const std::string& export_dir,
                             std::unique_ptr<Session>* session) {
  const auto text = [](const std::string& value) {
    Tensor t(DT_STRING, TensorShape());
    t.scalar<tstring>()() = value;
    return t;
  };
  std::vector<std::pair<std::string, Tensor>> feeds;
  const auto add_asset = [&](const AssetFileDef& asset) {
    feeds.emplace_back(asset.tensor_info().name(), text(io::JoinPath(export_dir, "assets", asset.filename())));
  };
  for (const AssetFileDef& asset : meta_graph.asset_file_def()) add_asset(asset);
  const auto assets = meta_graph.collection_def().find("saved_model_assets");
  if (meta_graph.asset_file_def_size() == 0 && assets != meta_graph.collection_def().end()) {
    for (const auto& any : assets->second.any_list().value()) {
      AssetFileDef asset;
      if (!asset.ParseFromString(any.value())) return errors::DataLoss("an asset of the MetaGraphDef cannot be read");
      add_asset(asset);
    }
  }
  const std::string variables = io::JoinPath(export_dir, "variables", "variables");
  if (meta_graph.has_saver_def() && std::ifstream(variables + ".index").good()) {
    auto with_file = feeds;
    with_file.emplace_back(meta_graph.saver_def().filename_tensor_name(), text(variables));
    TF_RETURN_IF_ERROR((*session)->Run(run_options, with_file, {}, {meta_graph.saver_def().restore_op_name()}, nullptr, nullptr));
  }
  std::string init;
  const auto signature = meta_graph.signature_def().find("__saved_model_init_op");
  if (signature != meta_graph.signature_def().end()) {
    const auto& outputs = signature->second.outputs();
    const auto output = outputs.find("__saved_model_init_op");
    if (output != outputs.end()) init = output->second.name();
  }
  for (const char* key : {"saved_model_main_op", "legacy_init_op"}) {
    const auto collection = meta_graph.collection_def().find(key);
    if (!init.empty() || collection == meta_graph.collection_def().end()) continue;
    if (collection->second.node_list().value_size() != 1) return errors::FailedPrecondition("Expected exactly one main op in : ", export_dir);
    init = collection->second.node_list().value(0);
  }
  return init.empty() ? OkStatus() : (*session)->Run(run_options, feeds, {}, {init}, nullptr, nullptr);
}

inline bool MaybeSavedModelDirectory(const std::string& export_dir) {
  return std::ifstream(export_dir + "/" + kSavedModelFilenamePb).good() || std::ifstream(export_dir + "/" + kSavedModelFilenamePbTxt).good();
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_SAVED_MODEL_LOADER_H_
