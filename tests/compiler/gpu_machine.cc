#include "tests/compiler/gpu_machine.h"

#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "tests/compiler/run_module.h"

namespace weft_engine::testing {
namespace {

using compiler::GpuArg;
using compiler::GpuHostKernel;
using compiler::GpuLaunch;
using compiler::GpuThread;

constexpr size_t kStack = 128 << 10, kShared = 48 << 10;

// The threads of a block as contexts of their own: each runs until it waits, then the next one does. Since all wait at the same places, those that
// run again find what the others have left there. The thread sanitizer does not know such stacks: what switches between them stays out of its books.
#define SWITCHES __attribute__((no_sanitize("thread")))
class Block {
 public:
  struct Thread : GpuThread {
    ucontext_t context;
    Block* owner = nullptr;
    bool done = false;
    int waits = 0, exchanges = 0;
    uint64_t slot[2] = {0, 0};
  };

  SWITCHES core::Status run(GpuHostKernel kernel, const uint64_t* args, int block, int threads, int blocks, bool waits) {
    kernel_ = kernel, args_ = args;
    if (stacks_.size() < size_t(threads) * kStack && waits) stacks_.resize(size_t(threads) * kStack);
    std::memset(shared_, 0x5a, kShared);
    threads_.clear();
    for (int k = 0; k < threads; ++k) {
      auto t = std::make_unique<Thread>();
      t->thread = k, t->block = block, t->threads = threads, t->blocks = blocks;
      t->shared = shared_;
      t->barrier = [](GpuThread* self) { static_cast<Thread*>(self)->owner->wait(static_cast<Thread*>(self)); };
      t->shuffle = [](GpuThread* self, uint64_t bits, int32_t lane_xor) {
        Thread* me = static_cast<Thread*>(self);
        const int which = me->exchanges++ & 1;
        me->slot[which] = bits;
        me->owner->wait(me);
        return me->owner->threads_[size_t(me->thread ^ lane_xor)]->slot[which];
      };
      t->owner = this;
      threads_.push_back(std::move(t));
    }
    if (!waits) {
      for (auto& t : threads_) kernel(args, t.get());
      return {};
    }
    for (auto& t : threads_) {
      getcontext(&t->context);
      t->context.uc_stack.ss_sp = stacks_.data() + size_t(t->thread) * kStack;
      t->context.uc_stack.ss_size = kStack;
      t->context.uc_link = &home_;
      const auto p = reinterpret_cast<uintptr_t>(t.get());
      makecontext(&t->context, reinterpret_cast<void (*)()>(&Block::enter), 2, unsigned(p >> 32), unsigned(p));
    }
    for (;;) {
      size_t done = 0;
      for (auto& t : threads_) {
        if (!t->done) swapcontext(&home_, &t->context);
        done += t->done;
      }
      if (done == threads_.size()) return {};
      if (done) return core::internal_error("threads that end while others wait");
      for (auto& t : threads_) {
        if (t->waits != threads_[0]->waits || t->exchanges != threads_[0]->exchanges)
          return core::internal_error("threads that wait at different places");
      }
    }
  }

 private:
  SWITCHES static void enter(unsigned high, unsigned low) {
    auto* t = reinterpret_cast<Thread*>(uintptr_t(high) << 32 | low);
    t->owner->kernel_(t->owner->args_, t);
    t->done = true;
  }
  SWITCHES void wait(Thread* t) {
    ++t->waits;
    swapcontext(&t->context, &home_);
  }
  GpuHostKernel kernel_ = nullptr;
  const uint64_t* args_ = nullptr;
  ucontext_t home_;
  std::vector<char> stacks_;
  alignas(64) char shared_[kShared];
  std::vector<std::unique_ptr<Thread>> threads_;
};

struct Machine {
  const compiler::Plan& plan;
  const compiler::GpuHostCode& code;
  const GpuCall& call;
  char* arena;
  int32_t error = 0;
  std::vector<int64_t> turns{};  // of the loops around a launch
  std::unique_ptr<Block> block = std::make_unique<Block>();

  uint64_t value(const GpuArg& a) {
    const auto address = [](const void* p) { return reinterpret_cast<uint64_t>(p); };
    switch (a.kind) {
      case GpuArg::Kind::kParameter: return address(call.parameters[size_t(a.index)]);
      case GpuArg::Kind::kResult: return address(call.results[size_t(a.index)]);
      case GpuArg::Kind::kConstant: return address(plan.constants[size_t(a.index)]->literal.raw());
      case GpuArg::Kind::kArena: return address(arena + a.size.evaluate(call.symbols));
      case GpuArg::Kind::kError: return address(&error);
      case GpuArg::Kind::kIteration: return uint64_t(turns[size_t(a.index)]);
      default: return uint64_t(a.size.evaluate(call.symbols));
    }
  }
  char* pointer(const GpuArg& a) { return reinterpret_cast<char*>(value(a)); }

