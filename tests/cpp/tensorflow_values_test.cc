// The value types of TensorFlow's C++ headers: strings, tensors, shapes, small floats, messages.
#include <cstdio>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/protobuf/config.pb.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"

using namespace tensorflow;  // NOLINT

#define EXPECT(c)                     \
  do {                                \
    if (!(c)) {                       \
      std::printf("FAILED %s\n", #c); \
      return 1;                       \
    }                                 \
  } while (0)
int main() {
  tstring s("abc");
  s = s;
  s += "defghijklmnopqrstuvwxyz0123456789";
  tstring t = s;
  t.append(std::string_view(t));
  EXPECT(t.size() == 2 * s.size());
  t = std::string_view(t).substr(3);
  EXPECT(t.size() == 2 * s.size() - 3);
  tstring m = std::move(t);
  EXPECT(m.size() == 2 * s.size() - 3);
  m.swap(s);
  Tensor a(DT_STRING, TensorShape({3}));
  a.flat<tstring>()(1) = std::string(100, 'x');
  Tensor b = a;
  Tensor c = std::move(a);
  EXPECT(b.SharesBufferWith(c));
  EXPECT(!a.IsInitialized());
  Tensor d(DT_FLOAT, TensorShape({4, 3}));
  d.flat<float>().setConstant(2);
  Tensor e = d.Slice(1, 3);
  EXPECT(e.dim_size(0) == 2);
  EXPECT(d.SubSlice(2).dims() == 1);
  Tensor f;
  EXPECT(f.CopyFrom(d, TensorShape({2, 6})));
  EXPECT(!f.CopyFrom(d, TensorShape({5})));
  EXPECT((f.shaped<float, 3>({3, 2, 2})(2, 1, 1) == 2));
  EXPECT(f.flat_inner_dims<float>().dimension(1) == 6);
  EXPECT((Tensor(DT_FLOAT, TensorShape({2, 3, 4})).flat_outer_dims<float>().dimension(1) == 12));
  TensorShape sh({1, 2, 3, 4, 5, 6, 7, 8});
  sh.RemoveDim(0);
  sh.InsertDim(2, 9);
  EXPECT(sh.DebugString() == "[2,3,9,4,5,6,7,8]");
  sh.RemoveLastDims(6);
  EXPECT(sh.num_elements() == 6);
  EXPECT(static_cast<float>(Eigen::half(65504.f)) == 65504.f);
  EXPECT(static_cast<float>(Eigen::half(5.9604645e-8f)) == 5.9604645e-8f);
  EXPECT(static_cast<float>(Eigen::bfloat16(1.00390625f)) == 1.0f);
  EXPECT(static_cast<float>(Eigen::half(1e6f)) > 1e30f);
  EXPECT(static_cast<float>(Eigen::half(-0.1f)) < -0.0999f);
  ConfigProto config;
  config.set_intra_op_parallelism_threads(3);
  config.mutable_gpu_options()->set_allow_growth(true);
  (*config.mutable_device_count())["CPU"] = 2;
  ConfigProto again;
  EXPECT(again.ParseFromString(config.SerializeAsString()));
  EXPECT(again.gpu_options().allow_growth() && again.intra_op_parallelism_threads() == 3 && again.device_count().at("CPU") == 2);
  EXPECT(again.SerializeAsString() == config.SerializeAsString());
  MetaGraphDef meta;
  std::string bytes = "\x12\xff\xff\xff\xff\x7f";
  EXPECT(!meta.ParseFromString(bytes));
  for (unsigned i = 0; i < 256; ++i)
    for (unsigned j = 0; j < 256; ++j) {
      char raw[3] = {char(i), char(j), 5};
      MetaGraphDef g;
      (void)g.ParseFromArray(raw, 3);
      ConfigProto q;
      (void)q.ParseFromArray(raw, 3);
    }
  ResourceHandle h;
  h.set_name("n");
  ResourceHandle h2 = h;
  h2.set_container("c");
  EXPECT(h.container().empty() && h2.name() == "n");
  try {
    d.flat<int32>();
    EXPECT(false);
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
  }
  std::printf("all well\n");
}
