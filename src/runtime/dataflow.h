// Dataflow: a body as items that run as soon as their inputs are there. Made once; a run holds nothing
// but values and counts. For bodies with kernels that wait, with TensorFlow 1's control flow, or with
// much work side by side.
//
// Version 1's loops run in frames: Enter leads into one, Exit out of it, NextIteration to its next
// iteration. Every frame has, for each of its iterations, a place for the inputs of its nodes and a
// count of what they still wait for. A value that does not come because its branch was not taken is
// "dead"; deadness is handed on, until a Merge finds another input that is alive.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/executable.h"

namespace weft_engine::runtime {

struct DataflowMemory;

class Dataflow final : public Executable {
 public:
  enum class Kind : uint8_t {
    kKernel,
    kConst,
    kNothing,  // NoOp and the like: only control edges
    kForward,  // the input is the output
    kSwitch,
    kSwitchN,
    kMerge,
    kEnter,
    kExit,
    kNextIteration,
    kArg,
    kRetval,
    kSend,
    kRecv,
  };

  // Where an output goes.
  struct Edge {
    uint32_t item;
    uint32_t count;   // of the reader, among the counts of an iteration
    uint32_t slot;    // among the slots of an iteration
    uint32_t output;  // of the node that is read
    bool merge;
    bool last;        // no further edge of this output
  };

  struct Item {
    Kind kind = Kind::kKernel;
    bool async = false;           // the kernel calls back
    bool blocking = false;        // the kernel may wait where it stands
    bool reads_refs = false;      // some input is fed by a reference
    bool gives_refs = false;      // some output is one
    bool trigger = false;         // runs even if what it waits for is dead
    bool constant_enter = false;  // the value is there in all iterations
    bool uninitialized_ok = false;
    uint32_t frame = 0, count = 0, slot = 0;
    uint32_t num_inputs = 0, num_outputs = 0;
    uint32_t edges = 0, edges_end = 0, controls = 0, controls_end = 0;
    uint64_t donated = 0, constant_inputs = 0;
    int index = 0;                    // of an argument or result
    uint32_t child = 0;               // the frame an Enter leads to
    int64_t parallel_iterations = 1;  // of that frame
    std::shared_ptr<Kernel> kernel;
    Tensor constant;
    std::string key;  // of a message
    NodeInfo node;
    std::vector<std::string> ref_names;  // by input, where some are references: what is read, for messages
    std::vector<const Tensor*> constants;  // by input, where some are constants: these need no slot and no waiting
    // How long a run takes, in nanoseconds; learnt.
    std::atomic<uint32_t> cost{0};
  };

  // An op that has not run yet is taken for costly, so that the first run already goes side by side.
  static constexpr uint32_t kUnknownCost = 50'000;

  struct FramePlan {
    std::string name;
    int parent = -1;
    uint32_t child = 0;         // its number among the frames inside its parent
    uint32_t num_children = 0;
    uint32_t num_slots = 0;
    int enters = 0;
    std::vector<uint64_t> counts;  // at the start of an iteration
  };

  static Result<std::unique_ptr<Dataflow>> make(const graph::FunctionBody& body, const PlanContext& c);
  ~Dataflow() override;

  Status run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) override;
  void run_async(const KernelEnv& env, std::vector<Tensor> args, FunctionHandle::Done done) override;

  size_t num_args() const { return num_args_; }
  size_t num_rets() const { return num_rets_; }

 private:
  friend struct DataflowRun;
  friend class DataflowWorker;
  class Planner;
  Dataflow() = default;
  Status check_call(const KernelEnv& env, size_t args, size_t rets) const;
  std::unique_ptr<DataflowMemory> acquire_memory();
  void release_memory(std::unique_ptr<DataflowMemory> memory);

  std::string name_;
  Device* device_ = nullptr;
  ThreadPool* pool_ = nullptr;
  ThreadPool* inter_ = nullptr;
  std::unique_ptr<Item[]> items_;
  size_t num_items_ = 0, num_args_ = 0, num_rets_ = 0;
  std::vector<Edge> edges_;
  std::vector<uint32_t> controls_;
  std::vector<uint32_t> roots_;  // items that wait for nothing
  std::vector<FramePlan> frames_;
  bool waits_ = false;  // some item is asynchronous or may block: an error must reach it
  bool receives_ = false;
  bool messages_in_loops_ = false;  // frames need names that other processes know
  std::mutex memory_mutex_;
  std::vector<std::unique_ptr<DataflowMemory>> spare_memory_;
};

}  // namespace weft_engine::runtime
