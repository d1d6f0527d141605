// What programs use beside tensors and graphs: encodings, distributions, histograms, scanners, memory of their own in tensors, weak pointers,
// libraries of functions, imported graphs. Prints what it prints with TensorFlow.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/casts.h"
#include "tensorflow/core/common_runtime/dma_helper.h"
#include "tensorflow/core/common_runtime/graph_constructor.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/summary.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"
#include "tensorflow/core/graph/tensor_id.h"
#include "tensorflow/core/lib/core/refcount.h"
#include "tensorflow/core/lib/hash/hash.h"
#include "tensorflow/core/lib/histogram/histogram.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/lib/random/random_distributions.h"
#include "tensorflow/core/platform/base64.h"
#include "tensorflow/core/platform/casts.h"
#include "tensorflow/core/platform/mem.h"
#include "tensorflow/core/platform/scanner.h"

using namespace tensorflow;  // NOLINT

template <class S>
void Print(const char* what, const S& s) {
  std::printf("%s: %d %s\n", what, static_cast<int>(s.code()), std::string(s.message()).c_str());
}

void Encodings() {
  for (const std::string text : {"", "f", "fo", "foo", "foob\xff\xfe"}) {
    std::string plain, padded, back;
    TF_CHECK_OK(Base64Encode(text, &plain));
    TF_CHECK_OK(Base64Encode(text, true, &padded));
    TF_CHECK_OK(Base64Decode(padded, &back));
    std::printf("base64 %s %s %d\n", plain.c_str(), padded.c_str(), back == text);
  }
  for (const char* text : {"Zg", "Zg=", "Zm9v=", "Z", "Zm9vZ", "+/8=", "Zm=v", "====", "Zm9vYg=="}) {
    tstring decoded = "as before";
    const auto s = Base64Decode(text, &decoded);
    std::printf("decoded %s: %d %s\n", text, static_cast<int>(s.code()), s.ok() ? std::string(decoded).c_str() : std::string(s.message()).c_str());
  }
  std::printf("hash32 %u %u %u\n", Hash32("", 0, 7), Hash32("hello", 5, 0), Hash32("\xff\x01 longer text", 14, 42));
}

template <class Distribution, class Generator>
void Draw(const char* what, Distribution d, Generator* g) {
  std::printf("%s", what);
  for (int k = 0; k < 3; ++k) {
    const auto numbers = d(g);
    for (int i = 0; i < Distribution::kResultElementCount; ++i) std::printf(" %.17g", static_cast<double>(numbers[i]));
  }
  std::printf("\n");
}

void Distributions() {
  using random::PhiloxRandom;
  using Adapter = random::SingleSampleAdapter<PhiloxRandom>;
  PhiloxRandom g(301, 17);
  Draw("uniform float", random::UniformDistribution<PhiloxRandom, float>(), &g);
  Draw("uniform double", random::UniformDistribution<PhiloxRandom, double>(), &g);
  Draw("uniform half", random::UniformDistribution<PhiloxRandom, Eigen::half>(), &g);
  Draw("uniform bfloat16", random::UniformDistribution<PhiloxRandom, bfloat16>(), &g);
  Draw("uniform int", random::UniformDistribution<PhiloxRandom, int32>(-7, 2000000000), &g);
  Draw("uniform int64", random::UniformDistribution<PhiloxRandom, int64_t>(-5, int64_t{1} << 40), &g);
  Draw("any int", random::UniformFullIntDistribution<PhiloxRandom, uint32>(), &g);
  Draw("any int64", random::UniformFullIntDistribution<PhiloxRandom, int64_t>(), &g);
  Draw("normal float", random::NormalDistribution<PhiloxRandom, float>(), &g);
  Draw("normal double", random::NormalDistribution<PhiloxRandom, double>(), &g);
  Draw("normal half", random::NormalDistribution<PhiloxRandom, Eigen::half>(), &g);
  Draw("normal bfloat16", random::NormalDistribution<PhiloxRandom, bfloat16>(), &g);
  Adapter one(&g);
  Draw("truncated float", random::TruncatedNormalDistribution<Adapter, float>(), &one);
  Draw("truncated double", random::TruncatedNormalDistribution<Adapter, double>(), &one);
  for (uint64 n : {0, 1, 2, 3, 4, 9, 17}) {
    one.Skip(n);
    std::printf("after %d: %u\n", static_cast<int>(n), one());
  }
}

