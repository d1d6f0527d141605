// The seam to the code generator (compiler/llvm), which is a library of its own, libweft_jit.so, loaded when first needed: a program that
// compiles nothing never sees LLVM. Both sides are built together and share these types; values of core/ (tensors) are only read on
// the other side.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "compiler/gpu_code.h"
#include "compiler/plan.h"
#include "core/status.h"

namespace weft_engine::compiler {

// Runs f(data, begin, end) over [0, n), perhaps on several threads; null: on the caller's.
struct Pool {
  void (*parallel_for)(void* pool, int64_t n, void (*f)(void* data, int64_t begin, int64_t end), void* data) = nullptr;
  void* pool = nullptr;
  // Loops of the model ask it each time they turn, in code that is `stoppable`: not 0 ends the call with kStopped.
  int32_t (*stopped)(void* pool) = nullptr;
};
inline constexpr int32_t kStopped = -1;

// Compiled code. `parameters` and `results` as in the module (results that are new values of a state are null: the state is written
// in place); `constants` as in Plan::constants (null if they are inside the object); `symbols`: the open sizes; `arena`: arena_bytes, 64-byte
// aligned, contents of no meaning between calls. 0, or 1 + the number of one of the module's messages; no state is written after an error.
using Entry = int32_t (*)(void* const* parameters, void* const* results, const void* const* constants, const int64_t* symbols, char* arena,
                          const Pool* pool);

// One function of an object file, and bytes that go beside (64-byte aligned, read-only).
struct CodeUnit {
  const Plan* plan = nullptr;
  std::string symbol = "weft_entry";
};
struct DataUnit {
  std::string symbol;
  const void* bytes = nullptr;
  size_t size = 0;
};

struct CodegenOptions {
  std::string triple, cpu, features;   // empty: this machine's; cpu "native" too
  bool embed_constants = true;         // into read-only data of the object; else they come with the call
  enum class Emit : uint8_t { kObject, kAssembly, kLlvm } emit = Emit::kObject;
  bool stoppable = false;              // every call brings a Pool with `stopped`, whose parallel_for may be null
  const std::atomic<bool>* cancel_flag = nullptr;  // once true, the work ends soon, with Cancelled
};

// Code in this process.
class JitCode {
 public:
  virtual ~JitCode() = default;
  virtual Entry entry() const = 0;
  virtual size_t bytes() const = 0;
  // May a call find an error after it has written a state? Else a call that fails has changed nothing.
  virtual bool fails_late() const = 0;
};

// Tells a library of another build, as far as the layout of what is exchanged does.
inline constexpr uint64_t kCodegenLayout =
    uint64_t(sizeof(Plan)) | uint64_t(sizeof(Step)) << 16 | uint64_t(sizeof(CodegenOptions)) << 32 | uint64_t(sizeof(ir::Instr)) << 48;

struct CodegenApi {
  uint64_t layout;
  // Several functions in one object: equal constants (of at least 64 bytes) stand in it once.
  core::Result<std::string> (*emit)(std::span<const CodeUnit> code, std::span<const DataUnit> data, const CodegenOptions& options);
  core::Result<std::unique_ptr<JitCode>> (*jit)(const Plan& plan, const CodegenOptions& options);
  // PTX. The plan (make_plan with one thread) must outlive the result, whose launches point into its module.
  core::Result<GpuCode> (*gpu)(const Plan& plan, const GpuOptions& options);
  core::Result<std::unique_ptr<GpuHostCode>> (*gpu_on_host)(const Plan& plan);
  // LLVM's static objects are destroyed when the process ends: nothing may be compiling then (llvm/no_destructors.cc).
  bool destroyed_at_exit;
};

// Loads the library, once. NotFound tells where it was looked for, or that this weft was built without LLVM.
core::Result<const CodegenApi*> codegen();
// The one symbol of the library.
inline constexpr char kCodegenSymbol[] = "weft_codegen_api";  // extern "C" const CodegenApi* weft_codegen_api()

}  // namespace weft_engine::compiler