  core::Status run(const std::vector<GpuLaunch>& launches) {
    for (const GpuLaunch& l : launches) WEFT_RETURN_IF_ERROR(run(l));
    return {};
  }
  core::Status run(const GpuLaunch& l) {
    switch (l.kind) {
      case GpuLaunch::Kind::kKernel: {
        const GpuHostKernel k = code.kernel(l.entry);
        if (!k) return core::internal_error("no kernel ", l.entry);
        const int64_t blocks = l.blocks.evaluate(call.symbols);
        std::vector<uint64_t> args;
        for (const GpuArg& a : l.args) args.push_back(value(a));
        for (int64_t n = 0; n < blocks; ++n) {
          const core::Status s = block->run(k, args.data(), int(n), l.threads, int(blocks), l.waits);
          if (!s.ok()) return s.with_suffix(core::cat(" (", l.entry, ")"));
        }
        return {};
      }
      case GpuLaunch::Kind::kLibrary: return run(l.regions[0]);
      case GpuLaunch::Kind::kCopy: std::memmove(pointer(l.args[0]), pointer(l.args[1]), size_t(l.bytes.evaluate(call.symbols))); return {};
      case GpuLaunch::Kind::kFill: std::memset(pointer(l.args[0]), 0, size_t(l.bytes.evaluate(call.symbols))); return {};
      case GpuLaunch::Kind::kWhile: {
        turns.push_back(0);
        for (;; ++turns.back()) {
          if (l.trips && turns.back() >= l.trips->evaluate(call.symbols)) break;
          if (!l.trips) {
            WEFT_RETURN_IF_ERROR(run(l.regions[0]));
            if (!*pointer(l.args[0])) break;
          }
          WEFT_RETURN_IF_ERROR(run(l.regions[1]));
        }
        turns.pop_back();
        return {};
      }
      case GpuLaunch::Kind::kIf: {
        int32_t which = 0;
        std::memcpy(&which, pointer(l.args[0]), 4);
        if (which < 0 || size_t(which) >= l.regions.size()) return core::internal_error("a branch to region ", which);
        return run(l.regions[size_t(which)]);
      }
    }
    return {};
  }
};

}  // namespace

core::Result<int32_t> run_on_gpu_machine(const compiler::Plan& plan, const compiler::GpuHostCode& code, const GpuCall& call) {
  const size_t bytes = (size_t(code.code.arena_bytes.evaluate(call.symbols)) + 511) / 256 * 256;
  const std::unique_ptr<void, void (*)(void*)> arena(std::aligned_alloc(256, bytes), &std::free);
  std::memset(arena.get(), 0x7f, bytes);
  Machine m{plan, code, call, static_cast<char*>(arena.get())};
  WEFT_RETURN_IF_ERROR(m.run(code.code.launches));
  return m.error;
}

core::Result<Interpreted> run_kernels(const ir::Module& m, const std::vector<Array>& parameters, const std::vector<int64_t>& symbols) {
  return run_compiled_by(m, 0, parameters, symbols, [&](const compiler::Plan& plan, const GpuCall& call) -> core::Result<int32_t> {
    WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
    WEFT_ASSIGN(const auto code, api->gpu_on_host(plan));
    return run_on_gpu_machine(plan, *code, call);
  });
}

bool has_assembler() {
  static const bool there = std::system("ptxas --version > /dev/null 2>&1") == 0;
  return there;
}

std::string assemble(const std::string& ptx, int sm) {
  std::string name = "weft_ptx_XXXXXX";  // in the test's own folder
  const int fd = mkstemp(name.data());
  if (fd < 0) return "no temporary file";
  close(fd);
  std::ofstream(name) << ptx;
  const std::string command = "ptxas -O1 -arch=sm_" + std::to_string(sm) + " -o /dev/null " + name + " 2> " + name + ".err";
  const bool good = std::system(command.c_str()) == 0;
  std::string text;
  if (!good) {
    std::ifstream in(name + ".err");
    std::getline(in, text);
    if (text.empty()) text = "ptxas failed";
  }
  std::remove(name.c_str());
  std::remove((name + ".err").c_str());
  return text;
}

std::string unresolved(const std::string& ptx) {
  for (size_t at = ptx.find(".extern .func"); at != std::string::npos;) return ptx.substr(at, ptx.find('\n', at) - at);
  return "";
}

}  // namespace weft_engine::testing