void Histograms() {
  histogram::Histogram h;
  for (double v : {-3.0, 0.0, 0.5, 1.5, 1.6, 2.5e10}) h.Add(v);
  std::printf("%s%.6g %.6g %.6g %.6g\n", h.ToString().c_str(), h.Median(), h.Percentile(90), h.Average(), h.StandardDeviation());
  HistogramProto proto;
  h.EncodeToProto(&proto, false);
  std::printf("%d buckets, whose limits are", proto.bucket_size());
  for (double l : proto.bucket_limit()) std::printf(" %g", l);
  histogram::ThreadSafeHistogram custom({-10.0, 0.0, 10.0});
  std::printf("\nempty: %.6g %s", custom.Median(), custom.ToString().c_str());
  for (double v : {-20.0, -5.0, 5.0, 7.0}) custom.Add(v);
  custom.EncodeToProto(&proto, true);
  std::printf("%s%d buckets\n", custom.ToString().c_str(), proto.bucket_size());
  histogram::Histogram copy;
  std::printf("%d %.6g\n", copy.DecodeFromProto(proto), copy.Percentile(50));
  proto.Clear();
  std::printf("%d\n", copy.DecodeFromProto(proto));
}

void Scanners() {
  using strings::Scanner;
  const auto scan = [](bool good, StringPiece rest, StringPiece part) {
    std::printf("scanned %d '%s' '%s'\n", good, good ? std::string(rest).c_str() : "", good ? std::string(part).c_str() : "");
  };
  StringPiece rest, part;
  bool good = Scanner("  width_2=120px;")
                  .AnySpace()
                  .RestartCapture()
                  .Many(Scanner::LETTER_DIGIT_UNDERSCORE)
                  .StopCapture()
                  .OneLiteral("=")
                  .GetResult(&rest, &part);
  scan(good, rest, part);
  good = Scanner("120px").Many(Scanner::DIGIT).Eos().GetResult(&rest, &part);
  scan(good, rest, part);
  good = Scanner("say \\\"x\\\" now\" end").ScanEscapedUntil('"').GetResult(&rest, &part);
  scan(good, rest, part);
  good = Scanner("no end").ScanUntil('"').GetResult(&rest, &part);
  scan(good, rest, part);
  good = Scanner("v1.2-rc/x>")
             .ZeroOrOneLiteral("v")
             .One(Scanner::NON_ZERO_DIGIT)
             .Any(Scanner::LETTER_DIGIT_DASH_DOT_SLASH)
             .One(Scanner::RANGLE)
             .Eos()
             .GetResult(&rest, &part);
  scan(good, rest, part);
  std::printf("%c %c %d\n", Scanner("abc").Peek(), Scanner("").Peek('-'), Scanner("").empty());
}

// Memory of the program's own.
class Numbers : public TensorBuffer {
 public:
  Numbers(float* data, size_t n, bool* gone) : TensorBuffer(data), bytes_(n * sizeof(float)), gone_(gone) {}
  ~Numbers() override { *gone_ = true; }
  size_t size() const override { return bytes_; }
  TensorBuffer* root_buffer() override { return this; }
  void FillAllocationDescription(AllocationDescription*) const override {}

 private:
  size_t bytes_;
  bool* gone_;
};

struct Base {
  virtual ~Base() = default;
};
struct Derived : Base {
  int n = 3;
};

