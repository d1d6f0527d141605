#include "cuda/launch.h"

#include "compiler/codegen.h"
#include "core/cat.h"
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

}  // namespace

struct Program::Run {
  const Call& call;
  DevicePtr arena = 0, error = 0;

  uint64_t value(const GpuArg& a, const std::vector<DevicePtr>& constants) const {
    switch (a.kind) {
      case GpuArg::Kind::kParameter: return call.parameters[size_t(a.index)];
      case GpuArg::Kind::kResult: return call.results[size_t(a.index)];
      case GpuArg::Kind::kConstant: return constants[size_t(a.index)];
      case GpuArg::Kind::kArena: return arena + uint64_t(a.size.evaluate(call.symbols));
      case GpuArg::Kind::kSize: return uint64_t(a.size.evaluate(call.symbols));
      case GpuArg::Kind::kError: return error;
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
  for (DevicePtr at : constants_) {
    if (at) gpu_.free(at);
  }
  if (!module_) return;
  (void)gpu_.driver().wait_for_stream(gpu_.stream());  // its kernels may still be queued
  gpu_.driver().unload_module(module_);
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
  if (!plan_.module->messages.empty()) messages_ = std::make_shared<const std::vector<std::string>>(plan_.module->messages);
  return {};
}

Status Program::find_entries(const std::vector<GpuLaunch>& launches) {
  for (const GpuLaunch& l : launches) {
    if (l.kind == GpuLaunch::Kind::kKernel) {
      void*& entry = entries_[l.entry];
      if (!entry && host_) {
        const compiler::GpuHostKernel kernel = host_->kernel(l.entry);
        if (!kernel) return core::internal_error("generated code has no kernel ", l.entry);
        WEFT_CUDA_RETURN(gpu_.driver(), host_function(&entry, reinterpret_cast<void*>(kernel), l.entry.c_str()), "finding a kernel");
      } else if (!entry) {
        WEFT_CUDA_RETURN(gpu_.driver(), module_function(&entry, module_, l.entry.c_str()), "finding a kernel");
      }
    }
    for (const auto& region : l.regions) WEFT_RETURN_IF_ERROR(find_entries(region));
  }
  return {};
}

Status Program::run(const Call& call) {
  WEFT_RETURN_IF_ERROR(gpu_.use());
  Run r{call};
  const int64_t arena_bytes = code_.arena_bytes.evaluate(call.symbols);
  if (arena_bytes > 0) {
    WEFT_ASSIGN(r.arena, gpu_.allocate(size_t(arena_bytes)));
  }
  Status s;
  if (messages_) {
    auto word = gpu_.error_word(messages_);
    if (word.ok()) r.error = *word;
    else s = word.status();
  }
  if (s.ok()) s = run_list(r, code_.launches);
  if (r.error) gpu_.queued();
  if (r.arena) gpu_.free(r.arena);
  return s;
}

Status Program::run_list(Run& r, const std::vector<GpuLaunch>& launches) {
  for (const GpuLaunch& l : launches) WEFT_RETURN_IF_ERROR(run_one(r, l));
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
      void* entry = entries_.find(l.entry)->second;
      WEFT_CUDA_RETURN(d, launch(entry, unsigned(blocks), 1, 1, unsigned(l.threads), 1, 1, 0, gpu_.stream(), pointers, nullptr),
                       "launching a kernel");
      return {};
    }
    case GpuLaunch::Kind::kLibrary: {
      WEFT_ASSIGN(const bool done, by_library(r, l));
      return done ? Status() : run_list(r, l.regions[0]);
    }
    case GpuLaunch::Kind::kCopy: return gpu_.copy(arg(0), arg(1), size_t(l.bytes.evaluate(r.call.symbols)));
    case GpuLaunch::Kind::kFill: return gpu_.fill_zero(arg(0), size_t(l.bytes.evaluate(r.call.symbols)));
    case GpuLaunch::Kind::kWhile:
      for (;;) {
        WEFT_RETURN_IF_ERROR(run_list(r, l.regions[0]));
        uint8_t go_on = 0;
        WEFT_RETURN_IF_ERROR(gpu_.copy_to_host(&go_on, arg(0), 1));
        if (!go_on) return {};
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

// Products by cuBLASLt. False: the generated kernels do it.
Result<bool> Program::by_library(Run& r, const GpuLaunch& l) {
  if (l.instr->op != ir::Op::kDot || l.args.size() != 3 || gpu_.driver().host_function) return false;
  const ir::Instr& i = *l.instr;
  const auto& a = i.operands[0]->type.dims;
  const auto& c = i.type.dims;
  const size_t rank = c.size();
  if (rank < 2) return false;
  Product p;
  p.dtype = i.type.dtype;
  if (i.operands[0]->type.dtype != p.dtype) return false;
  p.batch = 1;
  for (size_t k = 0; k + 2 < rank; ++k) p.batch *= c[k].evaluate(r.call.symbols);
  p.m = c[rank - 2].evaluate(r.call.symbols);
  p.n = c[rank - 1].evaluate(r.call.symbols);
  p.k = a[i.transpose_a ? rank - 2 : rank - 1].evaluate(r.call.symbols);
  p.transpose_a = i.transpose_a;
  p.transpose_b = i.transpose_b;
  p.add = l.add;
  return multiply(gpu_, p, r.value(l.args[0], constants_), r.value(l.args[1], constants_), r.value(l.args[2], constants_));
}

}  // namespace weft_engine::cuda
