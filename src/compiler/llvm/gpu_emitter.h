// GpuEmitter: a Plan as kernels and what to launch (compiler/gpu_code.h). Elements and places are CodeEmitter's; who computes which of them is
// decided here. Parts: gpu_emitter.cc (kernels, steps, control), gpu_loops.cc (one thread for each element), gpu_fold.cc (everything that combines
// many numbers to one: reductions, windows, convolutions), gpu_rows.cc (reductions along rows with what is around them), gpu_order.cc (scans, sorts,
// scatters), gpu_product.cc (products of matrices).
//
// Nothing waits for another block, and no number is added to memory by several threads: the order of sums follows from the sizes alone.
#pragma once

#include "compiler/gpu_code.h"
#include "compiler/llvm/code_emitter_impl.h"

namespace weft_engine::compiler {

// Whether several elements in one thread are worth it: they are read and written together, as long as the code stays short.
bool is_cheap(const Plan& plan, std::span<const ir::Instr* const> instrs);
// The least size in bytes of an element that is read from memory to compute one of the value's.
int64_t narrowest(const Plan& plan, const ir::Instr* value);

class GpuEmitter {
 public:
  using V = llvm::Value*;
  using Index = CodeEmitter::Index;

  GpuEmitter(llvm::Module& module, const Plan& plan, const Target& target);
  core::Status run();
  GpuCode code;