void Tensors() {
  auto* data = static_cast<float*>(port::AlignedMalloc(6 * sizeof(float), 64));
  for (int i = 0; i < 6; ++i) data[i] = static_cast<float>(i);
  bool gone = false;
  {
    auto* numbers = new Numbers(data, 6, &gone);
    Tensor t(DT_FLOAT, TensorShape({2, 3}), numbers);
    numbers->Unref();
    data[4] = 40;
    std::printf("%s %d %d\n", t.DebugString(6).c_str(), t.data() == data, DMAHelper::base(&t) == data);
    Tensor copy = t;
    t = Tensor();
    std::printf("in use: %d, sum %g\n", !gone, copy.flat<float>()(4) + copy.matrix<float>()(1, 2));
    DMAHelper::UnsafeSetShape(&copy, TensorShape({3, 2}));
    std::printf("%s can use DMA: %d\n", copy.shape().DebugString().c_str(), DMAHelper::CanUseDMA(&copy));
  }
  std::printf("gone: %d\n", gone);
  port::AlignedFree(data);

  Tensor packed(DT_INT8, TensorShape({2, 3, 4}));
  for (int i = 0; i < 24; ++i) packed.flat<int8>()(i) = static_cast<int8>(i);
  const auto words = packed.reinterpret_last_dimension<int32, 2>();
  std::printf("%d x %d: %x %x\n", static_cast<int>(words.dimension(0)), static_cast<int>(words.dimension(1)), words(0, 0), words(1, 2));
  for (auto d : packed.shape()) std::printf("dim %d\n", static_cast<int>(d.size));
  const TensorShape shape({7, 8});
  for (TensorShapeIter<TensorShape> it = shape.begin(); it != shape.end(); ++it) std::printf("dim %d\n", static_cast<int>((*it).size));
  for (auto d : PartialTensorShape({-1, 5})) std::printf("dim %d\n", static_cast<int>(d.size));
  Derived derived;
  Base* base = &derived;
  std::printf("%d %x\n", down_cast<Derived*>(base)->n, absl::bit_cast<uint32>(1.0f));
}

struct Counted : core::WeakRefCounted {
  int n = 5;
};
void WeakPointers() {
  auto* object = new Counted;
  core::WeakPtr<Counted> weak(object, [] { std::printf("told\n"); });
  core::WeakPtr<Counted> copy = weak, quiet(object);
  std::printf("%d weak, %d\n", object->WeakRefCount(), weak.GetNewRef()->n);
  object->Unref();
  std::printf("%d %d\n", copy.GetNewRef() == nullptr, quiet.GetNewRef() == nullptr);
}

void Cancellations() {
  CancellationManager parent, child(&parent);
  const CancellationToken token = child.get_cancellation_token(), other = child.get_cancellation_token();
  const bool kept = child.RegisterCallback(token, [] { std::printf("called\n"); });
  const bool both = child.RegisterCallback(other, [] { std::printf("not called\n"); });
  const bool dropped = child.DeregisterCallback(other), again = child.TryDeregisterCallback(other);
  std::printf("%d %d %d %d\n", kept, both, dropped, again);
  parent.StartCancel();
  std::printf("%d %d\n", child.IsCancelled(), child.RegisterCallback(child.get_cancellation_token(), [] {}));
}

