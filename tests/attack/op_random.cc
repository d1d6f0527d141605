// Calls ops of the whole registry with random arguments: types, shapes, values, attributes, functions, resources and variants that other calls made;
// and asks their shape rules with shapes that are known in part. A result or an error is an answer; a crash or a hang is not.
//   op_random --seed S [--seconds N] [--op NAME] [--calls N] [--list]
// Each op runs in a process of its own; --op repeats what a seed did with one op.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <set>

#include "core/allocator.h"
#include "eager/op.h"
#include "engine/engine.h"
#include "op/shape_context.h"
#include "tests/play/mutation_values.h"

using namespace weft_engine;           // NOLINT
using namespace weft_engine::testing;  // NOLINT
using Handle = RefPtr<eager::TensorHandle>;

namespace {

constexpr int kSecondsPerCall = 60;
constexpr int64_t kTensorMemory = int64_t(1) << 30;   // more is refused by the allocator
constexpr rlim_t kAddressSpace = rlim_t(12) << 30;

// These wait for another thread or process by their meaning, or end this one.
const std::set<std::string_view> kLeftOut = {"Abort",
                                             "While",
                                             "StatelessWhile",
                                             "PyFunc",
                                             "PyFuncStateless",
                                             "EagerPyFunc",
                                             "PrintV2",
                                             "Print",  // prints every call
                                             "QueueDequeue",
                                             "QueueDequeueV2",
                                             "QueueDequeueMany",
                                             "QueueDequeueManyV2",
                                             "QueueDequeueUpTo",
                                             "QueueDequeueUpToV2",
                                             "QueueEnqueue",
                                             "QueueEnqueueV2",
                                             "QueueEnqueueMany",
                                             "QueueEnqueueManyV2",
                                             "BarrierTakeMany",
                                             "Unstage",
                                             "StagePeek",
                                             "MapUnstage",
                                             "MapPeek",
                                             "MapUnstageNoKey",
                                             "OrderedMapUnstage",
                                             "OrderedMapPeek",
                                             "OrderedMapUnstageNoKey",
                                             "Stage",
                                             "MapStage",
                                             "OrderedMapStage",
                                             "ReaderRead",
                                             "ReaderReadV2",
                                             "ReaderReadUpTo",
                                             "ReaderReadUpToV2",
                                             "AccumulatorTakeGradient",
                                             "ResourceAccumulatorTakeGradient",
                                             "SparseAccumulatorTakeGradient",
                                             "MutexLock",
                                             "Recv",
                                             "_Recv",
                                             "_HostRecv",
                                             "Batch",
                                             "BatchFunction",
                                             "Unbatch",
                                             "UnbatchGrad",
                                             "RecordInput",
                                             "CollectiveGather",
                                             "CollectiveReduce",
                                             "CollectiveReduceV2",
                                             "CollectiveReduceV3",
                                             "CollectiveGatherV2",
                                             "CollectiveBcastSend",
                                             "CollectiveBcastRecv",
                                             "CollectiveBcastSendV2",
                                             "CollectiveBcastRecvV2",
                                             "CollectiveAllToAllV3",
                                             "CollectiveAllToAllV2",
                                             "CollectiveInitializeCommunicator",
                                             "CollectiveReduceScatterV2",
                                             "CollectiveAssignGroupV2",
                                             "CollectivePermute"};

struct Progress {  // shared with the parent
  std::atomic<int64_t> call, answered, fine, shapes, shapes_fine;
};
Progress* progress = nullptr;

template <class T>
const T& any_of(const std::vector<T>& v) {
  return v[pick(v.size())];
}

DType any_type() { return static_cast<DType>(1 + pick(kNumDTypes - 1)); }

Shape any_shape() {
  std::vector<int64_t> dims(pick(5));
  for (auto& d : dims) d = int64_t(pick(6));
  return Shape(dims);
}

const char* kWords[] = {"",  "x",  "a,b", "ij,jk->ik", "NHWC",   "SAME",  "VALID", "float32", "(\\w+)",
                        "[", "%d", "1",   "0x",        "a_file", "UTF-8", "max",   "int32",   "\xff"};

// Small numbers, as most arguments are.
template <class T>
void put_small(Tensor& t, int64_t i) {
  if constexpr (std::is_same_v<T, tstring>) {
    t.data<T>()[i] = std::string_view(kWords[pick(std::size(kWords))]);
  } else if constexpr (std::is_same_v<T, bool>) {
    t.data<T>()[i] = pick(2);
  } else if constexpr (std::is_same_v<T, ResourceHandle> || std::is_same_v<T, Variant>) {
    t.data<T>()[i] = T();
  } else if constexpr (is_complex<T>) {
    t.data<T>()[i] = T(float(pick(5)), float(pick(3)));
  } else if constexpr (is_floating<T>) {
    t.data<T>()[i] = T(float(int(pick(9)) - 3) * 0.5f);
  } else if constexpr (std::is_arithmetic_v<T>) {
    t.data<T>()[i] = T(int(pick(7)) - (pick(4) ? 0 : 2));
  } else {
    put<T>(t, i);
  }
}

Tensor small(DType dtype, const Shape& shape) {
  auto made = Tensor::zeros(dtype, shape);
  if (!made.ok()) return *Tensor::zeros(DType::kFloat, Shape());
  for (int64_t i = 0; i < made->num_elements(); ++i) {
    switch (dtype) {
#define WEFT_X(T, name) \
  case DType::name: put_small<T>(*made, i); break;
      WEFT_DTYPES(WEFT_X)
#undef WEFT_X
      default: break;
    }
  }
  return std::move(made).value();
}

Tensor any_tensor(DType dtype, const Shape& base) {
  Shape shape = base;
  switch (pick(8)) {
    case 0: shape = Shape(); break;
    case 1: shape = Shape({int64_t(pick(5))}); break;
    case 2: shape = any_shape(); break;
    case 3: shape = Shape({int64_t(pick(4)), int64_t(pick(4))}); break;
    default: break;
  }
  if (pick(40) == 0) shape = Shape({0, int64_t(1) << 40});  // nothing in it, and products that overflow
  return pick(5) ? small(dtype, shape) : fresh(dtype, shape);
}

PartialShape blurred(const Shape& s) {
  if (pick(5) == 0) return PartialShape::unknown();
  std::vector<int64_t> dims = s.vec();
  for (auto& d : dims) {
    if (pick(3) == 0) d = kUnknownDim;
  }
  return PartialShape(std::move(dims));
}

// ---- What a call is made of ----

class Caller {
 public:
  Caller() : context_(engine::Engine::get().registry(), options()) {
    add_functions();
    make_resources();
  }

