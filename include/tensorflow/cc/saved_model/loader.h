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

#include "tensorflow/cc/saved_model/constants.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
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
  return OkStatus();
}
inline Status LoadSavedModel(const SessionOptions& options, const RunOptions& run_options, const std::string& export_dir,
                             const std::unordered_set<std::string>& tags, SavedModelBundleLite* bundle) {
  SavedModelBundle whole;
  TF_RETURN_IF_ERROR(LoadSavedModel(options, run_options, export_dir, tags, &whole));
  *bundle = SavedModelBundleLite(std::move(whole.session), whole.meta_graph_def.signature_def());
  return OkStatus();
}

inline bool MaybeSavedModelDirectory(const std::string& export_dir) {
  return std::ifstream(export_dir + "/" + kSavedModelFilenamePb).good() || std::ifstream(export_dir + "/" + kSavedModelFilenamePbTxt).good();
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_SAVED_MODEL_LOADER_H_