void Functions() {
  const FunctionDef twice =
      FunctionDefHelper::Define("Twice", {"x: T"}, {"y: T"}, {"T: {float, int32}"}, {{{"y"}, "Add", {"x", "x"}, {{"T", "$T"}}}});
  FunctionDef other = twice;
  other.mutable_node_def(0)->set_op("Mul");
  FunctionDef add = twice;
  add.mutable_signature()->set_name("Add");
  FunctionLibraryDefinition library(OpRegistry::Global(), FunctionDefLibrary());
  std::printf("%d %d\n", library.Contains("Twice"), library.Find("Twice") == nullptr);
  Print("add", library.AddFunctionDef(twice));
  Print("add again", library.AddFunctionDef(twice));
  Print("add another", library.AddFunctionDef(other));
  Print("add an op", library.AddFunctionDef(add));
  const OpRegistrationData* data = nullptr;
  Print("look up", library.LookUp("Twice", &data));
  std::printf("%s %d %d\n", data->op_def.name().c_str(), data->is_function_op, library.Find("Twice")->node_def_size());
  Print("an op", library.LookUp("Mul", &data));
  std::printf("neither: %d\n", static_cast<int>(library.LookUp("Nothing", &data).code()));
  std::printf("%s %s\n", library.UniqueFunctionName("Twice").c_str(), library.UniqueFunctionName("F_").c_str());
  const FunctionLibraryDefinition copy(library);
  Print("replace", library.ReplaceFunction("Twice", other));
  std::printf("%s %s\n", library.Find("Twice")->node_def(0).op().c_str(), copy.Find("Twice")->node_def(0).op().c_str());
  GradientDef gradient;
  gradient.set_function_name("Twice");
  gradient.set_gradient_func("TwiceGrad");
  Print("gradient", library.AddGradientDef(gradient));
  gradient.set_gradient_func("OtherGrad");
  Print("another gradient", library.AddGradientDef(gradient));
  std::printf("%s '%s'\n", library.FindGradient("Twice").c_str(), library.FindGradient("Add").c_str());
  Print("library", library.AddLibrary(copy.ToProto()));
  const FunctionDefLibrary proto = library.ToProto();
  std::printf("%d functions, %d gradients, %d\n", proto.function_size(), proto.gradient_size(), static_cast<int>(library.num_functions()));
  for (const std::string& name : library.ListFunctionNames()) std::printf("%s\n", name.c_str());
  Print("remove", library.RemoveFunction("Twice"));
  Print("remove again", library.RemoveFunction("Twice"));
  std::printf("%d\n", static_cast<int>(library.num_functions()));
}

void Reachable() {
  const auto function = [](const char* name, const char* op, const char* of_attr) {
    FunctionDef def = FunctionDefHelper::Define(name, {"x: float"}, {"y: float"}, {}, {{{"y"}, op, {"x"}, {{"T", DT_FLOAT}}}});
    if (*of_attr) (*def.mutable_node_def(0)->mutable_attr())["f"].mutable_func()->set_name(of_attr);
    return def;
  };
  FunctionDef fast = function("Fast", "Square", ""), slow = function("Slow", "Square", "");
  for (FunctionDef* f : {&fast, &slow}) (*f->mutable_attr())["api_implements"].set_s("squares");
  FunctionLibraryDefinition library(OpRegistry::Global(), FunctionDefLibrary());
  for (const FunctionDef& f :
       {function("Leaf", "Neg", ""), function("LeafGrad", "Neg", "Helper"), function("Helper", "Neg", ""), function("Calls", "Neg", "Leaf"),
        function("Outer", "Neg", "Calls"), function("Apart", "Neg", ""), function("Picks", "Neg", "Fast"), fast, slow})
    TF_CHECK_OK(library.AddFunctionDef(f));
  GradientDef gradient;
  gradient.set_function_name("Leaf");
  gradient.set_gradient_func("LeafGrad");
  TF_CHECK_OK(library.AddGradientDef(gradient));
  const auto list = [](const char* what, const FunctionLibraryDefinition& found) {
    std::vector<std::string> names = found.ListFunctionNames();
    std::sort(names.begin(), names.end());
    std::printf("%s:", what);
    for (const std::string& name : names) std::printf(" %s", name.c_str());
    std::printf(", gradient of Leaf '%s'\n", found.FindGradient("Leaf").c_str());
  };
  GraphDef graph;
  list("no nodes", library.ReachableDefinitions(graph));
  NodeDef* node = graph.add_node();
  node->set_op("Outer");
  list("graph", library.ReachableDefinitions(graph));
  node->set_op("Map");
  (*node->mutable_attr())["fs"].mutable_list()->add_func()->set_name("Picks");
  list("list of functions", library.ReachableDefinitions(graph));
  list("function", library.ReachableDefinitions(*library.Find("Calls")));
  list("by name", *library.ReachableDefinitions("Calls"));
  std::printf("no such function: %d\n", static_cast<int>(library.ReachableDefinitions("Nothing").status().code()));
  const auto record = library.FindRecord("Leaf");
  TF_CHECK_OK(library.RemoveFunction("Leaf"));
  std::printf("record: %s %d, %d\n", record->fdef().signature().name().c_str(), record->fdef().node_def_size(),
              library.FindRecord("Leaf") == nullptr);
}