  // One call of the op with random arguments, and its shape rule with the same.
  void call(const op::OpSpec& spec) {
    const op::Signature& sig = spec.signature();
    op::AttrMap attrs;
    const Shape base = any_shape();
    for (const auto& a : sig.attrs) {
      if (a.default_value && pick(2)) continue;
      op::AttrValue v = any_attr(a, base);
      if (!v.empty()) attrs[a.name] = std::move(v);
    }
    // Millions of outputs are allowed, and take as long as they take.
    for (const auto& out : sig.outputs) {
      if (out.number_attr < 0) continue;
      auto it = attrs.find(sig.attrs[size_t(out.number_attr)].name);
      if (it == attrs.end()) continue;
      if (const int64_t* n = it->second.get<int64_t>(); n && *n > 4096) it->second = int64_t(4096);
    }
    std::vector<Handle> inputs;
    for (const auto& arg : sig.inputs) {
      for (DType t : types_of(sig, arg, attrs)) inputs.push_back(any_input(t, base));
    }
    if (pick(30) == 0 && !inputs.empty()) inputs.pop_back();
    if (pick(60) == 0) inputs.push_back(any_input(DType::kFloat, base));
    ++progress->call;
    std::vector<Handle> results = run(spec.name, attrs, inputs);
    for (auto& r : results) keep(std::move(r));
    infer(spec, attrs, inputs);
    if (pick(3) == 0) call_in_function(spec, attrs, inputs);
  }

 private:
  static eager::ContextOptions options() {
    eager::ContextOptions o;
    o.intra_threads = 2;
    return o;
  }

