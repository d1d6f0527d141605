// GpuCode: a Plan as PTX and a list of what to launch, for whoever has a device (no LLVM, no CUDA here). Everything runs in order on one stream.
//
// The caller evaluates sizes (ir::Dim::evaluate) with the symbols of the call, so that code with open sizes serves all of them; uploads
// Plan::constants once; gives one piece of device memory of arena_bytes (256-byte aligned, contents of no meaning between calls); and sets
// the error word (int32, device memory) to 0 before the launches. Pointers to parameters, results and constants are 16-byte aligned. What it holds when the launches are done: 0, or 1 + the number of one of the
// module's messages. Code goes on after an error and reads and writes nothing outside of its buffers, so the word can be read when the host
// waits for the results anyway.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/plan.h"

namespace weft_engine::compiler {

struct GpuArg {
  enum class Kind : uint8_t {
    kParameter,  // device pointer of parameter `index`
    kResult,  // of result `index` (never of a state's: that is written where its parameter lies)
    kConstant,  // of Plan::constants[index]
    kArena,  // the arena + `size` bytes
    kSize,  // the number `size`, as int64
    kError,  // pointer to the error word
    kIteration,  // how often the loop number `index` around the launch, counted from the outermost, has run: int64; loops with `trips` alone
  };
  Kind kind = Kind::kSize;
  int index = 0;
  ir::Dim size;
  bool operator==(const GpuArg&) const = default;
};

struct GpuLaunch {
  enum class Kind : uint8_t {
    kKernel,  // `entry` of the PTX with `blocks` blocks of `threads` threads (one dimension; nothing where `blocks` is 0 or less), `args` in
    // order, 8 bytes each; shared memory is static: no dynamic bytes
    kLibrary,  // instr (kDot, kConv, kConvFilterGrad) by a library: args are the operands in order and the result, all dense; `add`: the product is
    // added to what the result holds. regions[0]: generated kernels that do the same; kAttention, kAttentionGrad: by a library
    // alone, args are the operands and the results
    kCopy,  // `bytes` from args[1] to args[0], on the device; they do not overlap
    kFill,  // `bytes` zeros to args[0]
    kWhile,  // regions: condition, body. The condition's launches leave a byte (0 or 1) in args[0]; read it back, run the body, again. The loop
    // also ends when the error word is not 0, where the module has messages (then args[1] is kError): the byte is 0 then. With `trips` the body is run so many
    // times instead, and nothing is read
    kIf,  // the int32 in args[0] is the number of the region to run, in range already
  };
  Kind kind = Kind::kKernel;
  std::string entry;
  void* function = nullptr;  // the caller's: what it found for `entry`
  ir::Dim blocks = 1;
  int threads = 1;
  std::vector<GpuArg> args;
  ir::Dim bytes;
  std::optional<ir::Dim> trips;
  bool add = false;
  bool waits = false;  // the kernel's threads wait for each other
  const ir::Instr* instr = nullptr;  // what the launch is for: names in traces; lives in the plan's module
  std::vector<std::vector<GpuLaunch>> regions;
};

struct GpuCode {
  std::string ptx;  // ends with a 0 byte in memory, as the driver's loader wants it (std::string::c_str)
  std::vector<GpuLaunch> launches;
  ir::Dim arena_bytes;  // the plan's arena and what the kernels need beside it
};

struct GpuOptions {
  int sm = 70;  // the oldest chip that the code is for; newer ones run it too
  int ptx_version = 70;  // 7.0: drivers from 450 on
};

// ---- The same kernels for the processor, for tests: every thread of a block is a call of the kernel's function that shares memory with the
// others and waits for them at barriers.
struct GpuThread {
  int32_t thread = 0, block = 0, threads = 1, blocks = 1;
  char* shared = nullptr;  // 48 kB for each block
  void (*barrier)(GpuThread* self) = nullptr;  // of the block
  uint64_t (*shuffle)(GpuThread* self, uint64_t bits, int32_t lane_xor) = nullptr;  // within groups of 32 threads; all of them call
};
// `args` as for the launch: pointers and int64 numbers, 8 bytes each.
using GpuHostKernel = void (*)(const uint64_t* args, GpuThread* self);

class GpuHostCode {
 public:
  virtual ~GpuHostCode() = default;
  virtual GpuHostKernel kernel(const std::string& entry) const = 0;  // null: there is none
  GpuCode code;  // its `ptx` is empty
};

}  // namespace weft_engine::compiler