Node* Axis(Graph* graph) {
  Node* axis = nullptr;
  TF_CHECK_OK(NodeBuilder("axis", "Const").Attr("dtype", DT_INT32).Attr("value", Tensor(0)).Finalize(graph, &axis));
  return axis;
}
void Imports() {
  GraphDef def;
  {
    Graph graph(OpRegistry::Global());
    Node *a, *b, *c;
    TF_CHECK_OK(NodeBuilder("a", "Placeholder").Attr("dtype", DT_FLOAT).Finalize(&graph, &a));
    TF_CHECK_OK(NodeBuilder("b", "Neg").Input(a).Finalize(&graph, &b));
    TF_CHECK_OK(NodeBuilder("c", "Mul").Input(b).Input(a).Finalize(&graph, &c));
    graph.ToGraphDef(&def);
  }
  Graph graph(OpRegistry::Global());
  TF_CHECK_OK(ImportGraphDef(ImportGraphDefOptions(), def, &graph, nullptr));
  ImportGraphDefOptions options;
  options.prefix = "again";
  options.input_map[TensorId("a", 0)] = TensorId("b", 0);
  options.input_map[TensorId("unused", 0)] = TensorId("b", 0);
  options.control_dependencies = {"c"};
  options.return_tensors = {{"c", 0}, {"a", 0}};
  options.return_nodes = {"b"};
  ImportGraphDefResults results;
  Print("import", ImportGraphDef(options, def, &graph, nullptr, &results));
  for (const auto& tensor : results.return_tensors) std::printf("%s:%d\n", tensor.first->name().c_str(), tensor.second);
  for (const Node* node : results.return_nodes) std::printf("%s\n", node->name().c_str());
  for (const auto& id : results.missing_unused_input_map_keys) std::printf("not there: %s\n", id.ToString().c_str());
  Print("used results", ImportGraphDef(options, def, &graph, nullptr, &results));
  Print("no place", ImportGraphDef(options, def, &graph, nullptr));
  ImportGraphDefOptions unique;
  unique.uniquify_names = true;
  unique.return_nodes = {"c"};
  ImportGraphDefResults more;
  Print("unique", ImportGraphDef(unique, def, &graph, nullptr, &more));
  std::printf("%s\n", more.return_nodes[0]->name().c_str());
  Print("twice", ImportGraphDef(ImportGraphDefOptions(), def, &graph, nullptr));
  std::printf("%d nodes\n", graph.num_op_nodes());
  for (const char* name : {"a", "a:1", "^a", "a:b", "a:12", "scope/a:0", ":3"}) {
    const TensorId id = ParseTensorName(name);
    std::printf("%s: %s %d %s %d\n", name, std::string(id.node()).c_str(), id.index(), id.ToString().c_str(), IsTensorIdControl(id));
  }
  Node* concat = nullptr;
  Node* const a = results.return_nodes[0];
  TF_CHECK_OK(NodeBuilder("concat", "ConcatV2")
                  .Input({NodeBuilder::NodeOut(a, 0), NodeBuilder::NodeOut(a, 0)})
                  .Input(Axis(&graph))
                  .Finalize(&graph, &concat));
  const OpDef* op = nullptr;
  TF_CHECK_OK(OpRegistry::Global()->LookUpOpDef("ConcatV2", &op));
  NameRangeMap inputs, outputs;
  Print("ranges", NameRangesForNode(AttrSlice(concat->def()), *op, &inputs, &outputs));
  for (const char* name : {"values", "axis"}) std::printf("%s: %d to %d\n", name, inputs[name].first, inputs[name].second);
  std::printf("output: %d to %d\n", outputs["output"].first, outputs["output"].second);
  std::printf("kernels: %d %d\n", GetRegisteredKernelsForOp("Neg").kernel_size() > 0, GetRegisteredKernelsForOp("NoSuchOp").kernel_size());
}

int main() {
  Encodings();
  Distributions();
  Histograms();
  Scanners();
  Tensors();
  WeakPointers();
  Cancellations();
  Functions();
  Reachable();
  Imports();
}
