// Calls every kernel with inputs and attributes that were tampered with: other types and ranks, empty and
// huge shapes, NaN and extreme numbers, attributes out of range, inputs missing or too many. Whatever comes
// back is fine, a result or an error; a crash, a hang or a sanitizer report is not.
//
//   play mutation [--calls N] [--only NAME] [--seed S] [--device NAME] FILE...      sequences are the files of a folder `state`
//
// With --device calls are asked to run there, results are brought to the host, and the device must still compute when an op's calls are done. Each op runs in a child process, so that a crash is counted and named and the rest continues.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <set>

#include "core/allocator.h"
#include "core/own_memory.h"
#include "cuda/device.h"
#include "eager/op.h"
#include "engine/engine.h"
#include "op/shape_context.h"
#include "tests/play/mutation_values.h"
#include "tests/play/play.h"
#include "tests/support/cases.h"

namespace weft_engine::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSecondsPerCall = 200;  // sanitizers are ten times slower
#else
constexpr int kSecondsPerCall = 20;
#endif
// Small enough that a runaway size is refused rather than filled.
constexpr int64_t kMemoryLimit = int64_t(1) << 30;

// Ops that write where the mutated input says, or wait on purpose.
const std::set<std::string> kLeftOut = {"WriteFile", "PrintV2", "Print"};

std::string device;  // where calls are asked to run; empty: anywhere

Shape mutated_shape(const Shape& s) {
  std::vector<int64_t> dims = s.vec();
  switch (pick(8)) {
    case 0: return Shape();
    case 1: return Shape({0});
    case 2: dims.insert(dims.begin() + long(pick(dims.size() + 1)), 1 + int64_t(pick(2))); break;
    case 3:
      if (!dims.empty()) dims.erase(dims.begin() + long(pick(dims.size())));
      break;
    case 4:
      if (!dims.empty()) dims[pick(dims.size())] = 0;
      break;
    case 5:
      if (!dims.empty()) dims[pick(dims.size())] += 1;
      break;
    case 6:
      if (!dims.empty()) dims[pick(dims.size())] = 1;
      break;
    // An empty tensor with one enormous dimension: products overflow though nothing is stored.
    default: dims.insert(dims.begin(), 0), dims.push_back(int64_t(1) << 40); break;
  }
  const Shape out(dims);
  return out.valid() && out.num_elements() < 100000 ? out : Shape({2});
}

Tensor mutated(const Tensor& t) {
  switch (pick(7)) {
    case 0: return fresh(static_cast<DType>(1 + pick(kNumDTypes - 1)), t.shape());  // another type
    case 1:
    case 2: return fresh(t.dtype(), mutated_shape(t.shape()));
    case 3: return fresh(t.dtype(), t.shape());  // all numbers extreme
    default: {  // a few of them
      auto copy = t.copy();
      if (!copy.ok() || copy->num_elements() == 0) return t;
      for (uint64_t k = 0; k < 1 + pick(3); ++k) put_any(*copy, int64_t(pick(uint64_t(copy->num_elements()))));
      return std::move(copy).value();
    }
  }
}

op::AttrValue mutated(const op::AttrValue& v) {
  if (pick(12) == 0) return op::AttrValue(int64_t(7));  // another kind altogether
  return std::visit(
      [](const auto& x) -> op::AttrValue {
        using T = std::decay_t<decltype(x)>;
        auto one = [](auto sample) {
          using E = decltype(sample);
          if constexpr (std::is_same_v<E, int64_t>) return kInts[pick(std::size(kInts))];
          else if constexpr (std::is_same_v<E, float>) return float(kDoubles[pick(std::size(kDoubles))] > 3e38 ? INFINITY : kDoubles[pick(10)]);
          else if constexpr (std::is_same_v<E, bool>) return pick(2) == 1;
          else if constexpr (std::is_same_v<E, std::string>) return pick(2) ? std::string() : std::string("nonsense");
          else if constexpr (std::is_same_v<E, DType>) return static_cast<DType>(1 + pick(kNumDTypes - 1));
          else if constexpr (std::is_same_v<E, PartialShape>)
            return pick(2) ? PartialShape::unknown() : PartialShape({kInts[pick(10)] < 0 ? -1 : 1 << 20, 3});
          else return sample;
        };
        if constexpr (std::is_same_v<T, std::monostate>) {
          return {};
        } else if constexpr (requires { x.push_back(x[0]); } && !std::is_same_v<T, std::string>) {
          T list = x;
          const auto what = pick(4);
          if (what == 0) list.clear();
          else if (what == 1 && !list.empty()) list.pop_back();
          else if (what == 2) list.push_back(list.empty() ? typename T::value_type() : typename T::value_type(list[0]));
          else if (!list.empty()) {
            typename T::value_type sample = list[pick(list.size())];
            list[pick(list.size())] = one(sample);
          }
          return op::AttrValue(std::move(list));
        } else if constexpr (std::is_same_v<T, Tensor>) {
          return op::AttrValue(mutated(x));
        } else if constexpr (std::is_same_v<T, op::EmptyList> || std::is_same_v<T, op::FunctionAttr> || std::is_same_v<T, op::PlaceholderAttr>) {
          return op::AttrValue(x);
        } else {
          return op::AttrValue(one(x));
        }
      },
      v.storage());
}

