#include "cuda/launch.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/codegen.h"
#include "core/cat.h"
#include "core/log.h"
#include "cuda/attention.h"
#include "cuda/convolution.h"
#include "cuda/matmul.h"

namespace weft_engine::cuda {
namespace {

using compiler::GpuArg;
using compiler::GpuLaunch;
using core::cat;
using core::Result;
using core::Status;

constexpr size_t kStackArgs = 32;
constexpr int64_t kMostBlocks = 0x7fffffff;
constexpr int kLeastRecorded = 3, kMostRecorded = 20000;  // launches of a graph
constexpr size_t kMostGraphs = 8, kMostSeen = 32;         // of a program
constexpr int kMostResultPlaces = 4;                      // of calls that have all else in common

// How many launches there are in a call; -1: the host decides in between, or sizes are open.
int64_t count(const std::vector<GpuLaunch>& launches) {
  int64_t n = 0;
  for (const GpuLaunch& l : launches) {
    int64_t own = 1;
    if (l.kind == GpuLaunch::Kind::kIf) return -1;
    if (l.kind == GpuLaunch::Kind::kWhile) {
      if (!l.trips || !l.trips->is_const()) return -1;
      own = count(l.regions[1]);
      if (own < 0 || own * std::max<int64_t>(l.trips->value(), 0) > kMostRecorded) return -1;
      own *= l.trips->value();
    }
    n += own;
  }
  return n;
}

// In traces: the kernel's entry, or who does the work.
std::string name_of(const GpuLaunch& l) {
  switch (l.kind) {
    case GpuLaunch::Kind::kKernel: return l.entry;
    case GpuLaunch::Kind::kLibrary: return l.instr->op == ir::Op::kDot ? "cuBLASLt" : "cuDNN";
    case GpuLaunch::Kind::kCopy: return "MEMCPYDtoD";
    case GpuLaunch::Kind::kFill: return "MEMSET";
    default: return "control";
  }
}

uint64_t hash_of(const std::vector<uint64_t>& key) {
  uint64_t h = 1469598103934665603u;
  for (uint64_t v : key) h = (h ^ v) * 1099511628211u, h ^= h >> 29;
  return h;
}

}  // namespace

bool Program::Seen::before(uint64_t hash, int times) {
  for (auto& [known, count] : all) {
    if (known == hash) return count++ >= times;
  }
  if (all.size() < kMostSeen) all.emplace_back(hash, 1);
  else all[next++ % kMostSeen] = {hash, 1};
  return false;
}

// Launches of one call with an event behind each: what the GPU did when.
class Program::Timeline {
 public:
  Timeline(Gpu& gpu, op::StepTrace& to) : gpu_(gpu), to_(to) {}
  ~Timeline() {
    for (const Mark& m : marks_) {
      if (m.event) gpu_.driver().destroy_event(m.event);
    }
  }
  // Nothing of earlier calls is left in the stream, so that the first event is now.
  Status begin() {
    WEFT_CUDA_RETURN(gpu_.driver(), wait_for_stream(gpu_.stream()), "waiting for the GPU");
    start_ = op::StepTrace::now();
    return mark({}, {});
  }
  Status mark(std::string node, std::string kernel) {
    void* event = nullptr;
    WEFT_CUDA_RETURN(gpu_.driver(), create_event(&event, 0), "making an event");
    marks_.push_back({std::move(node), std::move(kernel), event});
    WEFT_CUDA_RETURN(gpu_.driver(), record_event(event, gpu_.stream()), "recording an event");
    return {};
  }
  Status end() {
    WEFT_CUDA_RETURN(gpu_.driver(), wait_for_event(marks_.back().event), "waiting for the GPU");
    int64_t from = start_;
    for (size_t i = 1; i < marks_.size(); ++i) {
      float ms = 0;
      WEFT_CUDA_RETURN(gpu_.driver(), event_time(&ms, marks_[0].event, marks_[i].event), "measuring");
      const int64_t until = start_ + int64_t(double(ms) * 1e6);
      to_.add({std::move(marks_[i].node), std::move(marks_[i].kernel), cat("/device:GPU:", gpu_.number(), "/stream:all"), from, until, 0, {}});
      from = until;
    }
    return {};
  }

 private:
  struct Mark {
    std::string node, kernel;
    void* event;
  };
  Gpu& gpu_;
  op::StepTrace& to_;
  int64_t start_ = 0;
  std::vector<Mark> marks_;
};

struct Program::Run {
  const Call& call;
  void* stream;
  DevicePtr arena = 0, error = 0;
  bool recording = false;
  std::vector<int64_t> turns{};  // of the loops around the launch
  Timeline* timeline = nullptr;

