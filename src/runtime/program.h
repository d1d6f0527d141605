// Program: straight-line code. A flat array of instructions in a valid order; each names a kernel, where
// its inputs lie, where its outputs go and which values nobody needs afterwards. Values live in a frame
// of slots; frames are kept and used again, with the operand pointers of every instruction already in
// place, so that a run does nothing but call kernels.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/executable.h"

namespace weft_engine::runtime {

class Program final : public Executable {
 public:
  // Null for a body that waits (asynchronous kernels) or has version 1 control flow: that needs dataflow.
  static Result<std::unique_ptr<Program>> make(const graph::FunctionBody& body, const PlanContext& c);
  ~Program() override;

  Status run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) override;
  void run_async(const KernelEnv& env, std::vector<Tensor> args, FunctionHandle::Done done) override;

  // `vars = body(vars)` as long as cond(vars): the frames of both stay in use through all iterations. With
  // `shapes` the programs are made for variables of these shapes alone; when an iteration changes one, the
  // loop stops with done = false and the variables as they are.
  static Status loop(Program& cond, Program& body, const KernelEnv& env, std::span<Tensor> vars, std::span<const Shape> shapes, bool& done);

  size_t num_instructions() const { return instructions_.size(); }
  size_t num_slots() const { return num_slots_; }

 private:
  struct Instruction {
    Kernel* kernel;
    const NodeInfo* node;
    uint32_t operands;      // index of the first
    uint32_t first_output;  // slot
    uint16_t num_inputs, num_outputs;
    uint32_t frees_begin, frees_end;
    uint64_t donated, constant;
    bool refs;              // some input or output is a reference
  };
  struct Ret {
    int32_t operand;
    bool last;  // nobody reads the slot afterwards, so that the value may be moved out
    bool ref;
  };
  struct Frame;
  class Planner;

  Program() = default;
  Frame* acquire();
  void release(Frame* f, bool clean);
  Status execute(const KernelEnv& env, Frame& f);
  Status execute_traced(const KernelEnv& env, Frame& f);
  Status step(const Instruction& in, const KernelEnv& env, Frame& f);
  Status step_with_refs(const Instruction& in, const KernelEnv& env, Frame& f);
  Status fetch(Frame& f, std::span<Tensor> rets);
  Status fail(Status s, const Instruction& in) const;

  Device* device_ = nullptr;
  std::vector<std::shared_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<const NodeInfo>> nodes_;
  std::vector<Tensor> constants_;
  std::vector<Instruction> instructions_;
  std::vector<int32_t> operands_;  // a slot, or ~ the number of a constant
  std::vector<uint32_t> frees_, unused_args_;
  std::vector<Ret> rets_;
  std::vector<char> arg_used_, arg_unchanged_;  // arg_unchanged_: result i is argument i
  size_t num_args_ = 0, num_slots_ = 0;
  bool has_refs_ = false;
  bool results_anywhere_ = false;  // results may lie on other devices
  std::vector<std::string> ref_names_;  // by operand: the variable, where it is a reference

  std::mutex frames_mutex_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::atomic<Frame*> spare_{nullptr};  // the one that a single-threaded caller keeps using
};

}  // namespace weft_engine::runtime
