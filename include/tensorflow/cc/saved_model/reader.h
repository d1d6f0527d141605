// SPDX-License-Identifier: Apache-2.0
//
// The messages of a SavedModel's folder, without loading it.
#ifndef TENSORFLOW_CC_SAVED_MODEL_READER_H_
#define TENSORFLOW_CC_SAVED_MODEL_READER_H_

#include <memory>
#include <string>
#include <unordered_set>

#include "tensorflow/cc/saved_model/constants.h"
#include "tensorflow/core/framework/graph_debug_info.pb.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/path.h"
#include "tensorflow/core/platform/statusor.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tensorflow/core/protobuf/saved_model.pb.h"

namespace tensorflow {

inline Status ReadSavedModel(std::string_view export_dir, SavedModel* saved_model) {
  const std::string binary = io::JoinPath(export_dir, kSavedModelFilenamePb), text = io::JoinPath(export_dir, kSavedModelFilenamePbTxt);
  if (Env::Default()->FileExists(binary).ok()) return ReadBinaryProto(Env::Default(), binary, saved_model);
  if (Env::Default()->FileExists(text).ok()) return ReadTextProto(Env::Default(), text, saved_model);
  return errors::NotFound("Could not find SavedModel .pb or .pbtxt at supplied export directory path: ", export_dir,
                          ". Check that the directory exists and that you have the right permissions for accessing it.");
}

// The one of exactly these tags; it belongs to the SavedModel.
inline StatusOr<MetaGraphDef*> FindMetaGraphDef(const std::unordered_set<std::string>& tags, SavedModel* saved_model) {
  for (MetaGraphDef& meta_graph : *saved_model->mutable_meta_graphs()) {
    const auto& has = meta_graph.meta_info_def().tags();
    if (std::unordered_set<std::string>(has.begin(), has.end()) == tags) return &meta_graph;
  }
  std::string wanted = "{";
  for (const std::string& tag : tags) wanted += " " + tag;
  return errors::NotFound("Could not find meta graph def matching supplied tags: ", wanted,
                          " }. To inspect available tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`");
}

inline Status ReadMetaGraphDefFromSavedModel(std::string_view export_dir, const std::unordered_set<std::string>& tags, MetaGraphDef* meta_graph) {
  SavedModel saved_model;
  TF_RETURN_IF_ERROR(ReadSavedModel(export_dir, &saved_model));
  const StatusOr<MetaGraphDef*> found = FindMetaGraphDef(tags, &saved_model);
  TF_RETURN_IF_ERROR(found.status());
  *meta_graph = **found;
  return OkStatus();
}

inline Status ReadSavedModelDebugInfoIfPresent(std::string_view export_dir, std::unique_ptr<GraphDebugInfo>* debug_info) {
  const std::string path = io::JoinPath(export_dir, "debug", "saved_model_debug_info.pb");
  if (!Env::Default()->FileExists(path).ok()) return OkStatus();
  auto read = std::make_unique<GraphDebugInfo>();
  TF_RETURN_IF_ERROR(ReadBinaryProto(Env::Default(), path, read.get()));
  *debug_info = std::move(read);
  return OkStatus();
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_SAVED_MODEL_READER_H_