  uint64_t value(const GpuArg& a, const std::vector<DevicePtr>& constants) const {
    switch (a.kind) {
      case GpuArg::Kind::kParameter: return call.parameters[size_t(a.index)];
      case GpuArg::Kind::kResult: return call.results[size_t(a.index)];
      case GpuArg::Kind::kConstant: return constants[size_t(a.index)];
      case GpuArg::Kind::kArena: return arena + uint64_t(a.size.evaluate(call.symbols));
      case GpuArg::Kind::kSize: return uint64_t(a.size.evaluate(call.symbols));
      case GpuArg::Kind::kError: return error;
      case GpuArg::Kind::kIteration: return uint64_t(turns[size_t(a.index)]);
    }
    return 0;
  }
};

Result<std::unique_ptr<Program>> Program::make(Gpu& gpu, const compiler::Plan& plan) {
  std::unique_ptr<Program> p(new Program(gpu, plan));
  WEFT_RETURN_IF_ERROR(p->load());
  return p;
}

Program::~Program() {
  if (!gpu_.use().ok()) return;
  if (module_ || !graphs_.empty()) (void)gpu_.driver().wait_for_stream(gpu_.stream());  // its kernels may still be queued
  for (const Recorded& r : graphs_) gpu_.destroy(r.graph);
  for (const auto& blocks : {constants_, own_results_}) {
    for (DevicePtr at : blocks) {
      if (at) gpu_.free(at);
    }
  }
  if (error_) gpu_.give_error_word(error_);
  if (module_) gpu_.driver().unload_module(module_);
}

Status Program::load() {
  const Driver& d = gpu_.driver();
  WEFT_RETURN_IF_ERROR(gpu_.use());
  WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
  if (!api->gpu || !api->gpu_on_host) return core::unimplemented("this compiler makes no code for GPUs");
  if (d.host_function) {
    WEFT_ASSIGN(host_, api->gpu_on_host(plan_));
    code_ = host_->code;
  } else {
    compiler::GpuOptions o;
    WEFT_ASSIGN(code_, api->gpu(plan_, o));
    if (!code_.ptx.empty()) {
      char log[4096] = {};
      int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER and its size
      void* values[] = {log, reinterpret_cast<void*>(sizeof log - 1)};
      if (const Error error = d.load_module(&module_, code_.ptx.c_str(), 2, options, values))
        return d.status(error, "loading generated code").with_suffix(cat("\n", log));
    }
  }
  WEFT_RETURN_IF_ERROR(find_entries(code_.launches));
  const AllocatingFor op("constants of compiled code");
  for (const ir::Instr* c : plan_.constants) {
    constants_.push_back(0);
    if (c->literal.byte_size() == 0) continue;
    WEFT_ASSIGN(constants_.back(), gpu_.allocate(c->literal.byte_size()));
    WEFT_RETURN_IF_ERROR(gpu_.copy_to_device(constants_.back(), c->literal.raw(), c->literal.byte_size()));
  }
  if (!plan_.module->messages.empty()) {
    WEFT_ASSIGN(error_, gpu_.acquire_error_word(std::make_shared<const std::vector<std::string>>(plan_.module->messages)));
  }
  const int64_t launches = plan_.module->symbols.empty() && d.graphs() ? count(code_.launches) : -1;
  launches_ = launches > kMostRecorded ? -1 : int(launches);
  return {};
}

Status Program::find_entries(std::vector<GpuLaunch>& launches) {
  for (GpuLaunch& l : launches) {
    if (l.kind == GpuLaunch::Kind::kKernel && host_) {
      const compiler::GpuHostKernel kernel = host_->kernel(l.entry);
      if (!kernel) return core::internal_error("generated code has no kernel ", l.entry);
      WEFT_CUDA_RETURN(gpu_.driver(), host_function(&l.function, reinterpret_cast<void*>(kernel), l.entry.c_str(), unsigned(l.args.size())),
                       "finding a kernel");
    } else if (l.kind == GpuLaunch::Kind::kKernel) {
      WEFT_CUDA_RETURN(gpu_.driver(), module_function(&l.function, module_, l.entry.c_str()), "finding a kernel");
    }
    for (auto& region : l.regions) WEFT_RETURN_IF_ERROR(find_entries(region));
  }
  return {};
}

Status Program::run(const Call& call) {
  WEFT_RETURN_IF_ERROR(gpu_.use());
  Run r{call, gpu_.stream()};
  const int64_t arena_bytes = code_.arena_bytes.evaluate(call.symbols);
  if (arena_bytes > 0) {
    WEFT_ASSIGN(r.arena, gpu_.allocate(size_t(arena_bytes)));
  }
  r.error = error_;
  const auto traced = [&]() -> Status {
    Timeline timeline(gpu_, *call.trace);
    r.timeline = &timeline;
    WEFT_RETURN_IF_ERROR(timeline.begin());
    WEFT_RETURN_IF_ERROR(run_list(r, code_.launches));
    return timeline.end();
  };
  const Status s = call.trace ? traced() : launches_ >= kLeastRecorded ? queue(r) : run_list(r, code_.launches);
  if (error_) gpu_.may_fail();
  if (r.arena) gpu_.free(r.arena);
  return s;
}

namespace {

// Results that are copied out of a graph's own memory: few and small ones, a loss and what else a step tells.
bool has_small_results(const Program::Call& call) {
  constexpr size_t kMostResults = 4, kMostBytes = 4096;
  size_t results = 0;
  for (size_t n : call.result_bytes) {
    if (n > kMostBytes) return false;
    results += n > 0;
  }
  return call.result_bytes.size() == call.results.size() && results > 0 && results <= kMostResults;
}

}  // namespace

// The first call with some addresses is as always: it also lets libraries choose and load their kernels. The second is recorded. Where only results lie elsewhere from call to call, since
// the caller still has those of the calls before, a graph writes memory of its own, from which they are copied.
Status Program::queue(Run& r) {
  Key key;
  key.reserve(r.call.parameters.size() + r.call.results.size() + 2);
  key.insert(key.end(), r.call.parameters.begin(), r.call.parameters.end());
  key.push_back(r.arena);
  key.push_back(tf32_allowed());
  const size_t without_results = key.size();
  key.insert(key.end(), r.call.results.begin(), r.call.results.end());
  const auto same_but_results = [&](const Recorded& g) { return std::equal(key.begin(), key.begin() + ptrdiff_t(without_results), g.key.begin()); };
  const std::lock_guard lock(graphs_mutex_);
  const Recorded* own = nullptr;
  for (const Recorded& g : graphs_) {
    if (!same_but_results(g)) continue;
    if (g.own_results) own = &g;
    else if (g.key == key) return gpu_.launch(g.graph);
  }
  if (own) return launch(r.call, *own);
  if (seen_.before(hash_of(key))) return record(r, key, false);
  key.resize(without_results);
  if (has_small_results(r.call) && others_seen_.before(hash_of(key), kMostResultPlaces)) return record(r, key, true);
  return run_list(r, code_.launches);
}

Status Program::launch(const Call& call, const Recorded& graph) {
  WEFT_RETURN_IF_ERROR(gpu_.launch(graph.graph));
  for (size_t i = 0; i < call.results.size() && graph.own_results; ++i) {
    if (call.result_bytes[i]) WEFT_RETURN_IF_ERROR(gpu_.copy(call.results[i], own_results_[i], call.result_bytes[i]));
  }
  return {};
}

Status Program::record(Run& r, const Key& key, bool own_results) {
  Call call = r.call;
  if (own_results && own_results_.empty()) {
    std::vector<DevicePtr> taken;
    for (size_t n : call.result_bytes) {
      auto at = n ? gpu_.allocate(n) : Result<DevicePtr>(0);
      if (!at.ok()) {
        for (DevicePtr p : taken) gpu_.free(p);
        return run_list(r, code_.launches);
      }
      taken.push_back(*at);
    }
    own_results_ = std::move(taken);
  }
  if (own_results) call.results = own_results_;
  auto graph = gpu_.capture([&](void* stream) {
    Run recorded{call, stream, r.arena, r.error, true};
    return run_list(recorded, code_.launches);
  });
  if (!graph.ok() || !*graph) {
    launches_ = -1;  // as before, and for good
    if (!graph.ok()) core::log(core::LogLevel::kInfo, cat("work for ", gpu_.name(), " is launched one by one: ", graph.status().message()));
    return run_list(r, code_.launches);
  }
  Recorded made{key, *graph, own_results};
  const Status s = launch(r.call, made);
  if (graphs_.size() < kMostGraphs) {
    graphs_.push_back(std::move(made));
  } else {
    Recorded& oldest = graphs_[next_graph_++ % kMostGraphs];
    gpu_.destroy(oldest.graph);
    oldest = std::move(made);
  }
  return s;
}

Status Program::run_list(Run& r, const std::vector<GpuLaunch>& launches) {
  for (const GpuLaunch& l : launches) {
    WEFT_RETURN_IF_ERROR(run_one(r, l));
    if (r.timeline && l.regions.empty()) WEFT_RETURN_IF_ERROR(r.timeline->mark(l.instr ? l.instr->node : "", name_of(l)));
  }
  return {};
}

Status Program::run_one(Run& r, const GpuLaunch& l) {
  const Driver& d = gpu_.driver();
  const auto arg = [&](size_t i) { return r.value(l.args[i], constants_); };
  switch (l.kind) {
    case GpuLaunch::Kind::kKernel: {
      const int64_t blocks = l.blocks.evaluate(r.call.symbols);
      if (blocks <= 0) return {};
      if (blocks > kMostBlocks) return core::unimplemented("a kernel of ", blocks, " blocks");
      uint64_t few_values[kStackArgs];
      void* few_pointers[kStackArgs];
      std::vector<uint64_t> many_values;
      std::vector<void*> many_pointers;
      uint64_t* values = few_values;
      void** pointers = few_pointers;
      if (l.args.size() > kStackArgs) {
        many_values.resize(l.args.size());
        many_pointers.resize(l.args.size());
        values = many_values.data();
        pointers = many_pointers.data();
      }
      for (size_t i = 0; i < l.args.size(); ++i) {
        values[i] = arg(i);
        pointers[i] = &values[i];
      }
      WEFT_CUDA_RETURN(d, launch(l.function, unsigned(blocks), 1, 1, unsigned(l.threads), 1, 1, 0, r.stream, pointers, nullptr),
                       "launching a kernel");
      return {};
    }
    case GpuLaunch::Kind::kLibrary: {
      if (l.regions.empty()) return attention(r, l);
      WEFT_ASSIGN(const bool done, by_library(r, l));
      if (!done) return run_list(r, l.regions[0]);
      return r.timeline ? r.timeline->mark(l.instr->node, name_of(l)) : Status();
    }
    case GpuLaunch::Kind::kCopy: return gpu_.copy(arg(0), arg(1), size_t(l.bytes.evaluate(r.call.symbols)), r.stream);
    case GpuLaunch::Kind::kFill: return gpu_.fill_zero(arg(0), size_t(l.bytes.evaluate(r.call.symbols)), r.stream);
    case GpuLaunch::Kind::kWhile:
      if (l.trips) {
        const int64_t trips = l.trips->evaluate(r.call.symbols);
        r.turns.push_back(0);
        for (int64_t i = 0; i < trips; ++i) {
          r.turns.back() = i;
          WEFT_RETURN_IF_ERROR(run_list(r, l.regions[1]));
        }
        r.turns.pop_back();
        return {};
      }
      r.turns.push_back(0);  // nobody asks
      for (;;) {
        WEFT_RETURN_IF_ERROR(run_list(r, l.regions[0]));
        uint8_t go_on = 0;
        WEFT_RETURN_IF_ERROR(gpu_.copy_to_host(&go_on, arg(0), 1));
        if (!go_on) {
          r.turns.pop_back();
          return {};
        }
        WEFT_RETURN_IF_ERROR(run_list(r, l.regions[1]));
      }
    case GpuLaunch::Kind::kIf: {
      int32_t which = 0;
      WEFT_RETURN_IF_ERROR(gpu_.copy_to_host(&which, arg(0), sizeof which));
      if (which < 0 || size_t(which) >= l.regions.size()) return core::internal_error("a branch number of ", which);
      return run_list(r, l.regions[size_t(which)]);
    }
  }
  return core::internal_error("a launch of no kind");
}

// Pointers to the parts of tensors that the library reads and writes.
Status Program::attention(Run& r, const GpuLaunch& l) {
  const ir::Attention a = ir::attention_of(*l.instr);
  const auto part = [&](size_t arg, size_t view) {
    return r.value(l.args[arg], constants_) + uint64_t(a.views[view].offset) * core::dtype_size(a.dtype);
  };
  std::vector<DevicePtr> at{part(0, 0), part(1, 1), part(2, 2), part(3, 3)};
  if (a.gradient) at.insert(at.end(), {part(4, 4), r.value(l.args[5], constants_), part(6, 5), part(6, 6), part(6, 7)});
  else at.push_back(r.value(l.args[4], constants_));
  return attend(gpu_, Queue{r.stream, r.recording}, a, at);
}

// False: the generated kernels do it.
Result<bool> Program::by_library(Run& r, const GpuLaunch& l) {
  if (l.args.size() != 3) return false;
  const ir::Instr& i = *l.instr;
  // A driver that stands in has no libraries but one that is named: NVIDIA's own would not find a GPU.
  if (gpu_.driver().host_function && (i.op == ir::Op::kDot || !std::getenv("WEFT_CUDNN_LIBRARY"))) return false;
  const DevicePtr a = r.value(l.args[0], constants_), b = r.value(l.args[1], constants_), c = r.value(l.args[2], constants_);
  const Queue queue{r.stream, r.recording};
  if (i.op == ir::Op::kDot) {
    const std::optional<Product> p = product_of(i, l.add, r.call.symbols);
    return p ? multiply(gpu_, queue, *p, a, b, c) : Result<bool>(false);
  }
  const std::optional<Convolution> p = l.add ? std::nullopt : convolution_of(i, r.call.symbols);
  return p ? convolve(gpu_, queue, *p, a, b, c) : Result<bool>(false);
}

}  // namespace weft_engine::cuda