// One call; what it returns does not matter. The shape rule is asked too, with the same tampered inputs.
void call(eager::Context& context, const std::string& name, const op::AttrMap& attrs, const std::vector<RefPtr<eager::TensorHandle>>& inputs,
          std::vector<RefPtr<eager::TensorHandle>>* outputs) {
  eager::Op op(context);
  if (!op.reset(name, device).ok()) return;
  for (const auto& [k, v] : attrs) (void)op.set_attr(k, v);
  for (const auto& t : inputs) op.add_input(t);
  std::vector<RefPtr<eager::TensorHandle>> results;
  Status s = op.execute(results);
  for (size_t i = 0; s.ok() && !device.empty() && i < results.size(); ++i) {
    s = results[i]->wait();
    if (s.ok()) s = core::to_host(results[i]->tensor()).status();
  }
  if (!s.ok() && s.code() == Code::kInternal) std::printf("%s: internal error: %s\n", name.c_str(), s.message().substr(0, 200).c_str());
  if (outputs) *outputs = std::move(results);
  const auto* spec = engine::Engine::get().registry().find(name);
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
  std::vector<const Tensor*> constants;
  for (const auto& t : inputs) {
    types.push_back(t->dtype());
    shapes.push_back(t->tensor().shape());
    constants.push_back(pick(2) ? t->constant() : nullptr);
  }
  auto node = op::NodeInfo::make(*spec, "", attrs, types);
  if (!node.ok()) return;
  op::ShapeContext shape_context(*node, shapes, constants);
  (void)spec->infer_shapes(shape_context);
}

void play_case(eager::Context& context, OpCase c) {
  for (uint64_t k = 0; k < 1 + pick(2); ++k) {
    const uint64_t what = pick(10);
    if (what < 6 && !c.inputs.empty()) {
      auto& t = c.inputs[pick(c.inputs.size())];
      t = mutated(*t);
    } else if (what < 9 && !c.attrs.empty()) {
      auto it = c.attrs.begin();
      std::advance(it, long(pick(c.attrs.size())));
      it->second = mutated(it->second);
    } else if (!c.inputs.empty()) {
      if (pick(2)) c.inputs.pop_back();
      else c.inputs.push_back(c.inputs[0]);
    }
    if (c.inputs.empty()) break;
  }
  std::vector<RefPtr<eager::TensorHandle>> inputs;
  for (const auto& t : c.inputs) inputs.push_back(eager::TensorHandle::make(*t, nullptr));
  call(context, c.op, c.attrs, inputs, nullptr);
}

// A recorded sequence with one or two steps tampered with. Steps that might wait for ever are bounded by the alarm,
// and queues are drained by nobody here, so ops that wait are only called as the recording calls them.
void play_sequence(std::vector<SeqStep> steps) {
  eager::ContextOptions options;
  options.intra_threads = 1;
  eager::Context context(engine::Engine::get().registry(), options);
  std::vector<std::vector<RefPtr<eager::TensorHandle>>> results;
  const uint64_t victim = pick(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    SeqStep& step = steps[i];
    if (i == victim) {
      if (!step.inputs.empty() && pick(3)) {
        auto& arg = step.inputs[pick(step.inputs.size())];
        if (!arg.is_ref) arg.tensor = mutated(*arg.tensor);
        else if (pick(2)) arg = {Recorded(fresh(DType::kFloat, Shape({2}))), false, 0, 0};
      } else if (!step.attrs.empty()) {
        auto it = step.attrs.begin();
        std::advance(it, long(pick(step.attrs.size())));
        it->second = mutated(it->second);
      }
    }
    std::vector<RefPtr<eager::TensorHandle>> inputs;
    bool missing = false;
    for (const auto& arg : step.inputs) {
      if (!arg.is_ref) inputs.push_back(eager::TensorHandle::make(*arg.tensor, nullptr));
      else if (size_t(arg.output) < results[size_t(arg.step)].size()) inputs.push_back(results[size_t(arg.step)][size_t(arg.output)]);
      else missing = true;
    }
    results.emplace_back();
    if (!missing) call(context, step.op, step.attrs, inputs, &results.back());
  }
}