  std::vector<Handle> run(std::string_view name, const op::AttrMap& attrs, const std::vector<Handle>& inputs) {
    eager::Op op(context_);
    std::vector<Handle> results;
    if (!op.reset(name).ok()) return results;
    for (const auto& [k, v] : attrs) (void)op.set_attr(k, v);
    for (const auto& t : inputs) op.add_input(t);
    const Status s = op.execute(results);
    ++progress->answered;
    progress->fine += s.ok();
    if (!s.ok() && s.code() == Code::kInternal)
      std::printf("%.*s: internal error: %s\n", int(name.size()), name.data(), s.message().substr(0, 160).c_str());
    return results;
  }

  void infer(const op::OpSpec& spec, const op::AttrMap& attrs, const std::vector<Handle>& inputs) {
    std::vector<DType> types;
    for (const auto& h : inputs) types.push_back(h->dtype());
    auto node = op::NodeInfo::make(spec, "", attrs, types);
    if (!node.ok()) return;
    for (int k = 0; k < 3; ++k) {
      std::vector<PartialShape> shapes;
      std::vector<const Tensor*> constants;
      std::vector<std::optional<op::ShapeContext::HandleData>> handles;
      std::vector<std::optional<PartialShape>> partial;
      for (const auto& h : inputs) {
        const Tensor& t = h->tensor();
        shapes.push_back(k ? blurred(pick(4) ? t.shape() : any_shape()) : PartialShape(t.shape()));
        constants.push_back(pick(2) && shapes.back().compatible_with(PartialShape(t.shape())) ? &t : nullptr);
        handles.push_back(pick(4) ? std::nullopt : std::optional(op::ShapeContext::HandleData{any_type(), blurred(any_shape())}));
        partial.push_back(pick(4) || t.rank() != 1 ? std::nullopt : std::optional(blurred(any_shape())));
      }
      op::ShapeContext c(*node, std::move(shapes), std::move(constants), std::move(handles), std::move(partial));
      ++progress->shapes;
      progress->shapes_fine += spec.infer_shapes(c).ok();
    }
  }

  // The same call as the only node of a function, with some inputs as constants, so that passes and the executor see it.
  void call_in_function(const op::OpSpec& spec, const op::AttrMap& attrs, const std::vector<Handle>& inputs) {
    std::vector<DType> types;
    for (const auto& h : inputs) types.push_back(h->dtype());
    auto node = op::NodeInfo::make(spec, "", attrs, types);
    if (!node.ok() || node->num_outputs() > 64) return;
    graph::FunctionDef f;
    f.name = "called";
    graph::NodeDef n;
    n.name = "n";
    n.op = std::string(spec.name);
    n.attrs = attrs;
    std::vector<Handle> given;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (is_simple(types[i]) && pick(2)) {
        graph::NodeDef k;
        k.name = cat("k", i);
        k.op = "Const";
        k.attrs = {{"dtype", types[i]}, {"value", inputs[i]->tensor()}};
        n.inputs.push_back(k.name + ":output:0");
        f.nodes.push_back(std::move(k));
        continue;
      }
      graph::ArgDef a;
      a.name = cat("x", i);
      a.type = types[i];
      n.inputs.push_back(a.name);
      f.inputs.push_back(std::move(a));
      given.push_back(inputs[i]);
    }
    const auto& outs = spec.signature().outputs;
    for (size_t o = 0; o < outs.size(); ++o) {
      const auto range = node->output_range(int(o));
      for (int i = range.begin; i < range.end; ++i) {
        graph::ArgDef y;
        y.name = cat("y", i);
        y.type = base_type(node->output_types()[size_t(i)]);
        f.ret[y.name] = cat("n:", outs[o].name, ":", i - range.begin);
        f.outputs.push_back(std::move(y));
      }
    }
    f.stateful = spec.stateful;
    f.nodes.push_back(std::move(n));
    if (!context_.functions().add(f).ok()) return;
    (void)run("called", {}, given);
    (void)context_.functions().remove("called");
  }

