// Accessors of messages as protobuf generates them, bytes and text.
#include <cstdio>
#include <string>

#include "tensorflow/core/example/example.pb.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/framework/tensor.pb.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/framework/versions.pb.h"
#include "tensorflow/core/protobuf/config.pb.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tensorflow/core/protobuf/saved_model.pb.h"

using namespace tensorflow;  // NOLINT

int main() {
  AttrValue a;
  std::printf("%d %d %d\n", a.value_case(), a.has_s(), static_cast<int>(a.s().size()));
  a.set_s("text");
  a.set_i(-5);
  std::printf("%d %d %d %d\n", a.value_case() == AttrValue::kI, a.has_s(), static_cast<int>(a.i()), static_cast<int>(a.ByteSizeLong()));
  a.mutable_list()->add_type(DT_FLOAT);
  a.mutable_list()->add_type(DT_INT32);
  a.mutable_list()->add_s("x");
  std::printf("%s", a.DebugString().c_str());

  GraphDef g;
  NodeDef* n = g.add_node();
  n->set_name("c");
  n->set_op("Const");
  (*n->mutable_attr())["dtype"].set_type(DT_FLOAT);
  TensorProto* t = (*n->mutable_attr())["value"].mutable_tensor();
  t->set_dtype(DT_FLOAT);
  t->mutable_tensor_shape()->add_dim()->set_size(2);
  t->add_float_val(1.5f);
  t->add_float_val(-0.25f);
  g.mutable_versions()->set_producer(27);
  std::string bytes;
  GraphDef copy;
  const bool fine = g.SerializeToString(&bytes) && copy.ParseFromString(bytes);
  std::printf("%d %d %d\n%s", fine, static_cast<int>(bytes.size()), copy.SerializeAsString().size() == bytes.size(), copy.DebugString().c_str());
  copy.MergeFrom(g);
  copy.mutable_node()->RemoveLast();
  copy.mutable_node(0)->clear_attr();
  std::printf("%d %d %d\n", copy.node_size(), copy.node(0).attr_size(), copy.versions().producer());
  copy.Swap(&g);
  std::printf("%d %d\n", g.node(0).attr_size(), copy.node(0).attr_size());

  ConfigProto config;
  std::printf("%d ", config.has_gpu_options());
  config.mutable_gpu_options()->set_allow_growth(true);
  config.mutable_gpu_options()->set_per_process_gpu_memory_fraction(0.5);
  config.mutable_graph_options()->mutable_optimizer_options()->set_global_jit_level(OptimizerOptions::ON_1);
  config.mutable_graph_options()->mutable_rewrite_options()->add_optimizers("a");
  (*config.mutable_device_count())["GPU"] = 1;
  (*config.mutable_device_count())["CPU"] = 3;
  config.add_session_inter_op_thread_pool()->set_num_threads(2);
  std::printf("%d %d\n%s", config.has_gpu_options(), static_cast<int>(config.ByteSizeLong()), config.DebugString().c_str());
  RunOptions run;
  run.set_trace_level(RunOptions::FULL_TRACE);
  run.set_timeout_in_ms(-1);
  std::printf("%s %d\n", RunOptions_TraceLevel_Name(run.trace_level()).c_str(), static_cast<int>(run.SerializeAsString().size()));

  Example example;
  auto& features = *example.mutable_features()->mutable_feature();
  for (int i = 0; i < 3; ++i) features["f"].mutable_float_list()->add_value(static_cast<float>(i));
  features["b"].mutable_bytes_list()->add_value("abc");
  for (const auto& [key, feature] : features) std::printf("%s", feature.kind_case() == Feature::kFloatList ? key.c_str() : "");
  std::printf(" %d %d\n", static_cast<int>(features.count("b")), features.find("none") == features.end());

  SavedModel model;
  MetaGraphDef* meta = model.add_meta_graphs();
  meta->mutable_meta_info_def()->add_tags("serve");
  TensorInfo& info = (*(*meta->mutable_signature_def())["s"].mutable_inputs())["x"];
  info.set_name("x:0");
  info.mutable_tensor_shape()->set_unknown_rank(true);
  SavedModel other(model);
  other.mutable_meta_graphs(0)->mutable_meta_info_def()->set_tags(0, "train");
  std::printf("%s %s %d\n", model.meta_graphs(0).meta_info_def().tags(0).c_str(), other.meta_graphs(0).meta_info_def().tags(0).c_str(),
              static_cast<int>(other.ByteSizeLong()));

  // Bytes that are no message, nested too deep, and fields that nobody knows.
  NodeDef bad;
  std::printf("%d ", bad.ParseFromString("\x0a\x7f"
                                         "abc"));
  std::printf("%d ", bad.ParseFromString(std::string("\xff\xff", 2)));
  std::string deep;
  for (int i = 0; i < 200; ++i) {
    std::string outer = "\x12";  // args of FullTypeDef
    for (size_t size = deep.size();; size >>= 7) {
      outer.push_back(static_cast<char>(size > 127 ? size | 128 : size));
      if (size <= 127) break;
    }
    deep = outer + deep;
  }
  FullTypeDef type;
  std::printf("%d ", type.ParseFromString(deep));
  const std::string unknown = std::string(
                                  "\x0a\x01"
                                  "n",
                                  3) +
                              std::string(
                                  "\xfa\x3f\x02"
                                  "hi",
                                  5);
  const bool read = bad.ParseFromString(unknown);
  std::printf("%d %s %d\n", read, bad.name().c_str(), bad.SerializeAsString() == unknown);
  return 0;
}