// A device that was lost answers nothing any more.
bool still_computes(eager::Context& context) {
  if (device.empty()) return true;
  eager::Op op(context);
  const auto x = eager::TensorHandle::make(Tensor::vector(std::vector<float>{1, 2, 3}), nullptr);
  Status s = op.reset("AddV2", device);
  op.add_input(x);
  op.add_input(x);
  std::vector<RefPtr<eager::TensorHandle>> sum;
  if (s.ok()) s = op.execute(sum);
  Result<Tensor> here = s.ok() ? core::to_host(sum[0]->tensor()) : Result<Tensor>(s);
  if (here.status().code() == Code::kInvalidArgument) here = core::to_host(sum[0]->tensor());  // of an earlier call, told once
  if (!here.ok()) std::printf("%s: %s\n", device.c_str(), here.status().to_string().substr(0, 200).c_str());
  return here.ok() && here->data<float>()[2] == 6;
}

// Runs `body` in a child; false if it died, with the reason printed.
template <class F>
bool survives(const std::string& name, F body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    for (cuda::Gpu* gpu : cuda::physical_gpus()) (void)gpu->set_memory_options({kMemoryLimit, 0, true});  // here: CUDA does not go on in a fork
    body();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) std::printf("DIED %s: took longer than %d s\n", name.c_str(), kSecondsPerCall);
  else if (WIFSIGNALED(status)) std::printf("DIED %s: signal %d\n", name.c_str(), WTERMSIG(status));
  else std::printf("DIED %s: exit %d\n", name.c_str(), WEXITSTATUS(status));
  return false;
}

uint64_t seed_for(uint64_t seed, const std::string& name) { return seed ^ std::hash<std::string>()(name); }

}  // namespace

int play_mutation(const Words& words) {
  int calls = 300, seed = 1;
  Arguments a;
  if (!a.value("--calls", &calls).value("--seed", &seed).value("--only", &a.only).value("--device", &device).parse(words)) return 2;
  std::vector<std::string> case_files, state_files;
  for (const auto& file : a.files) (file.find("/state/") == std::string::npos ? case_files : state_files).push_back(file);
  const std::string& only = a.only;
  set_host_limit(kMemoryLimit);
  int ops = 0, died = 0;
  int64_t total = 0;
  for (const auto& path : case_files) {
    auto records = read_records(path);
    if (!records.ok() || records->empty()) return 2;
    const std::string name = parse_case((*records)[0])->op;
    if (kLeftOut.count(name) || (!only.empty() && name != only)) continue;
    ++ops;
    total += calls;
    died += !survives(name, [&] {
      rng.seed(seed_for(uint64_t(seed), name));
      std::vector<OpCase> cases;
      for (const auto& r : *records) {
        auto c = parse_case(r);
        if (c.ok()) cases.push_back(std::move(c).value());
      }
      eager::ContextOptions options;
      options.intra_threads = 1;
      eager::Context context(engine::Engine::get().registry(), options);
      for (int k = 0; k < calls; ++k) {
        alarm(kSecondsPerCall);
        play_case(context, cases[pick(cases.size())]);
      }
      if (!still_computes(context)) {
        std::fflush(stdout);
        _exit(3);
      }
    });
  }
  const bool read = each_sequence(state_files, only, [&](const std::vector<SeqStep>& sequence) {
    if (sequence[0].ref) return;
    const std::string& name = sequence[0].sequence;
    ++ops;
    const int rounds = std::max(1, calls / 20);
    total += rounds * int64_t(sequence.size());
    died += !survives(name, [&] {
      rng.seed(seed_for(uint64_t(seed), name));
      for (int k = 0; k < rounds; ++k) {
        alarm(kSecondsPerCall);
        play_sequence(sequence);
      }
    });
  });
  if (!read) return 2;
  std::printf("mutation: %lld calls of %d ops and sequences, %d died\n", static_cast<long long>(total), ops, died);
  return died || ops == 0 ? 1 : 0;
}

}  // namespace weft_engine::testing