  // The types of the tensors of an argument, by the attributes; some are chosen here.
  std::vector<DType> types_of(const op::Signature& sig, const op::ArgSpec& arg, op::AttrMap& attrs) {
    if (arg.type_list_attr >= 0) {
      const auto& a = sig.attrs[size_t(arg.type_list_attr)];
      auto it = attrs.find(a.name);
      if (it == attrs.end()) it = attrs.emplace(a.name, any_attr(a, Shape())).first;
      const auto* list = it->second.get<std::vector<DType>>();
      return list ? *list : std::vector<DType>();
    }
    DType type = arg.type;
    if (arg.type_attr >= 0) {
      const auto& a = sig.attrs[size_t(arg.type_attr)];
      auto it = attrs.find(a.name);
      if (it == attrs.end()) it = attrs.emplace(a.name, any_attr(a, Shape())).first;
      const auto* t = it->second.get<DType>();
      type = t ? *t : any_type();
    }
    if (pick(50) == 0) type = any_type();
    int64_t n = 1;
    if (arg.number_attr >= 0) {
      const auto& a = sig.attrs[size_t(arg.number_attr)];
      auto it = attrs.find(a.name);
      const int64_t* given = it == attrs.end() ? nullptr : it->second.get<int64_t>();
      n = given && *given >= 0 && *given <= 4 ? *given : std::max<int64_t>(a.minimum.value_or(0), int64_t(pick(4)));
      if (pick(20)) attrs[a.name] = n;
    }
    return std::vector<DType>(size_t(std::clamp<int64_t>(n, 0, 8)), type);
  }

  op::AttrValue any_attr(const op::AttrSpec& a, const Shape& base) {
    std::string_view type = a.type;
    const bool list = type.starts_with("list(");
    if (list) type = type.substr(5, type.size() - 6);
    const size_t n = size_t(std::max<int64_t>(list ? a.minimum.value_or(0) : 0, int64_t(pick(5))));
    auto many = [&](auto make) -> op::AttrValue {
      using T = decltype(make());
      if (!list) return op::AttrValue(make());
      std::vector<T> all;
      for (size_t i = 0; i < std::min<size_t>(n, 16); ++i) all.push_back(make());
      return op::AttrValue(std::move(all));
    };
    if (type == "int")
      return many([&] {
        return pick(5) ? std::max<int64_t>(int64_t(pick(6)) - (pick(3) ? 0 : 1), list ? -1 : a.minimum.value_or(-1)) : kInts[pick(std::size(kInts))];
      });
    if (type == "float") return many([&] { return pick(4) ? float(pick(5)) * 0.5f : float(kDoubles[pick(10)]); });
    if (type == "bool") return many([&] { return bool(pick(2)); });
    if (type == "string")
      return many([&] { return !a.allowed_strings.empty() && pick(10) ? any_of(a.allowed_strings) : std::string(kWords[pick(std::size(kWords))]); });
    if (type == "type")
      return many([&] { return !a.allowed_types.empty() && pick(30) ? any_of(a.allowed_types) : pick(3) ? DType::kFloat : any_type(); });
    if (type == "shape") return many([&] { return pick(3) ? PartialShape(base) : blurred(any_shape()); });
    if (type == "tensor") return many([&] { return any_tensor(pick(2) ? DType::kFloat : any_type(), base); });
    if (type == "func") {
      const char* names[] = {"same", "pair", "truth", "none", "no_such_function"};
      return many([&] { return op::FunctionAttr{names[pick(std::size(names))], nullptr}; });
    }
    return {};
  }

  Handle any_input(DType t, const Shape& base) {
    auto& kept = pool_[size_t(t) % pool_.size()];
    const bool opaque = t == DType::kResource || t == DType::kVariant;
    if (!kept.empty() && pick(opaque ? 12 : 6) < (opaque ? 11u : 1u)) return kept[pick(kept.size())];
    return eager::TensorHandle::make(any_tensor(t, base), nullptr);
  }
  void keep(Handle h) {
    auto& kept = pool_[size_t(h->dtype()) % pool_.size()];
    if (h->tensor().byte_size() > (1 << 16)) return;
    if (kept.size() < 24) kept.push_back(std::move(h));
    else kept[pick(kept.size())] = std::move(h);
  }