 private:
  // ---- kernels
  static constexpr int kThreads = 256, kWarp = 32;
  // Writes `body` as a kernel and notes its launch.
  core::Status kernel(const char* what, const ir::Instr* instr, const ir::Dim& blocks, int threads, const std::function<core::Status()>& body);
  // Kernels of one thread for each number below n: body(number). It may be called later: it owns what it uses.
  core::Status each(const char* what, const ir::Instr* instr, const ir::Dim& n, const std::function<core::Status(V)>& body);
  // Likewise for `all` elements, `several` side by side in a thread: body(number, several), which takes the elements number * several and on. `several` may turn out smaller, a
  // divisor of it.
  using Body = std::function<core::Status(V number, int64_t several)>;
  core::Status each(const char* what, const ir::Instr* instr, const ir::Dim& all, int64_t several, const Body& body);
  // Kernels of `each` that do not depend on each other become one, as long as `together_` says so: each has blocks of its own in it. One that depends on another element by
  // element is done by the same threads behind it.
  core::Status flush();
  // Memory that a step reads and writes.
  struct Range {
    GpuArg at;
    ir::Dim bytes;
    int64_t own = 0;  // so many elements, of which a thread takes those of its own numbers alone; 0: perhaps others
    std::vector<const ir::Instr*> from = {};  // these are a part of what lies there, which begins here
  };
  struct Access {
    std::vector<Range> reads, writes;
  };
  Access access(const Step& s) const;
  using Seen = std::unordered_set<const ir::Instr*>[2];
  // `same`: at the numbers of the thread.
  void note_reads(const ir::Instr* i, std::span<const ir::Instr* const> own, Seen& seen, std::vector<Range>& to, bool same) const;
  Range range_of(int buffer, const ir::Instr* own = nullptr) const;
  static bool overlap(const Range& x, const Range& y);
  // How what a step does depends on what another did: not at all, element by element, or otherwise.
  enum class Dependence : uint8_t { kNone, kElements, kOther };
  static Dependence between(const Access& a, const Access& c);
  struct Waiting;
  Dependence on(const Waiting& w) const;  // of the step that is being written
  core::Status settle();  // flushes, if the step that is being written depends on what is waiting
  V thread();  // i32, in the block
  V block();  // i32
  V wide(V i32) { return known(b.CreateZExt(i32, b.getInt64Ty())); }
  V known(V v);  // it holds in the whole kernel
  V bounded(V v, const ir::Dim& n);  // it is below n
  V number_below(const ir::Dim& n, V block, V thread, int threads);  // block * threads + thread, as i64
  V at_most(V v, V high) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, v, high); }
  void barrier();
  V exchange(V v, int lane_xor);  // with another thread of the 32
  V shared(llvm::Type* element, int64_t count);
  V scratch(const ir::Dim& offset);  // bytes, in the memory that this step has for itself
  ir::Dim reserve(const ir::Dim& bytes);  // for the rest of the step; gives the offset
  V place(V pointer, llvm::Type* t, V n) { return b.CreateInBoundsGEP(t, pointer, n); }
  GpuArg arg_of(int buffer) const;
  GpuArg scratch_arg(const ir::Dim& offset) const;

  // ---- steps
  core::Status steps(std::span<const Step> s, std::vector<GpuLaunch>& to);
  core::Status step(const Step& s);
  bool is_early(const Step& s) const;
  core::Status early_checks(std::span<const Step> s);
  core::Status control(const Step& s);
  core::Status copy(int to, int from, const ir::Type& t, const ir::Instr* instr);
  core::Status materialize(const ir::Instr* i, int buffer);  // all elements into a buffer
  core::Status loop(const Step& s);
  core::Status store_all(std::span<const ir::Instr* const> in_order, std::span<const ir::Instr* const> stored, int into);
  core::Status concat(const ir::Instr* i, int buffer);
  core::Status transpose(const ir::Instr* i, bool* done);
  core::Status update(const ir::Instr* i);

  // ---- folds: a result of `kept` places, each of all `reduced` places
  struct Fold {
    const char* what = "fold";
    const ir::Instr* instr = nullptr;
    ir::Dim kept, reduced;
    bool rows = true;  // consecutive reduced places lie side by side; else consecutive kept ones do
    int64_t work = 1;  // of one step, roughly: reads
    int own = 1;  // places side by side that a thread takes at once: `reduced` ones along rows, else `kept` ones, of which there is a multiple
    std::vector<core::DType> types;  // of what is carried
    std::function<std::vector<V>(V kept)> start;
    std::function<std::vector<V>(V kept, V reduced, const std::vector<V>& so_far)> step;
    std::function<std::vector<V>(const std::vector<V>& a, const std::vector<V>& c)> merge;  // a's places are before c's
    std::function<void(V kept, const std::vector<V>& result)> finish;
    bool split = true;  // over several blocks, if there are too few
  };
  core::Status fold(const Fold& f);
  core::Status fold_by_thread(const Fold& f);
  core::Status reduce(const std::vector<const ir::Instr*>& all);
  std::vector<const ir::Instr*> beside(std::span<const Step> s, size_t k);
  std::unordered_set<const Step*> done_;  // with an earlier one
  core::Status rows(const Step& s);
  core::Status arg_reduce(const ir::Instr* i);
  core::Status window(const ir::Instr* i);
  core::Status max_pool_grad(const ir::Instr* i);
  core::Status conv(const ir::Instr* i);
  core::Status conv_filter_grad(const ir::Instr* i);
  core::Status dot(const ir::Instr* i);
  core::Status dot_kernels(const ir::Instr* i, int to, bool add);
  core::Status scan(const ir::Instr* i);
  core::Status sort(const ir::Instr* i);
  core::Status attention(const ir::Instr* i);
  core::Status scatter(const ir::Instr* i);
  // Sorts the numbers 0 .. n - 1 of each row, which lie as int32 at `places`, by less(row, a, c); equal ones in order.
  core::Status sort_places(const ir::Instr* i, const ir::Dim& rows, const ir::Dim& n, const GpuArg& places,
                           const std::function<V(V row, V a, V c)>& less);
  V argument(const GpuArg& a);  // a pointer that is an argument of the kernel

  static core::DType carried(core::DType t);  // how sums of it are kept: narrow floats as float
  core::Status library(const ir::Instr* i, std::vector<const ir::Instr*> operands, int to, bool add, const std::function<core::Status()>& fallback);

  CodegenOptions options_;
  CodeEmitter e;
  llvm::IRBuilder<>& b;
  const Plan& plan;
  std::vector<GpuLaunch>* launches_ = nullptr;
  ir::Dim base_, reserved_, most_;  // scratch: where it begins in the arena, how much the step has, the most of all steps
  int next_ = 0;
  // Kernels that wait to become one.
  struct Waiting {
    const char* what;
    const ir::Instr* instr;
    int64_t all, several;
    struct Part {
      Body body;
      std::unordered_set<const ir::Instr*> current;
      Access access;
      int step;
    };
    std::vector<Part> parts;  // one behind the other
    int64_t n() const { return (all + several - 1) / several; }
  };
  std::vector<Waiting> waiting_;
  Access access_;  // of the step that is being written
  int step_ = 0;
  bool together_ = false, flushing_ = false;
  // Variables of loops that count: what they hold follows from how often the loop has run.
  struct Counter {
    int depth;
    int64_t first, step;
  };
  std::unordered_map<const ir::Instr*, Counter> counters_;
  int depth_ = 0;  // of loops
  std::unordered_map<const ir::Instr*, int64_t> known_;  // what counters hold behind their loops
  bool is_number(const ir::Instr* i) const {
    while (i->op == ir::Op::kReshape) i = i->operands[0];
    return counters_.contains(i) || known_.contains(i);
  }
  std::unordered_set<int> counter_buffers_;
  void find_counters(const ir::Instr* loop);
  int64_t trips_ = 0;  // of the innermost loop, where its counters are known; else 0
  // Whether a check of counters and constants holds in all turns of the loop.
  bool always_holds(const ir::Instr* check) const;
  std::optional<int64_t> number_of(const ir::Instr* i, int64_t turn) const;
  // The kernel that is being written.
  std::map<std::string, std::pair<GpuArg, V>> arguments_;
  V thread_ = nullptr, block_ = nullptr, self_ = nullptr;
  int64_t shared_bytes_ = 0;
  bool waits_ = false;
};

}  // namespace weft_engine::compiler