  void add_function(const char* name, int inputs, DType out, const char* op, op::AttrMap attrs, int reads) {
    graph::FunctionDef f;
    f.name = name;
    graph::NodeDef n;
    n.name = "n";
    n.op = op;
    n.attrs = std::move(attrs);
    for (int i = 0; i < inputs; ++i) {
      graph::ArgDef a;
      a.name = cat("x", i);
      a.type = DType::kFloat;
      f.inputs.push_back(a);
      if (i < reads) n.inputs.push_back(a.name);
    }
    if (out != DType::kInvalid) {
      graph::ArgDef y;
      y.name = "y";
      y.type = out;
      f.outputs.push_back(y);
      f.ret["y"] = cat("n:", out == DType::kBool ? "output" : inputs == 2 ? "z" : "output", ":0");
    }
    f.nodes.push_back(std::move(n));
    (void)context_.functions().add(f);
  }
  void add_functions() {
    add_function("same", 1, DType::kFloat, "Identity", {{"T", DType::kFloat}}, 1);
    add_function("pair", 2, DType::kFloat, "AddV2", {{"T", DType::kFloat}}, 2);
    add_function("truth", 1, DType::kBool, "Const", {{"dtype", DType::kBool}, {"value", *Tensor::zeros(DType::kBool, Shape())}}, 0);
    add_function("none", 0, DType::kInvalid, "NoOp", {}, 0);
  }

  // One of each kind of resource and variant, so that ops on them have something to work on.
  void make_resources() {
    auto made = [&](std::string_view op, op::AttrMap attrs, std::vector<Handle> in) -> Handle {
      auto out = run(op, attrs, in);
      if (out.empty()) return {};
      keep(out[0]);
      return out[0];
    };
    auto value = [](Tensor t) { return eager::TensorHandle::make(std::move(t), nullptr); };
    const Shape two({2});
    const std::vector<DType> floats{DType::kFloat};
    const std::vector<PartialShape> shapes{PartialShape(two)};
    if (Handle v = made("VarHandleOp", {{"dtype", DType::kFloat}, {"shape", PartialShape(two)}, {"shared_name", "v"}}, {}); v.get())
      (void)run("AssignVariableOp", {{"dtype", DType::kFloat}}, {v, value(small(DType::kFloat, two))});
    made("VarHandleOp", {{"dtype", DType::kInt32}, {"shape", PartialShape(two)}, {"shared_name", "w"}}, {});
    made("HashTableV2", {{"key_dtype", DType::kString}, {"value_dtype", DType::kInt64}}, {});
    made("MutableHashTableV2", {{"key_dtype", DType::kInt64}, {"value_dtype", DType::kFloat}}, {});
    made("MutableDenseHashTableV2", {{"value_dtype", DType::kFloat}}, {value(small(DType::kInt64, Shape())), value(fresh(DType::kInt64, Shape()))});
    made("FIFOQueueV2", {{"component_types", floats}, {"shapes", shapes}, {"capacity", 4}}, {});
    made("StackV2", {{"elem_type", DType::kFloat}}, {value(small(DType::kInt32, Shape()))});
    made("TensorArrayV3", {{"dtype", DType::kFloat}}, {value(small(DType::kInt32, Shape()))});
    made("MutexV2", {}, {});
    made("AnonymousIteratorV3", {{"output_types", floats}, {"output_shapes", shapes}}, {});
    made("ResourceConditionalAccumulator", {{"dtype", DType::kFloat}, {"shape", PartialShape(two)}}, {});
    made("StatsAggregatorHandleV2", {}, {});
    made("BoostedTreesEnsembleResourceHandleOp", {}, {});
    made("EmptyTensorList", {{"element_dtype", DType::kFloat}, {"shape_type", DType::kInt32}},
         {value(small(DType::kInt32, Shape({1}))), value(small(DType::kInt32, Shape()))});
    made("TensorListReserve", {{"element_dtype", DType::kFloat}, {"shape_type", DType::kInt32}},
         {value(small(DType::kInt32, Shape({1}))), value(small(DType::kInt32, Shape()))});
    made("EmptyTensorMap", {}, {});
    made("OptionalFromValue", {{"Toutput_types", floats}}, {value(small(DType::kFloat, two))});
    made("OptionalNone", {}, {});
    made("TensorSliceDataset", {{"Toutput_types", floats}, {"output_shapes", std::vector<PartialShape>{PartialShape(Shape())}}},
         {value(small(DType::kFloat, two))});
    made("RaggedTensorToVariant", {{"RAGGED_RANK", 0}, {"Tvalues", DType::kFloat}, {"batched_input", true}}, {value(small(DType::kFloat, two))});
    made("DenseToCSRSparseMatrix", {{"T", DType::kFloat}}, {value(small(DType::kFloat, Shape({2, 2}))), value(small(DType::kInt64, Shape({1, 2})))});
  }

  eager::Context context_;
  std::array<std::vector<Handle>, 64> pool_;
};

uint64_t seed_for(uint64_t seed, std::string_view name) {
  uint64_t h = 0xcbf29ce484222325u ^ seed * 0x9e3779b97f4a7c15u;
  for (unsigned char c : name) h = (h ^ c) * 0x100000001b3u;
  return h;
}

void limit() {
  const rlimit none{0, 0}, space{kAddressSpace, kAddressSpace};
  setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  setrlimit(RLIMIT_AS, &space);
#endif
}

// False if the process of this op died; what happened is printed.
bool attack(const op::OpSpec& spec, uint64_t seed, int calls) {
  std::fflush(stdout);
  progress->call = 0;
  const pid_t child = fork();
  if (child == 0) {
    limit();
    rng.seed(seed_for(seed, spec.name));
    alarm(kSecondsPerCall);
    Caller caller;
    for (int i = 0; i < calls; ++i) {
      alarm(kSecondsPerCall);
      caller.call(spec);
    }
    std::fflush(stdout);
    _exit(0);  // what the resources leave behind is not asked for here
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  const char* how = WIFSIGNALED(status) ? (WTERMSIG(status) == SIGALRM ? "hung" : strsignal(WTERMSIG(status))) : "exited";
  std::printf("DIED %.*s: %s in call %lld\n  again: op_random --seed %llu --calls %d --op %.*s\n", int(spec.name.size()), spec.name.data(), how,
              static_cast<long long>(progress->call.load()), static_cast<unsigned long long>(seed), calls, int(spec.name.size()), spec.name.data());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seed = 1;
  double seconds = 1e9;
  int calls = 40;
  std::string only;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--list") list = true;
    else if (i + 1 >= argc) return 2;
    else if (arg == "--seed") seed = std::stoull(argv[++i]);
    else if (arg == "--seconds") seconds = std::stod(argv[++i]);
    else if (arg == "--calls") calls = std::stoi(argv[++i]);
    else if (arg == "--op") only = argv[++i];
    else return 2;
  }
  progress = static_cast<Progress*>(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (progress == MAP_FAILED) return 2;
  set_host_limit(kTensorMemory);
  auto& registry = engine::Engine::get().registry();
  std::vector<const op::OpSpec*> specs;
  for (const auto* spec : registry.all()) {
    if ((only.empty() ? kLeftOut.count(spec->name) == 0 : spec->name == only) && !registry.kernels(*spec).empty()) specs.push_back(spec);
  }
  if (list) {
    std::printf("%zu ops, %zu left out\n", specs.size(), kLeftOut.size());
    return 0;
  }
  const auto start = std::chrono::steady_clock::now();
  rng.seed(seed);
  std::shuffle(specs.begin(), specs.end(), rng);
  int ops = 0, died = 0;
  for (const auto* spec : specs) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
    ++ops;
    died += !attack(*spec, seed, calls);
  }
  std::printf("%d ops: %lld calls, %lld of them without an error; %lld shape rules, %lld without an error; %d ops died\n", ops,
              static_cast<long long>(progress->answered.load()), static_cast<long long>(progress->fine.load()),
              static_cast<long long>(progress->shapes.load()), static_cast<long long>(progress->shapes_fine.load()), died);
  return died || ops == 0 ? 1 : 0;
}
